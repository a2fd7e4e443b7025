// The bucket files of one key store: reads a bucket's bytes by number, and writes them durably.
import { closeSync, existsSync, fdatasyncSync, openSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  isFileError,
  makeFolder,
  replaceFile,
  storageError,
  syncDirectory,
  TEMPORARY_SUFFIX,
  writeFully,
} from '../base/durable-file.ts';
import { EngineError } from '../base/errors.ts';
import { KEY_BUCKETS_CACHED_MAX } from '../base/limits.ts';
import type { Buckets } from './buckets.ts';
import { BUCKET_BYTES, BUCKET_FORMAT, readHeader, SLOT_BYTES, slotOffset } from './slot.ts';

const FILE_NAME = /^bucket-(\d{6,})\.keys$/;

export function bucketFileName(bucket: number): string {
  return `bucket-${String(bucket).padStart(6, '0')}.keys`;
}

/** True when `directory`, which need not exist, holds a bucket. */
export function holdsBuckets(directory: string): boolean {
  return existsSync(directory) && readdirSync(directory).some((file) => FILE_NAME.test(file));
}

export class BucketFiles implements Buckets {
  readonly directory: string;
  /** Name of the store, as in each header. */
  readonly name: string;
  /** Number of the newest bucket, -1 when there is none. */
  newest = -1;
  readonly #cache = new Map<number, Buffer>();

  /** Creates the folder if it is missing, and deletes files that a crash left half-written. */
  constructor(directory: string, name: string) {
    this.directory = directory;
    this.name = name;
    makeFolder(directory);
    for (const file of readdirSync(directory)) {
      if (file.endsWith(TEMPORARY_SUFFIX)) rmSync(join(directory, file), { force: true });
      const match = FILE_NAME.exec(file);
      if (match !== null) this.newest = Math.max(this.newest, Number(match[1]));
    }
  }

  /**
   * The bytes of a bucket, `BUCKET_BYTES` long (zeros after the end of a short file), or undefined. Callers must not
   * change them.
   */
  read(bucket: number): Buffer | undefined {
    const known = this.#cache.get(bucket);
    if (known !== undefined) return known;
    if (bucket > this.newest) return undefined;
    const stored = this.#readFile(bucket);
    if (stored === undefined) return undefined;
    const bytes = Buffer.alloc(BUCKET_BYTES);
    stored.copy(bytes, 0, 0, BUCKET_BYTES);
    const header = readHeader(bytes);
    if (header.state === 'ok') this.#check(bucket, header);
    this.#keep(bucket, bytes);
    return bytes;
  }

  /** True for a file that ends before its last slot: keys may be missing. */
  isCutShort(bucket: number): boolean {
    return statSync(this.#path(bucket), { throwIfNoEntry: false })?.size !== BUCKET_BYTES;
  }

  #path(bucket: number): string {
    return join(this.directory, bucketFileName(bucket));
  }

  #readFile(bucket: number): Buffer | undefined {
    try {
      return readFileSync(this.#path(bucket));
    } catch (error) {
      if (isFileError(error) && error.code === 'ENOENT') return undefined;
      throw storageError(`key bucket ${this.#path(bucket)} cannot be read`, error);
    }
  }

  #check(bucket: number, header: { format: number; bucket: number; name: string }): void {
    const where = this.#path(bucket);
    if (header.format !== BUCKET_FORMAT)
      throw new EngineError(
        'STO-E001',
        `${where} has key format ${header.format}; this version reads ${BUCKET_FORMAT}`,
      );
    if (header.name !== this.name || header.bucket !== bucket)
      throw new EngineError(
        'STO-E001',
        `${where} is bucket ${header.bucket} of key store "${header.name}", not bucket ${bucket} of "${this.name}"`,
      );
  }

  /** Writes bytes `from`..`to` of an existing bucket in place, with one write and one sync. STO-E001. */
  writeRange(bucket: number, bytes: Buffer, from: number, to: number): void {
    this.#guard(bucket, () => {
      const descriptor = openSync(this.#path(bucket), 'r+');
      try {
        writeFully(descriptor, bytes.subarray(from, to), from);
        // The file has its full size, so this syncs the data alone, without the journal.
        fdatasyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    });
    this.#keep(bucket, bytes);
  }

  /** Replaces the whole file of a bucket, or creates it. On STO-E001 the old file remains. */
  replace(bucket: number, bytes: Buffer): void {
    this.#guard(bucket, () => replaceFile(this.#path(bucket), bytes));
    this.newest = Math.max(this.newest, bucket);
    this.#keep(bucket, bytes);
  }

  /**
   * Like `replace`, and then overwrites the replaced file in place with `bytes` too. On a file system that writes in
   * place this removes a destroyed key from the disk; elsewhere it does no harm.
   */
  replaceAndScrub(bucket: number, bytes: Buffer): void {
    const old = this.#guard(bucket, () => openSync(this.#path(bucket), 'r+'));
    try {
      this.replace(bucket, bytes);
      try {
        writeFully(old, bytes, 0);
        fdatasyncSync(old);
      } catch {
        // The key is gone from the store either way. A failed write to an unlinked file harms nothing.
      }
    } finally {
      closeSync(old);
    }
  }

  /**
   * Like `replaceAndScrub`, for slots that become tombstones. When the disk has no room for a second file, the
   * tombstones are written in place. A crash during that write damages only slots whose keys were to be destroyed.
   */
  destroySlots(bucket: number, bytes: Buffer, ids: readonly number[]): void {
    try {
      this.replaceAndScrub(bucket, bytes);
    } catch (error) {
      if (!(error instanceof EngineError) || !error.retryable) throw error;
      for (const id of ids) this.writeRange(bucket, bytes, slotOffset(id), slotOffset(id) + SLOT_BYTES);
    }
  }

  copyTo(directory: string): number {
    return copyBuckets(this, directory);
  }

  #guard<T>(bucket: number, write: () => T): T {
    try {
      return write();
    } catch (error) {
      // The state on disk is unknown; the next use reads it.
      this.#cache.delete(bucket);
      throw storageError(`key bucket ${this.#path(bucket)} cannot be written`, error);
    }
  }

  #keep(bucket: number, bytes: Buffer): void {
    this.#cache.delete(bucket);
    if (this.#cache.size >= KEY_BUCKETS_CACHED_MAX) {
      const oldest = this.#cache.keys().next();
      if (!oldest.done) this.#cache.delete(oldest.value);
    }
    this.#cache.set(bucket, bytes);
  }
}

/** Copies every bucket durably into `directory`, which is created if missing. Returns the number of files. */
export function copyBuckets(buckets: Buckets, directory: string): number {
  makeFolder(directory);
  let copied = 0;
  for (let bucket = 0; bucket <= buckets.newest; bucket++) {
    const bytes = buckets.read(bucket);
    if (bytes === undefined) continue;
    replaceFile(join(directory, bucketFileName(bucket)), bytes);
    copied += 1;
  }
  syncDirectory(directory);
  return copied;
}
