import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext } from '../protocol.ts';
import { directShard } from './direct.ts';
import type { EngineDoor } from './engine-door.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };

test('replies under way when the shard ends are dropped, as those of a dead thread are', async () => {
  const bug = new TypeError('a bug on purpose');
  const door: EngineDoor = {
    read: () => ({}) as never, // nobody reads the output
    record: () => assert.fail('no call leaves a record'),
    write: () => {
      throw bug;
    },
    maintain: () => false,
    pendingWrites: 0,
    close: () => Promise.resolve(),
  };
  const shard = directShard(0, door);
  // Both leave in the same turn: the read is answered before the write ends the shard.
  const [read, write] = await Promise.allSettled([
    shard.call('statistics', CONTEXT, {}),
    shard.call('dropMemory', CONTEXT, {}),
  ]);
  assert.ok(read.status === 'rejected' && write.status === 'rejected');
  assert.equal((read.reason as { code?: unknown }).code, 'STO-E002');
  assert.equal(write.reason, bug);
  await assert.rejects(shard.call('statistics', CONTEXT, {}), { code: 'STO-E002' });
});
