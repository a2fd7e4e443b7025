import { randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { stringifyJson } from '../../../engine/grain/api-json.ts';
import type { RecallHit } from '../../../shards/protocol.ts';
import { RecallRequest, RecallResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall, mechanicalInput, rpc } from '../define.ts';
import { isMembers, nodeOf } from '../names.ts';
import { Fields } from './fields.ts';
import { laterFieldWarnings, RecallInput } from './recall-fields.ts';
import { recallQuery, refuseDuration } from './recall-query.ts';

export const HitOutput = Type.Object({
  hash: Type.String(),
  blobHash: Type.String(),
  grainType: Type.String(),
  type: Type.String(),
  score: Type.Number(),
  fields: Fields,
  createdAt: Type.Integer(),
  namespace: Type.String(),
  userId: Type.Optional(Type.String()),
  supersededBy: Type.Optional(Type.String()),
  supersessionStatus: Type.Optional(Type.String()),
  recallSource: Type.String(),
});
export type HitOutput = Static<typeof HitOutput>;

const Output = Type.Object({
  count: Type.Integer(),
  results: Type.Array(HitOutput),
  totalCandidates: Type.Integer(),
  topicCoverage: Type.Union([Type.String(), Type.Null()]),
  recallId: Type.String(),
  warnings: Type.Array(Type.String()),
  entityCount: Type.Optional(Type.Integer()),
  entities: Type.Optional(Type.Array(Type.String())),
});

/** A hit without `source_namespace` and `scope_depth`, which go with a scope path alone. */
export function hitOutput({ grain, score, superseded }: RecallHit): HitOutput {
  return {
    hash: grain.hash,
    blobHash: grain.hash,
    grainType: grain.grainType,
    type: grain.grainType,
    score,
    fields: grain.fields,
    createdAt: grain.createdAt,
    namespace: grain.namespace,
    ...(grain.userId === undefined ? {} : { userId: grain.userId }),
    ...(grain.supersededBy === undefined ? {} : { supersededBy: grain.supersededBy }),
    ...(superseded ? { supersessionStatus: 'superseded' } : {}),
    recallSource: 'primary',
  };
}

export const recall = defineCall({
  name: 'recall',
  summary: 'Find grains by words, by structure, or by both.',
  needs: 'read',
  mutates: false,
  input: RecallInput,
  output: Output,
  errors: ['VAL-E001', 'MEM-E005'],
  grpc: rpc({
    rpc: 'Recall',
    request: RecallRequest,
    response: RecallResponse,
    write: (output: Static<typeof Output>) => ({
      count: output.count,
      results: output.results.map((hit) => ({
        hash: hit.hash,
        grainType: hit.grainType,
        score: hit.score,
        fieldsJson: stringifyJson(hit.fields),
        recallSource: hit.recallSource,
        supersessionStatus: hit.supersessionStatus,
      })),
      totalCandidates: output.totalCandidates,
      topicCoverage: output.topicCoverage ?? undefined,
      recallId: output.recallId,
      warnings: output.warnings,
      entityCount: output.entityCount,
      entities: output.entities ?? [],
    }),
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/recall',
      read: (parts) => {
        const input = mechanicalInput(nodeOf(RecallInput), parts);
        if (isMembers(input)) refuseDuration(input);
        return input;
      },
    },
  ],
  call: {
    method: 'recall',
    ask: (input) => ({ input: recallQuery(input).query }),
    answer: ({ hits, total, coverage }, input) => {
      const { query, warnings } = recallQuery(input);
      const { minScore } = input;
      // Hits come best first, so what a minimum takes away is the end. Structural hits have no score to judge.
      const judged = minScore !== undefined && query.query !== undefined;
      const results = hits.filter((hit) => !judged || hit.score >= minScore).map(hitOutput);
      return {
        count: results.length,
        results,
        totalCandidates: total,
        topicCoverage: coverage,
        recallId: randomBytes(32).toString('hex'),
        warnings: [...warnings, ...laterFieldWarnings(input)],
        ...(input.countEntities === true ? entitiesOf(results) : {}),
      };
    },
  },
});

/** Distinct subjects, in the order of the hits. */
function entitiesOf(results: readonly HitOutput[]): { entityCount: number; entities: string[] } {
  const subjects = new Set<string>();
  for (const { fields } of results) {
    const subject = fields['subject'];
    if (typeof subject === 'string' && subject !== '') subjects.add(subject);
  }
  return { entityCount: subjects.size, entities: [...subjects] };
}
