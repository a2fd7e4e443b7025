// A file of vectors: entries of many memories, each of one memory by one embedder for a range of ordinals.
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
// Integers are little-endian, as half floats are. Every block of an entry but the last has as many rows as BLOCK_BYTES hold
// (at least one); it is sealed under the memory's index key with (entry id, memory, dimensions, number of the block) as
// associated data, so that none can be moved. The directory names memories, embedders and ranges, never a vector.
//
// *Replaced* names entries of older files that count no more, because this file has what is left of them. *Age* is the
// number of the file that first held the newest of the contents: where two files have a grain, the greater age is right.

import { randomBytes } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../assert.ts';
import { open, SEAL_BYTES, type SealKey, seal, sealKey } from '../../crypto/envelope.ts';
import { syncDirectory, TEMPORARY_SUFFIX, writeFully } from '../../durable-file.ts';
import { EngineError } from '../../errors.ts';
import { BLOCK_BYTES, VECTOR_DIMENSIONS_MAX } from '../../limits.ts';
import { CorruptBlock, type Sliced } from '../section.ts';
import type { EmbedderStamp } from './generation.ts';

const MAGIC = Buffer.from('GRANVEC1', 'latin1');
const FORMAT_VERSION = 1;
const HEADER_BYTES = 16;
const FOOTER_BYTES = 40;
const ENTRY_BYTES = 50;
const ID_BYTES = 16;
const BLOCK_OVERHEAD = SEAL_BYTES + 4;
const ROW_HEAD_BYTES = 6;
/** Written bytes after which the disk is asked to take them, so that the sync at the end is short. */
const SYNC_BYTES = 1_048_576;
const DIRECTORY_BYTES_MAX = 64 * 1_048_576;

/** An entry, as the directory has it. */
export interface VectorEntry {
  readonly memory: number;
  readonly keyId: number;
  readonly stamp: EmbedderStamp;
  /** It covers ordinals above `after` up to `upTo`: whatever has a vector there has it in this entry. */
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

/** Rows of one block, decoded. */
export interface VectorBlock {
  readonly count: number;
  readonly ordinals: Uint32Array;
  readonly chunks: Uint16Array;
  /** Row after row. */
  readonly halves: Uint16Array;
}

/** Rows that a block of `dimensions` holds. */
function blockRows(dimensions: number): number {
  return Math.max(1, Math.floor((BLOCK_BYTES - 2) / (ROW_HEAD_BYTES + 2 * dimensions)));
}

function plainBytes(rows: number, dimensions: number): number {
  return 2 + rows * (ROW_HEAD_BYTES + 2 * dimensions);
}

function associated(id: Uint8Array, memory: number, dimensions: number, number: number): Buffer {
  const bytes = Buffer.alloc(ID_BYTES + 12);
  bytes.set(id);
  bytes.writeUInt32LE(memory, ID_BYTES);
  bytes.writeUInt32LE(dimensions, ID_BYTES + 4);
  bytes.writeUInt32LE(number, ID_BYTES + 8);
  return bytes;
}

/** Writes a file beside its name; `finish` gives it the name, and until then it does not count. */
export class VectorFileWriter {
  readonly path: string;
  readonly number: number;
  readonly #fd: number;
  readonly #entries: VectorEntry[] = [];
  readonly #replaced: EntryName[] = [];
  #length = 0;
  #unsynced = 0;
  #closed = false;
  #current:
    | { readonly facts: Pick<VectorEntry, 'memory' | 'keyId' | 'stamp' | 'offset' | 'id'>; readonly key: SealKey }
    | undefined;
  #plain = Buffer.alloc(0);
  #rows = 0;
  #inBlock = 0;
  #blocks = 0;

  constructor(path: string, number: number) {
    this.path = path;
    this.number = number;
    this.#fd = openSync(path + TEMPORARY_SUFFIX, 'w', 0o600);
    const header = Buffer.alloc(HEADER_BYTES);
    MAGIC.copy(header);
    header.writeUInt16LE(FORMAT_VERSION, MAGIC.length);
    this.#write(header);
  }

  get entries(): readonly VectorEntry[] {
    return this.#entries;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0 && this.#replaced.length === 0;
  }

  begin(memory: number, stamp: EmbedderStamp, key: { readonly id: number; readonly key: Uint8Array }): void {
    assert(this.#current === undefined, 'an entry ends before the next begins');
    const facts = { memory, keyId: key.id, stamp, offset: this.#length, id: randomBytes(ID_BYTES) };
    this.#current = { facts, key: sealKey(key.key) };
    this.#plain = Buffer.alloc(plainBytes(blockRows(stamp.dimensions), stamp.dimensions));
    this.#rows = 0;
    this.#inBlock = 0;
    this.#blocks = 0;
  }

  /** A row: `dimensions` halves at `at`. The chunks of a grain follow each other, numbered from 0. */
  row(ordinal: number, chunk: number, halves: Uint16Array, at: number): void {
    assert(this.#current !== undefined, 'a row belongs to an entry');
    const { dimensions } = this.#current.facts.stamp;
    const perBlock = blockRows(dimensions);
    this.#plain.writeUInt32LE(ordinal, 2 + 4 * this.#inBlock);
    this.#plain.writeUInt16LE(chunk, 2 + 4 * perBlock + 2 * this.#inBlock);
    const bytes = new Uint8Array(halves.buffer, halves.byteOffset + 2 * at, 2 * dimensions);
    this.#plain.set(bytes, 2 + ROW_HEAD_BYTES * perBlock + 2 * dimensions * this.#inBlock);
    this.#inBlock += 1;
    this.#rows += 1;
    if (this.#inBlock === perBlock) this.#flush();
  }

  end(range: { readonly after: number; readonly upTo: number }): void {
    assert(this.#current !== undefined && range.after < range.upTo, 'an entry covers something');
    if (this.#inBlock > 0) this.#flush();
    this.#entries.push({ ...this.#current.facts, after: range.after, upTo: range.upTo, rows: this.#rows });
    this.#current = undefined;
  }

  replace(name: EntryName): void {
    this.#replaced.push(name);
  }

  /** Gives the file its name, durably, and opens it. */
  *finish(age: number): Sliced<VectorFile> {
    assert(this.#current === undefined, 'every entry ended');
    const directory = encodeDirectory(this.#entries, this.#replaced);
    const footer = Buffer.alloc(FOOTER_BYTES);
    writeUint64(footer, this.#length, 0);
    footer.writeUInt32LE(directory.length, 8);
    footer.writeUInt32LE(this.number, 12);
    footer.writeUInt32LE(age, 16);
    footer.writeUInt32LE(crc32(directory), 20);
    footer.writeUInt32LE(FORMAT_VERSION, 24);
    footer.writeUInt32LE(crc32(footer.subarray(0, 28)), 28);
    MAGIC.copy(footer, 32);
    this.#write(directory);
    this.#write(footer);
    yield;
    fsyncSync(this.#fd);
    this.#close();
    yield;
    renameSync(this.path + TEMPORARY_SUFFIX, this.path);
    syncDirectory(dirname(this.path));
    return VectorFile.open(this.path, this.number);
  }

  /** Removes the unfinished file. */
  abandon(): void {
    this.#close();
    rmSync(this.path + TEMPORARY_SUFFIX, { force: true });
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  #flush(): void {
    const { facts, key } = this.#current!;
    const { dimensions } = facts.stamp;
    const rows = this.#inBlock;
    const perBlock = blockRows(dimensions);
    const plain = this.#plain;
    plain.writeUInt16LE(rows, 0);
    if (rows < perBlock) {
      // The last block is short: its parts move together.
      plain.copyWithin(2 + 4 * rows, 2 + 4 * perBlock, 2 + 4 * perBlock + 2 * rows);
      const halves = 2 + ROW_HEAD_BYTES * perBlock;
      plain.copyWithin(2 + ROW_HEAD_BYTES * rows, halves, halves + 2 * dimensions * rows);
    }
    const bytes = plain.subarray(0, plainBytes(rows, dimensions));
    const sealed = seal(key, bytes, associated(facts.id, facts.memory, dimensions, this.#blocks));
    const check = Buffer.alloc(4);
    check.writeUInt32LE(crc32(sealed));
    this.#write(sealed);
    this.#write(check);
    this.#blocks += 1;
    this.#inBlock = 0;
    plain.fill(0);
  }

  #write(bytes: Uint8Array): void {
    writeFully(this.#fd, bytes, this.#length);
    this.#length += bytes.length;
    this.#unsynced += bytes.length;
    if (this.#unsynced < SYNC_BYTES) return;
    fsyncSync(this.#fd);
    this.#unsynced = 0;
  }
}

function encodeDirectory(entries: readonly VectorEntry[], replaced: readonly EntryName[]): Buffer {
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

/** An open file. Its directory was checked; blocks are when they are read. */
export class VectorFile {
  readonly path: string;
  readonly number: number;
  readonly age: number;
  readonly bytes: number;
  readonly entries: readonly VectorEntry[];
  readonly replaced: readonly EntryName[];
  readonly #fd: number;

  private constructor(
    place: { readonly path: string; readonly fd: number; readonly bytes: number },
    footer: { readonly number: number; readonly age: number },
    directory: { readonly entries: readonly VectorEntry[]; readonly replaced: readonly EntryName[] },
  ) {
    this.path = place.path;
    this.#fd = place.fd;
    this.bytes = place.bytes;
    this.number = footer.number;
    this.age = footer.age;
    this.entries = directory.entries;
    this.replaced = directory.replaced;
  }

  /** Throws CorruptBlock, or what the file system throws. */
  static open(path: string, number: number): VectorFile {
    const fd = openSync(path, 'r');
    const name = basename(path);
    try {
      const bytes = fstatSync(fd).size;
      const fail = (offset: number, reason: string): never => {
        throw new CorruptBlock(name, offset, reason);
      };
      if (bytes < HEADER_BYTES + FOOTER_BYTES) fail(bytes, 'file is too short');
      const header = readExactly(fd, name, 0, HEADER_BYTES);
      if (!header.subarray(0, 8).equals(MAGIC)) fail(0, 'no file of vectors');
      if (header.readUInt16LE(8) !== FORMAT_VERSION) fail(8, 'unknown format version');
      if (header.readUIntLE(10, 6) !== 0) fail(10, 'header is not as it was written');
      const footerAt = bytes - FOOTER_BYTES;
      const footer = readExactly(fd, name, footerAt, FOOTER_BYTES);
      if (!footer.subarray(32).equals(MAGIC)) fail(footerAt, 'file has no end');
      if (crc32(footer.subarray(0, 28)) !== footer.readUInt32LE(28)) fail(footerAt, 'footer checksum does not fit');
      const at = readUint64(footer, 0);
      const length = footer.readUInt32LE(8);
      if (at < HEADER_BYTES || at + length !== footerAt || length > DIRECTORY_BYTES_MAX)
        fail(footerAt, 'directory is outside the file');
      if (footer.readUInt32LE(12) !== number) fail(footerAt, 'file has the name of another');
      const directory = readExactly(fd, name, at, length);
      if (crc32(directory) !== footer.readUInt32LE(20)) fail(at, 'directory checksum does not fit');
      const decoded = decodeDirectory(directory);
      const end = decoded.entries.reduce((from, entry) => {
        if (entry.offset !== from) fail(at, 'an entry does not follow the one before');
        return from + storedBytes(entry);
      }, HEADER_BYTES);
      if (end !== at) fail(at, 'the directory does not name all bytes');
      return new VectorFile({ path, fd, bytes }, { number, age: footer.readUInt32LE(16) }, decoded);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get name(): string {
    return basename(this.path);
  }

  /** The blocks of an entry, in order. Throws CorruptBlock for a block that is not as it was written. */
  *blocks(entry: VectorEntry, key: Uint8Array): IterableIterator<VectorBlock> {
    const secret = sealKey(key);
    for (let number = 0; number < blockCount(entry); number++) {
      const { offset, sealed } = this.checkBlock(entry, number);
      yield this.#decode(
        entry,
        number,
        openBlock(this.name, offset, () =>
          open(secret, sealed, associated(entry.id, entry.memory, entry.stamp.dimensions, number)),
        ),
      );
    }
  }

  /** Reads a block and compares its checksum. Throws CorruptBlock. */
  checkBlock(entry: VectorEntry, number: number): { readonly offset: number; readonly sealed: Buffer } {
    const { dimensions } = entry.stamp;
    const perBlock = blockRows(dimensions);
    const offset = entry.offset + number * (plainBytes(perBlock, dimensions) + BLOCK_OVERHEAD);
    const rows = Math.min(perBlock, entry.rows - number * perBlock);
    const stored = readExactly(this.#fd, this.name, offset, plainBytes(rows, dimensions) + BLOCK_OVERHEAD);
    const sealed = stored.subarray(0, stored.length - 4);
    if (crc32(sealed) !== stored.readUInt32LE(sealed.length))
      throw new CorruptBlock(this.name, offset, 'block checksum does not fit');
    return { offset, sealed };
  }

  close(): void {
    closeSync(this.#fd);
  }

  #decode(entry: VectorEntry, number: number, plain: Buffer): VectorBlock {
    const { dimensions } = entry.stamp;
    const count = plain.readUInt16LE(0);
    const expected = Math.min(blockRows(dimensions), entry.rows - number * blockRows(dimensions));
    if (count !== expected || plain.length !== plainBytes(count, dimensions))
      throw new CorruptBlock(this.name, entry.offset, `block ${number} does not hold what the directory says`);
    // Copies, since the parts are not aligned.
    const ordinals = new Uint32Array(Uint8Array.from(plain.subarray(2, 2 + 4 * count)).buffer);
    const chunks = new Uint16Array(Uint8Array.from(plain.subarray(2 + 4 * count, 2 + 6 * count)).buffer);
    const halves = new Uint16Array(Uint8Array.from(plain.subarray(2 + 6 * count)).buffer);
    return { count, ordinals, chunks, halves };
  }
}

export function blockCount(entry: Pick<VectorEntry, 'rows' | 'stamp'>): number {
  return Math.ceil(entry.rows / blockRows(entry.stamp.dimensions));
}

function storedBytes(entry: Pick<VectorEntry, 'rows' | 'stamp'>): number {
  const { dimensions } = entry.stamp;
  return blockCount(entry) * (2 + BLOCK_OVERHEAD) + entry.rows * (ROW_HEAD_BYTES + 2 * dimensions);
}

function openBlock(file: string, offset: number, unseal: () => Buffer): Buffer {
  try {
    return unseal();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'CRY-E001')
      throw new CorruptBlock(file, offset, 'block does not open under its key');
    throw error;
  }
}

function decodeDirectory(bytes: Buffer): { entries: VectorEntry[]; replaced: EntryName[] } {
  let at = 0;
  const uint16 = (): number => bytes.readUInt16LE((at += 2) - 2);
  const uint32 = (): number => bytes.readUInt32LE((at += 4) - 4);
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

function readExactly(fd: number, name: string, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  for (let read = 0; read < length; ) {
    const count = readSync(fd, bytes, read, length - read, offset + read);
    if (count === 0) throw new CorruptBlock(name, offset, 'file is cut short');
    read += count;
  }
  return bytes;
}

function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, at);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}
