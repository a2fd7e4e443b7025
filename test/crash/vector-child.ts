// A process with one shard that adds, embeds, erases and runs maintenance until it ends at a step to the disk.
import { join } from 'node:path';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { openLmdbLog } from '../../src/engine/log/lmdb/lmdb-log.ts';
import { embedderOf, embedSome } from '../support/letters.ts';
import { addBelief, contextOf, openShard, settingsOf } from '../support/shard.ts';
import { armCut, CutLog, watchFileSystem } from './cut.ts';

export interface VectorChildOptions {
  readonly root: string;
  /** Steps after which it ends. */
  readonly steps: number;
  /** Keeps this life's words and users distinct from other lives'. */
  readonly life: number;
}

export type Acknowledged =
  | { readonly did: 'add'; readonly hash: string; readonly object: string; readonly user: string | undefined }
  | { readonly did: 'erase'; readonly user: string };

const MEMORIES = [1, 2] as const;
const TURNS_MAX = 5_000;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

// written by the parent
const { root, steps, life } = JSON.parse(process.argv[2]!) as VectorChildOptions;
const say = (done: Acknowledged & { readonly memory: number }): void => void process.send!(done);

watchFileSystem();
armCut(steps);
const log = new CutLog(
  openLmdbLog(join(root, 'shard-0', 'log'), { stamp: { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 } }),
);
const engine = await openShard(root, { log, sealVectors: 8, sealGrains: 30 });
for (const memory of MEMORIES) await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
for (let turn = 0; turn < TURNS_MAX; turn++) {
  const memory = MEMORIES[turn % 2]!;
  const user = turn % 3 === 0 ? `user-${life}-${Math.floor(turn / 12)}` : undefined;
  const object = `${LETTERS[turn % 26]!.repeat(1 + (turn % 7))}${LETTERS[(turn * 7) % 26]} ${life} ${turn}`;
  const fields = { subject: 's', object, ...(user === undefined ? {} : { user_id: user }) };
  say({ did: 'add', memory, hash: await addBelief(engine, memory, fields), object, user });
  if (turn % 4 === 3) await embedSome(engine, { '': embedderOf(life) });
  if (turn % 24 === 23) {
    const erased = `user-${life}-${Math.floor(turn / 24) * 2}`;
    await engine.write('eraseUser', contextOf(memory), { userId: erased });
    say({ did: 'erase', memory, user: erased });
  }
  if (turn % 30 === 29) await engine.write('flush', contextOf(memory), {});
  for (let slices = 0; slices < 20 && engine.maintain(1); slices++)
    await new Promise((resolve) => setImmediate(resolve));
}
process.exit(0);
