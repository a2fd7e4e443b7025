// Fills the tables of a shard with a log from elsewhere. Each statement is on the condition that the shard is still the caller's.
import { EngineError } from '../../base/errors.ts';
import type { Sequence } from '../log.ts';
import { arrayText, given, type Owned, parts } from './append-statement.ts';
import { type Database, databaseError, type Sql } from './database.ts';
import { shardName, takenAway } from './lease.ts';

export class BulkShard {
  readonly #database: Database;
  readonly #owned: Owned;

  constructor(database: Database, owned: Owned) {
    this.#database = database;
    this.#owned = owned;
  }

  /** Rejects with STO-E002 when the shard has another owner, and with STO-E001. */
  async records(records: readonly (readonly [sequence: Sequence, frame: Buffer])[]): Promise<void> {
    const frames = parts(records.map(([, frame]) => frame));
    const sequences = arrayText(records.map(([sequence]) => sequence));
    await this.#insert(
      (sql) => sql`
        INSERT INTO granary_records (shard, sequence, frame)
        SELECT owner.shard, part.sequence, substring(${given(sql, frames.bytes)} FROM part.start FOR part.bytes)
        FROM owner, unnest(${sequences}::int8[], ${frames.starts}::int4[], ${frames.lengths}::int4[])
          AS part (sequence, start, bytes)`,
    );
  }

  /** Rejects as `records`. */
  async state(entries: readonly (readonly [key: Buffer, frame: Buffer])[]): Promise<void> {
    const keys = parts(entries.map(([key]) => key));
    const values = parts(entries.map(([, frame]) => frame));
    await this.#insert(
      (sql) => sql`
        INSERT INTO granary_state (shard, key, frame, append)
        SELECT owner.shard, substring(${keys.bytes}::bytea FROM part.key_start FOR part.key_bytes),
          substring(${given(sql, values.bytes)} FROM part.start FOR part.bytes), 1
        FROM owner, unnest(${keys.starts}::int4[], ${keys.lengths}::int4[], ${values.starts}::int4[],
          ${values.lengths}::int4[]) AS part (key_start, key_bytes, start, bytes)`,
    );
  }

  /** Rejects as `records`. */
  async keys(slots: readonly (readonly [id: number, slot: Uint8Array])[]): Promise<void> {
    const bytes = parts(slots.map(([, slot]) => Buffer.from(slot)));
    const ids = arrayText(slots.map(([id]) => id));
    await this.#insert(
      (sql) => sql`
        INSERT INTO granary_keys (shard, id, slot)
        SELECT owner.shard, part.id, substring(${bytes.bytes}::bytea FROM part.start FOR part.bytes)
        FROM owner, unnest(${ids}::int8[], ${bytes.starts}::int4[], ${bytes.lengths}::int4[]) AS part (id, start, bytes)`,
    );
  }

  /** The log is whole: it goes on at `next`. Rejects as `records`. */
  async finish(next: Sequence): Promise<void> {
    const { shard, token } = this.#owned;
    await this.#checked(
      (sql) =>
        sql`
        UPDATE granary_shards SET appends = 1, next = ${next}, pruned = 1
        WHERE shard = ${shard} AND token = ${token} RETURNING shard`,
    );
  }

  #insert(statement: (sql: Sql) => Fragment): Promise<void> {
    return this.#checked(
      (sql) => sql`WITH owner AS (${this.#owner(sql)}), added AS (${statement(sql)}) SELECT shard FROM owner`,
    );
  }

  async #checked(statement: (sql: Sql) => Promise<readonly unknown[]>): Promise<void> {
    const { shard } = this.#owned;
    try {
      if ((await this.#database.ask(statement)).length === 0) throw new EngineError('STO-E002', takenAway(shard));
    } catch (error) {
      throw databaseError(`${shardName(shard)} cannot be filled`, error);
    }
  }

  #owner(sql: Sql): Fragment {
    const { shard, token } = this.#owned;
    return sql`UPDATE granary_shards SET token = token WHERE shard = ${shard} AND token = ${token} RETURNING shard`;
  }
}

type Fragment = ReturnType<Sql>;
