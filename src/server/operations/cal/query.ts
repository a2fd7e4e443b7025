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

/** Keeps the result as the shard's JSON text and parses it on first access. */
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
  mayOnlyRead: true,
  onUnknown: 'warn',
  // Shards keep answers for retries of queries that write. Nothing may keep a read's answer: an erasure would not find it.
  keptByShards: true,
  input: Type.Object({ query: Type.String({ description: 'The CAL text to run.' }), waitForIndexMs: WaitForIndexMs }),
  output: Output,
  errors: ['CAL-E002', 'CAL-E044', 'CAL-E046', 'CAL-E101'],
  exec: { command: 'cal' },
  grpc: rpc({
    rpc: 'CalQuery',
    request: CalQueryRequest,
    response: CalQueryResponse,
    // Keep an empty query, so that the CAL parser refuses it with its own error.
    read: ({ query }) => ({ query }),
    write: (output: Static<typeof Output>) => {
      const { resultJson } = output as CalOutput; // `run` returns one
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

/** Codes after which a retry of the same query may succeed. */
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
      // Most texts match a stored name exactly; only the others need a vector.
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
      await cal.define(place, name, { body, extends: parent });
    }
    return { reply, warnings };
  }
  if (statement.kind === 'add' || statement.kind === 'supersede' || statement.kind === 'revert')
    cal.take(statement.kind, context.principal.keyId ?? context.principal.actor);
  return { reply: await runHere(call, context), warnings };
}

/** Runs the query in the memory's shard, or on this thread when it would block the shard too long. */
async function runThere(call: CalCall, context: Context): Promise<CalReply> {
  const whole = await context.call('cal', call);
  return 'tooLong' in whole ? runHere(call, context) : whole;
}

/** Runs the query on this thread with one shard call per step: it writes, or would block the shard too long. */
function runHere(call: CalCall, context: Context): Promise<CalReply> {
  const asker = {
    memory: context.memory.number,
    actor: context.principal.actor,
    requestId: context.requestId,
    deadlineMs: context.deadlineMs,
    namespace: context.namespace,
    userId: context.userId,
  };
  return runCal(context.call, asker, call, context.services.clock);
}

const NO_VECTORS: { readonly vectors: readonly QueryVector[]; readonly warnings: readonly string[] } = {
  vectors: [],
  warnings: [],
};

/** Maximum number of texts that are embedded; the others are searched for by words. */
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

/** The caller's rights and limits, none of which the query can set. */
function sessionOf(query: string, context: Context): CalSession {
  const { config, cal, embedders } = context.services;
  const { tierOneEnabled } = cal.switches;
  const { principal } = context;
  const embedder = embedders.of(context.memory.vectorBackend ?? '')?.name;
  return {
    tier: tierOneEnabled && includesScope(principal, 'write') ? 1 : 0,
    tierOneEnabled,
    // Templates belong to a namespace or the memory, so a caller narrowed to a user may not define them.
    mayDefine: includesScope(principal, 'admin') && context.userId === undefined,
    // Loaded only for queries that mention templates.
    templates: /template/i.test(query) ? cal.templatesOf(context.memory.number, context.namespace) : {},
    server: { name: 'granary', version: VERSION },
    embedder,
    autoToon: config.calAutoToon,
    tokens: config.calTokens,
    strict: config.calStrict || undefined,
    queryTimeoutMs: config.calTimeoutMs,
    assembleTimeoutMs: 2 * config.calTimeoutMs,
  };
}
