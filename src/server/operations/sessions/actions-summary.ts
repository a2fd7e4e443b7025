import { setJson } from '../../../engine/grain/api/json.ts';
import { defineCall } from '../define.ts';
import { Type } from '../type.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from './schema.ts';

const ToolOutput = Type.Object({
  calls: Type.Integer({ description: 'Number of calls of the tool.' }),
  failures: Type.Integer({ description: 'Number of calls that failed.' }),
  successes: Type.Integer({ description: 'Number of calls that ended without an error.' }),
  totalDurationMs: Type.Number({ description: 'Sum of the durations of the calls, in milliseconds.' }),
});

const ErrorOutput = Type.Object({
  error: Type.String({ description: 'Text of the error, its first 200 characters.' }),
  count: Type.Integer({ description: 'Number of calls that failed with it.' }),
});

export const actionsSummary = defineCall({
  name: 'session_actions_summary',
  summary: 'Count the actions of a session by tool and by error.',
  description: 'Calls that have not ended yet count as calls, not as successes or failures.',
  example: { sid: 'support-4711' },
  needs: 'read',
  reach: 'binding',
  mutates: false,
  input: Type.Object({ sid: SessionId }),
  output: Type.Object({
    sessionId: SessionIdOutput,
    totalCalls: Type.Integer({ description: 'Number of calls.' }),
    successful: Type.Integer({ description: 'Number of calls that ended without an error.' }),
    failed: Type.Integer({ description: 'Number of calls that failed.' }),
    totalDurationMs: Type.Number({ description: 'Sum of the durations of all calls, in milliseconds.' }),
    byTool: Type.Record(Type.String(), ToolOutput, {
      description: 'The counts of each tool by its name; of more than 200 tools, those with the most calls.',
    }),
    errorPatterns: Type.Array(ErrorOutput, {
      description: 'Errors by how often they occurred; of more than 50, the most frequent.',
    }),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'True when there are more tools or errors than are shown.' }),
    ),
  }),
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/actions/summary' }],
  call: {
    method: 'sessionSummary',
    ask: ({ sid }) => ({ input: { sessionId: sessionIdOf(sid) } }),
    answer: ({ calls, successes, failures, durationMs, tools, errors, cut }, { sid }) => {
      const byTool: Record<string, { calls: number; failures: number; successes: number; totalDurationMs: number }> =
        {};
      for (const { tool, durationMs: totalDurationMs, ...counts } of tools)
        setJson(byTool, tool, { ...counts, totalDurationMs });
      return {
        sessionId: sid,
        totalCalls: calls,
        successful: successes,
        failed: failures,
        totalDurationMs: durationMs,
        byTool,
        errorPatterns: errors.map((row) => ({ ...row })),
        truncated: cut || undefined,
      };
    },
  },
});
