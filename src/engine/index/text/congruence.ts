// Asks every kind of part the same questions: a tail, a sealed chunk and a merged one must give the answers that follow
// from the texts. A suite of functions for tests; the texts are the model.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { HeapBudget } from '../heap-budget.ts';
import type { AnalyzedText } from '../parts/part.ts';
import { countedLength } from './bm25.ts';
import { MemoryChunk, oneByOne } from './memory-chunk.ts';
import type { MergeInput } from './merge-stream.ts';
import { mergeText } from './merge-text.ts';
import { encodeText, TextChunk } from './segment.ts';
import { TextTail } from './tail.ts';
import { COMMON_TERM_SHARE, type TextPart } from './types.ts';

export const blindToken = (term: string): Uint8Array => createHash('sha256').update(term).digest().subarray(0, 8);

export const blindTerms = oneByOne(blindToken);

export function tailOf(texts: readonly AnalyzedText[]): TextTail {
  const tail = new TextTail();
  for (const [doc, text] of texts.entries()) tail.add(doc, text);
  return tail;
}

export function openChunk(chunk: MemoryChunk, docCount: number, heapBytes = 1e7): TextChunk {
  return new TextChunk(chunk, docCount, blindToken, new HeapBudget(heapBytes).scope());
}

export function chunkOf(texts: readonly AnalyzedText[]): TextChunk {
  const chunk = new MemoryChunk();
  finish(encodeText(tailOf(texts), blindTerms, chunk));
  return openChunk(chunk, texts.length);
}

/** Seals the texts in runs of `size` and merges those, without the docs for which `removed` is true. */
export function mergedChunkOf(
  texts: readonly AnalyzedText[],
  size: number,
  removed: (doc: number) => boolean,
): TextChunk {
  const inputs: MergeInput[] = [];
  let kept = 0;
  for (let start = 0; start < texts.length; start += size) {
    const run = texts.slice(start, start + size);
    inputs.push({ chunk: chunkOf(run), docMap: Int32Array.from(run, (_, i) => (removed(start + i) ? -1 : kept++)) });
  }
  const merged = new MemoryChunk();
  finish(mergeText(inputs, kept, merged));
  return openChunk(merged, kept);
}

/** Runs sliced work to its end; returns how often it yielded. */
export function finish(work: Generator<void, void, void>): number {
  let slices = 0;
  while (work.next().done !== true) slices++;
  return slices;
}

/** Asks a part every question and compares the answers with the texts. */
export function assertHolds(part: TextPart, texts: readonly AnalyzedText[]): void {
  assert.equal(part.docCount, texts.length);
  const lengths = texts.map((text) => Math.min(text.terms.length, 65_535));
  assert.deepEqual([...part.lengths.subarray(0, texts.length)], lengths);
  assert.equal(
    part.totalLength,
    lengths.reduce((sum, length) => sum + countedLength(length), 0),
  );
  const terms = new Map<string, Map<number, number[]>>();
  for (const [doc, text] of texts.entries()) {
    for (const [i, term] of text.terms.entries()) {
      const docs = terms.get(term) ?? new Map<number, number[]>();
      const positions = docs.get(doc);
      if (positions === undefined) docs.set(doc, [text.positions[i]!]);
      else positions.push(text.positions[i]!);
      terms.set(term, docs);
    }
  }
  assert.equal(part.termCount, terms.size);
  assert.deepEqual(new Map(part.vocabulary()), new Map([...terms].map(([term, docs]) => [term, docs.size])));
  for (const [term, docs] of terms) {
    const postings = part.postings(term);
    assert.ok(postings !== undefined, term);
    assert.equal(postings.count, docs.size);
    assert.deepEqual([...postings.docs.subarray(0, docs.size)], [...docs.keys()]);
    const frequencies = [...docs.values()].map((positions) => Math.min(positions.length, 65_535));
    assert.deepEqual([...postings.frequencies.subarray(0, docs.size)], frequencies);
    assert.equal(postings.maxFrequency, Math.max(...frequencies));
    assert.equal(postings.minLength, countedLength(Math.min(...[...docs.keys()].map((doc) => lengths[doc]!))));
    if (docs.size * COMMON_TERM_SHARE >= texts.length) assert.ok(postings.byDoc !== undefined);
    if (postings.byDoc !== undefined) {
      const byDoc = texts.map((_, doc) => Math.min(docs.get(doc)?.length ?? 0, 255));
      assert.deepEqual(
        texts.map((_, doc) => postings.byDoc![doc] ?? 0),
        byDoc,
      );
    }
    const { starts, positions } = part.occurrences(term)!;
    assert.deepEqual([...positions.subarray(0, starts[docs.size])], [...docs.values()].flat());
    const absent = texts.findIndex((_, doc) => !docs.has(doc));
    for (const doc of absent < 0 ? docs.keys() : [...docs.keys(), absent]) {
      assert.deepEqual([...part.positions(term, doc)], docs.get(doc) ?? []);
    }
  }
  assert.equal(part.postings('no such term'), undefined);
  assert.equal(part.occurrences('no such term'), undefined);
  assert.equal(part.positions('no such term', 0).length, 0);
}
