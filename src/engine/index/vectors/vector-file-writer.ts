// Writes a file of vectors (vector-layout.ts) from front to back.
import { randomBytes } from 'node:crypto';
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { assert } from '../../base/assert.ts';
import { syncDirectory, TEMPORARY_SUFFIX, writeFully } from '../../base/durable-file.ts';
import { type SealKey, sealInto, sealKey } from '../../crypto/envelope.ts';
import type { Sliced } from '../files/section.ts';
import { VectorFile } from './vector-file.ts';
import {
  associated,
  BLOCK_OVERHEAD,
  blockRows,
  type EntryName,
  encodeDirectory,
  FOOTER_BYTES,
  FORMAT_VERSION,
  HEADER_BYTES,
  ID_BYTES,
  MAGIC,
  plainBytes,
  ROW_HEAD_BYTES,
  type VectorEntry,
  writeUint64,
} from './vector-layout.ts';
import type { EmbedderStamp } from './vector-set.ts';

/**
 * Written bytes after which a sync starts in the background: a single sync at the end would stall the shard's thread.
 * Past UNSYNCED_BYTES_MAX the disk is too slow, and the shard waits for it.
 */
const SYNC_BYTES = 524_288;
const UNSYNCED_BYTES_MAX = 4 * SYNC_BYTES;

/** Writes a file under a temporary name. `finish` renames it; until then it does not count. */
export class VectorFileWriter {
  readonly path: string;
  readonly number: number;
  readonly #fd: number;
  readonly #entries: VectorEntry[] = [];
  readonly #replaced: EntryName[] = [];
  #length = 0;
  #unsynced = 0;
  #closed = false;
  #isSyncing = false;
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

  /** Gives the file its final name, durably, and opens it. */
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
    const stored = Buffer.allocUnsafe(bytes.length + BLOCK_OVERHEAD);
    sealInto(stored, 0, key, bytes, associated(facts.id, facts.memory, dimensions, this.#blocks));
    stored.writeUInt32LE(crc32(stored.subarray(0, stored.length - 4)), stored.length - 4);
    this.#write(stored);
    this.#blocks += 1;
    this.#inBlock = 0;
    plain.fill(0);
  }

  #write(bytes: Uint8Array): void {
    writeFully(this.#fd, bytes, this.#length);
    this.#length += bytes.length;
    this.#unsynced += bytes.length;
    if (this.#unsynced < SYNC_BYTES) return;
    if (!this.#isSyncing) this.#syncInBackground();
    else if (this.#unsynced >= UNSYNCED_BYTES_MAX) fdatasyncSync(this.#fd);
    else return;
    this.#unsynced = 0;
  }

  /**
   * Uses a descriptor of its own, because a write error is reported once to each descriptor, and the final sync must
   * see it.
   */
  #syncInBackground(): void {
    const fd = openSync(this.path + TEMPORARY_SUFFIX, 'r+');
    this.#isSyncing = true;
    fdatasync(fd, () => {
      closeSync(fd);
      this.#isSyncing = false;
    });
  }
}
