// The dictionary of a sealed text index, in the section `textDictionary`: blind tokens in ascending order, with the
// places of their lists.
//
//   page*   PAGE_BYTES each, the last one shorter: u16 count | count × token 8 |
//           count × (varint docs, varint bytes of postings, varint bytes of positions) | zeros
//   fence*  for each page: first token 8 | f64 offset of its postings | f64 offset of its positions
//   footer  u32 pages | u32 terms | f64 total counted length
//
// Numbers are little-endian. The lists are in dictionary order without gaps, so their lengths give their offsets. A page
// lies in one block, because BLOCK_BYTES is a multiple of PAGE_BYTES. A look-up reads one page; the fences are read
// once.
import { assert } from '../../base/assert.ts';
import { BLOCK_BYTES } from '../../base/limits.ts';
import type { SectionSink, SectionSource } from '../files/section.ts';
import { VarintReader } from './varint.ts';

const PAGE_BYTES = 4_096;
const TOKEN_BYTES = 8;
const FENCE_BYTES = 24;
const FOOTER_BYTES = 16;
const META_BYTES_MAX = 15;

assert(BLOCK_BYTES % PAGE_BYTES === 0, 'a dictionary page lies in one block');

/** The place of a term's lists, and the number of its docs. */
export interface DictionaryEntry {
  readonly docs: number;
  readonly postingsStart: number;
  readonly postingsEnd: number;
  readonly positionsStart: number;
  readonly positionsEnd: number;
}

/** A token as two numbers that compare like its eight bytes. */
export function tokenHigh(token: Uint8Array, at = 0): number {
  return ((token[at]! << 24) | (token[at + 1]! << 16) | (token[at + 2]! << 8) | token[at + 3]!) >>> 0;
}
export function tokenLow(token: Uint8Array, at = 0): number {
  return tokenHigh(token, at + 4);
}

/** Writes entries in ascending order of their tokens. */
export class DictionaryWriter {
  readonly #sink: SectionSink;
  readonly #tokens = new Uint8Array(PAGE_BYTES);
  readonly #metas = new Uint8Array(PAGE_BYTES);
  #count = 0;
  #metaBytes = 0;
  #terms = 0;
  #postings = 0;
  #positions = 0;
  readonly #fences: Uint8Array[] = [];

  constructor(sink: SectionSink) {
    this.#sink = sink;
  }

  add(high: number, low: number, docs: number, postingsBytes: number, positionsBytes: number): void {
    const bytes = 2 + (this.#count + 1) * TOKEN_BYTES + this.#metaBytes + META_BYTES_MAX;
    if (bytes > PAGE_BYTES) this.#endPage(true);
    if (this.#count === 0) this.#beginPage(high, low);
    writeU32BE(this.#tokens, this.#count * TOKEN_BYTES, high);
    writeU32BE(this.#tokens, this.#count * TOKEN_BYTES + 4, low);
    this.#count++;
    this.#meta(docs);
    this.#meta(postingsBytes);
    this.#meta(positionsBytes);
    this.#postings += postingsBytes;
    this.#positions += positionsBytes;
    this.#terms++;
  }

  /** Writes the remaining page, the fences and the footer. */
  end(totalLength: number): void {
    if (this.#count > 0) this.#endPage(false);
    for (const fence of this.#fences) this.#sink.write(fence);
    const footer = new DataView(new ArrayBuffer(FOOTER_BYTES));
    footer.setUint32(0, this.#fences.length, true);
    footer.setUint32(4, this.#terms, true);
    footer.setFloat64(8, totalLength, true);
    this.#sink.write(new Uint8Array(footer.buffer));
  }

  #beginPage(high: number, low: number): void {
    const fence = new DataView(new ArrayBuffer(FENCE_BYTES));
    fence.setUint32(0, high, false);
    fence.setUint32(4, low, false);
    fence.setFloat64(8, this.#postings, true);
    fence.setFloat64(16, this.#positions, true);
    this.#fences.push(new Uint8Array(fence.buffer));
  }

  #endPage(padded: boolean): void {
    const tokenBytes = this.#count * TOKEN_BYTES;
    const page = new Uint8Array(padded ? PAGE_BYTES : 2 + tokenBytes + this.#metaBytes);
    page[0] = this.#count & 255;
    page[1] = this.#count >>> 8;
    page.set(this.#tokens.subarray(0, tokenBytes), 2);
    page.set(this.#metas.subarray(0, this.#metaBytes), 2 + tokenBytes);
    this.#sink.write(page);
    this.#count = 0;
    this.#metaBytes = 0;
  }

  #meta(value: number): void {
    while (value > 127) {
      this.#metas[this.#metaBytes++] = (value & 127) | 128;
      value >>>= 7;
    }
    this.#metas[this.#metaBytes++] = value;
  }
}

function writeU32BE(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** The fences and the footer, held in the heap: a look-up reads them before a page. */
export class Dictionary {
  readonly termCount: number;
  readonly totalLength: number;
  readonly pageCount: number;
  readonly #source: SectionSource;
  readonly #fences: DataView;

  constructor(source: SectionSource) {
    this.#source = source;
    const { length } = source;
    const footer = view(source.bytes(length - FOOTER_BYTES, length));
    this.pageCount = footer.getUint32(0, true);
    this.termCount = footer.getUint32(4, true);
    this.totalLength = footer.getFloat64(8, true);
    const start = length - FOOTER_BYTES - this.pageCount * FENCE_BYTES;
    // A copy: a view would keep its whole block in the heap, and slice() of a Buffer is a view.
    this.#fences = view(new Uint8Array(source.bytes(start, length - FOOTER_BYTES)));
  }

  get heapBytes(): number {
    return this.#fences.byteLength + 200;
  }

  find(high: number, low: number): DictionaryEntry | undefined {
    const page = this.#pageOf(high, low);
    if (page < 0) return undefined;
    const bytes = this.pageBytes(page);
    const count = bytes[0]! | (bytes[1]! << 8);
    let first = 0;
    let end = count;
    while (first < end) {
      const middle = (first + end) >>> 1;
      const order = compareToken(bytes, 2 + middle * TOKEN_BYTES, high, low);
      if (order === 0) return this.#entry(page, bytes, count, middle);
      if (order < 0) first = middle + 1;
      else end = middle;
    }
    return undefined;
  }

  postingsStart(page: number): number {
    return this.#fences.getFloat64(page * FENCE_BYTES + 8, true);
  }

  positionsStart(page: number): number {
    return this.#fences.getFloat64(page * FENCE_BYTES + 16, true);
  }

  pageBytes(page: number): Uint8Array {
    const end = this.#source.length - FOOTER_BYTES - this.#fences.byteLength;
    return this.#source.bytes(page * PAGE_BYTES, Math.min((page + 1) * PAGE_BYTES, end));
  }

  /** Last page whose first token is not above the requested one, or -1. */
  #pageOf(high: number, low: number): number {
    let first = 0;
    let end = this.pageCount;
    while (first < end) {
      const middle = (first + end) >>> 1;
      const at = middle * FENCE_BYTES;
      const fence = this.#fences.getUint32(at, false);
      if (fence < high || (fence === high && this.#fences.getUint32(at + 4, false) <= low)) first = middle + 1;
      else end = middle;
    }
    return first - 1;
  }

  #entry(page: number, bytes: Uint8Array, count: number, index: number): DictionaryEntry {
    const reader = new VarintReader(bytes, 2 + count * TOKEN_BYTES);
    let postingsStart = this.postingsStart(page);
    let positionsStart = this.positionsStart(page);
    for (let i = 0; i < index; i++) {
      reader.skip(1);
      postingsStart += reader.varint();
      positionsStart += reader.varint();
    }
    const docs = reader.varint();
    const postingsEnd = postingsStart + reader.varint();
    return { docs, postingsStart, postingsEnd, positionsStart, positionsEnd: positionsStart + reader.varint() };
  }
}

function compareToken(bytes: Uint8Array, at: number, high: number, low: number): number {
  return tokenHigh(bytes, at) - high || tokenLow(bytes, at) - low;
}

/** Walks all entries in order. `next` moves to the next entry. */
export class DictionaryCursor {
  high = 0;
  low = 0;
  docs = 0;
  postingsStart = 0;
  postingsEnd = 0;
  positionsStart = 0;
  positionsEnd = 0;
  readonly #dictionary: Dictionary;
  #page = -1;
  #bytes: Uint8Array = new Uint8Array(0);
  #count = 0;
  #index = 0;
  #metas = new VarintReader(this.#bytes);

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /** False when there is no further entry. */
  next(): boolean {
    if (this.#index === this.#count) {
      if (this.#page + 1 === this.#dictionary.pageCount) return false;
      this.#bytes = this.#dictionary.pageBytes(++this.#page);
      this.#count = this.#bytes[0]! | (this.#bytes[1]! << 8);
      this.#index = 0;
      this.#metas = new VarintReader(this.#bytes, 2 + this.#count * TOKEN_BYTES);
    }
    const at = 2 + this.#index++ * TOKEN_BYTES;
    this.high = tokenHigh(this.#bytes, at);
    this.low = tokenLow(this.#bytes, at);
    this.docs = this.#metas.varint();
    this.postingsStart = this.postingsEnd;
    this.postingsEnd += this.#metas.varint();
    this.positionsStart = this.positionsEnd;
    this.positionsEnd += this.#metas.varint();
    return true;
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
