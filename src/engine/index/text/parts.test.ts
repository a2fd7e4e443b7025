import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { AnalyzedText } from '../parts/part.ts';
import { assertHolds, blindTerms, chunkOf, finish, mergedChunkOf, openChunk, tailOf } from './congruence.ts';
import { MemoryChunk } from './memory-chunk.ts';
import { mergeText } from './merge-text.ts';
import { encodeText } from './segment.ts';
import { TextTail } from './tail.ts';

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c', 'dd', 'é', '東京') },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 300 }).map((n) => `w${n}`) },
);
const text = fc
  .array(fc.tuple(word, fc.integer({ min: 0, max: 200 })), { maxLength: 12 })
  .map((words): AnalyzedText => {
    let position = -1;
    return {
      terms: words.map(([term]) => term),
      positions: words.map(([, gap]) => (position += 1 + gap)),
    };
  });
const texts = fc.array(text, { minLength: 1, maxLength: 40 });

test('a tail has what was added, whenever it is asked', () => {
  fc.assert(
    fc.property(texts, (added) => {
      const tail = new TextTail();
      for (const [doc, one] of added.entries()) {
        tail.add(doc, one);
        tail.postings('a');
        if (doc % 7 === 0) assertHolds(tail, added.slice(0, doc + 1));
      }
      assertHolds(tail, added);
    }),
    { numRuns: runs(50) },
  );
});

test('a sealed chunk has the content of its tail', () => {
  fc.assert(
    fc.property(texts, (added) => assertHolds(chunkOf(added), added)),
    { numRuns: runs(100) },
  );
});

test('a merged chunk has the content of its inputs, without removed docs and their own terms', () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), fc.func(fc.boolean()), (added, size, removed) => {
      const kept = added.filter((_, doc) => !removed(doc));
      assertHolds(
        mergedChunkOf(added, size, (doc) => removed(doc)),
        kept,
      );
      assertHolds(
        mergedChunkOf(added, size, () => false),
        added,
      );
    }),
    { numRuns: runs(100) },
  );
});

test('merging gives the same bytes as sealing at once', () => {
  fc.assert(
    fc.property(texts, (added) => {
      const once = new MemoryChunk();
      finish(encodeText(tailOf(added), blindTerms, once));
      const merged = new MemoryChunk();
      const halves = [added.slice(0, added.length >> 1), added.slice(added.length >> 1)];
      let doc = 0;
      const inputs = halves.map((half) => ({ chunk: chunkOf(half), docMap: Int32Array.from(half, () => doc++) }));
      finish(mergeText(inputs, added.length, merged));
      for (const [name] of once.sizes()) {
        const section = once.section(name);
        const other = merged.section(name);
        assert.deepEqual(other.bytes(0, other.length), section.bytes(0, section.length), name);
      }
    }),
    { numRuns: runs(50) },
  );
});

test('dictionaries of many pages, long lists and large numbers come back', () => {
  const many: AnalyzedText[] = Array.from({ length: 600 }, (_, doc) => ({
    terms: ['common', `term${doc}`, `other${doc * 7}`, ...(doc % 3 === 0 ? ['third'] : [])],
    positions: [doc, doc + 1, 200_000 + doc, 300_000].slice(0, doc % 3 === 0 ? 4 : 3),
  }));
  many.push({
    terms: Array<string>(70_000).fill('common'),
    positions: Array.from({ length: 70_000 }, (_, i) => i * 3),
  });
  many.push({ terms: ['common'], positions: [0xffff_fff0] });
  const sealed = new MemoryChunk();
  const slices = finish(encodeText(tailOf(many.slice(0, -1)), blindTerms, sealed));
  assert.ok(slices > 10, 'sealing yields');
  const chunk = openChunk(sealed, many.length - 1);
  assert.ok(chunk.dictionary().pageCount > 3);
  assertHolds(chunk, many.slice(0, -1));
  assert.equal(chunk.postings('common')!.maxFrequency, 65_535);
  assert.equal(chunk.positions('common', 600).length, 70_000);
  assertHolds(
    mergedChunkOf(many.slice(0, -1), 100, (doc) => doc % 2 === 0),
    many.slice(0, -1).filter((_, doc) => doc % 2 === 1),
  );
});

test('a chunk answers the same when the heap budget keeps nothing', () => {
  const added: AnalyzedText[] = [
    { terms: ['x', 'y', 'x'], positions: [0, 1, 5] },
    { terms: [], positions: [] },
    { terms: ['y'], positions: [3] },
  ];
  const sealed = new MemoryChunk();
  finish(encodeText(tailOf(added), blindTerms, sealed));
  assertHolds(openChunk(sealed, 3, 0), added);
});

test('no sealed chunk contains a term outside the vocabulary section', () => {
  const sealed = new MemoryChunk();
  finish(encodeText(tailOf([{ terms: ['confidential'], positions: [0] }]), blindTerms, sealed));
  for (const [name, length] of sealed.sizes()) {
    const bytes = Buffer.from(sealed.section(name).bytes(0, length));
    assert.equal(bytes.includes('confidential'), name === 'vocabulary', name);
  }
});

test('docs must be added in order', () => {
  const tail = new TextTail();
  assert.throws(() => tail.add(1, { terms: [], positions: [] }), /in order/);
});
