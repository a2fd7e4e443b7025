import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../shards/protocol.ts';
import { diffData } from './data-diff.ts';

const cases: readonly {
  readonly what: string;
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly parts: Partial<ReturnType<typeof diffData>>;
}[] = [
  {
    what: 'flat data',
    old: { a: 1, b: 2, c: 3 },
    next: { b: 2, c: 4, d: 5 },
    parts: { added: ['d'], removed: ['a'], changed: [{ key: 'c', old: 3, new: 4 }], unchanged: ['b'] },
  },
  {
    what: 'nested data',
    old: { plan: { step: 1, notes: { by: 'ada' }, left: {} }, same: { x: [1, { y: 2 }] } },
    next: { plan: { step: 2, notes: { by: 'ada' }, more: { z: 1 } }, same: { x: [1, { y: 2 }] } },
    parts: {
      added: ['plan.more'],
      removed: ['plan.left'],
      changed: [{ key: 'plan.step', old: 1, new: 2 }],
      unchanged: ['plan.notes', 'same'],
    },
  },
  {
    what: 'lists',
    old: { list: [1, 2, 3], shorter: [1, 2] },
    next: { list: [1, 5, 3, 4], shorter: [1] },
    parts: {
      added: ['list[3]'],
      removed: ['shorter[1]'],
      changed: [{ key: 'list[1]', old: 2, new: 5 }],
      unchanged: ['list[0]', 'list[2]', 'shorter[0]'],
    },
  },
  {
    what: 'values of different kinds',
    old: { a: { b: 1 }, c: [], d: null },
    next: { a: [1], c: {}, d: 0 },
    parts: {
      changed: [
        { key: 'a', old: { b: 1 }, new: [1] },
        { key: 'c', old: [], new: {} },
        { key: 'd', old: null, new: 0 },
      ],
      added: [],
      removed: [],
      unchanged: [],
    },
  },
  {
    what: 'names that look like paths',
    old: { 'a.b': 1, '': { '[0]': 1 } },
    next: { 'a.b': 2, '': { '[0]': 2 }, a: { b: 1 } },
    parts: {
      added: ['a'],
      changed: [
        { key: '[""]["[0]"]', old: 1, new: 2 },
        { key: '["a.b"]', old: 1, new: 2 },
      ],
    },
  },
  { what: 'empty data', old: {}, next: {}, parts: { added: [], removed: [], changed: [], unchanged: [] } },
  { what: 'equal data', old: { a: 1, b: {} }, next: { b: {}, a: 1 }, parts: { changed: [], unchanged: ['a', 'b'] } },
];

for (const { what, old, next, parts } of cases)
  test(`the difference of ${what}`, () => {
    const diff = diffData(old, next);
    for (const [side, expected] of Object.entries(parts)) assert.deepEqual(Reflect.get(diff, side), expected, side);
    assert.equal(diff.cut, false);
  });

test('data differs from itself in nothing, and both directions tell the same', () => {
  const data = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(data, data, (one, other) => {
      const same = diffData(one, structuredClone(one));
      assert.deepEqual([same.added, same.removed, same.changed], [[], [], []]);
      const there = diffData(one, other);
      const back = diffData(other, one);
      assert.deepEqual([...there.added].sort(), [...back.removed].sort());
      assert.deepEqual([...there.unchanged].sort(), [...back.unchanged].sort());
      assert.deepEqual(there.changed.map(({ key }) => key).sort(), back.changed.map(({ key }) => key).sort());
    }),
  );
});

test('a comparison is bounded', () => {
  const long = (value: number): JsonObject => ({ list: Array.from({ length: 50_000 }, () => value) });
  const diff = diffData(long(1), long(2));
  assert.equal(diff.changed.length, 10_000);
  assert.equal(diff.cut, true);
  assert.equal(diffData(long(1), long(1)).cut, false);
});
