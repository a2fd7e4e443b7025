// One write-ahead file: written from its start, freed as a whole, then written from its start again.
import { close, constants, fdatasync, fdatasyncSync, openSync, rmSync, statSync, writev, writevSync } from 'node:fs';
import { promisify } from 'node:util';
import { syncDirectory } from '../../base/durable-file.ts';

const ZEROS = Buffer.alloc(1_048_576);
/** On Linux a write to a descriptor with O_DSYNC is durable when it returns: one call in the pool instead of two. */
const SYNCS_WRITES = process.platform === 'linux';
const FLAGS = constants.O_RDWR | constants.O_CREAT | (SYNCS_WRITES ? constants.O_DSYNC : 0);

const writeVector = promisify(writev);
const syncData = promisify(fdatasync);
const closeFile = promisify(close);

export class WalFile {
  readonly path: string;
  readonly #directory: string;
  #descriptor: number | undefined;
  /** True once the file's name in its directory is durable. */
  #isNamed = false;
  /** Bytes that are allocated. A write below this changes no metadata of the file, so its sync is cheaper. */
  #allocated = 0;
  /** Bytes from the start that may hold old content. */
  #dirty: number;
  /** Where the next write goes. */
  #position = 0;

  /** The file may exist, with content of an earlier process. */
  constructor(directory: string, path: string) {
    this.#directory = directory;
    this.path = path;
    this.#dirty = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }

  get position(): number {
    return this.#position;
  }

  /** Makes the first `bytes` durable, so that the writes that follow need not. Rejects with the file system's error. */
  async allocate(bytes: number): Promise<void> {
    if (this.#allocated >= bytes) return;
    const start = Math.max(this.#allocated, this.#dirty);
    for (let at = start; at < bytes; at += ZEROS.length)
      await this.#writeAll([ZEROS.subarray(0, Math.min(ZEROS.length, bytes - at))], at);
    this.#allocated = Math.max(start, bytes);
  }

  /** Appends the parts. Resolves when they are durable; rejects with the file system's error. */
  async write(parts: readonly Buffer[]): Promise<void> {
    const position = this.#position;
    this.#dirty = Math.max(this.#dirty, position + lengthOf(parts));
    this.#position = await this.#writeAll(parts, position);
  }

  /** The same, while the thread waits. Throws the file system's error. */
  writeHere(parts: readonly Buffer[]): void {
    const position = this.#position;
    this.#dirty = Math.max(this.#dirty, position + lengthOf(parts));
    const descriptor = this.#open();
    let left = parts;
    let at = position;
    for (;;) {
      const length = lengthOf(left);
      const bytesWritten = writevSync(descriptor, left, at);
      at += bytesWritten;
      if (bytesWritten === length) break;
      left = after(left, bytesWritten);
    }
    if (!SYNCS_WRITES) fdatasyncSync(descriptor);
    this.#position = at;
  }

  /** Overwrites the first `bytes` of a write that failed. */
  async cancel(bytes: number): Promise<void> {
    await this.#writeAll([Buffer.alloc(bytes)], this.#position);
  }

  /** Overwrites what earlier uses left in the file. Only for a freed file. */
  async wipe(): Promise<void> {
    for (let at = 0; at < this.#dirty; at += ZEROS.length)
      await this.#writeAll([ZEROS.subarray(0, Math.min(ZEROS.length, this.#dirty - at))], at);
    this.#dirty = 0;
  }

  /** The next write goes to the start. */
  free(): void {
    this.#position = 0;
  }

  /** Returns the position after the parts. */
  async #writeAll(parts: readonly Buffer[], position: number): Promise<number> {
    const descriptor = this.#open();
    let left = parts;
    let at = position;
    for (;;) {
      const length = lengthOf(left);
      const { bytesWritten } = await writeVector(descriptor, left, at);
      at += bytesWritten;
      if (bytesWritten === length) break;
      left = after(left, bytesWritten);
    }
    if (!SYNCS_WRITES) await syncData(descriptor);
    return at;
  }

  /** Makes the file's name durable first: no write counts as durable before. */
  #open(): number {
    this.#descriptor ??= openSync(this.path, FLAGS, 0o600);
    if (!this.#isNamed) syncDirectory(this.#directory);
    this.#isNamed = true;
    return this.#descriptor;
  }

  async close(): Promise<void> {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    if (descriptor !== undefined) await closeFile(descriptor);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

function lengthOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** The parts without their first `bytes`. */
function after(parts: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes;
  return parts.flatMap((part) => {
    const skipped = Math.min(skip, part.length);
    skip -= skipped;
    return skipped === part.length ? [] : [part.subarray(skipped)];
  });
}
