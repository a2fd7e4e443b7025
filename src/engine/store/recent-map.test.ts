import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { RecentMap } from './recent-map.ts';

test('used entries stay, however old they are, and unused ones are dropped', () => {
  const map = new RecentMap<number, string>(10);
  map.set(0, 'used all the time');
  for (let key = 1; key <= 100; key++) {
    map.set(key, String(key));
    assert.equal(map.get(0), 'used all the time', `after ${key}`);
  }
  const left = Array.from({ length: 100 }, (_, i) => i + 1).filter((key) => map.get(key) !== undefined);
  assert.ok(left.length < 10 && left.includes(100), left.join(' '));
});

test('the most recently used keys are all there, and never with an old value', () => {
  const step = fc.record({ key: fc.nat({ max: 12 }), does: fc.constantFrom('set', 'get', 'delete') });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const map = new RecentMap<number, number>(8);
      const model = new Map<number, number>();
      /** Keys in the order of their last use. */
      let used: number[] = [];
      for (const [value, { key, does }] of steps.entries()) {
        const mustHave = used.slice(-4).includes(key);
        const got = map.get(key);
        if (mustHave) assert.equal(got, model.get(key));
        else assert.ok(got === undefined || got === model.get(key));
        used = used.filter((other) => other !== key);
        if (got !== undefined) used.push(key);
        if (does === 'get') continue;
        used = used.filter((other) => other !== key);
        if (does === 'delete') {
          map.delete(key);
          model.delete(key);
        } else {
          map.set(key, value);
          model.set(key, value);
          used.push(key);
        }
      }
    }),
    { numRuns: runs(200) },
  );
});
