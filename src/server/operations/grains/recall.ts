import { randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import type { Services } from '../../context.ts';
import { wordsAlone } from '../../embedding/query-vector.ts';
import { RecallRequest, RecallResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall, mechanicalInput, rpc } from '../define.ts';
import { isMembers, nodeOf } from '../names.ts';
import { HitOutput, hitMessage, hitOutput } from './hit-output.ts';
import { given, idleFieldWarnings, laterFieldWarnings, RecallInput } from './recall-fields.ts';
import { CensusOutput, censusOutput, ExhaustiveOutput, exhaustiveOutput } from './recall-metadata.ts';
import { givesVector, recallQuery, refuseDuration, stagedQuery, withVector } from './recall-query.ts';

const Output = Type.Object({
  count: Type.Integer(),
  results: Type.Array(HitOutput),
  sources: Type.Optional(Type.Array(HitOutput)),
  totalCandidates: Type.Integer(),
  topicCoverage: Type.Union([Type.String(), Type.Null()]),
  recallId: Type.String(),
  warnings: Type.Array(Type.String()),
  entityCount: Type.Optional(Type.Integer()),
  entities: Type.Optional(Type.Array(Type.String())),
  exhaustiveMetadata: Type.Optional(ExhaustiveOutput),
  sessionCensusMetadata: Type.Optional(CensusOutput),
  sessionCoverageRatio: Type.Optional(Type.Number()),
});

const NOT_READY = wordsAlone("the memory's vectors are not ready yet").warning;

/** A worker has no embedder: where the deployment has one, a recall is read here. */
function needsVector(_bytes: Uint8Array, { config }: Services): boolean {
  return config.embedder !== 'none';
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
    staysHere: needsVector,
    write: (output: Static<typeof Output>) => ({
      count: output.count,
      results: output.results.map(hitMessage),
      sources: (output.sources ?? []).map(hitMessage),
      totalCandidates: output.totalCandidates,
      topicCoverage: output.topicCoverage ?? undefined,
      recallId: output.recallId,
      warnings: output.warnings,
      entityCount: output.entityCount,
      entities: output.entities ?? [],
      exhaustiveMetadata: output.exhaustiveMetadata,
      sessionCensusMetadata: output.sessionCensusMetadata,
      sessionCoverageRatio: output.sessionCoverageRatio,
    }),
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/recall',
      staysHere: needsVector,
      read: (parts) => {
        const input = mechanicalInput(nodeOf(RecallInput), parts);
        if (isMembers(input)) refuseDuration(input);
        return input;
      },
    },
  ],
  call: {
    method: 'recall',
    around: async (input, context, perform) => {
      const text = input.query?.trim() ?? '';
      if (text === '' || givesVector(input)) return perform(input);
      const { queryVectors, clock } = context.services;
      const { vector, warning } = await queryVectors.of(context.memory, text, context.deadlineMs - clock.nowMs());
      const output = await perform(vector === undefined ? input : withVector(input, vector));
      return warning === undefined ? output : { ...output, warnings: [...output.warnings, warning] };
    },
    ask: (input) => ({ input: stagedQuery(input) }),
    answer: ({ hits, total, coverage, vectorsBehind, sources, entities, exhaustive, census, sessionCoverageRatio }, input) => {
      const shown = { breakdown: input.scoreBreakdown === true, scope: given(input.scopePath) };
      return {
        count: hits.length,
        results: hits.map((hit) => hitOutput(hit, shown)),
        ...(sources === undefined ? {} : { sources: sources.map((hit) => hitOutput(hit, { scope: shown.scope })) }),
        totalCandidates: total,
        topicCoverage: coverage,
        recallId: randomBytes(32).toString('hex'),
        warnings: [
          ...recallQuery(input).warnings,
          ...laterFieldWarnings(input),
          ...idleFieldWarnings(input),
          ...(vectorsBehind === true ? [NOT_READY] : []),
        ],
        ...(entities === undefined ? {} : { entityCount: entities.length, entities: [...entities] }),
        ...(exhaustive === undefined ? {} : { exhaustiveMetadata: exhaustiveOutput(exhaustive) }),
        ...(census === undefined ? {} : { sessionCensusMetadata: censusOutput(census) }),
        ...(sessionCoverageRatio === undefined ? {} : { sessionCoverageRatio }),
      };
    },
  },
});
