import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { ChunkSink, Sliced } from '../files/section.ts';
import { HeapBudget } from '../heap-budget.ts';
import { SealedChunk } from '../parts/chunk.ts';
import { ChunkWriter } from '../parts/chunk-writer.ts';
import { DROPPED } from '../parts/merge-input.ts';
import { finish } from '../testing/shard.ts';
import { encodeNumbers, mergeNumbers, NumbersChunk } from './segment.ts';

function chunkOf(fill: (sink: ChunkSink) => Sliced<void>): SealedChunk {
  const key = randomBytes(32);
  const id = randomBytes(16);
  const blocks: Uint8Array[] = [];
  const writer = new ChunkWriter((bytes) => blocks.push(bytes));
  writer.begin(key, id);
  finish(fill(writer));
  const place = { id, ...writer.finish() };
  const bytes = Buffer.concat(blocks);
  const read = (offset: number, length: number): Uint8Array => bytes.subarray(offset, offset + length);
  return new SealedChunk({
    bytes: { file: 'test', offset: 0, read },
    place,
    key: () => key,
    cache: new HeapBudget(100_000).scope(),
  });
}

function encoded(column: Float64Array): SealedChunk {
  return chunkOf((sink) =>
    encodeNumbers(
      function* (field) {
        yield;
        return field === 'importance' ? column : undefined;
      },
      column.length,
      sink,
    ),
  );
}

function decoded(chunk: SealedChunk, docCount: number): number[] | undefined {
  const column = new NumbersChunk(chunk, docCount, new HeapBudget(100_000).scope()).column('importance');
  return column === undefined ? undefined : [...column];
}

const none = fc.constant(Number.NaN);
const odd = fc.constantFrom(-0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 53, -(2 ** 60), 0.1);
const few = fc.constantFrom(0, 0.5, 1, Number.NaN);
const columns = fc.oneof(
  fc.array(fc.oneof(fc.double({ noDefaultInfinity: true }), none), { maxLength: 300 }),
  fc.array(fc.oneof(fc.integer({ min: -(2 ** 40), max: 2 ** 40 }), none), { maxLength: 600 }),
  fc.array(fc.oneof(odd, none), { maxLength: 40 }),
  fc.array(few, { maxLength: 500 }),
  fc.array(fc.nat(300), { minLength: 300, maxLength: 700 }),
  fc.nat(100).map((length) => new Array<number>(length).fill(7)),
);

test('a column decodes exactly, and has the smallest form', () => {
  fc.assert(
    fc.property(columns, (values) => {
      const found = decoded(encoded(Float64Array.from(values)), values.length);
      if (values.every(Number.isNaN)) assert.equal(found, undefined);
      else assert.deepEqual(found, values);
    }),
    { numRuns: runs(300) },
  );
});

test('a value that every doc has takes no bytes per doc', () => {
  const chunk = encoded(new Float64Array(10_000).fill(0.9));
  assert.ok(chunk.section('numbers').length < 20);
});

test('columns merge, without dropped docs', () => {
  fc.assert(
    fc.property(columns, columns, fc.array(fc.boolean(), { minLength: 700, maxLength: 700 }), (a, b, drops) => {
      let next = 0;
      const kept: number[] = [];
      const inputs = [a, b].map((values, which) => {
        const docMap = Int32Array.from(values, (value, doc) => {
          if (drops[(doc + which * 13) % drops.length] === true) return DROPPED;
          kept.push(value);
          return next++;
        });
        return { source: encoded(Float64Array.from(values)), docCount: values.length, docMap };
      });
      const found = decoded(
        chunkOf((sink) => mergeNumbers(inputs, next, sink)),
        next,
      );
      if (kept.every(Number.isNaN)) assert.equal(found, undefined);
      else assert.deepEqual(found, kept);
    }),
  );
});
