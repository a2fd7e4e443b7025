import { EngineError } from '../../../engine/base/errors.ts';
import { HASHED_AT_ONCE_BYTES } from '../../../engine/base/limits.ts';
import { onDemand } from '../../../engine/base/on-demand.ts';
import type * as CalSource from '../../../engine/cal/query.ts';
import { type CalReply, isRefused } from '../../../engine/calls/cal.ts';
import { objectOfJson, parseJson } from '../../../engine/grain/api/json.ts';
import type { JsonValue } from '../../../shards/protocol.ts';
import { CalQueryRequest, CalQueryResponse } from '../../gen/memory/v1/memory.ts';
import { hashInTurns } from '../../long-bytes.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { WaitForIndexMs, waitForIndex } from '../recall/index-wait.ts';
import { type Static, Type } from '../type.ts';
import type * as Answering from './answer.ts';
import { auditQuery } from './audit.ts';

/** Loaded with the first query: the language is a sixth of the modules of this thread. */
const answering = onDemand<typeof Answering>(import.meta.url, './answer');
const source = onDemand<typeof CalSource>(import.meta.url, '../../../engine/cal/query');

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
  onAnyNode: true,
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
    const { reply, warnings } = await answering().answer(query, context);
    const durationMs = Math.round(performance.now() - startedMs);
    // A query over the limit may have 16 MB: the loop turns before they are trimmed, and between stretches of them.
    if (query.length > HASHED_AT_ONCE_BYTES) await new Promise((resolve) => setImmediate(resolve));
    const queryHash = await hashInTurns(Buffer.from(source().trimmed(query)));
    await auditQuery(context, { queryHash, durationMs, reply });
    if (!isRefused(reply))
      return new CalOutput(query, queryHash, { ...reply, warnings: [...reply.warnings, ...warnings] }, durationMs);
    const { code: _, message: __, ...more } = reply.error;
    throw new EngineError(reply.refused, reply.message, { more, retryable: RETRYABLE.has(reply.refused) });
  },
});

/** Codes after which a retry of the same query may succeed. */
const RETRYABLE: ReadonlySet<string> = new Set(['CAL-E031', 'CAL-E043', 'CAL-E052', 'CAL-E075']);
