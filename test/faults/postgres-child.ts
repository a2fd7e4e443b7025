// A process with one shard in PostgreSQL that adds beliefs, several at a time, until it is killed.
import { join } from 'node:path';
import type { DatabaseOptions } from '../../src/engine/log/postgres/postgres-log.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../support/shard.ts';

export interface PostgresChildOptions {
  readonly root: string;
  readonly database: DatabaseOptions;
  /** The number of the first belief. */
  readonly from: number;
}

/** A belief that was acknowledged. */
export interface Added {
  readonly number: number;
  readonly hash: string;
}

const IN_FLIGHT = 16;

// written by the parent
const { root, database, from } = JSON.parse(process.argv[2]!) as PostgresChildOptions;
const engine = await openShard(join(root, database.node), { database });
await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
let next = from;
const addAll = async (): Promise<never> => {
  for (;;) {
    const number = next++;
    const hash = await addBelief(engine, 1, {
      subject: `s${number}`,
      object: `thing ${number}`,
      user_id: `u${number % 9}`,
    });
    process.send!({ number, hash } satisfies Added);
  }
};
// It never ends by itself.
await Promise.all(Array.from({ length: IN_FLIGHT }, addAll));
