import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ByteWriter } from '../files/bytes.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readCount, readPostings, writePostings } from './postings.ts';

function encode(docs: Uint32Array): Uint8Array {
  const out = new ByteWriter();
  for (const _ of writePostings(docs, docs.length, out));
  return out.view().slice();
}

function cursorOver(bytes: Uint8Array): SectionCursor {
  return new SectionCursor({ length: bytes.length, bytes: (start, end) => bytes.subarray(start, end) });
}

const sparse = fc.uniqueArray(fc.nat(1_000_000), { minLength: 1, maxLength: 200 });
const dense = fc.uniqueArray(fc.nat(400), { minLength: 1, maxLength: 300 });
const runs = fc
  .array(fc.tuple(fc.nat(50), fc.integer({ min: 1, max: 300 })), { minLength: 1, maxLength: 8 })
  .map((pairs) => {
    const docs: number[] = [];
    let next = 0;
    for (const [gap, length] of pairs) {
      next += gap + 1;
      for (let i = 0; i < length; i++) docs.push(next++);
    }
    return docs;
  });

test('a list decodes unchanged, and has the smallest form', () => {
  fc.assert(
    fc.property(fc.oneof(sparse, dense, runs), (list) => {
      const docs = Uint32Array.from(list).sort();
      const bytes = encode(docs);
      const docCount = docs.at(-1)! + 1;
      const cursor = cursorOver(bytes);
      assert.deepEqual(readPostings(cursor, docCount), docs);
      assert.ok(cursor.done);
      assert.equal(readCount(cursorOver(bytes)), docs.length);
    }),
  );
});

test('lists longer than a slice decode too', () => {
  const all = Uint32Array.from({ length: 50_000 }, (_, i) => i);
  assert.deepEqual(readPostings(cursorOver(encode(all)), 50_000), all);
  assert.ok(encode(all).length < 16);
  const gaps = Uint32Array.from({ length: 50_000 }, (_, i) => i * 40 + (i % 7));
  assert.deepEqual(readPostings(cursorOver(encode(gaps)), 2_100_000), gaps);
});

test('a bitmap is chosen for dense irregular lists', () => {
  const docs = Uint32Array.from({ length: 4_000 }, (_, i) => i).filter((d) => (d * 7919) % 5 < 3);
  assert.ok(encode(docs).length < 4_000 / 8 + 16);
});

test('a doc outside the part is refused', () => {
  const bytes = encode(Uint32Array.of(1, 5, 9));
  assert.throws(() => readPostings(cursorOver(bytes), 9), /out of range/);
  assert.throws(() => readPostings(cursorOver(bytes), 2), /more docs/);
});
