import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import {
  EXTRACTION_MARKERS_MAX,
  EXTRACTIONS_BYTES_MAX,
  EXTRACTIONS_OF_MEMORY_MAX,
  EXTRACTIONS_RUNNING_MAX,
  EXTRACTIONS_WAITING_MAX,
} from '../../engine/base/limits.ts';
import { makeLog } from '../log.ts';
import { Extractions, type Marker } from './extractions.ts';

const DONE: Marker = { status: 'done', hashes: ['h'], duplicates: [], sourceForgotten: false, warnings: [] };

function made() {
  const lines: string[] = [];
  return { extractions: new Extractions(makeLog('debug', { write: (line: string) => void lines.push(line) })), lines };
}

/** Work that ends on command. */
function controlled() {
  let end = (_: Marker): void => undefined;
  let fail = (_: Error): void => undefined;
  const ended = new Promise<Marker>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  ended.catch(() => undefined);
  return { work: () => ended, end, fail };
}

const isFull = (error: unknown) => error instanceof EngineError && error.code === 'LIM-E001';

test('a source is pending until its work ends, then done or failed, and its slot is free again', async () => {
  const { extractions, lines } = made();
  const [good, bad] = [controlled(), controlled()];
  extractions.reserve(1, 10).start('good', good.work);
  extractions.reserve(1, 10).start('bad', bad.work);
  assert.equal(extractions.markerOf(1, 'good')?.status, 'pending');
  assert.equal(extractions.markerOf(2, 'good'), undefined);
  assert.equal(extractions.backlog, 2);
  extractions.clear(1, 'good');
  assert.equal(extractions.markerOf(1, 'good')?.status, 'pending');
  good.end(DONE);
  bad.fail(new EngineError('SYS-E005', 'extraction took too long'));
  await extractions.close(60_000);
  assert.deepEqual(extractions.markerOf(1, 'good'), DONE);
  assert.equal(extractions.markerOf(1, 'bad')?.status, 'failed');
  assert.equal(extractions.backlog, 0);
  assert.equal(lines.filter((line) => line.includes('SYS-E005')).length, 1);
  extractions.clear(1, 'bad');
  assert.equal(extractions.markerOf(1, 'bad'), undefined);
});

test('slots are bounded in total, per memory and in bytes; a released one is free', () => {
  const { extractions } = made();
  const places = Array.from({ length: EXTRACTIONS_OF_MEMORY_MAX }, () => extractions.reserve(1, 1));
  assert.throws(() => extractions.reserve(1, 1), isFull);
  for (let memory = 2; extractions.backlog < EXTRACTIONS_WAITING_MAX; memory++) extractions.reserve(memory, 1);
  assert.throws(() => extractions.reserve(9_999, 1), isFull);
  places[0]?.release();
  places[0]?.release();
  assert.equal(extractions.backlog, EXTRACTIONS_WAITING_MAX - 1);
  assert.throws(() => extractions.reserve(1, EXTRACTIONS_BYTES_MAX), isFull);
  extractions.reserve(1, 1);
});

test('memories take turns, a few jobs at a time', async () => {
  const { extractions } = made();
  const order: string[] = [];
  let running = 0;
  let most = 0;
  const start = (memory: number, name: string) =>
    extractions.reserve(memory, 1).start(name, async () => {
      order.push(name);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return DONE;
    });
  for (let i = 0; i < 20; i++) start(1, `a${i}`);
  start(2, 'b0');
  start(3, 'c0');
  await extractions.close(60_000);
  assert.equal(order.length, 22);
  assert.ok(order.indexOf('b0') < 3 && order.indexOf('c0') < 4, order.join(' '));
  assert.deepEqual(
    order.filter((name) => name.startsWith('a')),
    Array.from({ length: 20 }, (_, i) => `a${i}`),
  );
  assert.equal(most, EXTRACTIONS_RUNNING_MAX);
});

test('work unfinished at shutdown is marked as failed, and no more is accepted', async () => {
  const { extractions, lines } = made();
  const stuck = Array.from({ length: EXTRACTIONS_RUNNING_MAX }, controlled);
  for (const [at, { work }] of stuck.entries()) extractions.reserve(1, 1).start(`stuck${at}`, work);
  extractions.reserve(1, 1).start('waits', async () => DONE);
  const place = extractions.reserve(1, 1);
  await extractions.close(0);
  assert.equal(extractions.markerOf(1, 'waits')?.status, 'failed');
  assert.ok(lines.some((line) => line.includes('were not finished')));
  place.start('late', async () => DONE);
  assert.equal(extractions.markerOf(1, 'late')?.status, 'failed');
  assert.throws(() => extractions.reserve(1, 1), isFull);
  for (const { end } of stuck) end(DONE);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(extractions.backlog, 0);
  assert.equal(extractions.markerOf(1, 'stuck0')?.status, 'failed');
});

test('only the newest results are kept, and no pending one is dropped', async () => {
  const { extractions } = made();
  const stuck = controlled();
  extractions.reserve(1, 1).start('stuck', stuck.work);
  for (let i = 0; i < EXTRACTION_MARKERS_MAX + 50; i++) {
    await new Promise<void>((resolve) => {
      extractions.reserve(1, 1).start(`s${i}`, async () => {
        setImmediate(resolve);
        return DONE;
      });
    });
  }
  assert.equal(extractions.markerOf(1, 's0'), undefined);
  assert.equal(extractions.markerOf(1, `s${EXTRACTION_MARKERS_MAX + 49}`)?.status, 'done');
  assert.equal(extractions.markerOf(1, 'stuck')?.status, 'pending');
  stuck.end(DONE);
  await extractions.close(60_000);
});
