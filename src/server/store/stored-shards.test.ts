import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { STORE_WATCH_MS } from '../../engine/base/limits.ts';
import { LeaseTable, moment } from '../../engine/log/postgres/lease-table.ts';
import type { Logger } from '../log.ts';
import { storedShards } from './stored-shards.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a shard that takes nothing any more is opened again, also when it was not closed cleanly', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const leases = LeaseTable.of(1);
  const told: string[] = [];
  const log = {
    info: (_: object, text: string) => void told.push(text),
    warn: (_: object, text: string) => void told.push(text),
  } as unknown as Logger; // what is called
  let isOpen = true;
  const calls: string[] = [];
  const { watch } = storedShards({ url: '', node: 'a', leaseMs: 60_000 }, leases, log);
  const stop = watch({
    shards: 1,
    isOpen: () => isOpen,
    closeShard: async () => {
      calls.push('close');
      isOpen = false;
      throw new EngineError('STO-E001', 'the disk is gone');
    },
    open: async () => {
      calls.push('open');
      isOpen = true;
      leases.begin(0);
    },
  });
  t.after(stop);
  const look = async (): Promise<void> => {
    t.mock.timers.tick(STORE_WATCH_MS);
    await settled();
  };
  leases.hold(0, moment(), 60_000);
  await look();
  assert.deepEqual(calls, []);
  leases.spoil(0);
  await look();
  await look();
  assert.deepEqual(calls, ['close', 'open']);
  assert.deepEqual(told, ['the shard cannot be opened again yet', 'the shard was opened again from the database']);
  // A thread that ends opens its shards itself.
  isOpen = false;
  await look();
  assert.deepEqual(calls, ['close', 'open']);
});
