import { steadyMs } from '../../../engine/base/clock.ts';
import { defined } from '../../../engine/base/defined.ts';
import { ANSWER_BYTES_MAX } from '../../../engine/base/limits.ts';
import { AnswerRoom, partOfGrain, withinRoom } from '../../../engine/grain/api/answer-room.ts';
import { recallRecordContent } from '../../../engine/recall/record-content.ts';
import {
  CHAIN_QUERIES_DEFAULT,
  CHAIN_QUERIES_MAX,
  CHAIN_QUERIES_MIN,
  planChain,
  runChain,
} from '../../../engine/recall/stages/chain.ts';
import { fuseRankings } from '../../../engine/recall/stages/legs.ts';
import { recallHit, stageHit } from '../../../engine/recall/stages/recall-hit.ts';
import type { Context } from '../../context.ts';
import { type QueryVector, VECTORS_NOT_READY } from '../../embedding/query-vector.ts';
import { RecallChainRequest, RecallChainResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { bodyOf, missing } from '../grains/fields.ts';
import { rpc } from '../grpc-face.ts';
import { inward, isMembers, type Members, nodeOf, outsideSchema } from '../names.ts';
import { described, type Static, Type } from '../type.ts';
import { cutWarnings, QUERY_CUT } from './cuts.ts';
import { idleFieldWarnings, RecallInput } from './fields.ts';
import { HitOutput, hitMessage, hitOutput } from './hit-output.ts';
import { WaitForIndexMs, waitForIndex } from './index-wait.ts';
import { askerOf } from './models.ts';
import { givesVector, recallQuery, refuseDuration, stagedQuery } from './query.ts';
import { QueryModeMember, queryModeOf } from './query-mode.ts';

const Input = Type.Object({
  query: Type.String({ minLength: 1, description: 'The question to take apart.' }),
  maxSubQueries: Type.Optional(
    Type.Union([Type.Integer({ minimum: CHAIN_QUERIES_MIN, maximum: CHAIN_QUERIES_MAX }), Type.Literal(0)], {
      description: 'Number of parts at most, from 2 to 8; 0 or absent is 4.',
    }),
  ),
  params: Type.Optional(described(RecallInput, 'Fields of each recall, without its query.')),
  queryMode: QueryModeMember,
  waitForIndexMs: WaitForIndexMs,
});

const BODY = outsideSchema(
  Type.Object({
    question: Input.properties.query,
    maxSubQueries: Input.properties.maxSubQueries,
    params: Input.properties.params,
    queryMode: Input.properties.queryMode,
    waitForIndexMs: Input.properties.waitForIndexMs,
  }),
);

const Output = Type.Object({
  subQueries: Type.Array(Type.String(), {
    description: 'The parts of the question, in the order of their recalls.',
  }),
  subResults: Type.Array(
    Type.Object({
      query: Type.String({ description: 'The part of the question.' }),
      count: Type.Integer({ description: 'Number of hits of the part.' }),
      results: Type.Array(HitOutput, { description: 'Hits of the part, best first.' }),
    }),
    { description: 'Hits of each part.' },
  ),
  results: Type.Array(HitOutput, { description: 'Hits of all parts, fused, best first.' }),
  count: Type.Integer({ description: 'Number of fused hits.' }),
  reasoning: Type.String({ description: 'How the question was read.' }),
  warnings: Type.Optional(
    Type.Array(Type.String(), { description: 'Parts of the request that were ignored or not fulfilled.' }),
  ),
});

export const recallChain = defineOperation({
  name: 'recall_chain',
  summary: 'Split a question, recall each part, and use what one part finds in the next.',
  description:
    'Several questions, comparisons, lists and joined clauses are asked side by side; possessives and relative clauses are hops. The rankings are fused.',
  example: { question: "Where does Ada's brother work?", max_sub_queries: 3 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  onAnyNode: true,
  mutates: false,
  input: Input,
  output: Output,
  errors: ['VAL-E001', 'MEM-E005'],
  grpc: rpc({
    rpc: 'RecallChain',
    request: RecallChainRequest,
    response: RecallChainResponse,
    write: (output: Static<typeof Output>) => ({
      ...output,
      subResults: output.subResults.map(({ results, ...rest }) => ({ ...rest, results: results.map(hitMessage) })),
      results: output.results.map(hitMessage),
    }),
  }),
  http: [
    {
      verb: 'POST',
      path: 'M/recall-chain',
      bodySchema: BODY,
      otherNames: ['query'],
      read: ({ json }) => {
        const body = bodyOf(json);
        const input = inward(nodeOf(Input), body);
        const members: Members = isMembers(input) ? input : {};
        members['query'] = body['question'] ?? body['query'];
        if (members['query'] === undefined || members['query'] === null) throw missing('question');
        if (isMembers(members['params'])) refuseDuration(members['params']);
        return members;
      },
    },
  ],
  async run(input, context) {
    const { query: question, maxSubQueries = 0, params = {} } = input;
    await waitForIndex(context, input.waitForIndexMs);
    const plan = planChain(question, maxSubQueries === 0 ? CHAIN_QUERIES_DEFAULT : maxSubQueries);
    // Each part uses the parameters, but not the whole question, which would distort its ranking.
    const asked = stagedQuery({ ...params, query: '', queryMode: queryModeOf(input, context) });
    const shown = { breakdown: params.scoreBreakdown === true, scope: asked.filter.scope !== undefined };
    const { warnings: limits } = recallQuery({ ...params, query: '' });
    const warnings = new Set<string>([...limits, ...idleFieldWarnings({ ...params, query: question })]);
    if (plan.cut !== undefined) warnings.add(plan.cut);
    // The answer contains a hit twice: under its part and among the fused results.
    const room = new AnswerRoom(ANSWER_BYTES_MAX / 2);
    const answers = await runChain(plan, async (part) => {
      const { vector, warning } = await vectorOf(part, params, context);
      const query = { ...asked, query: part, ...defined({ vector }) };
      const { hits: all, vectorsBehind, queryCut, truncated } = await context.call('recall', query);
      const hits = withinRoom(all, room, ({ grain }) => partOfGrain(grain));
      if (truncated === true || hits.length < all.length) warnings.add(CHAIN_CUT);
      if (warning !== undefined) warnings.add(warning);
      if (vectorsBehind === true) warnings.add(VECTORS_NOT_READY);
      if (queryCut === true) warnings.add(QUERY_CUT);
      return hits.map((hit) => ({ ...stageHit(hit, query), found: hit }));
    });
    const fused = fuseRankings(answers.map(({ hits }) => hits)).slice(0, asked.limit);
    const found = fused.map((hit) => recallHit(hit));
    const total = new Set(answers.flatMap(({ hits }) => hits.map(({ grain }) => grain.hash))).size;
    const whole = { ...asked, query: question, record: { asked: params.recordProvenance === true } };
    const { recallId } = await context.call('keepRecall', recallRecordContent(whole, { hits: found, total }, 'chain'));
    for (const warning of cutWarnings(params, defined({ hits: found, total, recallId }), asked.candidateLimit))
      warnings.add(warning);
    const results = found.map((hit) => hitOutput(hit, shown));
    return {
      subQueries: answers.map(({ query }) => query),
      subResults: answers.map(({ query, hits }) => ({
        query,
        count: hits.length,
        results: hits.map(({ found }) => hitOutput(found, shown)),
      })),
      results,
      count: results.length,
      reasoning: plan.reasoning,
      warnings: warnings.size === 0 ? undefined : [...warnings],
    };
  },
});

const CHAIN_CUT = `the answer ends at ${ANSWER_BYTES_MAX / 1_048_576} MiB: it omits results of some parts`;

/** Embeds a part. A caller's vector would match the whole question, so parts then search by words alone. */
function vectorOf(
  part: string,
  params: RecallInput,
  { services, memory, deadlineMs, userId }: Context,
): Promise<QueryVector> {
  if (givesVector(params)) return Promise.resolve({});
  const asked = { text: part, userId: askerOf(params, { userId }) };
  return services.queryVectors.of(memory, asked, deadlineMs - steadyMs(services.clock));
}
