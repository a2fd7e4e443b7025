import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { eventually, WAIT_MS_MAX } from './eventually.ts';

for (const [what, isSo] of [
  ['is told at once', () => false],
  ['is told later', async () => false],
  ['is not told', () => new Promise<boolean>(() => undefined)],
] as const)
  test(`a wait ends when its condition never holds, which ${what}`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let isOver = false;
    const failed = assert.rejects(eventually('tea is ready', isSo), /tea is ready: not within/).then(() => {
      isOver = true;
    });
    for (let looks = 0; looks < 10; looks += 1) {
      t.mock.timers.tick(WAIT_MS_MAX);
      await turn();
    }
    assert.ok(isOver);
    await failed;
  });
