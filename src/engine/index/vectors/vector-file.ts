// Reads a file of vectors (vector-layout.ts).
import { closeSync, fstatSync, openSync, rmSync } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { EngineError } from '../../base/errors.ts';
import { open, sealKey } from '../../crypto/envelope.ts';
import { readBlock, readExactly } from '../files/read-exactly.ts';
import { CorruptBlock } from '../files/section.ts';
import {
  associated,
  BLOCK_OVERHEAD,
  blockCount,
  blockRows,
  decodeDirectory,
  type EntryName,
  FOOTER_BYTES,
  FORMAT_VERSION,
  HEADER_BYTES,
  MAGIC,
  plainBytes,
  readUint64,
  storedBytes,
  type VectorEntry,
} from './vector-layout.ts';

const DIRECTORY_BYTES_MAX = 64 * 1_048_576;

/** Rows of one block, decoded. */
export interface VectorBlock {
  readonly count: number;
  readonly ordinals: Uint32Array;
  readonly chunks: Uint16Array;
  /** Row after row. */
  readonly halves: Uint16Array;
}

/** An open file. Its directory was checked at open; blocks are checked when they are read. */
export class VectorFile {
  readonly path: string;
  readonly number: number;
  readonly age: number;
  readonly bytes: number;
  readonly entries: readonly VectorEntry[];
  readonly replaced: readonly EntryName[];
  readonly #fd: number;
  /** Holders of the file, the opener included. */
  #holds = 1;
  #isRetired = false;

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

  /** Throws CorruptBlock, or the file system's error. */
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

  /** Rows of all entries. */
  get rows(): number {
    return this.entries.reduce((rows, entry) => rows + entry.rows, 0);
  }

  get name(): string {
    return basename(this.path);
  }

  /** The blocks of an entry, in order. Throws CorruptBlock for an altered block. */
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

  /** Reads a block and compares its checksum. Throws CorruptBlock, also when the disk cannot read it. */
  checkBlock(entry: VectorEntry, number: number): { readonly offset: number; readonly sealed: Buffer } {
    const { dimensions } = entry.stamp;
    const perBlock = blockRows(dimensions);
    const offset = entry.offset + number * (plainBytes(perBlock, dimensions) + BLOCK_OVERHEAD);
    const rows = Math.min(perBlock, entry.rows - number * perBlock);
    const stored = readBlock(this.#fd, this.name, offset, plainBytes(rows, dimensions) + BLOCK_OVERHEAD);
    const sealed = stored.subarray(0, stored.length - 4);
    if (crc32(sealed) !== stored.readUInt32LE(sealed.length))
      throw new CorruptBlock(this.name, offset, 'block checksum does not fit');
    return { offset, sealed };
  }

  /** Keeps the file open, and on disk, until `release`. */
  hold(): this {
    assert(this.#holds > 0, 'a closed file is not read');
    this.#holds += 1;
    return this;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    closeSync(this.#fd);
    if (this.#isRetired) rmSync(this.path, { force: true });
  }

  /** Releases the opener's hold. The file is deleted once nobody reads it. */
  retire(): void {
    this.#isRetired = true;
    this.release();
  }

  #decode(entry: VectorEntry, number: number, plain: Buffer): VectorBlock {
    const { dimensions } = entry.stamp;
    const count = plain.readUInt16LE(0);
    const expected = Math.min(blockRows(dimensions), entry.rows - number * blockRows(dimensions));
    if (count !== expected || plain.length !== plainBytes(count, dimensions))
      throw new CorruptBlock(this.name, entry.offset, `block ${number} does not hold what the directory says`);
    // Copies an unaligned part: parts behind the ordinals, and buffers from a pool.
    const part = (from: number, to: number): ArrayBuffer =>
      plain.buffer.slice(plain.byteOffset + from, plain.byteOffset + to) as ArrayBuffer; // Of a Buffer: never shared.
    const ordinals = new Uint32Array(part(2, 2 + 4 * count));
    const chunks = new Uint16Array(part(2 + 4 * count, 2 + 6 * count));
    const at = 2 + 6 * count;
    const halves =
      plain.byteOffset % 2 === 0
        ? new Uint16Array(plain.buffer, plain.byteOffset + at, (plain.length - at) / 2)
        : new Uint16Array(part(at, plain.length));
    return { count, ordinals, chunks, halves };
  }
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
