import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DocSet, END, gallop, intersect, union } from './docset.ts';

const docs = fc.uniqueArray(fc.nat(199), { maxLength: 120 }).map((list) => Uint32Array.from(list).sort());

test('sets combine like sets of numbers', () => {
  fc.assert(
    fc.property(docs, docs, (a, b) => {
      const inB = new Set(b);
      const inA = new Set(a);
      const expectAnd = [...a].filter((d) => inB.has(d));
      assert.deepEqual([...DocSet.of(200, a).and(b).toArray()], expectAnd);
      assert.deepEqual([...DocSet.of(200, a).and(DocSet.of(200, b)).toArray()], expectAnd);
      assert.deepEqual([...intersect([a, b])], expectAnd);
      assert.deepEqual(
        [...DocSet.of(200, a).among(b)],
        [...b].filter((d) => inA.has(d)),
      );
      const expectNot = [...a].filter((d) => !inB.has(d));
      assert.deepEqual([...DocSet.of(200, a).andNot(b).toArray()], expectNot);
      assert.deepEqual([...DocSet.of(200, a).andNot(DocSet.of(200, b)).toArray()], expectNot);
      const expectOr = [...new Set([...inA, ...inB])].sort((x, y) => x - y);
      assert.deepEqual([...DocSet.of(200, a).or(DocSet.of(200, b)).toArray()], expectOr);
      assert.deepEqual([...union(a, b)], expectOr);
      assert.equal(DocSet.of(200, a).count(), a.length);
      assert.equal(DocSet.of(200, a).isEmpty(), a.length === 0);
    }),
  );
});

test('a walk visits each member once and ends at END', () => {
  fc.assert(
    fc.property(docs, (list) => {
      const set = DocSet.of(200, list);
      const visited: number[] = [];
      for (let doc = set.next(0); doc !== END; doc = set.next(doc + 1)) visited.push(doc);
      assert.deepEqual(visited, [...list]);
      assert.equal(set.next(END), END);
      for (const doc of list) assert.ok(set.has(doc));
    }),
  );
});

test('a full set has every doc and nothing after the last', () => {
  for (const docCount of [0, 1, 31, 32, 33, 64, 100]) {
    const set = DocSet.full(docCount);
    assert.equal(set.count(), docCount);
    assert.equal(set.has(docCount), false);
    assert.equal(set.next(docCount), END);
  }
});

test('galloping finds the first doc not below the wanted one', () => {
  fc.assert(
    fc.property(docs, fc.nat(210), fc.nat(130), (list, doc, from) => {
      const start = Math.min(from, list.length);
      let expected = start;
      while (expected < list.length && list[expected]! < doc) expected += 1;
      assert.equal(gallop(list, doc, start), expected);
    }),
  );
});
