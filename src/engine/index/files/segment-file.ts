// A segment file: chunks of many memories for a range of log sequences, and a directory to find a memory's chunk.
//
//   file      := header chunk* directory footer
//   header    := magic 8, format version 6, zeros 6
//   directory := for each chunk, by ascending memory; a memory has at most one chunk:
//                memory 4, index key id 4, first and last sequence 4 + 4, docs 4, root bytes 4, offset 8, length 8, chunk id 16
//   footer    := directory offset 8, entries 4, first and last sequence 4 + 4, CRC-32 of the directory 4,
//                format version 6, CRC-32 of the footer so far 4, magic 8
//
// Integers are big-endian. A memory's names and values occur only in its sealed chunk.
import { randomFillSync } from 'node:crypto';
import { closeSync, fdatasync, fdatasyncSync, fstatSync, fsyncSync, openSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { syncDirectory, writeFully } from '../../base/durable-file.ts';
import { CHUNK_ID_BYTES, type ChunkPlace, checksumFits, storedBlocks } from '../parts/chunk.ts';
import { ChunkWriter } from '../parts/chunk-writer.ts';
import { readBlock, readExactly } from './read-exactly.ts';
import { CorruptBlock, type Sliced } from './section.ts';

const MAGIC = Buffer.from('GRANSEG1', 'latin1');
/** 4: values of further fields as facets, and the bitmaps of verification beside the segments. 5: names of the triple's sides. 6: columns and call keys of goals and actions. 7: when goals expire. 8: names in frames, compressed. */
export const FORMAT_VERSION = 8;
const HEADER_BYTES = 16;
const ENTRY_BYTES = 56;
const [KEY_AT, FIRST_AT, LAST_AT, DOCS_AT, ROOT_AT, OFFSET_AT, LENGTH_AT, ID_AT] = [
  4, 8, 12, 16, 20, 24, 32, 40,
] as const;
const FOOTER_BYTES = 40;
/**
 * The writer buffers WRITE_BYTES before a write, and starts a sync in the background after SYNC_BYTES: a single sync at
 * the end would stall the shard's thread. Past UNSYNCED_BYTES_MAX the disk is too slow, and the shard waits for it.
 */
const WRITE_BYTES = 262_144;
const SYNC_BYTES = 524_288;
const UNSYNCED_BYTES_MAX = 4 * SYNC_BYTES;
/** Chunk ids that are drawn at once. */
const IDS_DRAWN = 256;

/** A file of an older build. It is intact but lacks data of the current format; the log has everything. */
export class OutdatedSegment extends CorruptBlock {
  override name = 'OutdatedSegment';
  constructor(file: string, version: number) {
    super(file, MAGIC.length, `format version ${version}, now ${FORMAT_VERSION}`);
  }
}

/** A chunk of a file, as in its directory. */
export interface ChunkEntry extends ChunkPlace {
  readonly memory: number;
  readonly keyId: number;
  /** Smallest and largest sequence number (ordinals and keyed entries) in the chunk. */
  readonly first: number;
  readonly last: number;
  readonly docs: number;
  readonly offset: number;
}

/** The facts about a chunk that its writer knows. */
export type ChunkFacts = Pick<ChunkEntry, 'memory' | 'keyId' | 'first' | 'last' | 'docs'>;

/** Writes a segment file. Nothing reads it before `finish`. */
export class SegmentWriter {
  readonly path: string;
  readonly chunk: ChunkWriter;
  readonly #fd: number;
  readonly #gathered = Buffer.allocUnsafe(WRITE_BYTES);
  #gatheredBytes = 0;
  #unsynced = 0;
  #written = 0;
  #length = 0;
  #idsLeft = new Uint8Array(0);
  readonly #entries: ChunkEntry[] = [];
  #open: { facts: Pick<ChunkFacts, 'memory' | 'keyId'>; id: Uint8Array; offset: number } | undefined;

  #isSyncing = false;
  #closed = false;

  /** Creates the file; it must not exist. */
  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, 'wx', 0o600);
    this.chunk = new ChunkWriter((bytes) => this.#append(bytes));
    const header = Buffer.alloc(HEADER_BYTES);
    MAGIC.copy(header);
    header.writeUInt16BE(FORMAT_VERSION, MAGIC.length);
    this.#append(header);
  }

  get chunks(): number {
    return this.#entries.length;
  }

  /** Bytes so far. */
  get length(): number {
    return this.#length;
  }

  /** Begins the chunk of `memory`; memories come ascending. Write to `chunk`, then call `endChunk`. */
  beginChunk(memory: number, keyId: number, key: Uint8Array): void {
    assert(memory > (this.#entries.at(-1)?.memory ?? -1), 'memories are written in ascending order');
    const id = this.#chunkId();
    this.#open = { facts: { memory, keyId }, id, offset: this.#length };
    this.chunk.begin(key, id);
  }

  endChunk(range: Pick<ChunkFacts, 'first' | 'last' | 'docs'>): void {
    assert(this.#open !== undefined, 'a chunk was begun');
    const { facts, id, offset } = this.#open;
    this.#entries.push({ ...facts, ...range, id, offset, ...this.chunk.finish() });
    this.#open = undefined;
  }

  /** Copies a chunk of another file unchanged, and checks every block's CRC. Throws CorruptBlock. */
  *copyChunk(entry: ChunkEntry, from: SegmentFile): Sliced<void> {
    assert(entry.memory > (this.#entries.at(-1)?.memory ?? -1), 'memories are written in ascending order');
    const offset = this.#length;
    for (const block of storedBlocks(entry)) {
      const bytes = from.read(entry.offset + block.offset, block.length);
      if (!checksumFits(bytes))
        throw new CorruptBlock(from.name, entry.offset + block.offset, 'block checksum does not fit');
      this.#append(bytes);
      yield;
    }
    this.#entries.push({ ...entry, offset });
  }

  /**
   * Writes directory and footer, and syncs file and folder. The range is that of the sequence numbers that the file
   * covers.
   */
  *finish(range: { first: number; last: number }): Sliced<void> {
    const directory = Buffer.alloc(this.#entries.length * ENTRY_BYTES);
    for (let i = 0; i < this.#entries.length; i++) {
      writeEntry(directory, i, this.#entries[i]!);
      if (i % 1_000 === 999) yield;
    }
    const footer = Buffer.alloc(FOOTER_BYTES);
    writeUint64(footer, this.#length, 0);
    footer.writeUInt32BE(this.#entries.length, 8);
    footer.writeUInt32BE(range.first, 12);
    footer.writeUInt32BE(range.last, 16);
    footer.writeUInt32BE(crc32(directory), 20);
    footer.writeUInt32BE(FORMAT_VERSION, 24);
    footer.writeUInt32BE(crc32(footer.subarray(0, 28)), 28);
    MAGIC.copy(footer, 32);
    this.#append(directory);
    this.#append(footer);
    this.#flush();
    yield;
    fsyncSync(this.#fd);
    this.#close();
    syncDirectory(dirname(this.path));
  }

  /** Removes the unfinished file. */
  abandon(): void {
    this.#close();
    rmSync(this.path, { force: true });
  }

  /** Closes the descriptor once: its number may soon belong to another file. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#fd);
  }

  /** Random bytes are drawn for many ids at once: one draw costs more than encrypting a small chunk. */
  #chunkId(): Uint8Array {
    if (this.#idsLeft.length === 0) this.#idsLeft = randomFillSync(new Uint8Array(CHUNK_ID_BYTES * IDS_DRAWN));
    const id = this.#idsLeft.subarray(0, CHUNK_ID_BYTES);
    this.#idsLeft = this.#idsLeft.subarray(CHUNK_ID_BYTES);
    return id;
  }

  #append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    let from = 0;
    while (from < bytes.length) {
      const taken = Math.min(bytes.length - from, WRITE_BYTES - this.#gatheredBytes);
      this.#gathered.set(bytes.subarray(from, from + taken), this.#gatheredBytes);
      this.#gatheredBytes += taken;
      from += taken;
      if (this.#gatheredBytes === WRITE_BYTES) this.#flush();
    }
  }

  #flush(): void {
    writeFully(this.#fd, this.#gathered.subarray(0, this.#gatheredBytes), this.#written);
    this.#written += this.#gatheredBytes;
    this.#unsynced += this.#gatheredBytes;
    this.#gatheredBytes = 0;
    if (this.#unsynced < SYNC_BYTES) return;
    if (!this.#isSyncing) this.#syncInBackground();
    else if (this.#unsynced >= UNSYNCED_BYTES_MAX) fdatasyncSync(this.#fd);
    else return;
    this.#unsynced = 0;
  }

  /**
   * Starts to sync the written bytes in the background. It uses a descriptor of its own, because a write error is
   * reported once to each descriptor, and the final sync must see it.
   */
  #syncInBackground(): void {
    const fd = openSync(this.path, 'r+');
    this.#isSyncing = true;
    fdatasync(fd, () => {
      closeSync(fd);
      this.#isSyncing = false;
    });
  }
}

function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), at);
  bytes.writeUInt32BE(value % 2 ** 32, at + 4);
}

function writeEntry(directory: Buffer, at: number, entry: ChunkEntry): void {
  const base = at * ENTRY_BYTES;
  directory.writeUInt32BE(entry.memory, base);
  directory.writeUInt32BE(entry.keyId, base + KEY_AT);
  directory.writeUInt32BE(entry.first, base + FIRST_AT);
  directory.writeUInt32BE(entry.last, base + LAST_AT);
  directory.writeUInt32BE(entry.docs, base + DOCS_AT);
  directory.writeUInt32BE(entry.rootLength, base + ROOT_AT);
  writeUint64(directory, entry.offset, base + OFFSET_AT);
  writeUint64(directory, entry.length, base + LENGTH_AT);
  directory.set(entry.id, base + ID_AT);
}

/** An open segment file. Its directory stays as bytes; chunks are opened on demand. */
export class SegmentFile {
  readonly path: string;
  readonly id: number;
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly count: number;
  readonly #fd: number;
  readonly #directory: Buffer;
  /** Readers of the file, the manifest included. */
  #holds = 1;
  #replaced = false;

  private constructor(options: {
    path: string;
    id: number;
    fd: number;
    bytes: number;
    footer: Footer;
    directory: Buffer;
  }) {
    this.path = options.path;
    this.id = options.id;
    this.#fd = options.fd;
    this.bytes = options.bytes;
    this.first = options.footer.first;
    this.last = options.footer.last;
    this.count = options.footer.count;
    this.#directory = options.directory;
  }

  /** Opens a file and checks header, footer and directory. Throws CorruptBlock, or the file system's error. */
  static open(path: string, id: number): SegmentFile {
    const fd = openSync(path, 'r');
    try {
      const bytes = fstatSync(fd).size;
      const name = basename(path);
      if (bytes < HEADER_BYTES + FOOTER_BYTES) throw new CorruptBlock(name, bytes, 'file is too short');
      const header = readExactly(fd, name, 0, HEADER_BYTES);
      if (!header.subarray(0, MAGIC.length).equals(MAGIC)) throw new CorruptBlock(name, 0, 'no segment file');
      const version = header.readUInt16BE(MAGIC.length);
      if (version !== FORMAT_VERSION) {
        const footer = readExactly(fd, name, bytes - FOOTER_BYTES, FOOTER_BYTES);
        if (version < FORMAT_VERSION && isFooterOf(version, footer)) throw new OutdatedSegment(name, version);
        throw new CorruptBlock(name, 8, 'unknown format version');
      }
      const footer = readFooter(readExactly(fd, name, bytes - FOOTER_BYTES, FOOTER_BYTES), name, bytes);
      const directory = readExactly(fd, name, footer.directory, footer.count * ENTRY_BYTES);
      if (crc32(directory) !== footer.checksum)
        throw new CorruptBlock(name, footer.directory, 'directory checksum does not fit');
      const file = new SegmentFile({ path, id, fd, bytes, footer, directory });
      file.#checkDirectory(footer.directory);
      return file;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  get name(): string {
    return basename(this.path);
  }

  entry(index: number): ChunkEntry {
    assert(index >= 0 && index < this.count, 'a chunk is in the directory');
    const directory = this.#directory;
    const base = index * ENTRY_BYTES;
    return {
      memory: directory.readUInt32BE(base),
      keyId: directory.readUInt32BE(base + KEY_AT),
      first: directory.readUInt32BE(base + FIRST_AT),
      last: directory.readUInt32BE(base + LAST_AT),
      docs: directory.readUInt32BE(base + DOCS_AT),
      rootLength: directory.readUInt32BE(base + ROOT_AT),
      offset: readUint64(directory, base + OFFSET_AT),
      length: readUint64(directory, base + LENGTH_AT),
      id: directory.subarray(base + ID_AT, base + ENTRY_BYTES),
    };
  }

  memoryAt(index: number): number {
    return this.#directory.readUInt32BE(index * ENTRY_BYTES);
  }

  /** The chunk of a memory, or undefined. */
  find(memory: number): ChunkEntry | undefined {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.memoryAt(middle) < memory) low = middle + 1;
      else high = middle;
    }
    return low < this.count && this.memoryAt(low) === memory ? this.entry(low) : undefined;
  }

  /** Reads exactly `length` bytes. Throws CorruptBlock when the file ends before, and when the disk cannot read them. */
  read(offset: number, length: number): Buffer {
    assert(this.#holds > 0, 'a file is read while somebody holds it');
    return readBlock(this.#fd, this.name, offset, length);
  }

  /** Keeps the file open and on disk until `release`. */
  hold(): void {
    assert(this.#holds > 0, 'a closed file cannot be held');
    this.#holds += 1;
  }

  /** The last release closes the file, and deletes it when it was replaced. */
  release(): void {
    assert(this.#holds > 0, 'a hold is released once');
    this.#holds -= 1;
    if (this.#holds > 0) return;
    closeSync(this.#fd);
    // A rebuild may have removed the whole folder meanwhile.
    if (this.#replaced) rmSync(this.path, { force: true });
  }

  /** True for a file that is no longer live: only reads that began before still use it. */
  get isReplaced(): boolean {
    return this.#replaced;
  }

  /** Marks the file as replaced: it is deleted with its last release. */
  replace(): void {
    this.#replaced = true;
    this.release();
  }

  #checkDirectory(directory: number): void {
    let end = HEADER_BYTES;
    // Read field by field, because a directory of ten thousand entries is checked at every open.
    const bytes = this.#directory;
    for (let base = 0; base < bytes.length; base += ENTRY_BYTES) {
      const ascending = base === 0 || bytes.readUInt32BE(base) > bytes.readUInt32BE(base - ENTRY_BYTES);
      const ranged = bytes.readUInt32BE(base + FIRST_AT) <= bytes.readUInt32BE(base + LAST_AT);
      const length = readUint64(bytes, base + LENGTH_AT);
      const placed = readUint64(bytes, base + OFFSET_AT) === end && bytes.readUInt32BE(base + ROOT_AT) <= length;
      if (!ascending || !ranged || !placed)
        throw new CorruptBlock(this.name, directory + base, 'directory entry makes no sense');
      end += length;
    }
    if (end !== directory) throw new CorruptBlock(this.name, end, 'chunks do not end at the directory');
  }
}

interface Footer {
  readonly directory: number;
  readonly count: number;
  readonly first: number;
  readonly last: number;
  readonly checksum: number;
}

/**
 * True when an intact footer names that version: the version in the header is then not a flipped bit. Footers have the
 * same layout in all versions.
 */
function isFooterOf(version: number, footer: Buffer): boolean {
  const isIntact = footer.subarray(32).equals(MAGIC) && crc32(footer.subarray(0, 28)) === footer.readUInt32BE(28);
  return isIntact && footer.readUInt32BE(24) === version;
}

function readFooter(footer: Buffer, name: string, bytes: number): Footer {
  const at = bytes - FOOTER_BYTES;
  if (!footer.subarray(32).equals(MAGIC)) throw new CorruptBlock(name, at, 'footer is cut or missing');
  if (crc32(footer.subarray(0, 28)) !== footer.readUInt32BE(28))
    throw new CorruptBlock(name, at, 'footer checksum does not fit');
  if (footer.readUInt32BE(24) !== FORMAT_VERSION) throw new CorruptBlock(name, at, 'unknown format version');
  const directory = readUint64(footer, 0);
  const count = footer.readUInt32BE(8);
  if (directory + count * ENTRY_BYTES + FOOTER_BYTES !== bytes)
    throw new CorruptBlock(name, at, 'directory does not fit the file');
  return {
    directory,
    count,
    first: footer.readUInt32BE(12),
    last: footer.readUInt32BE(16),
    checksum: footer.readUInt32BE(20),
  };
}
