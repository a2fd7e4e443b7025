import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { PrefixTable } from '../address/tail.ts';
import { addressOf } from '../testing/shard.ts';
import { ListTable, NONE } from './list-table.ts';

const entry = fc.record({
  owner: fc.nat(5),
  key: fc.oneof(
    fc.nat(40),
    fc.nat(40).map((n) => `key ${n}`),
  ),
});

test('lists grow by owner and key, and are read while they grow', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 900 }), fc.integer({ min: 1, max: 100 }), (entries, every) => {
      const table = new ListTable();
      const model = new Map<string, number[]>();
      const newest = new Map<number, number>();
      entries.forEach(({ owner, key }, i) => {
        newest.set(owner, table.append(owner, key, i, newest.get(owner) ?? NONE));
        const name = `${owner}/${typeof key}/${key}`;
        model.set(name, [...(model.get(name) ?? []), i]);
        if (i % every === 0) assert.deepEqual([...table.list(table.find(owner, key))], model.get(name));
      });
      assert.equal(table.size, model.size);
      let seen = 0;
      for (const [owner, first] of newest) {
        for (let at = first; at !== NONE; at = table.nextOfOwner(at)) {
          const key = table.key(at);
          assert.equal(table.owner(at), owner);
          const expected = model.get(`${owner}/${typeof key}/${key}`)!;
          assert.deepEqual([...table.list(at)], expected);
          const copied = new Uint32Array(table.count(at));
          assert.equal(table.copy(at, copied), expected.length);
          assert.deepEqual([...copied], expected);
          seen += 1;
        }
      }
      assert.equal(seen, model.size);
      assert.equal(table.find(99, 'absent'), NONE);
    }),
    { numRuns: runs(40) },
  );
});

test('a value appended twice in a row is there once', () => {
  const table = new ListTable();
  const first = table.append(1, 'tag', 7, NONE);
  assert.equal(table.append(1, 'tag', 7, first), first);
  table.append(1, 'tag', 2 ** 32 - 1, first);
  table.append(1, 'tag', 2 ** 32 - 1, first);
  assert.deepEqual([...table.list(first)], [7, 2 ** 32 - 1]);
});

test('a table with more lists than are kept as arrays still answers', () => {
  const table = new ListTable();
  let newest = NONE;
  for (let i = 0; i < 5_000; i++) newest = table.append(1, `key ${i % 2_500}`, i, newest);
  for (let i = 0; i < 2_500; i++) assert.deepEqual([...table.list(table.find(1, `key ${i}`))], [i, i + 2_500]);
});

test('docs are found by the prefix of a hash, by owner', () => {
  const table = new PrefixTable();
  for (let doc = 0; doc < 3_000; doc++) table.add(doc % 3, addressOf(Math.floor(doc / 6)), doc);
  for (let number = 0; number < 500; number++)
    for (let owner = 0; owner < 3; owner++)
      assert.deepEqual(table.docs(owner, addressOf(number)), [number * 6 + owner, number * 6 + owner + 3]);
  assert.deepEqual(table.docs(0, addressOf('absent')), []);
  assert.deepEqual(table.docs(7, addressOf(1)), []);
});
