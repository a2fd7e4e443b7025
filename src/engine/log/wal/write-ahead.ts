// The write-ahead files of one worker. They make the appends of all its logs durable. Appends that arrive during a write
// form the next write together, and share one sync.
//
// Two files take turns. Appends go to one. When it has enough of them, or its oldest is old enough, appends go to the
// other one; then each log writes its pending appends to its own store (a checkpoint), and the first file is free.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { assert } from '../../base/assert.ts';
import { storageError } from '../../base/durable-file.ts';
import { EngineError } from '../../base/errors.ts';
import {
  HOUSEKEEPING_RETRY_MS,
  LOG_REFUSING_MS,
  WAL_BYTES_MAX,
  WAL_CHECKPOINT_BYTES,
  WAL_CHECKPOINT_MS,
  WAL_FIRST_BYTES,
  WAL_WAIT_AFTER_MS,
  WAL_WAIT_MS,
} from '../../base/limits.ts';
import type { CheckpointedLog, Journal } from '../journal.ts';
import type { NumberedAppend } from '../numbered-append.ts';
import {
  BATCH_HEAD_BYTES,
  encodeBatch,
  encodeHeader,
  type FileOwner,
  GENERATION_BYTES,
  HEADER_BYTES,
} from './batch.ts';
import { Ownership } from './owner.ts';
import { Recovered, recoverFile } from './recover.ts';
import { WalFile } from './wal-file.ts';

/** Plain data: it crosses threads. */
export interface WriteAheadOptions extends FileOwner {
  readonly directory: string;
  /** The result of `takeOwnership`. */
  readonly mark: string;
}

interface Waiting {
  readonly log: CheckpointedLog;
  readonly append: NumberedAppend;
  resolve(): void;
  reject(error: EngineError): void;
}

const FILE_NAME = /^(\d+)-of-(\d+)\.[ab]$/;

function nameOf({ workers, worker }: FileOwner, letter: 'a' | 'b'): string {
  return `${worker}-of-${workers}.${letter}`;
}

/** The workers that have files in the folder. */
export function fileOwnersIn(directory: string): readonly FileOwner[] {
  if (!existsSync(directory)) return [];
  const names = new Map<string, FileOwner>();
  for (const name of readdirSync(directory)) {
    const found = FILE_NAME.exec(name);
    if (found !== null)
      names.set(`${found[1]}-of-${found[2]}`, { worker: Number(found[1]), workers: Number(found[2]) });
  }
  return [...names.values()];
}

/** The instances open in this thread, by folder and worker: one for all logs of the worker. */
const opened = new Map<string, WriteAhead>();

export class WriteAhead implements Journal {
  readonly #options: WriteAheadOptions;
  readonly #ownership: Ownership;
  readonly #recovered = new Recovered();
  /** Shards of which recovered appends may not be in their logs' own stores yet. */
  readonly #unsettled: Set<number>;
  readonly #logs = new Map<number, CheckpointedLog>();
  /** The file that appends go to, and the other one. */
  #current: WalFile;
  #other: WalFile;
  /** True while `#other` holds appends that may not be in their stores yet. */
  #isOtherInUse: boolean;
  #generation = Buffer.alloc(GENERATION_BYTES);
  #waiting: Waiting[] = [];
  /** True once a file has filled up before its appends were old. */
  #isBusy = false;
  #isRunning = false;
  /** The write that is under way. */
  #writing: Promise<void> | undefined;
  #round: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #poisoned: string | undefined;
  /** True while the thread has nothing to do but a single write. */
  #isAlone: () => boolean = () => false;
  /** When the last write ended, and how long it took. */
  #last = { atMs: Number.NEGATIVE_INFINITY, tookMs: 0 };
  /** Why a recent write found no room. */
  #refused: { readonly reason: string; readonly atMs: number } | undefined;

  private constructor(options: WriteAheadOptions) {
    this.#options = options;
    const { directory } = options;
    const [a, b] = [join(directory, nameOf(options, 'a')), join(directory, nameOf(options, 'b'))];
    try {
      this.#ownership = new Ownership(directory, options.mark);
    } catch (error) {
      throw storageError(`the write-ahead files in ${directory} cannot be opened`, error);
    }
    for (const path of [a, b]) recoverFile(path, options, this.#recovered);
    this.#unsettled = new Set(this.#recovered.shards());
    this.#current = new WalFile(directory, a);
    this.#other = new WalFile(directory, b);
    this.#isOtherInUse = this.#unsettled.size > 0;
  }

  /** The write-ahead files of a worker, opened once for all its logs in this thread. Throws STO-E001. */
  static of(options: WriteAheadOptions): WriteAhead {
    const key = join(options.directory, nameOf(options, 'a'));
    let found = opened.get(key);
    if (found === undefined) {
      found = new WriteAhead(options);
      opened.set(key, found);
    }
    return found;
  }

  /** Says when the thread may wait for a write: it has nothing else to do. */
  set aloneWhen(isAlone: () => boolean) {
    this.#isAlone = isAlone;
  }

  /** Shards of which a crash left appends here, or left their numbers. */
  get recoveredShards(): readonly number[] {
    return this.#recovered.shards();
  }

  get poisoned(): string | undefined {
    return this.#poisoned;
  }

  /** Why a recent append found no room here. */
  get refusing(): string | undefined {
    if (this.#refused === undefined || performance.now() - this.#refused.atMs > LOG_REFUSING_MS) return undefined;
    return this.#refused.reason;
  }

  /** Appends of the shard after `number` that a crash left here. STO-E001 when one is missing. */
  recovered(shard: number, number: number): readonly NumberedAppend[] {
    return this.#recovered.after(shard, number, this.#options.directory);
  }

  attach(log: CheckpointedLog): void {
    assert(!this.#logs.has(log.shard), 'a log is attached once');
    this.#logs.set(log.shard, log);
    if (this.#unsettled.size > 0) this.#startTimer(WAL_CHECKPOINT_MS);
  }

  /** Resolves when the append is durable, after `log.durable(append)`. Rejects with STO-E001. */
  write(log: CheckpointedLog, append: NumberedAppend): Promise<void> {
    assert(append.keySlots === undefined, 'keys have files of their own beside write-ahead files');
    if (this.#poisoned !== undefined) return Promise.reject(new EngineError('STO-E001', this.#poisoned));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ log, append, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      // After the other logs of this turn have appended too.
      setImmediate(() => void this.#run());
    });
  }

  /** Throws STO-E001 and refuses all later appends when another process has taken the files. */
  checkOwner(): void {
    if (this.#poisoned === undefined && !this.#ownership.isOurs()) this.#poison(this.#takenAway());
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
  }

  /**
   * Removes every copy of earlier appends from the files: when it resolves, only the logs' own stores hold these appends.
   * Rejects with EngineError.
   */
  async scrub(): Promise<void> {
    // Each round frees and wipes one of the two files.
    await this.#checkpoint(true);
    await this.#checkpoint(true);
  }

  /** Writes what is pending to the logs' own stores. Rejects with EngineError. */
  checkpoint(): Promise<void> {
    return this.#checkpoint(false);
  }

  /** Call when the log's own store holds all of its appends, or never will. The last one removes the files. */
  async detach(log: CheckpointedLog, isSettled: boolean): Promise<void> {
    await this.#writing?.catch(() => undefined);
    await this.#round?.catch(() => undefined);
    this.#logs.delete(log.shard);
    if (isSettled) this.#unsettled.delete(log.shard);
    else this.#unsettled.add(log.shard);
    if (this.#logs.size === 0) await this.close();
  }

  /** Closes files to which no log was attached, because none could be opened. The files stay. */
  closeUnused(): void {
    if (this.#logs.size > 0) return;
    this.#forget();
    this.#ownership.close();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    opened.delete(join(this.#options.directory, nameOf(this.#options, 'a')));
  }

  /** Removes the files when nothing in them is needed any more. For files to which no log is attached. */
  async close(): Promise<void> {
    assert(this.#logs.size === 0, 'files are closed after their logs');
    this.#forget();
    const isOurs = this.#ownership.isOurs();
    this.#ownership.close();
    await Promise.all([this.#current.close(), this.#other.close()]);
    if (this.#unsettled.size > 0 || this.#poisoned !== undefined || !isOurs) return;
    this.#current.remove();
    this.#other.remove();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#waiting;
      this.#waiting = [];
      const refused = await this.#writeAll(taken);
      this.#refused = refused === undefined ? undefined : { reason: textOf(refused), atMs: performance.now() };
      for (const one of taken) {
        if (refused === undefined) one.resolve();
        else one.reject(refused);
      }
      if (this.#current.position >= WAL_CHECKPOINT_BYTES) {
        this.#isBusy = true;
        this.#startRound();
      } else this.#startTimer(WAL_CHECKPOINT_MS);
    }
    this.#isRunning = false;
  }

  /** Makes the appends durable and tells their logs. Resolves with the reason when it cannot. */
  async #writeAll(taken: readonly Waiting[]): Promise<EngineError | undefined> {
    try {
      await this.#makeRoom(taken.reduce((sum, { append }) => sum + append.bytes, 0));
    } catch (error) {
      return asEngineError(error, `the write-ahead file ${this.#current.path} accepts no more appends`);
    }
    if (this.#poisoned !== undefined) return new EngineError('STO-E001', this.#poisoned);
    const file = this.#current;
    this.#writing = this.#writeTo(file, taken);
    try {
      await this.#writing;
      return undefined;
    } catch (error) {
      const refused = asEngineError(error, `a write to ${file.path} failed`);
      if (refused.retryable && (await isUndone(file))) return refused;
      // Nobody knows what of it is on disk.
      this.#poison(`${textOf(refused)}: this process cannot write to it until it is opened again`);
      return new EngineError('STO-E001', this.#poisoned);
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeTo(file: WalFile, taken: readonly Waiting[]): Promise<void> {
    const isStart = file.position === 0;
    if (isStart) this.#generation = randomBytes(GENERATION_BYTES);
    const before = new Map([...this.#logs.values()].map((log) => [log.shard, log.appends] as const));
    const appends = taken.map(({ log, append }) => ({ shard: log.shard, append }));
    const parts = encodeBatch(this.#generation, { before, appends });
    const startedMs = performance.now();
    if (taken.length === 1 && !isStart && this.#mayWait(startedMs)) file.writeHere(parts);
    else await file.write(isStart ? [encodeHeader(this.#generation, this.#options), ...parts] : parts);
    const atMs = performance.now();
    this.#last = { atMs, tookMs: atMs - startedMs };
    taken[0]?.log.synced((atMs - startedMs) / 1000);
    if (!this.#ownership.isOurs()) throw new EngineError('STO-E001', this.#takenAway());
    for (const { log, append } of taken) log.durable(append);
  }

  /**
   * True when the thread may wait for the disk itself. For a single write that takes less time than waking a thread of the
   * pool and being woken by it. After a slow write or a pause, the pool writes.
   */
  #mayWait(nowMs: number): boolean {
    const { atMs, tookMs } = this.#last;
    return tookMs < WAL_WAIT_MS && nowMs - atMs < WAL_WAIT_AFTER_MS && this.#isAlone();
  }

  /** Waits until the current file may take so many bytes. An empty file takes any number. */
  async #makeRoom(bytes: number): Promise<void> {
    if (this.#unsettled.size > 0) await this.#checkpoint(false);
    while (this.#current.position > 0 && this.#current.position + bytes > WAL_BYTES_MAX) await this.#checkpoint(false);
    if (this.#current.position === 0)
      await this.#current.allocate(this.#isBusy ? WAL_CHECKPOINT_BYTES : WAL_FIRST_BYTES);
  }

  #startRound(): void {
    this.#checkpoint(false).catch(() => this.#startTimer(HOUSEKEEPING_RETRY_MS));
  }

  #startTimer(delayMs: number): void {
    if (this.#timer !== undefined || this.#poisoned !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startRound();
    }, delayMs);
    this.#timer.unref();
  }

  /** One round at a time. A call during a round gets the next one if it must wipe, else the one that is under way. */
  #checkpoint(isWiping: boolean): Promise<void> {
    if (this.#round !== undefined) {
      if (!isWiping) return this.#round;
      return this.#round.catch(() => undefined).then(() => this.#checkpoint(true));
    }
    const round = this.#runRound(isWiping).finally(() => {
      this.#round = undefined;
    });
    this.#round = round;
    return round;
  }

  async #runRound(isWiping: boolean): Promise<void> {
    if (!this.#isOtherInUse) this.#turn();
    await this.#writing?.catch(() => undefined);
    for (const shard of this.#unsettled)
      if (!this.#logs.has(shard))
        throw new EngineError(
          'STO-E001',
          `the write-ahead files may hold appends of shard ${shard}, which is not open`,
        );
    await this.#checkpointLogs();
    this.#unsettled.clear();
    try {
      if (isWiping) await this.#other.wipe();
    } catch (error) {
      throw storageError(`${this.#other.path} cannot be overwritten`, error);
    }
    this.#other.free();
    this.#isOtherInUse = false;
  }

  /** A log whose store refuses does not keep the others from writing to theirs. */
  async #checkpointLogs(): Promise<void> {
    let refused: unknown;
    for (const log of this.#logs.values()) {
      try {
        await log.checkpoint();
      } catch (error) {
        refused ??= error;
      }
    }
    if (refused !== undefined) throw refused;
  }

  /** From the next write on, appends go to the other file. */
  #turn(): void {
    [this.#current, this.#other] = [this.#other, this.#current];
    this.#isOtherInUse = true;
  }

  #takenAway(): string {
    return (
      `the write-ahead files in ${this.#options.directory} were taken by another process, which the lock of the data ` +
      'directory should keep out'
    );
  }

  #poison(reason: string): void {
    this.#poisoned ??= reason;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** After a write that found no room: true when no part of it can be read as a batch. */
async function isUndone(file: WalFile): Promise<boolean> {
  try {
    await file.cancel(HEADER_BYTES + BATCH_HEAD_BYTES);
    return true;
  } catch {
    return false;
  }
}

function textOf({ message }: EngineError): string {
  return message.replace(/^STO-E001: /, '');
}

function asEngineError(error: unknown, what: string): EngineError {
  return error instanceof EngineError ? error : storageError(what, error);
}
