// Decides what of a memory's texts may be sent to a provider. Every text for a model passes here: messages and tools for
// language models, grains and questions for embeddings, passages for rerankers.
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
import type { Provider } from './roles.ts';

/** What decides about a memory's texts: the policy sealed last, or the one that the memory was created with. */
export type Governed = Pick<MemoryRecord, 'governing' | 'policy' | 'sealing'>;

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

/** How texts may be sent there; `refusal`: not at all, and why. */
export type Departure = { readonly leaving: Leaving } | { readonly refusal: EngineError };

export function departureTo(memory: Governed, { external, region }: Destination): Departure {
  if (!external) return { leaving: whole };
  const { action, categories, regions } = egressOf(memory);
  if (action === 'block') return { refusal: new EngineError('POL-E005', KEPT) };
  if (regions.length > 0 && (region === undefined || !regions.includes(region)))
    return {
      refusal: new EngineError(
        'POL-E007',
        `${OUTSIDE_REGIONS} (${regions.join(', ')}); the provider's region is ${region ?? 'not set'}`,
      ),
    };
  return { leaving: action === 'redact' ? (text) => withoutPii(text, categories) : whole };
}

/** As `departureTo`. Throws POL-E005, POL-E007. */
export function leavingTo(memory: Governed, destination: Destination): Leaving {
  const departure = departureTo(memory, destination);
  if ('refusal' in departure) throw departure.refusal;
  return departure.leaving;
}

const KEPT = "the memory's policy forbids sending its texts to external services";
const OUTSIDE_REGIONS = "the memory's policy keeps its texts in its regions";

/** The text itself. It marks a departure that changes nothing. */
export function whole(text: string): string {
  return text;
}

/**
 * What may be sent of each text. It redacts in pieces and lets other work of this thread run between them, because
 * redaction takes 0.3 to 3 µs a character.
 */
export async function allLeaving(texts: readonly string[], leaving: Leaving): Promise<string[]> {
  if (leaving === whole) return [...texts];
  const sent: string[] = [];
  let untilMs = performance.now() + SLICE_MS;
  for (const text of texts) {
    let made = '';
    for (const piece of piecesOf(text)) {
      made += leaving(piece);
      if (performance.now() < untilMs) continue;
      await new Promise(setImmediate);
      untilMs = performance.now() + SLICE_MS;
    }
    sent.push(made);
  }
  return sent;
}

/** Cuts a long text at the ends of lines, else of words: half a name or number might not be recognised. */
function* piecesOf(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > MODEL_REDACT_CHARS) {
    const most = from + MODEL_REDACT_CHARS;
    const line = text.lastIndexOf('\n', most);
    const word = text.lastIndexOf(' ', most);
    const end = line > from ? line + 1 : word > from ? word + 1 : most;
    yield text.slice(from, end);
    from = end;
  }
  yield text.slice(from);
}

/** The same of a JSON value: the texts in it, its names, and numbers that are personal data as text. */
export function valueLeaving(value: unknown, leaving: Leaving): unknown {
  if (leaving === whole) return value;
  if (typeof value === 'string') return leaving(value);
  if (typeof value === 'number') {
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
}

function egressOf({ governing, policy, sealing }: Governed): Egress {
  // The next policy, or its regions, are not known yet, so block everything.
  if (sealing === true || (governing !== undefined && governing.regions === undefined))
    return { action: 'block', categories: '*', regions: [] };
  if (governing !== undefined) {
    const { egress: action, egressCategories: named = '*', regions = [] } = governing; // `regions` is known here
    const known = named === '*' ? '*' : named.filter(isPiiCategory);
    return { action, categories: egressCategories({ 'pii.categories': known }), regions };
  }
  if (policy === undefined) return { action: 'allow', categories: '*', regions: [] };
  const { rules } = compose(policy.presets, readOverrides(policy.overrides as PolicyValue)); // JSON of rules
  return {
    action: egressAction(rules),
    categories: egressCategories(rules),
    regions: rules['residency.enforce'] ? rules['residency.regions'] : [],
  };
}
