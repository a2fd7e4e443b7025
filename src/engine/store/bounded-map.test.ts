import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { BoundedMap } from './bounded-map.ts';

const MAX = 4;
const key = fc.integer({ min: 0, max: 9 });
const act = fc.oneof(
  { weight: 8, arbitrary: fc.record({ act: fc.constant('set' as const), key }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constant('delete' as const), key }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('clear' as const), key }) },
);

test('a full map drops the entry that was added first, also after deletions', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
      const map = new BoundedMap<number, number>(MAX);
      /** Keys and values, oldest first. */
      let model: [key: number, value: number][] = [];
      acts.forEach(({ act, key }, value) => {
        const known = model.find(([one]) => one === key);
        if (act === 'clear') {
          map.clear();
          model = [];
        } else if (act === 'delete') {
          map.delete(key);
          model = model.filter(([one]) => one !== key);
        } else {
          map.set(key, value);
          if (known !== undefined) known[1] = value;
          else model = [...model.slice(model.length >= MAX ? 1 : 0), [key, value]];
        }
        assert.equal(map.size, model.length);
        for (let one = 0; one <= 9; one++) assert.equal(map.get(one), new Map(model).get(one), `key ${one}`);
      });
    }),
    { numRuns: runs(200) },
  );
});
