import Type from 'typebox';
import { FlushRequest, FlushResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation, rpc } from '../define.ts';

export const flush = defineOperation({
  name: 'flush',
  summary: 'Wait until everything written is on disk and in sealed indexes.',
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  input: Type.Object({}),
  output: Type.Object({ flushed: Type.Integer(), pending: Type.Integer() }),
  grpc: rpc({ rpc: 'Flush', request: FlushRequest, response: FlushResponse }),
  http: [
    {
      verb: 'POST',
      path: 'M/flush',
      write: ({ flushed, pending }) => ({ flushed, pending, status: 'flushed' }),
    },
  ],
  run: (_, context) =>
    context.once(async () => {
      const { flushed, pending } = await context.call('flush', {});
      await context.call('note', { event: 'memory.flushed', details: { flushed } });
      return { flushed, pending };
    }),
});
