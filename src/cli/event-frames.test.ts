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

async function* inPieces(piece: Uint8Array, count: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('data: "');
  for (let at = 0; at < count; at++) yield piece;
  yield Buffer.from('"\n\n');
}

test('reading a long frame takes time in proportion to its length', async () => {
  const piece = Buffer.alloc(1_024, 'x');
  const cpuMs = async (pieces: number): Promise<number> => {
    const before = process.cpuUsage();
    let count = 0;
    for await (const _ of framesOf(inPieces(piece, pieces))) count += 1;
    assert.equal(count, 1);
    return process.cpuUsage(before).user / 1_000;
  };
  await cpuMs(512);
  const [short, long] = [await cpuMs(512), await cpuMs(8_192)];
  assert.ok(long <= 32 * short + 100, `${short} ms, and ${long} ms for sixteen times as much`);
});

test('a frame that is too long ends the stream', async () => {
  const piece = Buffer.alloc(1_048_576, 'x');
  await assert.rejects(
    async () => {
      for await (const _ of framesOf(inPieces(piece, 40))) assert.fail('it is no frame');
    },
    { code: 'SYS-E001' },
  );
});
