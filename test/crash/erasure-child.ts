// A process with one shard that erases a scope, then a user, redacts the user's name elsewhere and purges, until it
// ends at a step to the disk.
import { join } from 'node:path';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { contextOf, openShard, until } from '../support/shard.ts';
import { armCut, CutLog, watchFileSystem } from './cut.ts';

export interface ErasureChildOptions {
  readonly root: string;
  /** Steps after which it ends. */
  readonly steps: number;
}

/** Fingerprints of what was acknowledged. */
export type Acknowledged = { readonly scope: readonly string[] } | { readonly user: string } | { readonly ended: true };

// written by the parent
const { root, steps } = JSON.parse(process.argv[2]!) as ErasureChildOptions;
const say = (done: Acknowledged): void => void process.send!(done);

watchFileSystem();
const log = new CutLog(
  openLmdbLog(join(root, 'shard-0', 'log'), { stamp: { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 } }),
);
const engine = await openShard(root, { log });
armCut(steps);
const { proofs } = await engine.write('eraseScope', contextOf(1), { path: 'acme' });
say({ scope: proofs.map(({ keyFingerprint }) => keyFingerprint) });
const { keyFingerprint } = await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
say({ user: keyFingerprint });
await engine.write('redactUser', contextOf(1), { userId: 'ann', keyFingerprint });
await until(engine, () => engine.read('statistics', contextOf(1), {}).purgePending === 0);
say({ ended: true });
process.exit(0);
