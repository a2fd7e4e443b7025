// Finds statements that a session repeats. Grains are compared only where everything but their wording agrees: type,
// namespace, user, topic, and the numbers and negations in them. So a merge loses no fact.
import { createHash } from 'node:crypto';
import {
  CONSOLIDATED_CELLS_MAX,
  CONSOLIDATED_GRAINS_MAX,
  CONSOLIDATED_GROUP_MAX,
  CONSOLIDATED_GROUPS_MAX,
} from '../base/limits.ts';
import type { DuplicateGroup, DuplicatesFound } from '../calls/session.ts';
import { GRAIN_TYPE_NAMES, type Grain, type GrainType } from '../grain/grain.ts';
import type { ValueMap } from '../grain/value.ts';
import type { Sliced } from '../index/files/section.ts';
import type { Ordinal } from '../index/parts/part.ts';
import { inOrder } from '../recall/legs/ordered.ts';
import { type Letters, lettersOf, similarityOf, type Work } from './edit-similarity.ts';
import { type SessionPlaces, withValue } from './places.ts';

/**
 * For each grain type that states something the fields of the statement and the fields of its topic. The others are left
 * alone: two similar ones are still two.
 */
const STATEMENTS: Readonly<
  Record<GrainType, { readonly says: readonly string[]; readonly about: readonly string[] } | undefined>
> = {
  belief: { says: ['object'], about: ['subject', 'relation'] },
  event: { says: ['content', 'object'], about: ['role', 'speaker', 'subject', 'relation'] },
  observation: { says: ['content', 'object'], about: ['observer_id', 'observer_type', 'subject'] },
  reasoning: { says: ['conclusion'], about: ['inference_method'] },
  consensus: { says: ['agreed_content'], about: [] },
  state: undefined,
  workflow: undefined,
  action: undefined,
  goal: undefined,
  consent: undefined,
};

/** Grains to open between two yields. */
const STEP_GRAINS = 16;
/** Cells of alignments between two yields: under a millisecond. */
const STEP_CELLS = 200_000;

interface Statement {
  readonly hash: string;
  readonly confidence: number;
  readonly createdAtMs: number;
  readonly text: string;
  letters?: Letters;
}

/** The groups of grains whose texts are at least as similar as `threshold` to one of them, the canonical one. */
export function* duplicateGroups(session: SessionPlaces, threshold: number): Sliced<DuplicatesFound> {
  const { ordinals, isCut } = newestStatements(session);
  const alike = new Map<string, Statement[]>();
  let analyzed = 0;
  for (const [i, ordinal] of ordinals.entries()) {
    if (i % STEP_GRAINS === STEP_GRAINS - 1) yield;
    const stored = session.store.readGrain(session.memory, ordinal);
    const key = stored === undefined ? undefined : keyOf(stored.grain);
    if (stored === undefined || key === undefined) continue;
    analyzed += 1;
    const one = statementOf(stored.grain, stored.address);
    const others = alike.get(key);
    if (others === undefined) alike.set(key, [one]);
    else others.push(one);
  }
  const groups: DuplicateGroup[] = [];
  const work: Work = { cells: 0 };
  for (const statements of alike.values()) {
    if (statements.length < 2) continue;
    const found = yield* starsOf(statements, threshold, work);
    groups.push(...found);
    if (work.cells > CONSOLIDATED_CELLS_MAX || groups.length > CONSOLIDATED_GROUPS_MAX)
      return { analyzed, partitions: 1, groups: groups.slice(0, CONSOLIDATED_GROUPS_MAX), cut: true };
  }
  const isFull = groups.some(({ duplicates }) => duplicates.length >= CONSOLIDATED_GROUP_MAX);
  return { analyzed, partitions: Math.min(analyzed, 1), groups, cut: isCut || isFull };
}

/** Settled before the first yield. */
function newestStatements(session: SessionPlaces): { readonly ordinals: readonly Ordinal[]; readonly isCut: boolean } {
  const { store, parts } = session;
  const { retracted, contested } = store.index.verification;
  const stating = GRAIN_TYPE_NAMES.filter((type) => STATEMENTS[type] !== undefined);
  const types = stating.map((type) => withValue(session, 'type', type));
  const places = types.flatMap((filters) =>
    inOrder(store, parts, filters, { limit: CONSOLIDATED_GRAINS_MAX + 1, order: 'desc' }),
  );
  places.sort((a, b) => parts[b.part]!.createdAtMs[b.doc]! - parts[a.part]!.createdAtMs[a.doc]!);
  const ordinals = places
    .slice(0, CONSOLIDATED_GRAINS_MAX)
    .map(({ part, doc }) => parts[part]!.ordinals[doc]!)
    // A contested statement must not disappear in an uncontested one.
    .filter((ordinal) => !retracted.get(ordinal) && !contested.get(ordinal));
  return { ordinals, isCut: places.length > CONSOLIDATED_GRAINS_MAX };
}

/** The members in which duplicates must agree; undefined for a grain that states nothing. */
function keyOf({ type, fields }: Pick<Grain, 'type' | 'fields'>): string | undefined {
  const statement = STATEMENTS[type];
  const text = saidBy(type, fields);
  if (statement === undefined || text === undefined) return undefined;
  const about = ['namespace', 'user_id', ...statement.about].map((name) => fields[name] ?? null);
  return JSON.stringify([type, about, text.match(NUMBERS) ?? [], text.match(NEGATIONS)?.length ?? 0], bigintAsText);
}

const NUMBERS = /\p{N}+/gu;
const NEGATIONS = /\b(?:not|no|never|none|nothing|without|cannot|[a-z]+n['’]t)\b/gi;

const bigintAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

function saidBy(type: GrainType, fields: ValueMap): string | undefined {
  for (const name of STATEMENTS[type]?.says ?? []) {
    const text = fields[name];
    if (typeof text === 'string' && text.trim() !== '') return text;
  }
  return undefined;
}

/** Code points of a text that is compared letter by letter; a longer one is a duplicate only of an equal text. */
const COMPARED_MAX = 2_000;

function statementOf({ type, fields }: Pick<Grain, 'type' | 'fields'>, hash: string): Statement {
  const confidence = fields['confidence'];
  const text = (saidBy(type, fields) ?? '').toLowerCase().replace(/\s+/g, ' ').trim();
  return {
    hash,
    confidence: typeof confidence === 'number' ? confidence : 1,
    createdAtMs: Number(fields['created_at']),
    text: text.length <= COMPARED_MAX ? text : `${createHash('sha256').update(text).digest('hex')}\u0000`,
  };
}

/** The most trusted first, then the newest: the first of those that are alike becomes the canonical one. */
function byTrust(a: Statement, b: Statement): number {
  return b.confidence - a.confidence || b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}

/**
 * Each statement joins the first earlier one that it is similar to. The canonical ones are not similar to one another,
 * so a second run finds nothing.
 */
function* starsOf(statements: readonly Statement[], threshold: number, work: Work): Sliced<DuplicateGroup[]> {
  const stars: { readonly canonical: Statement; readonly duplicates: DuplicateGroup['duplicates'][number][] }[] = [];
  const exact = new Map<string, (typeof stars)[number]>();
  let yieldAt = work.cells + STEP_CELLS;
  for (const one of [...statements].sort(byTrust)) {
    const same = exact.get(one.text);
    let found =
      same === undefined ? undefined : { star: same, similarity: similarityTo(same.canonical, one, threshold, work) };
    for (const star of found === undefined && !isDigest(one.text) ? stars : []) {
      if (work.cells > yieldAt) {
        if (work.cells > CONSOLIDATED_CELLS_MAX) break;
        yieldAt = work.cells + STEP_CELLS;
        yield;
      }
      const similarity = similarityTo(star.canonical, one, threshold, work);
      if (similarity === undefined) continue;
      found = { star, similarity };
      break;
    }
    if (work.cells > CONSOLIDATED_CELLS_MAX) break;
    if (found?.similarity === undefined) {
      const star = { canonical: one, duplicates: [] };
      stars.push(star);
      exact.set(one.text, star);
    } else if (found.star.duplicates.length < CONSOLIDATED_GROUP_MAX) {
      found.star.duplicates.push({ hash: one.hash, similarity: found.similarity });
      exact.set(one.text, found.star);
    }
  }
  return stars
    .filter(({ duplicates }) => duplicates.length > 0)
    .map(({ canonical, duplicates }) => ({ canonical: canonical.hash, duplicates }));
}

const isDigest = (text: string): boolean => text.endsWith('\u0000');

function similarityTo(a: Statement, b: Statement, threshold: number, work: Work): number | undefined {
  if (a.text === b.text) return 1;
  if (isDigest(a.text) || isDigest(b.text)) return undefined;
  a.letters ??= lettersOf(a.text);
  b.letters ??= lettersOf(b.text);
  return similarityOf(a.letters, b.letters, threshold, work);
}
