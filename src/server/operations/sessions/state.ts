import { defineCall } from '../define.ts';
import { grainOutput } from '../grains/view.ts';
import { Type } from '../type.ts';
import { SessionId, SessionIdOutput, StateOutput, sessionIdOf } from './schema.ts';

export const sessionState = defineCall({
  name: 'session_state',
  summary: 'Show the current state of a session.',
  description: 'Of several current states, the newest; null where the session has none.',
  example: { sid: 'support-4711' },
  needs: 'read',
  reach: 'binding',
  mutates: false,
  input: Type.Object({ sid: SessionId }),
  output: Type.Object({ sessionId: SessionIdOutput, state: StateOutput }),
  http: [{ verb: 'GET', path: 'M/sessions/{sid}/state' }],
  call: {
    method: 'session',
    ask: ({ sid }) => ({ input: { sessionId: sessionIdOf(sid), state: true } }),
    answer: ({ state }, { sid }) => ({ sessionId: sid, state: state === null ? null : grainOutput(state) }),
  },
});
