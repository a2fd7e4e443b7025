// Extractions that run after the answer. The queue is bounded, memories take turns, and the newest results can be
// queried. Nothing is stored on disk: a source left without facts by a crash gets them when its caller repeats the
// request.
import { EngineError } from '../../engine/base/errors.ts';
import {
  EXTRACTION_MARKERS_MAX,
  EXTRACTIONS_BYTES_MAX,
  EXTRACTIONS_OF_MEMORY_MAX,
  EXTRACTIONS_RUNNING_MAX,
  EXTRACTIONS_WAITING_MAX,
} from '../../engine/base/limits.ts';
import type { Logger } from '../log.ts';

/** State of a source's extraction. */
export interface Marker {
  readonly status: 'pending' | 'done' | 'failed';
  /** Hashes of the extracted grains, once done. */
  readonly hashes: readonly string[];
  /** Addresses among `hashes` whose grains existed already. */
  readonly duplicates: readonly string[];
  readonly sourceForgotten: boolean;
  readonly warnings: readonly string[];
}

/** Resolves to the result; an error is logged and marked as failed. */
export type ExtractionWork = () => Promise<Marker>;

/** A slot in the queue, taken before the source is stored. Either call releases it, once. */
export interface Place {
  /** Queues `work`. */
  start(source: string, work: ExtractionWork): void;
  release(): void;
}

interface Job {
  readonly key: string;
  readonly bytes: number;
  readonly work: ExtractionWork;
}

const PENDING: Marker = { status: 'pending', hashes: [], duplicates: [], sourceForgotten: false, warnings: [] };
export const FAILED: Marker = { status: 'failed', hashes: [], duplicates: [], sourceForgotten: false, warnings: [] };

export class Extractions {
  readonly #log: Logger;
  /** Slots taken, by memory; memories without any are absent. */
  readonly #taken = new Map<number, number>();
  #places = 0;
  #bytes = 0;
  /** Queued jobs by memory, in the order of the memories' turns. */
  readonly #waiting = new Map<number, Job[]>();
  readonly #running = new Set<Job>();
  /** Oldest first. */
  readonly #markers = new Map<string, Marker>();
  #idle: (() => void) | undefined;
  #closed = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Unfinished extractions. */
  get backlog(): number {
    return this.#places;
  }

  /** Unfinished extractions of one memory. */
  backlogOf(memory: number): number {
    return this.#taken.get(memory) ?? 0;
  }

  /** State of a source's extraction; undefined when it is unknown or was dropped. */
  markerOf(memory: number, source: string): Marker | undefined {
    return this.#markers.get(keyOf(memory, source));
  }

  /** Drops the result of an extraction. */
  clear(memory: number, source: string): void {
    const key = keyOf(memory, source);
    if (this.#markers.get(key)?.status !== 'pending') this.#markers.delete(key);
  }

  /** Takes a slot for a text of this many bytes. Throws LIM-E001 when none is free. */
  reserve(memory: number, bytes: number): Place {
    const ofMemory = this.#taken.get(memory) ?? 0;
    const full =
      this.#closed ||
      this.#places >= EXTRACTIONS_WAITING_MAX ||
      ofMemory >= EXTRACTIONS_OF_MEMORY_MAX ||
      this.#bytes + bytes > EXTRACTIONS_BYTES_MAX;
    if (full) throw new EngineError('LIM-E001', 'too many extractions are waiting: try again later');
    this.#places += 1;
    this.#bytes += bytes;
    this.#taken.set(memory, ofMemory + 1);
    let held = true;
    return {
      start: (source, work) => {
        if (!held) return;
        held = false;
        this.#enqueue(memory, { key: keyOf(memory, source), bytes, work });
      },
      release: () => {
        if (!held) return;
        held = false;
        this.#giveBack(memory, bytes);
      },
    };
  }

  #giveBack(memory: number, bytes: number): void {
    const left = (this.#taken.get(memory) ?? 1) - 1;
    if (left === 0) this.#taken.delete(memory);
    else this.#taken.set(memory, left);
    this.#places -= 1;
    this.#bytes -= bytes;
    if (this.#places === 0) this.#idle?.();
  }

  #enqueue(memory: number, job: Job): void {
    if (this.#closed) {
      this.#mark(job.key, FAILED);
      this.#giveBack(memory, job.bytes);
      return;
    }
    this.#mark(job.key, PENDING);
    const jobs = this.#waiting.get(memory);
    if (jobs === undefined) this.#waiting.set(memory, [job]);
    else jobs.push(job);
    // Run after the caller of `start` has its answer.
    setImmediate(() => this.#next());
  }

  #next(): void {
    while (this.#running.size < EXTRACTIONS_RUNNING_MAX) {
      const [turn] = this.#waiting;
      if (turn === undefined) return;
      const [memory, jobs] = turn;
      const job = jobs.shift();
      // Its next turn comes after all other memories'.
      this.#waiting.delete(memory);
      if (jobs.length > 0) this.#waiting.set(memory, jobs);
      if (job !== undefined) void this.#run(memory, job);
    }
  }

  async #run(memory: number, job: Job): Promise<void> {
    const { key, bytes, work } = job;
    this.#running.add(job);
    let marker = FAILED;
    try {
      marker = await work();
      // The log leaves the error out, because it may quote the text.
      if (marker.status === 'failed') this.#log.warn({ memory }, 'an extraction failed');
    } catch (error) {
      const code = error instanceof EngineError ? error.code : 'SYS-E001';
      this.#log.warn({ memory, code, err: error }, 'an extraction failed');
    }
    this.#running.delete(job);
    // Work marked as failed at shutdown stays so.
    if (!this.#closed) this.#mark(key, marker);
    this.#giveBack(memory, bytes);
    this.#next();
  }

  /** Pending entries are bounded by the slots; of the others the newest are kept. */
  #mark(key: string, marker: Marker): void {
    this.#markers.delete(key);
    this.#markers.set(key, marker);
    let over = this.#markers.size - this.#places - EXTRACTION_MARKERS_MAX;
    for (const [old, { status }] of this.#markers) {
      if (over <= 0) break;
      if (status === 'pending') continue;
      this.#markers.delete(old);
      over -= 1;
    }
  }

  /** Accepts no more, and finishes the queue within `ms`; the rest is marked as failed. */
  async close(ms: number): Promise<void> {
    if (this.#places > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    }
    this.#closed = true;
    if (this.#places > 0) this.#log.warn({ extractions: this.#places }, 'extractions were not finished');
    for (const { key } of this.#running) this.#mark(key, FAILED);
    for (const [memory, jobs] of this.#waiting)
      for (const { key, bytes } of jobs) {
        this.#mark(key, FAILED);
        this.#giveBack(memory, bytes);
      }
    this.#waiting.clear();
  }
}

function keyOf(memory: number, source: string): string {
  return `${memory} ${source}`;
}
