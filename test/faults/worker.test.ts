// A worker thread that dies during a batch, with real engines: waiting callers get an error, nothing acknowledged is
// lost, and the next life serves.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { EngineError } from '../../src/engine/base/errors.ts';
import { ShardPool } from '../../src/shards/transport/pool.ts';
import { contextOf, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const SHARDS = 2;
const WRITES = 120;

/** Memory n is in shard n mod 2. */
const shardOf = (memory: number): number => memory % SHARDS;

for (const [kind, lives] of [
  ['throw', 2],
  ['exit', 1],
] as const)
  test(`a worker that is made to ${kind} in a batch loses no acknowledged write, and serves again`, async (t) => {
    const root = temporaryDirectory(t);
    const restarts: (() => void)[] = [];
    let restartWanted = Promise.withResolvers<void>();
    let served = Promise.withResolvers<void>();
    const pool = await ShardPool.start({
      shards: SHARDS,
      workers: SHARDS,
      entry: new URL('../../src/server/shard-worker.ts', import.meta.url),
      engineOptions: (shard) => ({
        directory: join(root, `shard-${shard}`),
        keysDirectory: join(root, 'keys', `shard-${shard}`),
        shard,
        shards: SHARDS,
        masterKeys: [new Uint8Array(32).fill(7)],
        indexHeapBytes: 16 << 20,
      }),
      log: {
        info: (_, message) => {
          if (message === 'worker serves') served.resolve();
        },
        error: () => undefined,
      },
      faults: true,
      delay: (run) => {
        restarts.push(run);
        restartWanted.resolve();
        return () => undefined;
      },
    });
    t.after(() => pool.close());
    for (const memory of [1, 2])
      await pool.caller(shardOf(memory)).call('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
    const acknowledged = new Map<string, number>();
    const codes = new Set<string>();
    for (let life = 0; life < lives; life++) {
      restartWanted = Promise.withResolvers();
      const fault = (): Promise<unknown> => pool.caller(1).call('fault', contextOf(0), { kind });
      const calls: Promise<unknown>[] = [];
      for (let i = 0; i < WRITES; i++) {
        // The other worker serves memory 2, which is not affected.
        const memory = i % 4 === 0 ? 2 : 1;
        const fields = { subject: `s${life}-${i}`, relation: 'says', object: `in life ${life}` };
        const call = pool
          .caller(shardOf(memory))
          .call('add', contextOf(memory), { grainType: 'belief', fields, sync: false });
        calls.push(
          call.then(
            ({ hash }) => void acknowledged.set(hash, memory),
            (error: unknown) => {
              assert.ok(error instanceof EngineError && memory === 1, String(error));
              codes.add(error.code);
            },
          ),
        );
        // Some batches come before it, and the rest of this one after it.
        if (i % 30 === 20) await calls[i - 10];
        if (i === WRITES - 25) calls.push(fault().catch((error: EngineError) => void codes.add(error.code)));
      }
      await Promise.all(calls);
      await restartWanted.promise;
      assert.equal(pool.health()[1]?.state, 'down');
      served = Promise.withResolvers<void>();
      for (const run of restarts.splice(0)) run();
      await served.promise;
      for (const [hash, memory] of acknowledged)
        assert.equal((await pool.caller(shardOf(memory)).call('get', contextOf(memory), { hash })).hash, hash);
    }
    assert.deepEqual([...codes].sort(), kind === 'throw' ? ['STO-E002', 'SYS-E001'] : ['STO-E002']);
    assert.ok(acknowledged.size > (WRITES / 4 + 1) * lives, `${acknowledged.size} acknowledged`);
    assert.deepEqual(
      pool.health().map(({ restarts: times }) => times),
      [0, lives],
    );
    for (const shard of [0, 1])
      assert.deepEqual((await pool.caller(shard).call('verify', contextOf(0), {})).findings, []);
  });
