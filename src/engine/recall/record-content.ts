// Builds the content of a recall record: the query and its outcome. Pure: it runs wherever the recall was fused.
import { hash } from 'node:crypto';
import { defined } from '../base/defined.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { RecallHit, RecallQuery } from '../calls/recall.ts';
import type { RecallRecordContent } from '../calls/trail.ts';
import { type FoundResult, type QueryMode, ScoreNumbers } from '../govern/trail/provenance.ts';
import { NameRun } from '../record/name-run.ts';
import { EXCLUDED_NAMED_MAX, ExclusionTally } from './exclusion-tally.ts';
import { TEXT_TERMS } from './stages/hit.ts';

type Found = Pick<MemoryCalls['recall']['output'], 'hits' | 'total' | 'excluded' | 'beyond'>;

export function recallRecordContent(
  query: RecallQuery,
  found: Found,
  mode: QueryMode = modeOf(query),
): RecallRecordContent {
  const { filter, options = {} } = query;
  const { subject, relation, object, entity, userId } = filter;
  return defined({
    mode,
    asked: query.record?.asked === true,
    query: defined({
      detect_contradictions: options.detectContradictions === true,
      grain_type: filter.grainTypes?.[0] ?? null,
      has_embedding: query.vector !== undefined,
      has_text: query.query !== undefined,
      options: optionNames(query),
      text_sha256: query.query === undefined ? undefined : hash('sha256', query.query, 'hex'),
    }),
    namespace: filter.namespace ?? '',
    userId: userId ?? filter.forUser,
    subject,
    relation,
    object,
    entity,
    candidateCount: Math.max(found.total, found.hits.length),
    results: found.hits.map((hit) => keptResult(hit, query)),
    ...exclusionsOf(found),
  });
}

function modeOf({ query, structural }: RecallQuery): QueryMode {
  if (query === undefined) return 'structural';
  return structural ? 'hybrid' : 'text';
}

/** Names of the query's options and conditions that the record has no own member for, sorted. */
function optionNames({ filter, options = {}, wordsOnly }: RecallQuery): string[] {
  const names: string[] = wordsOnly === true ? ['words_only'] : [];
  for (const [name, value] of Object.entries(options)) if (value !== undefined && value !== false) names.push(name);
  for (const [name, value] of Object.entries(filter))
    if (value !== undefined && value !== false && !TOLD_APART.has(name)) names.push(name);
  return names.map(snake).sort();
}

const TOLD_APART: ReadonlySet<string> = new Set([
  'subject',
  'relation',
  'object',
  'entity',
  'userId',
  'namespace',
  'grainTypes',
]);

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function keptResult(hit: RecallHit, query: Pick<RecallQuery, 'query' | 'structural'>): FoundResult {
  const { grain, name, score, breakdown, bm25Rank, cosine, stage } = hit;
  const byRanks = stage?.byRanks ?? (query.query === undefined || query.structural || !inText(breakdown));
  const { changes = {} } = stage ?? {};
  const account = new ScoreNumbers()
    .next(breakdown.answer)
    .next(breakdown.bm25)
    .next(bm25Rank)
    .next(score)
    .next(changes.interferencePenalty)
    .next(breakdown.near)
    .next(breakdown.phrase)
    .next(breakdown.pooled)
    .next(changes.recencyDecay)
    .next(breakdown.role)
    .next(byRanks ? (stage?.base ?? score) : 0)
    .next(breakdown.self)
    .next(breakdown.session)
    .next(changes.sessionAffinity)
    .next(breakdown.speaker)
    .next(changes.subjectAffinity)
    .next(changes.supersessionDemotion)
    .next(changes.targetDateProximity)
    .next(changes.temporalDecayBoost)
    .next(breakdown.time)
    .next(breakdown.vector)
    .next(cosine);
  return { hash: name ?? grain.hash, score: account.numbers };
}

function inText(breakdown: RecallHit['breakdown']): boolean {
  return TEXT_TERMS.some((term) => breakdown[term] !== 0);
}

/** Grains that the stages dropped and grains beyond the limit: counts them all, names the first ones. */
function exclusionsOf({ hits, total, excluded, beyond = [] }: Found): Pick<RecallRecordContent, 'excluded' | 'beyond'> {
  const taken = new ExclusionTally();
  if (excluded !== undefined) taken.join(excluded);
  const already = taken.counts.limit_exceeded ?? 0;
  // Without stages nothing was named before, and the names need not be compared.
  const isRun = beyond instanceof Uint8Array && taken.named.length === 0;
  if (!isRun) nameBeyond(taken, beyond instanceof Uint8Array ? new NameRun(beyond).texts() : beyond);
  // If the stages ran, they have counted these already.
  if (already === 0 && excluded === undefined) taken.count('limit_exceeded', total - hits.length);
  return isRun ? { excluded: taken.plain(), beyond } : { excluded: taken.plain() };
}

function nameBeyond(taken: ExclusionTally, beyond: readonly string[]): void {
  const named = new Set(taken.named.map(({ hash }) => hash));
  for (const hash of beyond) {
    if (taken.named.length >= EXCLUDED_NAMED_MAX) break;
    if (!named.has(hash)) taken.named.push({ hash, reason: 'limit_exceeded' });
  }
}
