import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grainName, NO_NAME } from './grain-name.ts';
import { NameRun, NameRunWriter } from './name-run.ts';

const enciphered = Buffer.alloc(32, 9);
const NAMES = [
  NO_NAME,
  grainName({ keys: { user: 0, scope: 0 }, enciphered }),
  grainName({ keys: { user: 7, scope: 0 }, enciphered }),
  grainName({ keys: { user: 7, scope: 8 }, partition: 3, enciphered }),
];

test('a run has its names in order, whatever their lengths', () => {
  const run = NameRun.of(NAMES);
  assert.equal(run.isHashes, false);
  assert.equal(run.count, NAMES.length);
  assert.deepEqual(run.texts(), NAMES);
  assert.deepEqual(new NameRun(Uint8Array.from(run.bytes)).texts(), NAMES);
  assert.deepEqual(NameRun.of([]).texts(), []);
});

test('a run of hashes has hashes', () => {
  const hashes = ['a'.repeat(64), '07'.repeat(32)];
  const run = NameRun.of(hashes);
  assert.equal(run.isHashes, true);
  assert.equal(run.count, 2);
  assert.deepEqual(run.texts(), hashes);
});

test('bytes that do not end with a name are refused', () => {
  const run = new NameRun(NameRun.of(NAMES).bytes.subarray(0, -1));
  assert.throws(() => run.texts(), /whole names/);
  assert.throws(() => new NameRun(Buffer.alloc(33, 0xff)).count, /whole names/);
});

test('a writer puts NO_NAME where a grain has no name', () => {
  const names = [undefined, NAMES[1]!, undefined, NAMES[3]!];
  const writer = new NameRunWriter(4);
  writer.text(NAMES[2]!);
  const hints = {
    writeNameHint: (ordinal: number, into: Buffer, at: number) => at + into.write(names[ordinal] ?? '', at, 'hex'),
  };
  for (const ordinal of [1, 2, 3]) writer.hint(hints, ordinal);
  assert.deepEqual(new NameRun(writer.bytes).texts(), [NAMES[2], NAMES[1], NO_NAME, NAMES[3]]);
});
