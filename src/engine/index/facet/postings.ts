// The bytes of a facet's posting list, which holds ascending docs. The head is the variable-length integer
// count * 4 + form. The smallest of three forms is written, because a namespace has every doc, a session a run of docs,
// and a subject only a few:
//
//   DELTAS  first doc; for each later doc, the distance to the previous one - 1
//   RUNS    number of runs; for each run, the distance from the end of the previous one, and its length - 1
//   BITMAP  first doc; number of bytes; a bit for each doc from the first one on, low bits first
import type { ByteWriter } from '../files/bytes.ts';
import { CorruptBlock, type Sliced } from '../files/section.ts';
import type { SectionCursor } from '../files/section-cursor.ts';

const DELTAS = 0;
const RUNS = 1;
const BITMAP = 2;
/** Docs handled between two yields. */
const SLICE_DOCS = 16_384;

/** Writes the list `docs[0..count-1]`. */
export function* writePostings(docs: Uint32Array, count: number, out: ByteWriter): Sliced<void> {
  const sizes = measure(docs, 0, count);
  if (count > SLICE_DOCS) yield;
  const bitmapBytes = ((docs[count - 1]! - docs[0]!) >>> 3) + 1;
  const form =
    bitmapBytes + 8 < Math.min(sizes.deltas, sizes.runs) ? BITMAP : sizes.runs < sizes.deltas ? RUNS : DELTAS;
  out.varint(count * 4 + form);
  if (form === RUNS) out.varint(sizes.runCount);
  if (form === BITMAP) {
    out.varint(docs[0]!);
    out.varint(bitmapBytes);
    out.bytes(bitmap(docs, count, bitmapBytes));
    return;
  }
  for (let from = 0; from < count; ) {
    from = (form === RUNS ? writeRuns : writeDeltas)(docs, from, count, out);
    if (count > SLICE_DOCS) yield;
  }
}

function measure(docs: Uint32Array, from: number, to: number): { deltas: number; runs: number; runCount: number } {
  let deltas = 0;
  let runs = 0;
  let runCount = 0;
  let runStart = 0;
  let next = 0;
  for (let i = from; i < to; i++) {
    const doc = docs[i]!;
    deltas += varintBytes(doc - next);
    if (i === from || doc !== next) {
      if (runCount > 0) runs += varintBytes(i - 1 - runStart);
      runs += varintBytes(doc - next);
      runCount += 1;
      runStart = i;
    }
    next = doc + 1;
  }
  runs += varintBytes(to - 1 - runStart) + varintBytes(runCount);
  return { deltas, runs, runCount };
}

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
}

function writeDeltas(docs: Uint32Array, from: number, to: number, out: ByteWriter): number {
  const end = Math.min(to, from + SLICE_DOCS);
  let next = from === 0 ? 0 : docs[from - 1]! + 1;
  for (let i = from; i < end; i++) {
    out.varint(docs[i]! - next);
    next = docs[i]! + 1;
  }
  return end;
}

function writeRuns(docs: Uint32Array, from: number, to: number, out: ByteWriter): number {
  const stop = Math.min(to, from + SLICE_DOCS);
  let at = from;
  while (at < stop) {
    let end = at + 1;
    while (end < to && docs[end] === docs[end - 1]! + 1) end += 1;
    out.varint(docs[at]! - (at === 0 ? 0 : docs[at - 1]! + 1));
    out.varint(end - at - 1);
    at = end;
  }
  return at;
}

function bitmap(docs: Uint32Array, count: number, byteCount: number): Uint8Array {
  const bytes = new Uint8Array(byteCount);
  for (let i = 0; i < count; i++) {
    const bit = docs[i]! - docs[0]!;
    bytes[bit >>> 3]! |= 1 << (bit & 7);
  }
  return bytes;
}

/** Reads the count in the head of the list at the cursor, and moves the cursor past the head. */
export function readCount(cursor: SectionCursor): number {
  return Math.floor(cursor.varint() / 4);
}

/** Decodes the list at the cursor. `docCount` limits what a damaged list could allocate. */
export function readPostings(cursor: SectionCursor, docCount: number): Uint32Array {
  const head = cursor.varint();
  const count = Math.floor(head / 4);
  if (count > docCount) throw new CorruptBlock('postings', cursor.position, 'more docs than the part has');
  const docs = new Uint32Array(count);
  const form = head % 4;
  if (form === DELTAS) {
    let next = 0;
    for (let i = 0; i < count; i++) {
      next += cursor.varint();
      docs[i] = next++;
    }
  } else if (form === RUNS) {
    let at = 0;
    let next = 0;
    for (let runs = cursor.varint(); runs > 0; runs--) {
      next += cursor.varint();
      for (let length = cursor.varint() + 1; length > 0 && at < count; length--) docs[at++] = next++;
    }
  } else {
    readBitmap(cursor, docs);
  }
  if (count > 0 && docs[count - 1]! >= docCount)
    throw new CorruptBlock('postings', cursor.position, 'a doc is out of range');
  return docs;
}

function readBitmap(cursor: SectionCursor, docs: Uint32Array): void {
  const first = cursor.varint();
  const byteCount = cursor.varint();
  let at = 0;
  for (let i = 0; i < byteCount; i++) {
    let byte = cursor.u8();
    while (byte !== 0) {
      docs[at++] = first + i * 8 + (31 - Math.clz32(byte & -byte));
      byte &= byte - 1;
    }
  }
}
