// Decides what of a memory's texts may be sent to a provider. Every text for a model passes here: messages and tools for
// language models, grains and questions for embeddings, passages for rerankers.
import { assert } from '../../engine/base/assert.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { MODEL_REDACT_CHARS, SLICE_MS } from '../../engine/base/limits.ts';
import { compose, readOverrides } from '../../engine/govern/policy/compose.ts';
import { egressAction, egressCategories } from '../../engine/govern/policy/in-force.ts';
import type { EgressAction } from '../../engine/govern/policy/rules.ts';
import type { PolicyValue } from '../../engine/govern/policy/values.ts';
import { isPiiCategory, type PiiCategory } from '../../engine/text/pii/categories.ts';
import { withoutPii } from '../../engine/text/pii/egress.ts';
import type { MemoryRecord } from '../control/records.ts';
import { isLoopback } from '../loopback.ts';
import type { Persons } from './persons.ts';
import type { Provider } from './roles.ts';

/** The policy that decides about a memory's texts: the one sealed last, or the one that the memory was created with. */
export type Governed = Pick<MemoryRecord, 'governing' | 'policy' | 'sealing'> & {
  readonly number?: number | undefined;
};

/**
 * Resolves to true if each of the persons has a grant for `cross_border` in the memory now, and none is restricted. One call
 * on the memory, however many persons.
 */
export type HasGrants = (memory: number, userIds: readonly string[]) => Promise<boolean>;

/** Returns the part of a text that may be sent. */
export type Leaving = (text: string) => string;

/** Where texts go. */
export interface Destination {
  /** False on this machine: what goes there does not leave. */
  readonly external: boolean;
  readonly region?: string | undefined;
}

export function destinationOf({ kind, baseUrl, region }: Pick<Provider, 'kind' | 'baseUrl' | 'region'>): Destination {
  const isHere = kind === 'mock' || (URL.canParse(baseUrl) && isLoopback(new URL(baseUrl).hostname));
  return { external: !isHere, region };
}

/** How texts may be sent there. `refusal`: not at all, and why. `withGrants`: only if all their persons have a grant. */
export type Departure =
  | { readonly leaving: Leaving }
  | { readonly refusal: EngineError; readonly withGrants?: Leaving | undefined };

export function departureTo(memory: Governed, { external, region }: Destination): Departure {
  if (!external) return { leaving: whole };
  const { action, categories, regions, byConsent } = egressOf(memory);
  if (action === 'block') return { refusal: new EngineError('POL-E005', KEPT) };
  const leaving: Leaving = action === 'redact' ? (text) => withoutPii(text, categories) : whole;
  if (regions.length === 0 || (region !== undefined && regions.includes(region))) return { leaving };
  const where = `${OUTSIDE_REGIONS} (${regions.join(', ')}); the provider's region is ${region ?? 'not set'}`;
  return byConsent
    ? { refusal: new EngineError('POL-E007', `${where}, and ${NOT_GRANTED}`), withGrants: leaving }
    : { refusal: new EngineError('POL-E007', where) };
}

/** How a request may be sent there that holds texts of these persons. Rejects with POL-E005, POL-E007. */
export async function leavingTo(
  memory: Governed,
  destination: Destination,
  { persons, hasGrants }: { readonly persons: Persons; readonly hasGrants: HasGrants },
): Promise<Leaving> {
  const departure = departureTo(memory, destination);
  const leaving = await leavingFor(memory, departure, { persons, hasGrants });
  if (leaving !== undefined) return leaving;
  assert('refusal' in departure, 'what may not be sent is refused');
  throw departure.refusal;
}

/** How such a request may be sent by a departure that was decided on before; undefined: not at all. */
export async function leavingFor(
  memory: Governed,
  departure: Departure,
  { persons, hasGrants }: { readonly persons: Persons; readonly hasGrants: HasGrants },
): Promise<Leaving | undefined> {
  if ('leaving' in departure) return departure.leaving;
  const { withGrants } = departure;
  return withGrants !== undefined && (await mayCross(memory, persons, hasGrants)) ? withGrants : undefined;
}

/** A text of nobody may be about anyone, and nobody can grant that it crosses a border. */
async function mayCross({ number }: Governed, persons: Persons, hasGrants: HasGrants): Promise<boolean> {
  const named = [...persons].filter((person) => person !== undefined);
  if (number === undefined || named.length === 0 || named.length < persons.size) return false;
  return await hasGrants(number, named);
}

const KEPT = "the memory's policy forbids sending its texts to external services";
const OUTSIDE_REGIONS = "the memory's policy keeps its texts in its regions";
const NOT_GRANTED = 'not everyone whose text would be sent has a grant for cross_border';

/** The text itself. It marks a departure that changes nothing. */
export function whole(text: string): string {
  return text;
}

/**
 * The part of each text that may be sent. It redacts in pieces and lets other work of this thread run between them,
 * because redaction takes 0.3 to 3 µs a character.
 */
export async function allLeaving(texts: readonly string[], leaving: Leaving): Promise<string[]> {
  if (leaving === whole) return [...texts];
  const sent: string[] = [];
  let untilMs = performance.now() + SLICE_MS;
  for (const text of texts) {
    let made = '';
    for (const piece of piecesOf(text, leaving)) {
      made += leaving(piece);
      if (performance.now() < untilMs) continue;
      await new Promise(setImmediate);
      untilMs = performance.now() + SLICE_MS;
    }
    sent.push(made);
  }
  return sent;
}

/**
 * Cuts a long text at the ends of lines, else of words, where nothing that is redacted lies on both sides: half a name or
 * number might not be recognised.
 */
function* piecesOf(text: string, leaving: Leaving): Generator<string> {
  let from = 0;
  while (text.length - from > MODEL_REDACT_CHARS) {
    const end = cutOf(text, from, leaving);
    yield text.slice(from, end);
    from = end;
  }
  yield text.slice(from);
}

/** Characters around a cut that show whether something lies on both sides of it. */
const AROUND_CUT_CHARS = 256;
const CUTS_TRIED_MAX = 8;

/** The end of the piece that begins at `from`. */
function cutOf(text: string, from: number, leaving: Leaving): number {
  const most = from + MODEL_REDACT_CHARS;
  const line = text.lastIndexOf('\n', most) + 1;
  if (line > from && parts(text, line, leaving)) return line;
  let word = text.lastIndexOf(' ', most) + 1;
  const last = word > from ? word : most;
  for (let tried = 0; tried < CUTS_TRIED_MAX && word > from; tried += 1) {
    if (parts(text, word, leaving)) return word;
    word = text.lastIndexOf(' ', word - 2) + 1;
  }
  return line > from ? line : last;
}

function parts(text: string, at: number, leaving: Leaving): boolean {
  const before = text.slice(Math.max(0, at - AROUND_CUT_CHARS), at);
  const after = text.slice(at, at + AROUND_CUT_CHARS);
  return leaving(before + after) === leaving(before) + leaving(after);
}

/** The same of a JSON value: the texts in it, its names, and numbers that are personal data as text. */
export function valueLeaving(value: unknown, leaving: Leaving): unknown {
  if (leaving === whole) return value;
  if (typeof value === 'string') return leaving(value);
  if (typeof value === 'number' || typeof value === 'bigint') {
    const text = String(value);
    const sent = leaving(text);
    return sent === text ? value : sent;
  }
  if (Array.isArray(value)) return value.map((item) => valueLeaving(item, leaving));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [leaving(name), valueLeaving(member, leaving)]),
  );
}

interface Egress {
  readonly action: EgressAction;
  readonly categories: '*' | readonly PiiCategory[];
  /** Regions that texts are kept in; empty: any. */
  readonly regions: readonly string[];
  /** Whether grants of persons let their texts leave the regions. */
  readonly byConsent: boolean;
}

function egressOf({ governing, policy, sealing }: Governed): Egress {
  // The next policy, or its regions, are not known yet, so block everything.
  if (sealing === true || (governing !== undefined && governing.regions === undefined))
    return { action: 'block', categories: '*', regions: [], byConsent: false };
  if (governing !== undefined) {
    const { egress: action, egressCategories: named = '*', regions = [] } = governing; // `regions` is known here
    const known = named === '*' ? '*' : named.filter(isPiiCategory);
    const byConsent = governing.crossBorderConsent === true;
    return { action, categories: egressCategories({ 'pii.categories': known }), regions, byConsent };
  }
  if (policy === undefined) return { action: 'allow', categories: '*', regions: [], byConsent: false };
  const { rules } = compose(policy.presets, readOverrides(policy.overrides as PolicyValue)); // JSON of rules
  return {
    action: egressAction(rules),
    categories: egressCategories(rules),
    regions: rules['residency.enforce'] ? rules['residency.regions'] : [],
    byConsent: rules['residency.cross_border_consent'],
  };
}
