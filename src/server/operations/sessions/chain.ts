import { CHAIN_ACTIONS_MAX } from '../../../engine/base/limits.ts';
import type { GrainView } from '../../../shards/protocol.ts';
import { defineCall } from '../define.ts';
import { GrainOutput, grainOutput } from '../grains/view.ts';
import { described, Type } from '../type.ts';
import { SessionId, SessionIdOutput, sessionIdOf } from './schema.ts';

const TASK_CHARS_MAX = 1_024;

export const actionsChain = defineCall({
  name: 'session_actions_chain',
  summary: 'List the actions of a task, oldest first.',
  description:
    'An action belongs to a task if its parent_task_id names it. A hash or a tool_call_id names an action: its chain is what it hangs on and what hangs on it.',
  example: { sid: 'support-4711', task: 'refund-17' },
  needs: 'read',
  reach: 'binding',
  mutates: false,
  input: Type.Object({
    sid: SessionId,
    task: Type.String({
      minLength: 1,
      maxLength: TASK_CHARS_MAX,
      description: 'A task, or the hash or tool_call_id of an action.',
    }),
  }),
  output: Type.Object({
    sessionId: SessionIdOutput,
    task: Type.String({ description: 'The task, as it was asked for.' }),
    actions: Type.Array(described(GrainOutput, 'An action.'), {
      description: 'Actions of the chain, oldest first; at most 500.',
    }),
    totalDurationMs: Type.Number({ description: 'Sum of the durations of these actions, in milliseconds.' }),
    failed: Type.Integer({ description: 'Number of these actions that failed.' }),
    truncated: Type.Optional(
      Type.Literal(true, { description: 'True when the chain has more actions than are shown.' }),
    ),
  }),
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/actions/chain/{task}' }],
  call: {
    method: 'sessionChain',
    ask: ({ sid, task }) => ({
      input: { sessionId: sessionIdOf(sid), below: [task.normalize('NFC')], above: [], limit: CHAIN_ACTIONS_MAX },
    }),
    answer: ({ below, above, cut }, { sid, task }) => {
      const actions = [...below, ...above].sort(byOldest);
      return {
        sessionId: sid,
        task,
        actions: actions.map(grainOutput),
        totalDurationMs: actions.reduce((sum, { fields }) => sum + numberOf(fields['duration_ms']), 0),
        failed: actions.filter(({ fields }) => fields['is_error'] === true).length,
        truncated: cut || undefined,
      };
    },
  },
});

function byOldest(a: GrainView, b: GrainView): number {
  return a.createdAtMs - b.createdAtMs || (a.hash < b.hash ? -1 : 1);
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
