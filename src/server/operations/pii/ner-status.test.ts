import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../engine/base/errors.ts';
import type { Context } from '../../context.ts';
import type { TextTask } from '../../jobs/read-text.ts';
import readText from '../../jobs/read-text-thread.ts';
import { nerStatus } from './ner-status.ts';

let nowMs = 5_000;
const contextOf = (read: (task: TextTask) => Promise<unknown>): Context =>
  ({ principal: {}, services: { readText: read, clock: { nowMs: () => nowMs } } }) as unknown as Context; // the members that the row reads

test('the model of names is available, loaded at the first request', async () => {
  const model = { model: 'compromise', backend: 'in-process', categories: ['person_name'] };
  const context = contextOf(readText);
  assert.deepEqual(await nerStatus.perform({}, context), { available: true, ...model, loadedAt: 5 });
  nowMs = 60_000;
  assert.deepEqual(await nerStatus.perform({}, context), { available: true, ...model, loadedAt: 5 });
  const { findings = [] } = await readText({ text: 'Ada Lovelace called.', wants: 'pii', nowMs });
  assert.deepEqual(
    findings.map(({ category }) => category),
    ['person_name'],
  );
});

test('a model that cannot be loaded is unavailable, with the reason; a full queue says nothing about the model', async () => {
  const failing = contextOf(() => Promise.reject(new EngineError('SYS-E001', 'extraction failed')));
  const status = (await nerStatus.perform({}, failing)) as Record<string, unknown>; // an object by the row's schema
  assert.deepEqual(
    [status['available'], status['loadedAt'], status['reason']],
    [false, null, 'SYS-E001: extraction failed'],
  );
  const full = contextOf(() => Promise.reject(new EngineError('LIM-E001', 'too many')));
  await assert.rejects(
    nerStatus.perform({}, full),
    (error) => error instanceof EngineError && error.code === 'LIM-E001',
  );
});
