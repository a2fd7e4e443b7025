// Chunks with a bad block, and the problems of a shard's segments. A shard goes on without these chunks.
import { INDEX_PROBLEMS_MAX } from '../base/limits.ts';
import type { CorruptBlock } from './files/section.ts';
import type { SegmentFile } from './files/segment-file.ts';
import type { SegmentSet } from './files/segment-set.ts';

export class DamagedChunks {
  /** Problems as text: those of the open, and the first of later ones. */
  readonly problems: string[];
  readonly #segments: SegmentSet;
  /** File to memories. */
  readonly #damaged = new Map<SegmentFile, Set<number>>();

  constructor(segments: SegmentSet) {
    this.#segments = segments;
    this.problems = [...segments.problems];
  }

  /** True when any live chunk cannot be read: the segments must be rebuilt from the log. */
  get any(): boolean {
    for (const file of this.#damaged.keys()) if (!this.isUsable(file)) return true;
    return false;
  }

  has(file: SegmentFile, memory: number): boolean {
    return this.#damaged.get(file)?.has(memory) ?? false;
  }

  /** True when a live chunk of the memory cannot be read. */
  hasOf(memory: number): boolean {
    for (const [file, memories] of this.#damaged)
      if (memories.has(memory) && !this.#segments.isDead(file, memory)) return true;
    return false;
  }

  /** False for a file whose live chunks cannot all be read. */
  isUsable(file: SegmentFile): boolean {
    for (const memory of this.#damaged.get(file) ?? []) if (!this.#segments.isDead(file, memory)) return false;
    return true;
  }

  /** Marks a chunk as damaged. False when it was already. */
  add(file: SegmentFile, memory: number, error: CorruptBlock): boolean {
    const memories = this.#damaged.get(file) ?? new Set();
    if (memories.has(memory)) return false;
    this.#damaged.set(file, memories.add(memory));
    if (this.problems.length < INDEX_PROBLEMS_MAX)
      this.problems.push(`segment block is bad, memory ${memory} is searched without it: ${error.message}`);
    return true;
  }

  /** Forgets files that are no longer in force. */
  forgetReplaced(): void {
    for (const file of this.#damaged.keys()) if (!this.#segments.files.includes(file)) this.#damaged.delete(file);
  }

  clear(): void {
    this.problems.length = 0;
    this.#damaged.clear();
  }
}
