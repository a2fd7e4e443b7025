// Makes the appends of one shard durable in the database. An append whose outcome is unknown is sent again until there is
// an answer: its number lets it take effect once. It is neither acknowledged nor refused before.
import { setTimeout as pause } from 'node:timers/promises';
import { assert } from '../../base/assert.ts';
import { steadyMs, systemClock } from '../../base/clock.ts';
import { EngineError } from '../../base/errors.ts';
import { isTombstone } from '../../base/key-slot.ts';
import {
  CHANGES_KEPT_APPENDS,
  DATABASE_CLOSING_MS,
  DATABASE_RETRY_FIRST_MS,
  DATABASE_RETRY_MS,
  HOUSEKEEPING_RETRY_MS,
  LOG_REFUSING_MS,
  WAL_BYTES_MAX,
  WAL_CHECKPOINT_BYTES,
  WAL_CHECKPOINT_MS,
} from '../../base/limits.ts';
import type { CheckpointedLog, Journal } from '../journal.ts';
import type { NumberedAppend } from '../numbered-append.ts';
import { type Owned, sendAppend } from './append-statement.ts';
import { type Database, failureOf, reasonOf } from './database.ts';
import type { StoredKeys } from './key-store.ts';
import { type Lease, logName, shardName, takenAway } from './lease.ts';
import { pruneChanges } from './prune.ts';

export interface JournalOptions {
  readonly keys?: StoredKeys | undefined;
  readonly copySettled?: Promise<void> | undefined;
  /** Called once, when the copy takes nothing any more. Must not throw. */
  readonly onCopyFailed?: ((reason: string) => void) | undefined;
}

export class PostgresJournal implements Journal {
  readonly #database: Database;
  readonly #lease: Lease;
  /** Where the keys lie, if not beside the log. */
  readonly #keys: StoredKeys | undefined;
  readonly #copySettled: Promise<void> | undefined;
  readonly #onCopyFailed: JournalOptions['onCopyFailed'];
  #hasCopyFailed = false;
  #log: CheckpointedLog | undefined;
  /** Since when the copy lacks appends. */
  #copyLacksMs: number | undefined;
  /** Bytes of appends since the last checkpoint began. */
  #bytes = 0;
  #pruned: number;
  #round: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the log began to close. Until then, appends of unknown outcome are never given up: a database may be away for hours. */
  #closingMs: number | undefined;
  /** Gives up the append in flight. */
  #giveUp: (() => void) | undefined;
  #isGivenUp = false;
  #poisoned: string | undefined;
  #refused: { readonly reason: string; readonly atMs: number } | undefined;

  /** `copySettled`: the log's folder may be opened again when that has resolved, too. */
  constructor(database: Database, lease: Lease, { keys, copySettled, onCopyFailed }: JournalOptions = {}) {
    this.#keys = keys;
    this.#copySettled = copySettled;
    this.#onCopyFailed = onCopyFailed;
    this.#database = database;
    this.#lease = lease;
    this.#pruned = lease.taken.pruned;
  }

  get poisoned(): string | undefined {
    return this.#poisoned;
  }

  get refusing(): string | undefined {
    if (this.#refused === undefined || performance.now() - this.#refused.atMs > LOG_REFUSING_MS) return undefined;
    return this.#refused.reason;
  }

  get lapsed(): string | undefined {
    return this.#lease.lapsed;
  }

  attach(log: CheckpointedLog): void {
    assert(this.#log === undefined, 'a journal in the database has one log');
    this.#log = log;
    this.#lacksSince(undefined);
  }

  async write(log: CheckpointedLog, append: NumberedAppend): Promise<void> {
    while (this.#bytes > 0 && this.#bytes + append.bytes > WAL_BYTES_MAX) await this.#checkpoint();
    this.checkOwner();
    await this.#sendUntilGivenUp(log.shard, append);
    this.#refused = undefined;
    if (this.#copyLacksMs === undefined) this.#lacksSince(steadyMs(systemClock));
    log.durable(append);
    this.#bytes += append.bytes;
    if (this.#bytes >= WAL_CHECKPOINT_BYTES) this.#startRound();
    else this.#startTimer(WAL_CHECKPOINT_MS);
  }

  checkOwner(): void {
    const { lapsed, isLost } = this.#lease;
    if (isLost && lapsed !== undefined) this.#poison(lapsed);
    if (this.#poisoned !== undefined) throw new EngineError('STO-E001', this.#poisoned);
    if (lapsed !== undefined) throw new EngineError('STO-E002', lapsed, { retryable: true });
  }

  storeFailed(reason: string): void {
    if (this.#hasCopyFailed) return;
    this.#hasCopyFailed = true;
    this.#onCopyFailed?.(reason);
    // A log that closes answers what it has, and its next open has a copy that takes something.
    if (this.#closingMs === undefined) this.#lease.spoil();
  }

  closing(): void {
    if (this.#closingMs !== undefined) return;
    this.#closingMs = performance.now();
    const giveUp = this.#giveUp;
    // A database that does not answer must not keep the node.
    setTimeout(() => {
      if (this.#giveUp === giveUp) giveUp?.();
    }, DATABASE_CLOSING_MS).unref();
  }

  async detach(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#round?.catch(() => undefined);
    await this.#lease.release();
    await this.#copySettled;
    await this.#keys?.close();
    await this.#database.close();
  }

  /**
   * Resolves when the append is committed. Rejects with an EngineError when it is certain that it is not; or when the log is
   * closed meanwhile, and poisoned.
   */
  async #sendUntilGivenUp(shard: number, append: NumberedAppend): Promise<void> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#giveUp = () => {
      this.#isGivenUp = true;
      reject(this.#poison(`${this.#whyOpen(shard)}; its outcome is unknown`));
    };
    const late = this.#closingMs === undefined ? undefined : setTimeout(this.#giveUp, DATABASE_CLOSING_MS);
    try {
      await Promise.race([this.#send(shard, append), givenUp]);
    } finally {
      clearTimeout(late);
      this.#giveUp = undefined;
    }
  }

  #whyOpen(shard: number): string {
    return this.#refused?.reason ?? `the database did not answer an append to ${shardName(shard)}`;
  }

  async #send(shard: number, append: NumberedAppend): Promise<void> {
    const owned = { shard, token: this.#lease.taken.token };
    const slots = append.keySlots ?? [];
    const tombstones = slots.filter(([, slot]) => isTombstone(slot));
    const stored = this.#keys === undefined ? append : { ...append, keySlots: tombstones };
    /** True once an attempt failed whose outcome is unknown, or that is not whole. */
    let isOpen = false;
    for (let waitMs = DATABASE_RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, DATABASE_RETRY_MS)) {
      try {
        await this.#putKeys(slots.filter(([, slot]) => !isTombstone(slot)));
        if (!(await this.#database.ask((sql) => sendAppend(sql, owned, stored))))
          await this.#resolve(owned, append.number);
        isOpen = tombstones.length > 0;
        await this.#putKeys(tombstones);
        return;
      } catch (error) {
        if (error instanceof EngineError) throw error;
        const failure = failureOf(error);
        isOpen ||= failure === 'unknown';
        const reason = `the database did not accept an append to ${shardName(shard)}: ${reasonOf(error)}`;
        this.#refused = { reason, atMs: performance.now() };
        if (!isOpen) {
          if (failure !== 'conflict') throw new EngineError('STO-E001', reason, { retryable: failure === 'full' });
          this.checkOwner();
        }
        if (this.#isGivenUp) throw error;
      }
      await pause(waitMs);
    }
  }

  async #putKeys(slots: NonNullable<NumberedAppend['keySlots']>): Promise<void> {
    try {
      await this.#keys?.put(slots);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.#lease.lose(error.message);
      throw this.#poison(error.message);
    }
  }

  /** After an attempt that changed nothing: resolves when one before it, whose answer was lost, wrote the append. */
  async #resolve({ shard, token }: Owned, number: number): Promise<void> {
    const [row] = await this.#database.ask(
      (sql) => sql`
        SELECT token, appends,
          (SELECT min(appends) FROM granary_owners WHERE shard = ${shard} AND token > ${token}) AS left_at
        FROM granary_shards WHERE shard = ${shard}`,
    );
    const isOurs = row !== undefined && Number(row['token']) === token;
    if (isOurs && Number(row['appends']) === number) return;
    const reason = isOurs ? `${logName(shard)} in the database was changed by another process` : takenAway(shard);
    this.#lease.lose(reason);
    const refusal = this.#poison(reason);
    // The next owner found it, so it is durable.
    if (!isOurs && row !== undefined && row['left_at'] !== null && Number(row['left_at']) >= number) return;
    throw refusal;
  }

  #poison(reason: string): EngineError {
    this.#lease.spoil();
    this.#poisoned ??= `${reason}: this node cannot write to it until it is opened again`;
    return new EngineError('STO-E001', this.#poisoned);
  }

  #lacksSince(sinceMs: number | undefined): void {
    this.#copyLacksMs = sinceMs;
    this.#lease.lacks(sinceMs);
  }

  #startTimer(delayMs: number): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#startRound();
    }, delayMs);
    this.#timer.unref();
  }

  #startRound(): void {
    this.#checkpoint().catch(() => {
      if (!this.#hasCopyFailed) this.#startTimer(HOUSEKEEPING_RETRY_MS);
    });
  }

  #checkpoint(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => {
      this.#round = undefined;
    });
    return this.#round;
  }

  async #runRound(): Promise<void> {
    const log = this.#log;
    if (log === undefined) return;
    const { appends } = log;
    const bytes = this.#bytes;
    const sinceMs = steadyMs(systemClock);
    await log.checkpoint();
    this.#lacksSince(log.appends === appends ? undefined : sinceMs);
    this.#bytes -= bytes;
    const upTo = appends - CHANGES_KEPT_APPENDS;
    if (upTo < this.#pruned + CHANGES_KEPT_APPENDS || this.#lease.lapsed !== undefined) return;
    this.#pruned = upTo;
    // The next pruning removes what a failure leaves.
    const owned = { shard: log.shard, token: this.#lease.taken.token };
    await pruneChanges(this.#database, owned, upTo).catch(() => undefined);
  }
}
