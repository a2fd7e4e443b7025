// The numbers of a chunk's docs, in the section `numbers`: a column for each field that occurs. A column begins with a
// byte for its form, the smallest of three. Doc deltas are the distance to the previous doc - 1.
//
//   CODED     number of distinct values; the values (float64); bits of a code (1 byte); a code for each doc, packed low
//             bits first. The code after that of the last value means "none". If every doc has the same value, a code
//             has no bits.
//   INTEGERS  number of docs; for each doc: doc delta, signed difference from the previous value
//   FLOATS    number of docs; for each doc: doc delta, value (float64)
//   trailer   for each column: field id, length in bytes with the form byte
import { assert } from '../../base/assert.ts';
import { type ByteWriter, fromZigzag } from '../files/bytes.ts';
import { type ChunkSink, type ChunkSource, CorruptBlock, type Sliced } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput, SLICE_STEPS } from '../parts/merge-input.ts';
import { NUMBERS, type NumberField } from '../parts/part.ts';
import { NUMBER_FIELDS } from './tail.ts';

const CODED = 0;
const INTEGERS = 1;
const FLOATS = 2;
const CODES_MAX = 256;
/** Signed distances between larger values would exceed the exact integers of a double. */
const INTEGER_MAX = 2 ** 51;

/** Computes the column of a field, which is used before the next is computed; undefined when no doc has that number. */
type Column = (field: NumberField) => Sliced<Float64Array | undefined>;

/** Writes the columns (NaN: none). Without any number, the section is not written. */
export function* encodeNumbers(column: Column, docCount: number, sink: ChunkSink): Sliced<void> {
  let section: SectionWriter | undefined;
  const trailer: number[] = [];
  for (const field of NUMBER_FIELDS) {
    const values = yield* column(field);
    if (values === undefined) continue;
    const shape = yield* measure(values, docCount);
    if (shape.present === 0) continue;
    section ??= new SectionWriter(sink.section('numbers'));
    const start = section.position;
    yield* writeColumn(values, docCount, shape, section);
    trailer.push(NUMBERS[field], section.position - start);
  }
  section?.finish(trailer);
}

interface Shape {
  readonly present: number;
  readonly integers: boolean;
  /** Code of each distinct value; undefined when there are too many. */
  readonly codes: Map<number, number> | undefined;
  /** Estimated bytes of a value in the form INTEGERS. */
  readonly integerBytes: number;
}

function* measure(values: Float64Array, docCount: number): Sliced<Shape> {
  let present = 0;
  let integers = true;
  let codes: Map<number, number> | undefined = new Map();
  let integerBytes = 0;
  let before = 0;
  for (let doc = 0; doc < docCount; doc++) {
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
    const value = values[doc]!;
    if (Number.isNaN(value)) continue;
    present += 1;
    // Negative zero and the infinities are stored as floats.
    if (!Number.isInteger(value) || Math.abs(value) >= INTEGER_MAX || Object.is(value, -0)) integers = false;
    integerBytes += 1 + Math.max(1, Math.ceil(Math.log2(2 * Math.abs(value - before) + 1) / 7));
    before = value;
    // A Map treats negative zero as zero.
    if (Object.is(value, -0)) codes = undefined;
    if (codes === undefined || codes.has(value)) continue;
    if (codes.size === CODES_MAX - 1) codes = undefined;
    else codes.set(value, codes.size);
  }
  return { present, integers, codes, integerBytes };
}

function* writeColumn(values: Float64Array, docCount: number, shape: Shape, section: SectionWriter): Sliced<void> {
  const sparseBytes = shape.integers ? shape.integerBytes : shape.present * 9;
  const codes = shape.codes;
  const bits = codes === undefined ? 0 : bitsFor(codes.size + (shape.present < docCount ? 1 : 0));
  if (codes !== undefined && codes.size * 8 + (docCount * bits) / 8 <= sparseBytes + 8) {
    section.bytes.u8(CODED);
    section.bytes.varint(codes.size);
    for (const value of codes.keys()) section.bytes.float64(value);
    section.bytes.u8(bits);
    yield* writeCodes(values, docCount, codes, bits, section);
    return;
  }
  section.bytes.u8(shape.integers ? INTEGERS : FLOATS);
  section.bytes.varint(shape.present);
  let next = 0;
  let before = 0;
  for (let doc = 0; doc < docCount; doc++) {
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
    const value = values[doc]!;
    if (Number.isNaN(value)) continue;
    section.bytes.varint(doc - next);
    writeValue(section.bytes, value, before, shape.integers);
    section.settle();
    next = doc + 1;
    before = value;
  }
}

function writeValue(bytes: ByteWriter, value: number, before: number, integers: boolean): void {
  if (integers) bytes.zigzag(value - before);
  else bytes.float64(value);
}

/** Bits of a code: 0, 1, 2, 4 or 8, so that a byte holds a whole number of codes. */
function bitsFor(codes: number): number {
  return codes <= 1 ? 0 : codes <= 2 ? 1 : codes <= 4 ? 2 : codes <= 16 ? 4 : 8;
}

function* writeCodes(
  values: Float64Array,
  docCount: number,
  codes: Map<number, number>,
  bits: number,
  section: SectionWriter,
): Sliced<void> {
  if (bits === 0) return;
  const none = codes.size;
  let byte = 0;
  let filled = 0;
  for (let doc = 0; doc < docCount; doc++) {
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
    const value = values[doc]!;
    byte |= (Number.isNaN(value) ? none : codes.get(value)!) << filled;
    filled += bits;
    if (filled < 8) continue;
    section.bytes.u8(byte);
    section.settle();
    byte = 0;
    filled = 0;
  }
  if (filled > 0) section.bytes.u8(byte);
}

/** The position of each column in the section. */
function readLayout(source: ChunkSource): Map<number, number> {
  const section = source.section('numbers');
  const starts = new Map<number, number>();
  if (section.length === 0) return starts;
  const { numbers } = readTrailer(section);
  let start = 0;
  for (let i = 0; i < numbers.length; i += 2) {
    starts.set(numbers[i]!, start);
    start += numbers[i + 1]!;
  }
  return starts;
}

function readColumn(source: ChunkSource, start: number, docCount: number): Float64Array {
  const cursor = new SectionCursor(source.section('numbers'), start);
  const values = new Float64Array(docCount);
  const form = cursor.u8();
  if (form === CODED) readCodes(cursor, values);
  else if (form === INTEGERS || form === FLOATS) readSparse(cursor, values, form === INTEGERS);
  else throw new CorruptBlock('numbers', start, 'unknown form of a column');
  return values;
}

function readCodes(cursor: SectionCursor, values: Float64Array): void {
  const distinct = new Float64Array(cursor.varint() + 1);
  for (let i = 0; i < distinct.length - 1; i++) distinct[i] = cursor.float64();
  distinct[distinct.length - 1] = Number.NaN;
  const bits = cursor.u8();
  if (bits === 0) {
    values.fill(distinct[0]!);
    return;
  }
  const mask = (1 << bits) - 1;
  for (let doc = 0; doc < values.length; ) {
    let byte = cursor.u8();
    for (let filled = 0; filled < 8 && doc < values.length; filled += bits) {
      values[doc++] = distinct[byte & mask]!;
      byte >>>= bits;
    }
  }
}

function readSparse(cursor: SectionCursor, values: Float64Array, integers: boolean): void {
  values.fill(Number.NaN);
  let next = 0;
  let before = 0;
  for (let left = cursor.varint(); left > 0; left--) {
    next += cursor.varint();
    before = integers ? before + fromZigzag(cursor.varint()) : cursor.float64();
    values[next++] = before;
  }
}

export class NumbersChunk {
  readonly #source: ChunkSource;
  readonly #docCount: number;
  readonly #cache: DecodedCache;

  constructor(source: ChunkSource, docCount: number, cache: DecodedCache) {
    this.#source = source;
    this.#docCount = docCount;
    this.#cache = cache;
  }

  column(field: NumberField): Float64Array | undefined {
    const start = this.#layout().get(NUMBERS[field]);
    if (start === undefined) return undefined;
    const cacheKey = `numbers/${field}`;
    const known = this.#cache.get<Float64Array>(cacheKey);
    if (known !== undefined) return known;
    const values = readColumn(this.#source, start, this.#docCount);
    this.#cache.set(cacheKey, values, values.byteLength);
    return values;
  }

  #layout(): Map<number, number> {
    const known = this.#cache.get<Map<number, number>>('numbers/layout');
    if (known !== undefined) return known;
    const layout = readLayout(this.#source);
    this.#cache.set('numbers/layout', layout, 200);
    return layout;
  }
}

/** Merges the columns, with one in the heap at a time. */
export function* mergeNumbers(inputs: readonly MergeInput[], newDocCount: number, sink: ChunkSink): Sliced<void> {
  const layouts = inputs.map((input) => readLayout(input.source));
  const merged = new Float64Array(newDocCount);
  yield* encodeNumbers(
    function* (field) {
      const id = NUMBERS[field];
      if (layouts.every((layout) => !layout.has(id))) return undefined;
      merged.fill(Number.NaN);
      for (const [i, { source, docCount, docMap }] of inputs.entries()) {
        const start = layouts[i]!.get(id);
        if (start === undefined) continue;
        const values = readColumn(source, start, docCount);
        assert(values.length === docMap.length, 'a doc map has an entry a doc');
        for (let doc = 0; doc < docCount; doc++) if (docMap[doc] !== DROPPED) merged[docMap[doc]!] = values[doc]!;
        yield;
      }
      return merged;
    },
    newDocCount,
    sink,
  );
}
