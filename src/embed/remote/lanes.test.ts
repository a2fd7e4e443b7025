import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbedError } from '../embedder.ts';
import { Lanes } from './lanes.ts';

test('a full queue rejects, and a failed job frees its slot', async () => {
  const lanes = new Lanes(1, 1);
  const { signal } = new AbortController();
  let fail = (_error: Error): void => undefined;
  const running = lanes.run('backlog', signal, () => new Promise((_resolve, reject) => (fail = reject)));
  const waiting = lanes.run('backlog', signal, async () => 'ran');
  await assert.rejects(
    lanes.run('backlog', signal, async () => 'never'),
    (error) => error instanceof EmbedError && error.retryable,
  );
  assert.equal(lanes.size, 2);
  fail(new Error('broken'));
  await assert.rejects(running, /broken/);
  assert.equal(await waiting, 'ran');
  assert.equal(lanes.size, 0);
});
