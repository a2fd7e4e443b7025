// A hit of a recall as HTTP and gRPC show it, with the account of its score.

import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import { stringifyJson } from '../../../engine/grain/api/json.ts';
import { scopeDepth } from '../../../engine/recall/filter/scope.ts';
import type { RecallHit } from '../../../shards/protocol.ts';
import type { DeepPartial, SearchHit } from '../../gen/memory/v1/memory.ts';
import { Fields } from '../grains/fields.ts';
import { Hash } from '../grains/view.ts';
import { type Static, Type } from '../type.ts';

const number = () => Type.Optional(Type.Number());

/** Base (rrf_score, where it is not 0; else the sum of the ten fields of the text leg) and changes add up to final_score. */
const BreakdownOutput = Type.Object({
  bm25Rank: Type.Optional(Type.Integer()),
  vectorScore: number(),
  rrfScore: Type.Number(),
  interferencePenalty: number(),
  recencyDecay: number(),
  sessionAffinity: number(),
  subjectAffinity: number(),
  targetDateProximity: number(),
  supersessionDemotion: number(),
  temporalDecayBoost: number(),
  finalScore: Type.Number(),
  bm25: number(),
  phrase: number(),
  vector: number(),
  near: number(),
  answer: number(),
  session: number(),
  role: number(),
  speaker: number(),
  time: number(),
  self: number(),
});
type BreakdownOutput = Static<typeof BreakdownOutput>;

export const HitOutput = Type.Object({
  hash: Type.String(),
  blobHash: Type.String(),
  grainType: Type.String(),
  type: Type.String(),
  score: Type.Number(),
  fields: Fields,
  createdAt: Type.Integer(),
  namespace: Type.String(),
  sourceNamespace: Type.Optional(Type.String()),
  scopeDepth: Type.Optional(Type.Integer()),
  userId: Type.Optional(Type.String()),
  supersededBy: Type.Optional(Type.String()),
  /** Further sources of a known grain, the newest first. */
  sources: Type.Optional(Type.Array(Hash)),
  scoreBreakdown: Type.Optional(BreakdownOutput),
  explanation: Type.Optional(Type.String()),
  relativeTime: Type.Optional(Type.String()),
  conflictStatus: Type.Optional(Type.String()),
  supersessionStatus: Type.Optional(Type.String()),
  recallSource: Type.String(),
});
export type HitOutput = Static<typeof HitOutput>;

/** Of a recall whose results are too large together. */
export function truncatedWarning(count: number): string {
  return `the answer ends at ${ANSWER_BYTES_MAX / 1_048_576} MiB: ${count} of the results are told`;
}

/** What of a hit is shown where a request asks for it. */
export interface Shown {
  readonly breakdown?: boolean;
  /** Where it comes from: goes with a scope path. */
  readonly scope?: boolean;
}

export function hitOutput(hit: RecallHit, shown: Shown = {}): HitOutput {
  const { grain, score, superseded, stage } = hit;
  return {
    hash: grain.hash,
    blobHash: grain.hash,
    grainType: grain.grainType,
    type: grain.grainType,
    score,
    fields: grain.fields,
    createdAt: grain.createdAt,
    namespace: grain.namespace,
    ...(shown.scope === true ? { sourceNamespace: grain.namespace, scopeDepth: scopeDepth(grain.namespace) } : {}),
    ...(grain.userId === undefined ? {} : { userId: grain.userId }),
    ...(grain.supersededBy === undefined ? {} : { supersededBy: grain.supersededBy }),
    ...(grain.sources === undefined ? {} : { sources: [...grain.sources] }),
    ...(shown.breakdown === true && stage !== undefined ? { scoreBreakdown: breakdownOutput(hit, stage) } : {}),
    ...(stage?.explanation === undefined ? {} : { explanation: stage.explanation }),
    ...(stage?.relativeTime === undefined ? {} : { relativeTime: stage.relativeTime }),
    ...(stage?.conflictStatus === undefined ? {} : { conflictStatus: stage.conflictStatus }),
    ...(superseded ? { supersessionStatus: 'superseded' } : {}),
    recallSource: stage?.recallSource ?? 'primary',
  };
}

function breakdownOutput(
  { score, breakdown, bm25Rank, cosine }: RecallHit,
  { base, byRanks, changes }: NonNullable<RecallHit['stage']>,
): BreakdownOutput {
  const { rrf: _rrf, final: _final, ...terms } = breakdown;
  return {
    ...(bm25Rank === undefined ? {} : { bm25Rank }),
    ...(cosine === undefined ? {} : { vectorScore: cosine }),
    rrfScore: byRanks ? base : 0,
    ...changes,
    finalScore: score,
    ...terms,
  };
}

/** The same hit as a message of gRPC. */
export function hitMessage(hit: HitOutput): DeepPartial<SearchHit> {
  return {
    hash: hit.hash,
    grainType: hit.grainType,
    score: hit.score,
    fieldsJson: stringifyJson(hit.fields),
    sourceNamespace: hit.sourceNamespace ?? '',
    scopeDepth: hit.scopeDepth ?? 0,
    scoreBreakdown: hit.scoreBreakdown,
    explanation: hit.explanation ?? '',
    relativeTime: hit.relativeTime,
    conflictStatus: hit.conflictStatus,
    supersessionStatus: hit.supersessionStatus,
    recallSource: hit.recallSource,
  };
}
