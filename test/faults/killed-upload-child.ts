// A process with one shard in PostgreSQL that adds beliefs, seals and merges them, so that segments are uploaded, until it is killed.
import { join } from 'node:path';
import type { DatabaseOptions } from '../../src/engine/log/postgres/postgres-log.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../support/shard.ts';
import type { Added } from './postgres-child.ts';

export interface UploadingOptions {
  readonly root: string;
  readonly database: DatabaseOptions;
  /** The number of the first belief. */
  readonly from: number;
}

const EACH = 20;
/** Every so many seals, all segments become one. */
const SEALS = 3;

// written by the parent
const { root, database, from } = JSON.parse(process.argv[2]!) as UploadingOptions;
const engine = await openShard(join(root, database.node), { database });
const context = contextOf(1);
await engine.write('attachMemory', context, { settings: settingsOf(1) });
for (let next = from, seals = 1; ; seals++) {
  for (let i = 0; i < EACH; i++, next++) {
    const hash = await addBelief(engine, 1, { subject: `s${next}`, object: `thing ${next}` });
    process.send!({ number: next, hash } satisfies Added);
  }
  await engine.write(seals % SEALS === 0 ? 'compact' : 'flush', context, {});
}
