// The columns that every doc of a chunk has, in the section `docs`: three streams, then a trailer.
//
//   ordinals  distance to the previous ordinal - 1; the first one as it is
//   created   signed distance to the previous time, in units of 1,000 ms if all times are whole seconds, else of 1 ms
//   sizes     for each doc: blob bytes, signed (record bytes - blob bytes - record base)
//   trailer   offset of created, offset of sizes, unit in ms, 1 if chronological, record base
//
// Numbers are variable-length integers, zigzag-encoded where signed.
import { assert } from '../../base/assert.ts';
import { fromZigzag } from '../files/bytes.ts';
import type { ChunkSink, ChunkSource, Sliced } from '../files/section.ts';
import { SectionCursor } from '../files/section-cursor.ts';
import { readTrailer, SectionWriter } from '../files/section-writer.ts';
import type { DecodedCache } from '../heap-budget.ts';
import { DROPPED, type MergeInput, SLICE_STEPS } from '../parts/merge-input.ts';

export interface DocColumns {
  readonly count: number;
  readonly ordinals: Uint32Array;
  readonly createdAtMs: Float64Array;
  readonly blobBytes: Uint32Array;
  readonly recordBytes: Uint32Array;
}

const SECOND_MS = 1_000;

/** Call `ordinal` for all docs, then `createdAt` for all, then `size` for all, then `finish`. */
class DocsWriter {
  readonly #section: SectionWriter;
  readonly #unitMs: number;
  readonly #recordBase: number;
  #ordinal = -1;
  #created = 0;
  #createdStart = -1;
  #sizesStart = -1;
  #chronological = true;

  constructor(sink: ChunkSink, unitMs: number, recordBase: number) {
    this.#section = new SectionWriter(sink.section('docs'));
    this.#unitMs = unitMs;
    this.#recordBase = recordBase;
  }

  ordinal(ordinal: number): void {
    assert(ordinal > this.#ordinal, 'ordinals ascend');
    this.#section.bytes.varint(ordinal - this.#ordinal - 1);
    this.#section.settle();
    this.#ordinal = ordinal;
  }

  createdAt(ms: number): void {
    const first = this.#createdStart < 0;
    if (first) this.#createdStart = this.#section.position;
    const created = ms / this.#unitMs;
    if (!first && created < this.#created) this.#chronological = false;
    this.#section.bytes.zigzag(created - this.#created);
    this.#section.settle();
    this.#created = created;
  }

  size(blobBytes: number, recordBytes: number): void {
    if (this.#sizesStart < 0) this.#sizesStart = this.#section.position;
    this.#section.bytes.varint(blobBytes);
    this.#section.bytes.zigzag(recordBytes - blobBytes - this.#recordBase);
    this.#section.settle();
  }

  finish(): void {
    const base = this.#recordBase >= 0 ? this.#recordBase * 2 : -this.#recordBase * 2 - 1;
    this.#section.finish([this.#createdStart, this.#sizesStart, this.#unitMs, this.#chronological ? 1 : 0, base]);
  }
}

/** Writes the columns of a tail. Without docs the section is not written. */
export function* encodeDocs(columns: DocColumns, sink: ChunkSink): Sliced<void> {
  const { count, ordinals, createdAtMs, blobBytes, recordBytes } = columns;
  if (count === 0) return;
  let unitMs = SECOND_MS;
  for (let doc = 0; doc < count; doc++) if (createdAtMs[doc]! % SECOND_MS !== 0) unitMs = 1;
  const writer = new DocsWriter(sink, unitMs, recordBytes[0]! - blobBytes[0]!);
  for (let doc = 0; doc < count; doc++) {
    writer.ordinal(ordinals[doc]!);
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  for (let doc = 0; doc < count; doc++) {
    writer.createdAt(createdAtMs[doc]!);
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  for (let doc = 0; doc < count; doc++) {
    writer.size(blobBytes[doc]!, recordBytes[doc]!);
    if (doc % SLICE_STEPS === SLICE_STEPS - 1) yield;
  }
  writer.finish();
}

interface Layout {
  readonly createdStart: number;
  readonly sizesStart: number;
  readonly end: number;
  readonly unitMs: number;
  readonly chronological: boolean;
  readonly recordBase: number;
}

function readLayout(source: ChunkSource): Layout {
  const { numbers, end } = readTrailer(source.section('docs'));
  const [createdStart = 0, sizesStart = 0, unitMs = 1, chronological = 0, base = 0] = numbers;
  return {
    createdStart,
    sizesStart,
    end,
    unitMs,
    chronological: chronological === 1,
    recordBase: fromZigzag(base),
  };
}

const NO_NUMBERS = new Uint32Array(0);
const NO_TIMES = new Float64Array(0);

export class DocsChunk {
  readonly #source: ChunkSource;
  readonly #docCount: number;
  readonly #cache: DecodedCache;

  constructor(source: ChunkSource, docCount: number, cache: DecodedCache) {
    this.#source = source;
    this.#docCount = docCount;
    this.#cache = cache;
  }

  get ordinals(): Uint32Array {
    if (this.#docCount === 0) return NO_NUMBERS;
    const known = this.#cache.get<Uint32Array>('docs/ordinals');
    if (known !== undefined) return known;
    const cursor = new SectionCursor(this.#source.section('docs'));
    const ordinals = new Uint32Array(this.#docCount);
    let ordinal = -1;
    for (let doc = 0; doc < ordinals.length; doc++) {
      ordinal += cursor.varint() + 1;
      ordinals[doc] = ordinal;
    }
    this.#cache.set('docs/ordinals', ordinals, ordinals.byteLength);
    return ordinals;
  }

  get createdAtMs(): Float64Array {
    if (this.#docCount === 0) return NO_TIMES;
    const known = this.#cache.get<Float64Array>('docs/created');
    if (known !== undefined) return known;
    const { createdStart, unitMs } = this.#layout();
    const cursor = new SectionCursor(this.#source.section('docs'), createdStart);
    const times = new Float64Array(this.#docCount);
    let created = 0;
    for (let doc = 0; doc < times.length; doc++) {
      created += fromZigzag(cursor.varint());
      times[doc] = created * unitMs;
    }
    this.#cache.set('docs/created', times, times.byteLength);
    return times;
  }

  get chronological(): boolean {
    return this.#docCount === 0 || this.#layout().chronological;
  }

  get blobBytes(): Uint32Array {
    return this.#sizes().blobs;
  }

  get recordBytes(): Uint32Array {
    return this.#sizes().records;
  }

  #sizes(): { blobs: Uint32Array; records: Uint32Array } {
    if (this.#docCount === 0) return { blobs: NO_NUMBERS, records: NO_NUMBERS };
    const known = this.#cache.get<{ blobs: Uint32Array; records: Uint32Array }>('docs/sizes');
    if (known !== undefined) return known;
    const { sizesStart, recordBase } = this.#layout();
    const cursor = new SectionCursor(this.#source.section('docs'), sizesStart);
    const blobs = new Uint32Array(this.#docCount);
    const records = new Uint32Array(this.#docCount);
    for (let doc = 0; doc < blobs.length; doc++) {
      const bytes = cursor.varint();
      blobs[doc] = bytes;
      records[doc] = bytes + recordBase + fromZigzag(cursor.varint());
    }
    const sizes = { blobs, records };
    this.#cache.set('docs/sizes', sizes, blobs.byteLength * 2);
    return sizes;
  }

  #layout(): Layout {
    const known = this.#cache.get<Layout>('docs/layout');
    if (known !== undefined) return known;
    const layout = readLayout(this.#source);
    this.#cache.set('docs/layout', layout, 64);
    return layout;
  }
}

/** The ordinals of a chunk in order, without caching them. */
export function* ordinalsOf(source: ChunkSource, docCount: number): IterableIterator<number> {
  const cursor = docCount === 0 ? undefined : new SectionCursor(source.section('docs'));
  let ordinal = -1;
  for (let doc = 0; doc < docCount; doc++) {
    ordinal += cursor!.varint() + 1;
    yield ordinal;
  }
}

/** Writes the docs that the inputs keep. Ordinals ascend from one input to the next. */
export function* mergeDocs(inputs: readonly MergeInput[], sink: ChunkSink): Sliced<void> {
  const filled = inputs.filter((input) => input.docMap.some((doc) => doc !== DROPPED));
  if (filled.length === 0) return;
  const layouts = filled.map((input) => readLayout(input.source));
  const unitMs = layouts.every((layout) => layout.unitMs === SECOND_MS) ? SECOND_MS : 1;
  const writer = new DocsWriter(sink, unitMs, layouts[0]!.recordBase);
  let steps = 0;
  for (const { source, docCount, docMap } of filled) {
    let doc = 0;
    for (const ordinal of ordinalsOf(source, docCount)) {
      if (docMap[doc++] !== DROPPED) writer.ordinal(ordinal);
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  for (const [i, { source, docCount, docMap }] of filled.entries()) {
    const layout = layouts[i]!;
    const cursor = new SectionCursor(source.section('docs'), layout.createdStart);
    let created = 0;
    for (let doc = 0; doc < docCount; doc++) {
      created += fromZigzag(cursor.varint());
      if (docMap[doc] !== DROPPED) writer.createdAt(created * layout.unitMs);
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  for (const [i, { source, docCount, docMap }] of filled.entries()) {
    const layout = layouts[i]!;
    const cursor = new SectionCursor(source.section('docs'), layout.sizesStart);
    for (let doc = 0; doc < docCount; doc++) {
      const blobBytes = cursor.varint();
      const recordBytes = blobBytes + layout.recordBase + fromZigzag(cursor.varint());
      if (docMap[doc] !== DROPPED) writer.size(blobBytes, recordBytes);
      if (++steps % SLICE_STEPS === 0) yield;
    }
  }
  writer.finish();
}
