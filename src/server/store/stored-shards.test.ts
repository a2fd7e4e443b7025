import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { STORE_WATCH_MS } from '../../engine/base/limits.ts';
import { LeaseTable, moment } from '../../engine/log/postgres/lease-table.ts';
import type { CallContext } from '../../shards/protocol.ts';
import type { RawShardCaller } from '../../shards/transport/client.ts';
import type { ShardSet } from '../../shards/transport/shard-set.ts';
import type { Logger } from '../log.ts';
import { storedShards } from './stored-shards.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };
const settled = () => new Promise((resolve) => setImmediate(resolve));

type Call = RawShardCaller['call'];

/** One shard, and what becomes of it. Its calls are answered while it is open. */
function setUp(t: TestContext, { close = async () => {}, open = async () => {} }: Partial<Changes> = {}) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const leases = LeaseTable.of(1);
  leases.hold(0, moment(), 60_000);
  const told: string[] = [];
  const log = {
    info: (_: object, text: string) => void told.push(text),
    warn: (_: object, text: string) => void told.push(text),
  } as unknown as Logger; // what is called
  const shard = { isOpen: true, asked: 0 };
  const calls: string[] = [];
  const pool: Partial<ShardSet> = {
    shards: 1,
    isOpen: () => shard.isOpen,
    caller: () => ({
      call: (async () => {
        shard.asked += 1;
        return answerOf(shard.isOpen);
      }) as unknown as Call,
      callRaw: never,
    }),
    closeShard: async () => {
      calls.push('close');
      shard.isOpen = false;
      await close();
    },
    open: async () => {
      calls.push('open');
      await open();
      shard.isOpen = true;
      leases.begin(0);
    },
  };
  const stored = storedShards({ url: '', node: 'a', leaseMs: 60_000 }, leases, log);
  const { set, stop } = stored.serve(pool as ShardSet); // what is called
  t.after(stop);
  const look = async (): Promise<void> => {
    t.mock.timers.tick(STORE_WATCH_MS);
    await settled();
  };
  const call = (): Promise<unknown> => set.caller(0).call('get', CONTEXT, { hash: '' });
  return { leases, shard, calls, told, look, call, stop };
}

interface Changes {
  readonly close: () => Promise<void>;
  readonly open: () => Promise<void>;
}

function answerOf(isOpen: boolean): string {
  if (!isOpen) throw new EngineError('STO-E002', 'the shard is not open here', { isElsewhere: true });
  return 'answered';
}

function never(): never {
  assert.fail('it is not called');
}

test('a shard that takes nothing any more is opened again, also when it was not closed cleanly', async (t) => {
  const { leases, shard, calls, told, look } = setUp(t, {
    close: async () => {
      throw new EngineError('STO-E001', 'the disk is gone');
    },
  });
  await look();
  assert.deepEqual(calls, []);
  leases.spoil(0);
  await look();
  await look();
  assert.deepEqual(calls, ['close', 'open']);
  assert.deepEqual(told, ['the shard cannot be reopened yet', 'the shard was reopened from the database']);
  // A thread that ends opens its shards itself.
  shard.isOpen = false;
  await look();
  assert.deepEqual(calls, ['close', 'open']);
});

test('calls wait while a shard is opened again', async (t) => {
  const opening = Promise.withResolvers<void>();
  const { leases, shard, look, call } = setUp(t, { open: () => opening.promise });
  assert.equal(await call(), 'answered');
  leases.doubt(0);
  await look();
  let answer: unknown;
  const waiting = call().then((given) => {
    answer = given;
  });
  await settled();
  assert.deepEqual([answer, shard.asked], [undefined, 1]);
  opening.resolve();
  await waiting;
  assert.equal(answer, 'answered');
});

test('calls of a shard that cannot be opened again are refused until it is', async (t) => {
  let isBroken = true;
  const { leases, look, call } = setUp(t, {
    open: async () => {
      if (isBroken) throw new EngineError('STO-E001', 'the folder is not writable');
    },
  });
  leases.spoil(0);
  await look();
  await assert.rejects(call(), { code: 'STO-E002', message: /has shard 0/, retryAfterSeconds: 1 });
  isBroken = false;
  await look();
  assert.equal(await call(), 'answered');
});

test('calls that wait when the server ends are refused', async (t) => {
  const { leases, shard, look, call, stop } = setUp(t, { open: () => new Promise(() => undefined) });
  leases.spoil(0);
  await look();
  const waiting = call();
  await settled();
  shard.isOpen = false;
  stop();
  await assert.rejects(waiting, { code: 'STO-E002' });
});
