import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { type EventFrame, framesOf } from './event-frames.ts';

const TEXT =
  'retry: 3000\nid: 0\nevent: ready\ndata: {"sequence":0}\n\n: keep-alive\n\nid: 1\nevent: grain_created\ndata: {"object":"Zoë: tea"}\n\n';

test('frames are read alike however the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 })), async (sizes) => {
      const bytes = Buffer.from(TEXT);
      const pieces = async function* () {
        let at = 0;
        for (const size of sizes) {
          yield bytes.subarray(at, at + size);
          at += size;
        }
        yield bytes.subarray(at);
      };
      const frames: EventFrame[] = [];
      for await (const frame of framesOf(pieces())) frames.push(frame);
      assert.deepEqual(frames, [
        { id: '0', event: 'ready', data: { sequence: 0 } },
        { id: '1', event: 'grain_created', data: { object: 'Zoë: tea' } },
      ]);
    }),
    { numRuns: runs(50) },
  );
});
