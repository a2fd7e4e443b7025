import assert from 'node:assert/strict';
import { triggerAsyncId } from 'node:async_hooks';
import { after, describe, getTestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

describe('the runner knows which test runs', { concurrency: 2 }, () => {
  const ended: string[] = [];
  for (const [name, ms] of [
    ['one', 4],
    ['another', 2],
  ] as const)
    test(name, async (t) => {
      await sleep(ms);
      assert.equal(getTestContext()?.name, name);
      await t.test(`below ${name}`, async () => {
        after(() => void ended.push(getTestContext()?.name ?? 'no test'));
        await sleep(ms);
        assert.equal(getTestContext()?.name, `below ${name}`);
      });
      assert.ok(ended.length > 0, 'a hook that a test adds belongs to that test');
    });
});

test('the runner has no hook on promises', async () => {
  // With a hook, each continuation has the promise before it as its trigger. Both are of one turn of the event loop.
  await Promise.resolve();
  const first = triggerAsyncId();
  await Promise.resolve();
  assert.equal(triggerAsyncId(), first);
});
