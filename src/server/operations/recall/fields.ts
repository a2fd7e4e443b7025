// The 60 fields of a recall (service contract 6.3), by the names inside. All are checked for type and range; those that
// this build does not act on are warned about when they are set to anything but their default.
import { SECONDS_MAX } from '../../../engine/base/limits.ts';
import type { Members } from '../names.ts';
import { toSnake } from '../names.ts';
import { type Static, Type } from '../type.ts';

const text = () => Type.Optional(Type.String());
const texts = () => Type.Optional(Type.Array(Type.String()));
const flag = () => Type.Optional(Type.Boolean());
const integer = (minimum: number, maximum: number) => Type.Optional(Type.Integer({ minimum, maximum }));
const fraction = () => Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));
const seconds = () => Type.Optional(Type.Integer({ minimum: -SECONDS_MAX, maximum: SECONDS_MAX }));

export const RecallInput = Type.Object({
  query: text(),
  subject: text(),
  relation: text(),
  object: text(),
  namespace: text(),
  userId: text(),
  grainType: text(),
  // Their own check tells what is wrong with milliseconds.
  timeStart: Type.Optional(Type.Integer()),
  timeEnd: Type.Optional(Type.Integer()),
  confidenceThreshold: Type.Optional(Type.Number()),
  importanceThreshold: Type.Optional(Type.Number()),
  limit: Type.Optional(Type.Integer({ minimum: 0 })),
  temporalExpr: text(),
  tags: texts(),
  excludeTags: texts(),
  detectContradictions: flag(),
  scopePath: text(),
  includeSiblings: flag(),
  deduplicate: flag(),
  deduplicateThreshold: fraction(),
  subjectContains: text(),
  objectContains: text(),
  excludeSuperseded: flag(),
  includeContradicted: flag(),
  embedding: Type.Optional(Type.Array(Type.Number())),
  candidateLimit: Type.Optional(Type.Integer({ minimum: 0 })),
  minScore: Type.Optional(Type.Number()),
  scoreBreakdown: flag(),
  explanation: flag(),
  recencyWeight: fraction(),
  conflictResolution: flag(),
  recordProvenance: flag(),
  entity: text(),
  rerank: flag(),
  diversityLambda: fraction(),
  queryExpansion: flag(),
  hyde: flag(),
  llmRerank: flag(),
  temporalField: Type.Optional(Type.Enum(['created_at', 'event_date', 'both'])),
  includeSources: flag(),
  annotateRelativeTime: flag(),
  referenceDate: seconds(),
  sessionAffinityBoost: fraction(),
  subjectAffinityBoost: fraction(),
  multiHop: integer(0, 3),
  targetDate: seconds(),
  targetDateWeight: fraction(),
  queryDecompose: flag(),
  conflictSimilarityThreshold: fraction(),
  countEntities: flag(),
  minPerNamespace: integer(0, 10),
  maxNamespaces: integer(0, 100),
  exhaustive: flag(),
  exhaustiveMaxRounds: integer(0, 5),
  sessionCensus: flag(),
  sessionCensusMinPerSession: integer(0, 10),
  sessionCensusMinScore: fraction(),
  sessionCensusMaxQueries: integer(0, 50),
  aggregationIntent: flag(),
  preferenceEnrichment: flag(),
});
export type RecallInput = Static<typeof RecallInput>;

/** Fields that want a model which may not be there, and what they warn without it. */
const MODELS: Readonly<Partial<Record<keyof RecallInput, string>>> = {
  rerank: 'no local reranker is installed',
  hyde: 'no model is assigned for it',
  llmRerank: 'no model is assigned for it',
};

/** Fields that say how another is meant, and do nothing without it. */
const NEEDS: readonly (readonly [field: keyof RecallInput, needed: keyof RecallInput])[] = [
  ['includeSiblings', 'scopePath'],
  ['targetDateWeight', 'targetDate'],
  ['deduplicateThreshold', 'deduplicate'],
  ['conflictSimilarityThreshold', 'conflictResolution'],
  ['exhaustiveMaxRounds', 'exhaustive'],
  ['sessionCensusMinPerSession', 'sessionCensus'],
  ['sessionCensusMinScore', 'sessionCensus'],
  ['sessionCensusMaxQueries', 'sessionCensus'],
];

/** Fields that rank by words, or say what they mean: without a query they have nothing to work on. */
const OF_WORDS: readonly (keyof RecallInput)[] = [
  'embedding',
  'queryExpansion',
  'queryDecompose',
  'hyde',
  'rerank',
  'llmRerank',
];

/** A warning for each field of this request that would have changed the answer in a deployment that has a model. */
export function modelFieldWarnings(input: RecallInput): string[] {
  const members: Members = input;
  const warnings: string[] = [];
  if (!given(input.query?.trim())) return warnings;
  for (const [name, reason] of Object.entries(MODELS)) {
    if (members[name] !== true) continue;
    const brings = name === 'hyde' && (input.embedding ?? []).length > 0;
    warnings.push(`${toSnake(name)} was ignored: ${brings ? 'the request brings a vector of its own' : reason}`);
  }
  return warnings;
}

/** A warning for each field that did nothing for want of another one. */
export function idleFieldWarnings(input: RecallInput): string[] {
  const members: Members = input;
  const isAsked = (name: string): boolean => {
    const value = members[name];
    return Array.isArray(value) ? value.length > 0 : ![undefined, false, 0, ''].includes(value as undefined);
  };
  const warnings = NEEDS.filter(([field, needed]) => isAsked(field) && members[needed] !== 0 && !isAsked(needed)).map(
    ([field, needed]) => `${toSnake(field)} was ignored: it needs ${toSnake(needed)}`,
  );
  for (const name of OF_WORDS)
    if (isAsked(name) && !given(input.query?.trim())) warnings.push(`${toSnake(name)} was ignored: it needs query`);
  return warnings;
}

/** True for a text that says something: over gRPC an absent one is ''. */
export function given(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
