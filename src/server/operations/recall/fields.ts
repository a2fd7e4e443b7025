// The 60 fields of a recall (service contract 6.3), under inside names. The schema checks type and range; fields without
// effect in this deployment or request cause a warning.
import { RECALL_LIMIT_DEFAULT, SECONDS_MAX } from '../../../engine/base/limits.ts';
import type { Members } from '../names.ts';
import { toSnake } from '../names.ts';
import { type Static, Type } from '../type.ts';

const text = (description: string) => Type.Optional(Type.String({ description }));
const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
/** A boolean field; absent means false. */
const flag = (description: string) => Type.Optional(Type.Boolean({ description, default: false }));
const integer = (minimum: number, maximum: number, description: string, fallback: number) =>
  Type.Optional(Type.Integer({ minimum, maximum, description, default: fallback }));
const fraction = (description: string, fallback: number) =>
  Type.Optional(Type.Number({ minimum: 0, maximum: 1, description, default: fallback }));
const seconds = (description: string) =>
  Type.Optional(Type.Integer({ minimum: -SECONDS_MAX, maximum: SECONDS_MAX, description }));

/** In the order of their numbers in the message; docs/recall.md shows them in a table made by `npm run docs`. */
export const RecallInput = Type.Object({
  query: text(
    'Free text to search for. The operators "a phrase", +word, -word and field:term move hits up and down; see query_mode.',
  ),
  subject: text('Only grains with exactly this subject.'),
  relation: text('Only grains with exactly this relation.'),
  object: text('Only grains with exactly this object.'),
  namespace: text('Only grains of exactly this namespace.'),
  userId: text('Only grains of this data subject.'),
  grainType: text('Only grains of this type.'),
  // No range here: `secondsToMs` refuses milliseconds with its own message.
  timeStart: Type.Optional(
    Type.Integer({ description: 'Only grains from this time on, in Unix seconds, by the time of temporal_field.' }),
  ),
  timeEnd: Type.Optional(
    Type.Integer({
      description: 'Only grains up to the end of this second, in Unix seconds, by the time of temporal_field.',
    }),
  ),
  confidenceThreshold: Type.Optional(
    Type.Number({ description: 'Only grains of at least this confidence; a grain without one has 1.' }),
  ),
  importanceThreshold: Type.Optional(
    Type.Number({ description: 'Only grains of at least this importance; a grain without one is dropped.' }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Number of hits at most; 0 is the default of 20, and above 500 is treated as 500.',
      default: RECALL_LIMIT_DEFAULT,
    }),
  ),
  temporalExpr: text(
    'Phrase of time in UTC, such as "last month" or "2024-05", which narrows time_start and time_end further.',
  ),
  tags: texts('Only grains that have all of these tags.'),
  excludeTags: texts('Only grains that have none of these tags.'),
  detectContradictions: flag(
    'Marks hits of one user, subject and relation with different objects: the newest as current, the others as outdated, which lose 0.20.',
  ),
  scopePath: text('Only grains whose namespace is this path, lies above it (acme of acme/prod) or lies below it.'),
  includeSiblings: flag('With scope_path: also grains of the namespaces that have the same parent.'),
  deduplicate: flag(
    'Keeps one of several hits with the same subject and relation and similar objects: that of the highest confidence, then the newest.',
  ),
  deduplicateThreshold: fraction(
    'With deduplicate: similarity of objects, from 0 to 1, from which they are the same; 1 − edit distance / length of the longer.',
    0.85,
  ),
  subjectContains: text('Only grains whose subject contains this text, in any case.'),
  objectContains: text('Only grains whose object contains this text, in any case.'),
  excludeSuperseded: Type.Optional(
    Type.Boolean({
      description: 'Leaves old versions out; false finds them too, marked superseded and 0.15 lower.',
      default: true,
    }),
  ),
  includeContradicted: Type.Optional(
    Type.Boolean({
      description: 'Keeps hits that are outdated by detect_contradictions or retracted; false drops them.',
      default: true,
    }),
  ),
  embedding: Type.Optional(
    Type.Array(Type.Number(), {
      description:
        "Vector of the query, in place of the server's own; it needs the dimensions of the memory's vectors.",
    }),
  ),
  candidateLimit: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Hits of each leg before fusion; 0 or absent is the larger of 100 and 5 × limit, and above 2,500 is treated as 2,500.',
    }),
  ),
  minScore: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Drops hits of a relevance below this: the probability, from 0 to 1, that a hit bears on the query.',
    }),
  ),
  scoreBreakdown: flag('Fills score_breakdown: how each score came about.'),
  explanation: flag('Fills explanation, the breakdown as a sentence, and over HTTP excluded.'),
  recencyWeight: fraction(
    'Weight w of recency, from 0 to 1: (1 − w) × score + w / (1 + age in hours), except for grains of temporal_type state.',
    0,
  ),
  conflictResolution: flag('Keeps the newest object alone for each user, subject and relation.'),
  recordProvenance: Type.Optional(
    Type.Boolean({
      description:
        'Whether the recall leaves a record; the default is what the policy says, and true leaves one anyway.',
    }),
  ),
  entity: text('Only grains with this value as subject or object, in place of subject, relation and object.'),
  rerank: flag(
    'Puts the best 30 hits (50 with a model that the server runs itself) in the order of the model of the role rerank.',
  ),
  diversityLambda: fraction(
    'Chooses the hits by maximal marginal relevance among the best 400: 1 is relevance alone, 0 difference alone.',
    1,
  ),
  queryExpansion: flag('Also searches for other forms of the words, for synonyms and for similar spellings.'),
  hyde: flag('Also searches for what an answer imagined by the model of the role hyde is like.'),
  llmRerank: flag('Puts the best 20 hits in the order of a language model, after rerank.'),
  temporalField: Type.Optional(
    Type.Enum(['created_at', 'event_date', 'both'], {
      description: 'Time that the fields of time mean: created_at, event_date (valid_from of the grain) or both.',
      default: 'created_at',
    }),
  ),
  includeSources: flag('Adds the grains that the hits were derived from, as sources.'),
  annotateRelativeTime: flag('Fills relative_time, such as "2 weeks ago".'),
  referenceDate: seconds(
    'Time that temporal_expr and relative_time take for now, in Unix seconds; the default is now.',
  ),
  sessionAffinityBoost: fraction('Share of the score that hits of the most frequent namespace of the top ten gain.', 0),
  subjectAffinityBoost: fraction('Share of the score that hits of the most frequent subject of the top ten gain.', 0),
  multiHop: integer(0, 3, 'Number of hops over entities from the top ten; each is a ranking that is fused.', 0),
  targetDate: seconds(
    'Time that hits should be near, in Unix seconds: it adds 0.15, falling to 0.05 a week and to 0 thirty days away.',
  ),
  targetDateWeight: fraction(
    'With target_date: weight w of nearness, from 0 to 1: (1 − w) × score + w / (1 + hours away).',
    0,
  ),
  queryDecompose: flag('Also asks two to four parts of the question, and fuses the rankings.'),
  conflictSimilarityThreshold: fraction(
    'With conflict_resolution: drops only objects that are at least this similar to the newest, from 0 to 1.',
    0,
  ),
  countEntities: flag('Fills entities, the different subjects of the answer, and entity_count.'),
  minPerNamespace: integer(0, 10, 'Places kept for each namespace that was found; 0 keeps none.', 0),
  maxNamespaces: integer(0, 100, 'Number of namespaces to keep, those with the best mean score; 0 keeps all.', 0),
  exhaustive: flag('Starts from ten times the candidates, then follows the entities of what it finds, round by round.'),
  exhaustiveMaxRounds: integer(0, 5, 'With exhaustive: number of rounds at most; 0 is the default of 3.', 3),
  sessionCensus: flag('Also asks sessions (namespaces) that the answer lacks.'),
  sessionCensusMinPerSession: integer(
    0,
    10,
    'With session_census: number of hits of each session; 0 is the default of 2.',
    2,
  ),
  sessionCensusMinScore: fraction('With session_census: what its hits must match at least, from 0 to 1.', 0.35),
  sessionCensusMaxQueries: integer(
    0,
    50,
    'With session_census: number of sessions to ask; 0 is the default of 10.',
    10,
  ),
  aggregationIntent: flag('Finds old versions too, with the same scores as the others.'),
  preferenceEnrichment: Type.Optional(
    Type.Boolean({
      description:
        'Adds what was said near the preferences among the top ten; the default is to do so when the query asks what somebody likes.',
    }),
  ),
});
export type RecallInput = Static<typeof RecallInput>;

/** Fields that need a model, with the reason for the warning when the deployment has none. */
const MODELS: Readonly<Partial<Record<keyof RecallInput, string>>> = {
  rerank: 'the role rerank has no model',
  hyde: 'the role hyde has no model',
  llmRerank: 'neither the role rerank nor the role chat has a language model',
};

/** Fields that modify another field and have no effect without it. */
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

/** Fields that have no effect without a query. */
const OF_WORDS: readonly (keyof RecallInput)[] = [
  'embedding',
  'queryExpansion',
  'queryDecompose',
  'hyde',
  'rerank',
  'llmRerank',
];

/** One warning for each field that was ignored because the deployment has no model for it. */
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

/** One warning for each field that was ignored because the field that it needs is absent. */
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

/** True for a text that is present and not empty; over gRPC an absent text is ''. */
export function given(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
