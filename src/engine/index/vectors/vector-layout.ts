// The byte layout of a vector file. It has entries of many memories. An entry holds the vectors of one memory, by one
// embedder, for a range of ordinals.
//
//   file      := header block* directory footer
//   header    := magic 8, format version 2, zeros 6
//   block     := sealed (nonce 12, ciphertext, tag 16)   CRC-32 of `sealed` 4
//   plain     := rows 2, ordinals 4 each, chunks 2 each (0 is a grain's first), half floats 2 * dimensions each
//   directory := names 2, each (bytes 2, UTF-8); replaced 4, each (file 4, entry 4); entries 4, each ENTRY_BYTES:
//                memory 4, index key id 4, name 2, dimensions 4, after 4, up to 4, rows 4, offset 8, id 16
//   footer    := directory offset 8, directory bytes 4, file number 4, age 4, CRC-32 of the directory 4,
//                format version 4, CRC-32 of the footer so far 4, magic 8
//
// Integers and half floats are little-endian. Every block of an entry but the last has as many rows as BLOCK_BYTES can
// hold, at least one. A block is sealed under the memory's index key, with (entry id, memory, dimensions, block number)
// as associated data, so that it cannot be moved. The directory holds memories, embedders and ranges, but no vectors.
//
// *Replaced* lists entries of older files that are no longer in force, because this file has what is left of them. *Age*
// is the number of the file that first held the newest of the contents. If two files have the same grain, the one with
// the greater age is right.

import { assert } from '../../base/assert.ts';
import { BLOCK_BYTES, VECTOR_DIMENSIONS_MAX } from '../../base/limits.ts';
import { SEAL_BYTES } from '../../crypto/envelope.ts';
import type { EmbedderStamp } from './vector-set.ts';

export const MAGIC = Buffer.from('GRANVEC1', 'latin1');
export const FORMAT_VERSION = 1;
export const HEADER_BYTES = 16;
export const FOOTER_BYTES = 40;
const ENTRY_BYTES = 50;
export const ID_BYTES = 16;
export const BLOCK_OVERHEAD = SEAL_BYTES + 4;
export const ROW_HEAD_BYTES = 6;
/** An entry number that stands for all entries of the file. */
export const EVERY_ENTRY = 0xffff_ffff;

assert(new Uint8Array(Uint16Array.of(1).buffer)[0] === 1, 'half floats of this machine are little-endian');

/** An entry as in the directory. */
export interface VectorEntry {
  readonly memory: number;
  readonly keyId: number;
  readonly stamp: EmbedderStamp;
  /** The entry has all vectors of the ordinals above `after` up to `upTo`. */
  readonly after: number;
  readonly upTo: number;
  readonly rows: number;
  readonly offset: number;
  readonly id: Uint8Array;
}

/** An entry of another file, by its number in the directory. */
export interface EntryName {
  readonly file: number;
  readonly entry: number;
}

/** Number of rows of this many dimensions in a block. */
export function blockRows(dimensions: number): number {
  return Math.max(1, Math.floor((BLOCK_BYTES - 2) / (ROW_HEAD_BYTES + 2 * dimensions)));
}

export function plainBytes(rows: number, dimensions: number): number {
  return 2 + rows * (ROW_HEAD_BYTES + 2 * dimensions);
}

export function associated(id: Uint8Array, memory: number, dimensions: number, number: number): Buffer {
  const bytes = Buffer.alloc(ID_BYTES + 12);
  bytes.set(id);
  bytes.writeUInt32LE(memory, ID_BYTES);
  bytes.writeUInt32LE(dimensions, ID_BYTES + 4);
  bytes.writeUInt32LE(number, ID_BYTES + 8);
  return bytes;
}

export function blockCount(entry: Pick<VectorEntry, 'rows' | 'stamp'>): number {
  return Math.ceil(entry.rows / blockRows(entry.stamp.dimensions));
}

export function storedBytes(entry: Pick<VectorEntry, 'rows' | 'stamp'>): number {
  const { dimensions } = entry.stamp;
  return blockCount(entry) * (2 + BLOCK_OVERHEAD) + entry.rows * (ROW_HEAD_BYTES + 2 * dimensions);
}

export function encodeDirectory(entries: readonly VectorEntry[], replaced: readonly EntryName[]): Buffer {
  const names = [...new Set(entries.map((entry) => entry.stamp.name))];
  const head = Buffer.alloc(2);
  head.writeUInt16LE(names.length);
  const parts: Buffer[] = [head];
  for (const name of names) {
    const text = Buffer.from(name);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(text.length);
    parts.push(length, text);
  }
  const list = Buffer.alloc(4 + 8 * replaced.length + 4 + ENTRY_BYTES * entries.length);
  list.writeUInt32LE(replaced.length);
  replaced.forEach(({ file, entry }, i) => {
    list.writeUInt32LE(file, 4 + 8 * i);
    list.writeUInt32LE(entry, 8 + 8 * i);
  });
  let at = 4 + 8 * replaced.length;
  list.writeUInt32LE(entries.length, at);
  at += 4;
  for (const entry of entries) {
    list.writeUInt32LE(entry.memory, at);
    list.writeUInt32LE(entry.keyId, at + 4);
    list.writeUInt16LE(names.indexOf(entry.stamp.name), at + 8);
    list.writeUInt32LE(entry.stamp.dimensions, at + 10);
    list.writeUInt32LE(entry.after, at + 14);
    list.writeUInt32LE(entry.upTo, at + 18);
    list.writeUInt32LE(entry.rows, at + 22);
    writeUint64(list, entry.offset, at + 26);
    list.set(entry.id, at + 34);
    at += ENTRY_BYTES;
  }
  return Buffer.concat([...parts, list]);
}

export function decodeDirectory(bytes: Buffer): { entries: VectorEntry[]; replaced: EntryName[] } {
  let at = 0;
  const step = (width: number): number => {
    at += width;
    return at - width;
  };
  const uint16 = (): number => bytes.readUInt16LE(step(2));
  const uint32 = (): number => bytes.readUInt32LE(step(4));
  const names = Array.from({ length: uint16() }, () => {
    const length = uint16();
    at += length;
    return bytes.toString('utf8', at - length, at);
  });
  const replaced = Array.from({ length: uint32() }, () => ({ file: uint32(), entry: uint32() }));
  const entries = Array.from({ length: uint32() }, (): VectorEntry => {
    const memory = uint32();
    const keyId = uint32();
    const name = names[uint16()];
    const dimensions = uint32();
    assert(
      name !== undefined && dimensions >= 1 && dimensions <= VECTOR_DIMENSIONS_MAX,
      'a checked directory is right',
    );
    const [after, upTo, rows] = [uint32(), uint32(), uint32()];
    const offset = readUint64(bytes, at);
    const id = Uint8Array.from(bytes.subarray(at + 8, at + 8 + ID_BYTES));
    at += 8 + ID_BYTES;
    return { memory, keyId, stamp: { name, dimensions }, after, upTo, rows, offset, id };
  });
  assert(at === bytes.length, 'a checked directory is read to its end');
  return { entries, replaced };
}

export function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

export function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, at);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}
