import { INDEX_WAIT_MS_MAX } from '../../../engine/base/limits.ts';
import { FlushRequest, FlushResponse } from '../../gen/memory/v1/memory.ts';
import { defineOperation } from '../define.ts';
import { rpc } from '../grpc-face.ts';
import { COUNT, objectOf, oneOf } from '../json-schema.ts';
import { WaitForIndexMs, waitForIndex } from '../recall/index-wait.ts';
import { described, Type } from '../type.ts';

export const flush = defineOperation({
  name: 'flush',
  summary: 'Wait until everything written is on disk and in sealed indexes.',
  description: 'Acknowledged writes are durable without it.',
  example: { vectors: true },
  needs: 'write',
  on: 'memory',
  reach: 'binding',
  mutates: true,
  onUnknown: 'warn',
  // Vectors can take long, so a flush waits for them only on request.
  input: Type.Object({
    vectors: Type.Optional(
      Type.Boolean({
        description: 'Whether to wait for vectors too, up to 30 seconds; the default is false.',
        default: false,
      }),
    ),
    waitForIndexMs: WaitForIndexMs,
  }),
  output: Type.Object({
    flushed: Type.Integer({ description: 'Number of grains that this call put into sealed indexes.' }),
    pending: Type.Integer({ description: 'Number of grains that are not in sealed indexes yet.' }),
  }),
  grpc: rpc({ rpc: 'Flush', request: FlushRequest, response: FlushResponse }),
  http: [
    {
      verb: 'POST',
      path: 'M/flush',
      answer: objectOf({
        flushed: described(COUNT, 'Number of grains that this call put into sealed indexes.'),
        pending: described(COUNT, 'Number of grains that are not in sealed indexes yet.'),
        status: described(oneOf('flushed'), 'Always flushed.'),
      }),
      write: ({ flushed, pending }) => ({ flushed, pending, status: 'flushed' }),
    },
  ],
  run: ({ vectors = false, waitForIndexMs }, context) =>
    context.once(async () => {
      await waitForIndex(context, waitForIndexMs ?? (vectors ? INDEX_WAIT_MS_MAX : undefined));
      const { flushed, pending } = await context.call('flush', {});
      await context.call('note', { event: 'memory.flushed', details: { flushed } });
      return { flushed, pending };
    }),
});
