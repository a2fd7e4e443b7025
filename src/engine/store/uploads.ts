// Brings the segments and vectors of a shard to its database in the background, and removes there what the shard no longer has.
// The next owner of the shard then fetches them, and need not build them again.
import { HOUSEKEEPING_RETRY_MS, UPLOAD_AHEAD_MS, UPLOAD_LOOK_MS } from '../base/limits.ts';
import type { ShardCounters } from '../base/shard-counters.ts';
import type { StoredFiles } from '../log/postgres/stored-files.ts';

export interface UploadsOptions {
  readonly files: StoredFiles;
  /** Names of files that the database has. */
  readonly stored: readonly string[];
  /** Reasons why others are built again, for the health report. */
  readonly damage: readonly string[];
  /** The files in force now: name to path. */
  readonly live: () => ReadonlyMap<string, string>;
  /** The name of a file at a path. */
  readonly nameOf: (path: string) => string;
  /** Counts its files and failures. */
  readonly counters: Pick<ShardCounters, 'uploads' | 'uploadFailures'>;
  /** False when the shard may not be written to at the moment. */
  readonly isOwner: () => boolean;
}

export class Uploads {
  readonly #options: UploadsOptions;
  readonly #stored: Set<string>;
  /** Files that are about to be in force. */
  readonly #ahead = new Map<string, string>();
  readonly #timer: NodeJS.Timeout;
  /** One round at a time. */
  #last: Promise<void> = Promise.resolve();
  #isRunning = false;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;
  #problem: string | undefined;
  /** False while the database may have files or parts that are not known here. */
  #isSwept = false;

  constructor(options: UploadsOptions) {
    this.#options = options;
    this.#stored = new Set(options.stored);
    this.#timer = setInterval(() => this.#look(), UPLOAD_LOOK_MS);
    this.#timer.unref();
  }

  /** Files in force that the database does not have. */
  get pending(): number {
    let count = 0;
    for (const name of this.#options.live().keys()) if (!this.#stored.has(name)) count += 1;
    return count;
  }

  /** Stored files that were damaged, and why the last attempt failed, if it did. */
  get problems(): readonly string[] {
    const { damage } = this.#options;
    if (this.#problem === undefined) return damage;
    return [
      ...damage,
      `${this.pending} segments are not uploaded, and another node would have to rebuild them: ${this.#problem}`,
    ];
  }

  /**
   * Uploads what the database lacks, and removes there what is not in force. Resolves when it has what the shard has. Rejects with
   * EngineError.
   */
  settle(): Promise<void> {
    const round = this.#last.then(() => this.#round());
    this.#last = round.catch(() => undefined);
    return round;
  }

  /** Settles as far as it goes in that time. */
  async settleWithin(ms: number): Promise<void> {
    await within(
      this.settle().catch(() => undefined),
      ms,
    );
  }

  /**
   * Uploads a file that is about to be in force in place of others, so that a crash soon after does not cost them. Resolves in
   * any case: when it is there, after a failure, after UPLOAD_AHEAD_MS, and as soon as `isPressed`.
   */
  async ahead(path: string, isPressed: () => boolean): Promise<void> {
    const name = this.#options.nameOf(path);
    this.#ahead.set(name, path);
    const done = this.settle().then(
      () => true,
      () => true,
    );
    const untilMs = performance.now() + UPLOAD_AHEAD_MS;
    while (!isPressed() && performance.now() < untilMs) if (await within(done, UPLOAD_LOOK_MS)) return;
  }

  /** The file of `ahead` is in force, or was given up. */
  landed(path: string): void {
    this.#ahead.delete(this.#options.nameOf(path));
  }

  /** Starts nothing more. Resolves when nothing runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#last;
  }

  #look(): void {
    if (this.#isRunning || performance.now() < this.#restUntilMs || !this.#options.isOwner()) return;
    const wanted = this.#wanted();
    const isSame = wanted.size === this.#stored.size && [...wanted.keys()].every((name) => this.#stored.has(name));
    if (!isSame || !this.#isSwept) this.settle().catch(() => undefined);
  }

  #wanted(): Map<string, string> {
    return new Map([...this.#options.live(), ...this.#ahead]);
  }

  async #round(): Promise<void> {
    this.#isRunning = true;
    try {
      for (const name of this.#wanted().keys()) {
        if (!this.#stored.has(name)) await this.#upload(name);
      }
      const names = new Set(this.#wanted().keys());
      if (!this.#isSwept || [...this.#stored].some((name) => !names.has(name))) {
        await this.#options.files.keep(names);
        this.#isSwept = true;
      }
      for (const name of this.#stored) if (!names.has(name)) this.#stored.delete(name);
      this.#problem = undefined;
    } catch (error) {
      if (!this.#isStopped) this.#options.counters.uploadFailures += 1;
      this.#problem = error instanceof Error ? error.message : String(error);
      this.#restUntilMs = performance.now() + HOUSEKEEPING_RETRY_MS;
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  async #upload(name: string): Promise<void> {
    const path = this.#wanted().get(name);
    // Replaced meanwhile.
    if (path === undefined) return;
    const isSwept = this.#isSwept;
    this.#isSwept = false;
    try {
      await this.#options.files.put(name, path, () => !this.#isStopped && this.#wanted().has(name));
    } catch (error) {
      if (this.#isStopped || this.#wanted().has(name)) throw error;
      return;
    }
    this.#isSwept = isSwept;
    this.#stored.add(name);
    this.#options.counters.uploads += 1;
  }
}

/** True when the work ended in that time. */
async function within(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
