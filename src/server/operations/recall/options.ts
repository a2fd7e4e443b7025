// Converts a recall's fields to options of the stages after fusion (service contract 6.3), without neutral values.
import type { RecallOptions } from '../../../shards/protocol.ts';
import type { RecallInput } from './fields.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Fields that become options unchanged, each with its neutral value; an absent field is neutral too. */
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

/** The options that modify no other option (`MEANT`) and get no special treatment below. */
type Plain = Exclude<keyof RecallOptions & keyof RecallInput, keyof typeof MEANT | 'temporalField'>;

/** Fields that modify another option and have no effect without it. For COUNTS, 0 means the default. */
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

/** The options of a request; empty for a plain recall. */
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
