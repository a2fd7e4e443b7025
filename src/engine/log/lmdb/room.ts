// Checks before a commit whether the disk has room. When a page does not fit, lmdb-js can damage the process's heap
// (its message reads and writes past its arrays), and the process dies of it later.
import { statfsSync } from 'node:fs';
import { DISK_ROOM_BYTES_MIN } from '../../base/limits.ts';

/** Pages that a commit copies in addition to its records: paths of trees, lists of free pages. */
const COPIED_BYTES = DISK_ROOM_BYTES_MIN;
/** When more than this is free, a recent answer is reused. */
const PLENTY_BYTES = 67_108_864;
const LOOK_MS = 250;

export interface RoomOptions {
  /** Free bytes of the disk. Throws the file system's error. */
  readonly look?: ((directory: string) => number) | undefined;
  /** Monotonic milliseconds. */
  readonly nowMs?: (() => number) | undefined;
}

export class Room {
  readonly #directory: string;
  readonly #look: (directory: string) => number;
  readonly #nowMs: () => number;
  #freeBytes = 0;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(directory: string, { look = freeBytes, nowMs = () => performance.now() }: RoomOptions = {}) {
    this.#directory = directory;
    this.#look = look;
    this.#nowMs = nowMs;
  }

  /** The answer of `holds` for now, when no write follows. */
  wouldHold(bytes: number): boolean {
    try {
      return this.#look(this.#directory) >= neededFor(bytes);
    } catch {
      return false;
    }
  }

  /** False when a commit of this size could fill the disk. Throws the file system's error. */
  holds(bytes: number): boolean {
    const needed = neededFor(bytes);
    const nowMs = this.#nowMs();
    if (this.#freeBytes - needed < PLENTY_BYTES || nowMs - this.#lookedMs > LOOK_MS) {
      this.#freeBytes = this.#look(this.#directory);
      this.#lookedMs = nowMs;
    }
    if (this.#freeBytes < needed) return false;
    this.#freeBytes -= needed;
    return true;
  }
}

function neededFor(bytes: number): number {
  return 2 * bytes + COPIED_BYTES;
}

export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}
