import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../engine/base/errors.ts';
import { Deadlines } from './deadlines.ts';

const isLate = (error: unknown): boolean => error instanceof EngineError && error.code === 'SYS-E005';

test('work that finishes in time settles as usual', async () => {
  const deadlines = new Deadlines();
  assert.equal(await deadlines.race(Promise.resolve(7), 60_000), 7);
  await assert.rejects(deadlines.race(Promise.reject(new EngineError('MEM-E001')), 60_000), /MEM-E001|grain/);
});

test('a caller whose time is over gets an error, and a late result does no harm', async () => {
  const deadlines = new Deadlines();
  const slow = Promise.withResolvers<number>();
  const patient = deadlines.race(slow.promise, 60_000);
  // The timer does not keep the process alive; this one does.
  const alive = setInterval(() => undefined, 1_000);
  await assert.rejects(deadlines.race(slow.promise, 0), isLate);
  await assert.rejects(deadlines.race(slow.promise, 30), isLate);
  slow.resolve(1);
  assert.equal(await patient, 1);
  clearInterval(alive);
});
