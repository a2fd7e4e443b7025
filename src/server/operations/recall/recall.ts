import { steadyMs } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as Staged from '../../../shards/gather/staged.ts';
import type { Output as Found } from '../../../shards/protocol.ts';
import type { Context } from '../../context.ts';
import { VECTORS_NOT_READY } from '../../embedding/query-vector.ts';
import { RecallRequest, RecallResponse } from '../../gen/memory/v1/memory.ts';
import { defineCall } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { mechanicalInput } from '../http-face.ts';
import { isMembers, nodeOf, outsideSchema } from '../names.ts';
import { described, type Static, Type } from '../type.ts';
import { cutWarnings, vectorCut } from './cuts.ts';
import { given, idleFieldWarnings, modelFieldWarnings, RecallInput } from './fields.ts';
import { HitOutput, hitMessage, hitOutput, truncatedWarning } from './hit-output.ts';
import { WaitForIndexMs, waitForIndex } from './index-wait.ts';
import { CensusOutput, censusOutput, ExhaustiveOutput, exhaustiveOutput } from './metadata.ts';
import { askerOf, modelsDone, questionVector, rerankingOf } from './models.ts';
import { peekAtJson, peekAtMessage } from './peek.ts';
import {
  givesVector,
  hasMadeVector,
  madeWarnings,
  type QueryInput,
  queryText,
  recallQuery,
  recordedQuery,
  refuseDuration,
  withMade,
  withVector,
} from './query.ts';
import { QueryModeMember, queryModeOf } from './query-mode.ts';
import { sidecarOf, unpackSidecar } from './sidecar.ts';

/** For a recall that waits for a model. */
const inStages = onDemand<typeof Staged>(import.meta.url, '../../../shards/gather/staged');

const Output = Type.Object({
  count: Type.Integer({ description: 'Number of results.' }),
  results: Type.Array(HitOutput, { description: 'The hits, best first.' }),
  sources: Type.Optional(
    Type.Array(HitOutput, { description: 'Grains that the hits were derived from; only with include_sources.' }),
  ),
  truncated: Type.Optional(
    Type.Literal(true, {
      description: 'True when the results end before the limit because they are too large together.',
    }),
  ),
  totalCandidates: Type.Integer({
    description: 'Number of grains that were found before the limit; a lower bound where a warning says so.',
  }),
  topicCoverage: Type.Union([Type.String(), Type.Null()], {
    description: 'How well the hits cover the words of the query: none, partial or full; null without a query.',
  }),
  recallId: Type.Optional(
    Type.String({
      description: 'Id of the provenance record; absent where neither the policy nor the caller wants one.',
    }),
  ),
  warnings: Type.Array(Type.String(), {
    description: 'Parts of the request that were ignored or not fulfilled, and limits that were reached.',
  }),
  entityCount: Type.Optional(Type.Integer({ description: 'Number of entities; only with count_entities.' })),
  entities: Type.Optional(
    Type.Array(Type.String(), { description: 'Different subjects of the results; only with count_entities.' }),
  ),
  exhaustiveMetadata: Type.Optional(
    described(ExhaustiveOutput, 'Figures of the exhaustive recall; only with exhaustive.'),
  ),
  sessionCensusMetadata: Type.Optional(
    described(CensusOutput, 'Figures of the census of sessions; only with session_census.'),
  ),
  sessionCoverageRatio: Type.Optional(
    Type.Number({
      description: 'Share of the sessions that the answer represents, from 0 to 1; only with session_census.',
    }),
  ),
  excluded: Type.Optional(
    Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of candidates that are not among the results, by reason; only with explanation over HTTP.',
    }),
  ),
});
type Output = Static<typeof Output>;

/** The HTTP body: the sixty fields, how to read operators, and how long to wait for indexes. */
const BodyInput = Type.Object({
  ...RecallInput.properties,
  queryMode: QueryModeMember,
  waitForIndexMs: WaitForIndexMs,
});
type BodyInput = Static<typeof BodyInput>;
const WAIT = 'wait_for_index_ms';

const VECTORS_PARTLY = 'a part of the memory has no vectors yet: its grains are ranked with a typical similarity';

export const recall = defineCall({
  name: 'recall',
  summary: 'Find grains by words, by structure, or by both.',
  description:
    'Sixty fields say what is looked for, how it is ranked and what the answer holds; every one is optional.',
  example: { query: 'what does Ada drink', user_id: 'ada', limit: 5 },
  needs: 'read',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: BodyInput,
  output: Output,
  errors: ['VAL-E001', 'MEM-E005'],
  grpc: rpc({
    rpc: 'Recall',
    request: RecallRequest,
    response: RecallResponse,
    sidecar: sidecarOf(peekAtMessage),
    write: (output: Output) => ({
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
      sidecar: sidecarOf(peekAtJson),
      onMainThread: (body) => Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(WAIT),
      bodySchema: outsideSchema(BodyInput),
      takesQuery: true,
      read: (parts) => {
        const input = mechanicalInput(nodeOf(BodyInput), parts);
        if (!isMembers(input)) return input;
        refuseDuration(input);
        return input;
      },
    },
  ],
  call: {
    method: 'recall',
    around: async (sent, context, perform) => {
      const input: QueryInput = { ...sent, ...defined({ queryMode: queryModeOf(sent, context) }) };
      await waitForIndex(context, (input as BodyInput).waitForIndexMs);
      const text = queryText(input);
      if (text === '') return perform(input);
      const { asked, warnings } = await embedded(input, text, context);
      const reranking = rerankingOf(asked, text, context);
      if (reranking === undefined) return withWarnings(await perform(asked), warnings);
      const wanted = modelsDone(asked, reranking.fields);
      const question = recordedQuery(wanted);
      const { recallInStages, recorded } = inStages();
      const fused = await recallInStages(question, (method, part) => context.call(method, part), reranking.rerank);
      const found = await recorded(question, fused, (content) => context.call('keepRecall', content));
      return withWarnings(answerOf(found, wanted), [...warnings, ...reranking.warnings]);
    },
    withSidecar: (input, beside) => withMade(input, unpackSidecar(beside, queryText(input))),
    ask: (input) => ({ input: recordedQuery(input) }),
    answer: answerOf,
  },
});

/** The request with the vector of its question, or a warning why it has none. */
async function embedded(
  input: QueryInput,
  text: string,
  context: Context,
): Promise<{ readonly asked: QueryInput; readonly warnings: readonly string[] }> {
  if (givesVector(input)) return { asked: input, warnings: [] };
  const { queryVectors, clock } = context.services;
  const { vector, warnings, hydeDone } = await questionVector(input, text, context, (words) =>
    queryVectors.of(
      context.memory,
      { text: words, userId: askerOf(input, context) },
      context.deadlineMs - steadyMs(clock),
    ),
  );
  const asked = hydeDone ? modelsDone(input, ['hyde']) : input;
  return { asked: vector === undefined ? asked : withVector(asked, vector), warnings };
}

function withWarnings(output: Output, warnings: readonly string[]): Output {
  return warnings.length === 0 ? output : { ...output, warnings: [...output.warnings, ...warnings] };
}

function answerOf(found: Found<'recall'>, input: QueryInput): Output {
  const {
    hits,
    total,
    coverage,
    truncated,
    vectorsBehind,
    sources,
    entities,
    exhaustive,
    census,
    sessionCoverageRatio,
    excluded,
    recallId,
  } = found;
  const { query, warnings } = recallQuery(input);
  const shown = { breakdown: input.scoreBreakdown === true, scope: given(input.scopePath) };
  return {
    count: hits.length,
    results: hits.map((hit) => hitOutput(hit, shown)),
    sources: sources?.map((hit) => hitOutput(hit, { scope: shown.scope })),
    truncated,
    totalCandidates: total,
    topicCoverage: coverage,
    recallId,
    warnings: [
      ...warnings,
      ...cutWarnings(input, found, query.candidateLimit),
      ...(hasMadeVector(input) ? vectorCut(query.query ?? '') : []),
      ...modelFieldWarnings(input),
      ...idleFieldWarnings(input),
      ...madeWarnings(input),
      ...(truncated === undefined ? [] : [truncatedWarning(hits.length)]),
      ...(vectorsBehind === true ? [VECTORS_NOT_READY] : []),
      ...(vectorsBehind === 'partly' ? [VECTORS_PARTLY] : []),
    ],
    entityCount: entities?.length,
    entities: entities && [...entities],
    exhaustiveMetadata: exhaustive && exhaustiveOutput(exhaustive),
    sessionCensusMetadata: census && censusOutput(census),
    sessionCoverageRatio,
    excluded: excluded && { ...excluded.counts },
  };
}
