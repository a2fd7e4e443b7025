// The ownership of a shard: a row with its owner, a token and a time at which it ends by the database's clock. A token is
// one more than that of the owner before, so appends of an owner that has lost its shard are refused.
import { randomBytes } from 'node:crypto';
import type { Row } from 'postgres';
import { EngineError } from '../../base/errors.ts';
import { DATABASE_CLOSING_MS, LEASE_BEAT_MS, LEASE_MARGIN, SHARDS_MAX } from '../../base/limits.ts';
import { isSettledWithin } from '../../base/settled-within.ts';
import { checkStamp, type LogStamp } from '../lmdb/stamp.ts';
import type { Sequence } from '../log.ts';
import { type Database, databaseError, type Sql } from './database.ts';
import { type KeptLease, LeaseTable, type Moment, moment } from './lease-table.ts';

export interface LeaseOptions {
  readonly stamp: LogStamp;
  /** Name of this node. An owner of the same name takes its shard again at once. */
  readonly node: string;
  /** How long the lease lasts without a renewal. */
  readonly leaseMs: number;
  /** The table of leases of this process (lease-table.ts). Absent: no other thread asks. */
  readonly leases?: SharedArrayBuffer | undefined;
  /** A keeper renews the leases of that table. Otherwise each lease renews itself, in the thread of its log. */
  readonly isKept?: boolean | undefined;
}

/** The shard as its new owner finds it. */
export interface Taken {
  readonly token: number;
  /** The random mark of this owner, in hexadecimal form. */
  readonly mark: string;
  readonly appends: number;
  readonly next: Sequence;
  /** The newest append whose changes were pruned. */
  readonly pruned: number;
}

export class Lease {
  readonly taken: Taken;
  readonly #database: Database;
  readonly #options: LeaseOptions;
  /** Holds when it ends: counted from before the request was sent, less a margin. */
  readonly #table: LeaseTable;
  #lost: string | undefined;
  readonly #timer: NodeJS.Timeout;
  /** When the request that the end is counted from was sent. */
  #sentMs: number;
  /** Renewals that were sent and have no answer. */
  #unanswered = 0;

  /**
   * Takes the shard, which is created if the store does not have it. STO-E002 when another node holds it, STO-E001 when the
   * database refuses or the shard has another format.
   */
  static async take(database: Database, options: LeaseOptions): Promise<Lease> {
    const sent = moment();
    try {
      const taken = await database.ask((sql) => sql.begin((transaction) => take(transaction, options)));
      return new Lease(database, options, taken, sent);
    } catch (error) {
      throw databaseError(`${shardName(options.stamp.shard)} cannot be taken over`, error);
    }
  }

  private constructor(database: Database, options: LeaseOptions, taken: Taken, sent: Moment) {
    const { leases, stamp } = options;
    this.#database = database;
    this.#options = options;
    this.taken = taken;
    this.#table = leases === undefined ? LeaseTable.of(stamp.shard + 1) : new LeaseTable(leases);
    this.#table.begin(stamp.shard);
    this.#sentMs = sent.steadyMs;
    this.#holdSince(sent);
    if (options.isKept === true) {
      this.#table.keep(stamp.shard, taken.token);
      this.#timer = setInterval(() => this.#table.beat(stamp.shard), LEASE_BEAT_MS);
    } else {
      // Each renewal is sent on time, whether or not the one before was answered.
      this.#timer = setInterval(() => this.#renew(), options.leaseMs / 3);
    }
    this.#timer.unref();
  }

  /** Why the shard is not this owner's at the moment; undefined while it is. */
  get lapsed(): string | undefined {
    if (this.#lost !== undefined) return this.#lost;
    if (this.#table.isHeld(this.#options.stamp.shard)) return undefined;
    if (this.isLost) return takenAway(this.#options.stamp.shard);
    return `the lease of ${shardName(this.#options.stamp.shard)} ended, and the database did not renew it`;
  }

  /** True when another node has taken the shard, or may have: it never comes back. */
  get isLost(): boolean {
    return this.#lost !== undefined || this.#table.isLost(this.#options.stamp.shard);
  }

  /** For an append that the token refused. */
  lose(reason: string): void {
    if (this.#lost !== undefined) return;
    this.spoil();
    this.#end(reason);
  }

  /** The log must be opened again, while the shard stays this owner's. */
  spoil(): void {
    if (this.#lost === undefined) this.#table.spoil(this.#options.stamp.shard);
  }

  /** The copy of the log on disk is damaged. False when nobody opens the shard again for that. */
  doubt(): boolean {
    if (this.#options.leases === undefined || this.#lost !== undefined) return false;
    this.#table.doubt(this.#options.stamp.shard);
    return true;
  }

  /** The copy of the log on disk lacks appends since then, by the monotonic clock; undefined: it has all. */
  lacks(sinceMs: number | undefined): void {
    this.#table.lacks(this.#options.stamp.shard, sinceMs);
  }

  #end(reason: string): void {
    this.#lost = reason;
    this.#table.end(this.#options.stamp.shard);
    clearInterval(this.#timer);
  }

  /** Gives the shard back, so that another node can take it at once. Failures are left to the end of the lease. */
  async release(): Promise<void> {
    if (this.isLost) {
      clearInterval(this.#timer);
      return;
    }
    this.#table.giveBack(this.#options.stamp.shard);
    // A renewal that comes later finds no owner.
    this.#end('the shard was given back');
    const { stamp } = this.#options;
    const { token } = this.taken;
    const released = this.#database
      .ask(
        (sql) => sql`
        UPDATE granary_shards SET owner = NULL, expires_at = NULL WHERE shard = ${stamp.shard} AND token = ${token}`,
      )
      .catch(() => undefined);
    await isSettledWithin(released, DATABASE_CLOSING_MS);
  }

  #holdSince(sent: Moment): void {
    this.#table.hold(this.#options.stamp.shard, sent, heldMs(this.#options.leaseMs));
  }

  async #renew(): Promise<void> {
    const { stamp, node, leaseMs } = this.#options;
    const sent = moment();
    const { token } = this.taken;
    const renew = (sql: Sql) => renewLease(sql, { shard: stamp.shard, token, node, leaseMs });
    // Connections may die in silence, and would be given up later than the lease ends.
    const isAfresh = this.#unanswered > 0;
    this.#unanswered += 1;
    try {
      const renewed = await (isAfresh ? this.#database.askAfresh(renew) : this.#database.ask(renew));
      if (this.isLost) return;
      if (renewed.length === 0) this.lose(takenAway(stamp.shard));
      else if (sent.steadyMs > this.#sentMs) {
        this.#sentMs = sent.steadyMs;
        this.#holdSince(sent);
      }
    } catch {
      // The next attempt comes within a third of the time; without it, the lease ends.
    } finally {
      this.#unanswered -= 1;
    }
  }
}

/** How long an owner answers after it asked for a lease. */
export function heldMs(leaseMs: number): number {
  return leaseMs * (1 - LEASE_MARGIN);
}

/** Resolves to no row when the shard is not this owner's any more. */
export function renewLease(
  sql: Sql,
  { shard, token, node, leaseMs }: KeptLease & Pick<LeaseOptions, 'node' | 'leaseMs'>,
): Promise<readonly Row[]> {
  return sql`
    UPDATE granary_shards SET expires_at = now() + ${leaseMs}::int8 * interval '1 millisecond'
    WHERE shard = ${shard} AND token = ${token} AND owner = ${node} RETURNING shard`;
}

export function takenAway(shard: number): string {
  return `${shardName(shard)} was taken by another node`;
}

/** For messages. The control log has the number after those of all shards. */
export function shardName(shard: number): string {
  return shard === SHARDS_MAX ? 'the control log' : `shard ${shard}`;
}

export function logName(shard: number): string {
  return shard === SHARDS_MAX ? 'the control log' : `the log of shard ${shard}`;
}

/** The shard as its owner has it now; undefined when nobody has had it yet. */
export async function ownerNow(database: Database, shard: number): Promise<Taken | undefined> {
  const [row] = await database.ask(
    (sql) => sql`
      SELECT shard.token, owner.mark, shard.appends, shard.next, shard.pruned FROM granary_shards AS shard
      JOIN granary_owners AS owner ON owner.shard = shard.shard AND owner.token = shard.token
      WHERE shard.shard = ${shard}`,
  );
  if (row === undefined) return undefined;
  return {
    token: Number(row['token']),
    mark: row['mark'].toString('hex'),
    appends: Number(row['appends']),
    next: Number(row['next']),
    pruned: Number(row['pruned']),
  };
}

async function take(sql: Sql, { stamp, node, leaseMs }: LeaseOptions): Promise<Taken> {
  const { shard, formatVersion, shards } = stamp;
  const [store] = await sql`SELECT shards FROM granary_store WHERE id = 1`;
  await sql`
    INSERT INTO granary_shards (shard, format, token, appends, next, pruned)
    VALUES (${shard}, ${formatVersion}, 0, 0, 1, 0) ON CONFLICT (shard) DO NOTHING`;
  const [taken] = await sql`
    UPDATE granary_shards SET token = token + 1, owner = ${node},
      expires_at = now() + ${leaseMs}::int8 * interval '1 millisecond'
    WHERE shard = ${shard} AND (owner IS NULL OR owner = ${node} OR expires_at <= now())
    RETURNING format, token, appends, next, pruned`;
  if (taken === undefined) throw await heldBy(sql, shard);
  const found = { formatVersion: Number(taken['format']), shard, shards: Number(store?.['shards'] ?? shards) };
  checkStamp(found, stamp, `${logName(shard)} in the database`);
  // Older versions cannot read the records written from now on.
  if (found.formatVersion < formatVersion)
    await sql`UPDATE granary_shards SET format = ${formatVersion} WHERE shard = ${shard}`;
  const [token, appends] = [Number(taken['token']), Number(taken['appends'])];
  const mark = randomBytes(16);
  await sql`
    INSERT INTO granary_owners (shard, token, mark, appends) VALUES (${shard}, ${token}, ${mark}, ${appends})`;
  return {
    token,
    mark: mark.toString('hex'),
    appends,
    next: Number(taken['next']),
    pruned: Number(taken['pruned']),
  };
}

async function heldBy(sql: Sql, shard: number): Promise<EngineError> {
  const [held] = await sql`
    SELECT owner, extract(epoch FROM expires_at - now()) AS seconds FROM granary_shards WHERE shard = ${shard}`;
  const seconds = Math.max(0, Math.ceil(Number(held?.['seconds'] ?? 0)));
  return new EngineError(
    'STO-E002',
    `${shardName(shard)} is held by node ${held?.['owner']}; its lease ends in ${seconds} s`,
    { retryable: true },
  );
}
