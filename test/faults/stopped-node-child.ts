// A node with one shard in PostgreSQL, in a worker thread as in a server. It answers the calls that its parent sends.
import { join } from 'node:path';
import { EngineError } from '../../src/engine/base/errors.ts';
import { LeaseTable } from '../../src/engine/log/postgres/lease-table.ts';
import { ShardPool } from '../../src/shards/transport/pool.ts';
import { contextOf, settingsOf } from '../support/shard.ts';

export interface NodeOptions {
  readonly root: string;
  readonly url: string;
  readonly node: string;
  readonly leaseMs: number;
}

export type NodeCall = { readonly id: number } & (
  | { readonly kind: 'open' | 'close' | 'attach' }
  | { readonly kind: 'get'; readonly hash: string }
  | { readonly kind: 'add'; readonly subject: string }
);

export interface NodeAnswer {
  readonly id: number;
  /** The code of a refusal. */
  readonly code?: string | undefined;
  readonly hash?: string | undefined;
  /** When the lease was looked at, in nanoseconds of the system's clock that never steps. */
  readonly at?: string | undefined;
}

// written by the parent
const { root, url, node, leaseMs } = JSON.parse(process.argv[2]!) as NodeOptions;
const leases = LeaseTable.of(1);
const lapsed = (shard: number): string | undefined =>
  leases.isHeld(shard) ? undefined : `this node does not hold shard ${shard}`;
const pool = await ShardPool.start({
  shards: 1,
  workers: 1,
  opens: 'asked',
  lapsed,
  entry: new URL('../../src/server/shard-worker.ts', import.meta.url),
  engineOptions: (shard) => ({
    directory: join(root, 'shard-0'),
    keysDirectory: join(root, 'keys', 'shard-0'),
    shard,
    shards: 1,
    masterKeys: [Buffer.alloc(32, 7)],
    indexHeapBytes: 16 << 20,
    database: { url, node, leaseMs, leases: leases.buffer },
  }),
  log: { info: () => undefined, error: (fields, message) => console.error(message, fields) },
});
const shard = pool.caller(0);
const context = contextOf(1);

async function run(call: NodeCall): Promise<string | undefined> {
  if (call.kind === 'open') await pool.open(0);
  else if (call.kind === 'close') await pool.closeShard(0);
  else if (call.kind === 'attach') await shard.call('attachMemory', context, { settings: settingsOf(1) });
  else if (call.kind === 'get') await shard.call('get', context, { hash: call.hash });
  else if (call.kind === 'add') {
    const fields = { relation: 'says', subject: call.subject, object: 'a thing' };
    return (await shard.call('add', context, { grainType: 'belief', fields, sync: false })).hash;
  }
  return undefined;
}

process.on('message', (call: NodeCall) => {
  const isOfShard = call.kind === 'get' || call.kind === 'add';
  const say = (answer: NodeAnswer): void => {
    const at = String(process.hrtime.bigint());
    // The last moment, as a listener asks it.
    const isLate = isOfShard && answer.code === undefined && lapsed(0) !== undefined;
    process.send!(isLate ? { id: call.id, code: 'STO-E002' } : { ...answer, at });
  };
  run(call).then(
    (hash) => say({ id: call.id, hash }),
    (error) => say({ id: call.id, code: error instanceof EngineError ? error.code : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
process.send!({ id: -1 } satisfies NodeAnswer);
