import { EngineError } from '../../../engine/base/errors.ts';
import { CalError } from '../../../engine/cal/errors.ts';
import { type CheckedQuery, hashOf } from '../../../engine/cal/query.ts';
import { isRefused, refusal } from '../../../engine/cal/run/answer.ts';
import { tierOf } from '../../../engine/cal/run/kinds.ts';
import { planOf } from '../../../engine/cal/run/plans.ts';
import { searchedTexts } from '../../../engine/cal/run/searched.ts';
import type { CalCall, CalReply, CalSession, QueryVector } from '../../../engine/calls/cal.ts';
import { objectOfJson, parseJson } from '../../../engine/grain/api/json.ts';
import { runCal } from '../../../shards/gather/cal.ts';
import type { JsonValue } from '../../../shards/protocol.ts';
import { includesScope } from '../../auth/principal.ts';
import type { Context } from '../../context.ts';
import { CalQueryRequest, CalQueryResponse } from '../../gen/memory/v1/memory.ts';
import { VERSION } from '../../version.ts';
import { defineOperation, rpc } from '../define.ts';
import { WaitForIndexMs, waitForIndex } from '../recall/index-wait.ts';
import { type Static, Type } from '../type.ts';
import { auditQuery } from './audit.ts';

const Output = Type.Object({
  query: Type.String({ description: 'The query as it was sent.' }),
  queryHash: Type.String({ description: 'SHA-256 of the trimmed query, 64 hexadecimal digits.' }),
  result: Type.Unsafe<JsonValue>({
    type: 'object',
    description: 'The result of the statement, as docs/cal-output.md describes it.',
  }),
  warnings: Type.Array(Type.String(), { description: 'Problems that did not stop the query.' }),
  statementType: Type.String({ description: 'Kind of the statement that ran.' }),
  executionTimeMs: Type.Integer({ description: 'Time that the query took, in milliseconds.' }),
  resultCount: Type.Integer({ description: 'Number of items in the result.' }),
});

/** The result stays the text that the shard wrote until somebody wants it as an object. */
class CalOutput {
  readonly query: string;
  readonly queryHash: string;
  readonly resultJson: string;
  readonly warnings: string[];
  readonly statementType: string;
  readonly executionTimeMs: number;
  readonly resultCount: number;

  constructor(
    query: string,
    queryHash: string,
    reply: Exclude<CalReply, { refused: unknown }>,
    executionTimeMs: number,
  ) {
    this.query = query;
    this.queryHash = queryHash;
    this.resultJson = reply.resultJson;
    this.warnings = [...reply.warnings];
    this.statementType = reply.statementType;
    this.executionTimeMs = executionTimeMs;
    this.resultCount = reply.resultCount;
  }

  get result(): JsonValue {
    return this.resultJson.startsWith('{') ? objectOfJson(this.resultJson) : parseJson(this.resultJson);
  }
}

export const calQuery = defineOperation({
  name: 'cal',
  summary: 'Run a query of the context assembly language.',
  description: 'Statements that change something need a key that may write.',
  example: { query: 'RECALL beliefs WHERE subject = "Ada" LIMIT 5' },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  // What a query changes they keep; what it tells is nobody's to keep, as an erasure would not find it.
  keptByShards: true,
  input: Type.Object({ query: Type.String({ description: 'The CAL text to run.' }), waitForIndexMs: WaitForIndexMs }),
  output: Output,
  errors: ['CAL-E002', 'CAL-E044', 'CAL-E046', 'CAL-E101'],
  exec: { command: 'cal' },
  grpc: rpc({
    rpc: 'CalQuery',
    request: CalQueryRequest,
    response: CalQueryResponse,
    // An empty query is the reader's to refuse.
    read: ({ query }) => ({ query }),
    write: (output: Static<typeof Output>) => {
      const { resultJson } = output as CalOutput; // What `run` gives.
      return { ...output, resultJson };
    },
  }),
  async run({ query, waitForIndexMs }, context) {
    const startedMs = performance.now();
    context.services.cal.requireOn();
    await waitForIndex(context, waitForIndexMs);
    const { reply, warnings } = await answer(query, context);
    const durationMs = Math.round(performance.now() - startedMs);
    const queryHash = hashOf(query);
    await auditQuery(context, { queryHash, durationMs, reply });
    if (!isRefused(reply))
      return new CalOutput(query, queryHash, { ...reply, warnings: [...reply.warnings, ...warnings] }, durationMs);
    const { code: _, message: __, ...more } = reply.error;
    throw new EngineError(reply.refused, reply.message, { more, retryable: RETRYABLE.has(reply.refused) });
  },
});

/** The same query may be answered later. */
const RETRYABLE: ReadonlySet<string> = new Set(['CAL-E031', 'CAL-E043', 'CAL-E052', 'CAL-E075']);

interface Told {
  readonly reply: CalReply;
  readonly warnings: readonly string[];
}

async function answer(query: string, context: Context): Promise<Told> {
  try {
    return await answerChecked(query, planOf(query, context.services.config.calStrict), context);
  } catch (error) {
    if (error instanceof CalError) return { reply: refusal(error.located(query)), warnings: [] };
    throw error;
  }
}

async function answerChecked(source: string, { query }: CheckedQuery, context: Context): Promise<Told> {
  const { statement } = query;
  const { cal } = context.services;
  const { texts, fallbacks } = searchedTexts(query);
  const { vectors, warnings } = await vectorsOf(texts, context);
  const call = { query: source, session: sessionOf(source, context), vectors };
  const { session } = call;
  if (tierOf(statement) === 0 || session.tier === 0) {
    const reply = await runThere(call, context);
    const missing = isRefused(reply) ? [] : fallbacks.filter((text) => reply.withoutVector.includes(text));
    if (missing.length > 0) {
      // Most of what is asked about is there by name; only what is not is worth a vector.
      const more = await vectorsOf(missing, context);
      const again =
        more.vectors.length === 0
          ? reply
          : await runThere({ ...call, vectors: [...vectors, ...more.vectors] }, context);
      return { reply: again, warnings: [...warnings, ...more.warnings] };
    }
    if (statement.kind === 'define_template' && !isRefused(reply)) {
      const { name, extends: parent, body } = statement;
      const place = { memory: context.memory.number, namespace: context.namespace };
      await cal.define(place, name, { body, ...(parent === undefined ? {} : { extends: parent }) });
    }
    return { reply, warnings };
  }
  if (statement.kind === 'add' || statement.kind === 'supersede' || statement.kind === 'revert')
    cal.take(statement.kind, context.principal.keyId ?? context.principal.actor);
  return { reply: await runHere(call, context), warnings };
}

/** In the shard of the memory, or here where that would hold it up. */
async function runThere(call: CalCall, context: Context): Promise<CalReply> {
  const whole = await context.call('cal', call);
  return 'tooLong' in whole ? runHere(call, context) : whole;
}

/** Its questions one by one: it changes something, or would hold up the shard of its memory. */
function runHere(call: CalCall, context: Context): Promise<CalReply> {
  const asker = {
    memory: context.memory.number,
    actor: context.principal.actor,
    requestId: context.requestId,
    deadlineMs: context.deadlineMs,
    ...(context.namespace === undefined ? {} : { namespace: context.namespace }),
    ...(context.userId === undefined ? {} : { userId: context.userId }),
  };
  return runCal(context.call, asker, call, context.services.clock);
}

const NO_VECTORS: { readonly vectors: readonly QueryVector[]; readonly warnings: readonly string[] } = {
  vectors: [],
  warnings: [],
};

/** Texts that get a vector; the others are searched for by their words. */
const VECTORS_MAX = 16;

async function vectorsOf(texts: readonly string[], context: Context): Promise<typeof NO_VECTORS> {
  if (texts.length === 0) return NO_VECTORS;
  const { queryVectors, clock } = context.services;
  const waitMs = context.deadlineMs - clock.nowMs();
  const made = await Promise.all(
    texts.slice(0, VECTORS_MAX).map((text) => queryVectors.of(context.memory, text, waitMs)),
  );
  return {
    vectors: made.flatMap(({ vector }) => (vector === undefined ? [] : [vector])),
    warnings: [...new Set(made.flatMap(({ warning }) => (warning === undefined ? [] : [warning])))],
  };
}

/** What the caller may do: nothing of it comes from the query. */
function sessionOf(query: string, context: Context): CalSession {
  const { config, cal, embedders } = context.services;
  const { tierOneEnabled } = cal.switches;
  const { principal } = context;
  const embedder = embedders.of(context.memory.vectorBackend ?? '')?.name;
  return {
    tier: tierOneEnabled && includesScope(principal, 'write') ? 1 : 0,
    tierOneEnabled,
    // A template is its namespace's, or the memory's: it is not for one user to define.
    mayDefine: includesScope(principal, 'admin') && context.userId === undefined,
    // Only for those who name them.
    templates: /template/i.test(query) ? cal.templatesOf(context.memory.number, context.namespace) : {},
    server: { name: 'granary', version: VERSION },
    ...(embedder === undefined ? {} : { embedder }),
    autoToon: config.calAutoToon,
    tokens: config.calTokens,
    ...(config.calStrict ? { strict: true } : {}),
    queryTimeoutMs: config.calTimeoutMs,
    assembleTimeoutMs: 2 * config.calTimeoutMs,
  };
}
