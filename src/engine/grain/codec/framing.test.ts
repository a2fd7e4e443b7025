import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader, frameHead } from './framing.ts';

const GRAINS = [Buffer.from('first'), Buffer.alloc(300, 7), Buffer.from('x')];
const STREAM = Buffer.concat([...GRAINS.flatMap((grain) => [frameHead(grain.length), grain]), frameHead(0)]);

test('a stream is split into frames however it arrives', () => {
  for (const step of [1, 3, 4, 5, 100, STREAM.length]) {
    const reader = new FrameReader();
    const grains: Buffer[] = [];
    for (let at = 0; at < STREAM.length; at += step) grains.push(...reader.push(STREAM.subarray(at, at + step)));
    assert.deepEqual(grains, GRAINS);
    assert.ok(reader.ended);
  }
});

test('a length beyond the limit is refused before anything is gathered', () => {
  const reader = new FrameReader(300);
  assert.throws(() => [...reader.push(frameHead(301))], { code: 'ERR_TOO_LARGE' });
});

test('bytes after the end are refused', () => {
  const reader = new FrameReader();
  assert.throws(() => [...reader.push(Buffer.concat([frameHead(0), Buffer.of(1)]))], { code: 'ERR_CORRUPT' });
});
