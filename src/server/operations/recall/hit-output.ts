// Converts a recall's hit to the HTTP and gRPC answers, with its score breakdown.

import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import { scopeDepth } from '../../../engine/recall/filter/scope.ts';
import type { RecallHit } from '../../../shards/protocol.ts';
import type { DeepPartial, SearchHit } from '../../gen/memory/v1/memory.ts';
import { Fields } from '../grains/fields.ts';
import { Hash, Sentence, sentenceOf } from '../grains/view.ts';
import { described, type Static, Type } from '../type.ts';

const number = () => Type.Optional(Type.Number());

/** final_score is base + changes; base is rrf_score, or the sum of the text leg's eleven fields if rrf_score is 0. */
const BreakdownOutput = Type.Object({
  bm25Rank: Type.Optional(Type.Integer({ description: 'Rank of the grain by words alone, from 1.' })),
  vectorScore: described(number(), 'Raw cosine between the vectors of the query and the grain.'),
  rrfScore: Type.Number({
    description:
      'Base of the score where several rankings were fused; 0 where the eleven text terms add up to the base.',
  }),
  interferencePenalty: described(number(), 'Change by detect_contradictions.'),
  recencyDecay: described(number(), 'Change by recency_weight.'),
  sessionAffinity: described(number(), 'Change by session_affinity_boost.'),
  subjectAffinity: described(number(), 'Change by subject_affinity_boost.'),
  targetDateProximity: described(number(), 'Change by target_date_weight.'),
  supersessionDemotion: described(number(), 'Change that an old version gets.'),
  temporalDecayBoost: described(number(), 'Change by target_date.'),
  finalScore: Type.Number({ description: "Base and changes together, which is the hit's score." }),
  bm25: described(number(), 'Text term: words that the grain shares with the query.'),
  phrase: described(number(), 'Text term: adjacent pairs of words that the grain shares with the query.'),
  vector: described(number(), 'Text term: similarity of the vectors of the query and the grain.'),
  near: described(number(), 'Text term: matches of the turns before and after in the session.'),
  answer: described(number(), 'Text term: match of the question that the turn answers.'),
  session: described(number(), 'Text term: best match in the session.'),
  pooled: described(
    number(),
    'Text term: words that the whole session of the turn shares with the query; 0 without vectors.',
  ),
  role: described(number(), 'Text term: role of the turn.'),
  speaker: described(number(), 'Text term: the query names the speaker.'),
  time: described(number(), 'Text term: the query asks for a time and the turn names one.'),
  self: described(number(), 'Text term: the turn speaks in the first person.'),
});
type BreakdownOutput = Static<typeof BreakdownOutput>;

export const HitOutput = Type.Object({
  hash: Type.String({ description: 'Hash of the grain: SHA-256 of its plaintext blob, 64 hexadecimal digits.' }),
  blobHash: Type.String({ description: 'The same as hash.' }),
  grainType: Type.String({ description: 'Type of the grain.' }),
  type: Type.String({ description: 'The same as grain_type.' }),
  score: Type.Number({ description: 'Score of the hit, which the hits are ordered by.' }),
  relevance: Type.Optional(
    Type.Number({
      description:
        'Probability that the hit bears on the query, which min_score is compared with; absent for a hit by structure only.',
    }),
  ),
  text: Sentence,
  fields: described(Fields, 'Every field of the grain, with defaults filled in.'),
  createdAt: Type.Integer({ description: 'Time at which the grain was created, in Unix seconds.' }),
  namespace: Type.String({ description: 'Namespace of the grain.' }),
  sourceNamespace: Type.Optional(
    Type.String({ description: 'Namespace that the grain comes from; only with scope_path.' }),
  ),
  scopeDepth: Type.Optional(
    Type.Integer({ description: 'Depth of that namespace in the scope tree, from 0; only with scope_path.' }),
  ),
  userId: Type.Optional(Type.String({ description: 'The data subject; absent where there is none.' })),
  supersededBy: Type.Optional(Type.String({ description: 'Hash of the next version; absent for the current one.' })),
  sources: Type.Optional(Type.Array(Hash, { description: 'Further sources of the grain, the newest first.' })),
  scoreBreakdown: Type.Optional(described(BreakdownOutput, 'How the score came about; only with score_breakdown.')),
  explanation: Type.Optional(Type.String({ description: 'The breakdown as a sentence; only with explanation.' })),
  relativeTime: Type.Optional(
    Type.String({ description: 'Age of the grain in words, such as 2 weeks ago; only with annotate_relative_time.' }),
  ),
  conflictStatus: Type.Optional(
    Type.String({
      description: 'Whether the hit is current or outdated among contradictions; only with detect_contradictions.',
    }),
  ),
  supersessionStatus: Type.Optional(
    Type.String({ description: 'Set to superseded for an old version; absent otherwise.' }),
  ),
  recallSource: Type.String({ description: 'The search that found the hit: primary, expansion or census.' }),
});
export type HitOutput = Static<typeof HitOutput>;

/** The warning of a recall whose results exceed the size limit of an answer. */
export function truncatedWarning(count: number): string {
  return `the answer ends at ${ANSWER_BYTES_MAX / 1_048_576} MiB: it contains ${count} of the results`;
}

/** Members of a hit that are shown on request. */
export interface Shown {
  readonly breakdown?: boolean | undefined;
  /** Shows the hit's namespace and depth, for recalls with scope_path. */
  readonly scope?: boolean | undefined;
}

export function hitOutput(hit: RecallHit, shown: Shown = {}): HitOutput {
  const { grain, score, relevance, superseded, stage } = hit;
  return {
    hash: grain.hash,
    blobHash: grain.hash,
    grainType: grain.grainType,
    type: grain.grainType,
    score,
    relevance,
    text: sentenceOf(grain),
    fields: grain.fields,
    createdAt: grain.createdAt,
    namespace: grain.namespace,
    sourceNamespace: shown.scope === true ? grain.namespace : undefined,
    scopeDepth: shown.scope === true ? scopeDepth(grain.namespace) : undefined,
    userId: grain.userId,
    supersededBy: grain.supersededBy,
    sources: grain.sources && [...grain.sources],
    scoreBreakdown: shown.breakdown === true && stage !== undefined ? breakdownOutput(hit, stage) : undefined,
    explanation: stage?.explanation,
    relativeTime: stage?.relativeTime,
    conflictStatus: stage?.conflictStatus,
    supersessionStatus: superseded ? 'superseded' : undefined,
    recallSource: stage?.recallSource ?? 'primary',
  };
}

function breakdownOutput(
  { score, breakdown, bm25Rank, cosine }: RecallHit,
  { base, byRanks, changes }: NonNullable<RecallHit['stage']>,
): BreakdownOutput {
  const { rrf: _rrf, final: _final, ...terms } = breakdown;
  return {
    bm25Rank,
    vectorScore: cosine,
    rrfScore: byRanks ? base : 0,
    ...changes,
    finalScore: score,
    ...terms,
  };
}

/** Converts the hit to its gRPC message. */
export function hitMessage(hit: HitOutput): DeepPartial<SearchHit> {
  return {
    hash: hit.hash,
    grainType: hit.grainType,
    score: hit.score,
    relevance: hit.relevance,
    fieldsJson: stringifyJson(hit.fields),
    sourceNamespace: hit.sourceNamespace ?? '',
    scopeDepth: hit.scopeDepth ?? 0,
    scoreBreakdown: hit.scoreBreakdown,
    explanation: hit.explanation ?? '',
    relativeTime: hit.relativeTime,
    conflictStatus: hit.conflictStatus,
    supersessionStatus: hit.supersessionStatus,
    recallSource: hit.recallSource,
    text: hit.text,
  };
}
