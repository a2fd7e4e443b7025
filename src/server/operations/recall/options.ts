// Which stages after fusion a recall's fields ask for (service contract 6.3). Values that ask for nothing are left out.
import type { RecallOptions } from '../../../shards/protocol.ts';
import type { RecallInput } from './fields.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Fields that are an option as they stand, and the value at which each asks for nothing (beside being absent). */
const NOTHING = {
  subjectContains: '',
  objectContains: '',
  queryExpansion: false,
  queryDecompose: false,
  multiHop: 0,
  recencyWeight: 0,
  sessionAffinityBoost: 0,
  subjectAffinityBoost: 0,
  detectContradictions: false,
  includeContradicted: true,
  aggregationIntent: false,
  deduplicate: false,
  conflictResolution: false,
  diversityLambda: 1,
  minPerNamespace: 0,
  maxNamespaces: 0,
  sessionCensus: false,
  exhaustive: false,
  includeSources: false,
  annotateRelativeTime: false,
  countEntities: false,
  explanation: false,
  scoreBreakdown: false,
  minScore: undefined,
  targetDate: undefined,
  preferenceEnrichment: undefined,
} as const satisfies { readonly [K in Plain]: RecallInput[K] | undefined };

/** The options that are neither meant by another nor chosen below. */
type Plain = Exclude<keyof RecallOptions & keyof RecallInput, keyof typeof MEANT | 'temporalField'>;

/** Fields that say how another one of them is meant: nothing by themselves. Zero is "use the default" where a count is. */
const MEANT = {
  deduplicateThreshold: 'deduplicate',
  conflictSimilarityThreshold: 'conflictResolution',
  targetDateWeight: 'targetDate',
  sessionCensusMinPerSession: 'sessionCensus',
  sessionCensusMinScore: 'sessionCensus',
  sessionCensusMaxQueries: 'sessionCensus',
  exhaustiveMaxRounds: 'exhaustive',
  referenceDate: 'annotateRelativeTime',
} as const satisfies Readonly<Partial<Record<keyof RecallOptions, keyof RecallOptions>>>;
const COUNTS: ReadonlySet<string> = new Set([
  'sessionCensusMinPerSession',
  'sessionCensusMaxQueries',
  'exhaustiveMaxRounds',
]);

/** Empty when the request leaves a recall as it is. */
export function recallOptions(input: RecallInput): RecallOptions {
  const values: Mutable<Record<string, unknown>> = {};
  for (const [name, nothing] of Object.entries(NOTHING)) {
    const value = input[name as keyof typeof NOTHING]; // a key of it
    if (value !== undefined && value !== nothing) values[name] = value;
  }
  for (const [name, other] of Object.entries(MEANT)) {
    const value = input[name as keyof RecallInput]; // every option of that table is a field
    if (value === undefined || values[other] === undefined || (value === 0 && COUNTS.has(name))) continue;
    values[name] = value;
  }
  const bySecond = values['targetDate'] !== undefined || values['annotateRelativeTime'] !== undefined;
  if (bySecond && input.temporalField !== undefined) values['temporalField'] = input.temporalField;
  return values as RecallOptions; // members of the input under the same names, of the same types
}
