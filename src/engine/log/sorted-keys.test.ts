import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SortedKeys } from './sorted-keys.ts';

test('keys that come and go without a look do not pile up', () => {
  const map = new Map<string, number>();
  const keys = new SortedKeys(map);
  for (let i = 0; i < 1_000; i++) {
    keys.add(`key/${i}`);
    map.set(`key/${i}`, i);
    if (i < 10) continue;
    map.delete(`key/${i - 10}`);
    keys.deleted();
    assert.ok(keys.size <= 20, `${keys.size} keys are kept of ${map.size}`);
  }
  assert.deepEqual([...keys.startingWith('key/')], [...map.keys()].sort());
});
