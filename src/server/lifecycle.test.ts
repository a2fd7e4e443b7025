import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DRAIN_LATER_MS, DRAIN_MS } from '../engine/base/limits.ts';
import { Lifecycle } from './lifecycle.ts';
import { makeLog } from './log.ts';

test('parts close in reverse order, and one that waits for something that is away is left behind where that is allowed', async () => {
  const lines: string[] = [];
  const lifecycle = new Lifecycle(makeLog('warn', { write: (line: string) => void lines.push(line) }));
  const closed: string[] = [];
  const { promise: back, resolve: comeBack } = Promise.withResolvers<void>();
  lifecycle.opened('first', () => void closed.push('first'));
  lifecycle.opened('its own bound', () => back.then(() => void closed.push('bounded')), { isBounded: true });
  lifecycle.opened('hanging', () => {
    // The bounded part, which is closed next, is waited for.
    setTimeout(comeBack, 50);
    return new Promise<void>(() => undefined);
  });
  lifecycle.opened('failing', () => Promise.reject(new Error('no')));
  lifecycle.opened('last', () => void closed.push('last'));
  lifecycle.bound(10);
  await lifecycle.close();
  assert.deepEqual(closed, ['last', 'bounded', 'first']);
  assert.match(lines.join(), /hanging did not close within 10 ms: abandoned/);
  assert.match(lines.join(), /failing did not close/);
});

test('all parts share the time for requests under way', async (t) => {
  let nowMs = 1_000;
  t.mock.method(performance, 'now', () => nowMs);
  const lifecycle = new Lifecycle(makeLog('silent'));
  const times: number[] = [];
  for (const took of [0, DRAIN_MS, DRAIN_MS - 1_000, 1_000])
    lifecycle.opened('part', () => {
      times.push(lifecycle.drainMs);
      nowMs += took;
    });
  nowMs += 60_000;
  assert.equal(lifecycle.drainMs, DRAIN_MS, 'nothing has ended yet');
  await lifecycle.close();
  assert.deepEqual(times, [DRAIN_MS, DRAIN_MS - 1_000, DRAIN_LATER_MS, DRAIN_LATER_MS]);
});
