import type { ActionsQuery } from '../../../engine/calls/session.ts';
import type { Context } from '../../context.ts';
import { defineOperation } from '../define.ts';
import { type GrainOutput, grainOutput } from '../grains/view.ts';
import { PAGE_INPUT, PAGE_OUTPUT, readPage, writeCursor } from '../page.ts';
import { type Static, Type } from '../type.ts';
import { ActionsOutput, SessionId, SessionIdOutput, sessionIdOf } from './schema.ts';

const ActionsInput = Type.Object({
  sid: SessionId,
  ...PAGE_INPUT,
  toolName: Type.Optional(Type.String({ minLength: 1, description: 'Only calls of this tool; the default is all.' })),
});

export const sessionActions = defineOperation({
  name: 'session_actions',
  summary: 'List the actions of a session, newest first.',
  description: 'Definitions of tools are not among them.',
  example: { sid: 'support-4711', tool_name: 'search_orders', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: ActionsInput,
  output: Type.Object({ sessionId: SessionIdOutput, actions: ActionsOutput, ...PAGE_OUTPUT }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/actions' }],
  async run(input, context) {
    const { toolName } = input;
    const page = await actionsPage(input, context, 'actions', { toolName });
    return { sessionId: input.sid, ...page };
  },
});

const FailedInput = Type.Object({ sid: SessionId, ...PAGE_INPUT });

export const failedActions = defineOperation({
  name: 'session_failed_actions',
  summary: 'List the failed actions of a session, newest first.',
  description: 'An action has failed if its is_error is true.',
  example: { sid: 'support-4711', limit: 20 },
  needs: 'read',
  on: 'memory',
  reach: 'binding',
  mutates: false,
  paged: true,
  input: FailedInput,
  output: Type.Object({ sessionId: SessionIdOutput, actions: ActionsOutput, ...PAGE_OUTPUT }),
  errors: ['VAL-E004'],
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/actions/failed' }],
  async run(input, context) {
    return { sessionId: input.sid, ...(await actionsPage(input, context, 'failed', { failed: true })) };
  },
});

interface ActionsPage {
  readonly actions: GrainOutput[];
  readonly total: number;
  readonly nextCursor: string | null;
}

async function actionsPage(
  input: Static<typeof FailedInput>,
  context: Context,
  scope: string,
  which: Pick<ActionsQuery, 'toolName' | 'failed'>,
): Promise<ActionsPage> {
  const { limit, offset, order, after } = readPage(input, scope, context.warnings);
  const { actions, actionsTotal, moreActions } = await context.call('session', {
    sessionId: sessionIdOf(input.sid),
    actions: {
      limit,
      order,
      offset: offset === 0 ? undefined : offset,
      ...which,
      after: after === undefined ? undefined : { createdAtMs: after.timeMs, hash: after.id },
    },
  });
  const last = actions.at(-1);
  return {
    actions: actions.map(grainOutput),
    total: actionsTotal,
    nextCursor:
      moreActions && last !== undefined ? writeCursor({ timeMs: last.createdAtMs, id: last.hash }, scope, order) : null,
  };
}
