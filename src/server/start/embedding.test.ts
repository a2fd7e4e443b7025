// The vectors of questions that a node with a copy of the control log drops when another node erases.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../engine/base/clock.ts';
import { MemoryLog } from '../../engine/log/memory.ts';
import type { ErasureProof } from '../../shards/protocol.ts';
import type { MemoryRecord } from '../control/memories.ts';
import { ControlFeed } from '../control/replica/feed.ts';
import { messageBytes, readMessage, type ToCopy, type ToLeader } from '../control/replica/messages.ts';
import { ControlReplica, ReplicaView } from '../control/replica/replica.ts';
import { Subscription } from '../control/replica/subscription.ts';
import { ControlStore } from '../control/store.ts';
import { Erasures } from '../jobs/erasures.ts';
import { makeLog } from '../log.ts';
import type { Shards } from '../shards.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { forgetWithKeys } from './embedding.ts';

const MEMORY = { number: 7, id: 'm' } as MemoryRecord; // all that erasures read
const PROOF: ErasureProof = { userId: 'ann', count: 3, keyFingerprint: '0123456789abcdef', timestamp: 5 };

/** A control log, a copy of it on another node, and what happens there. */
function twoNodes(done: string[]) {
  const control = ControlStore.open(new MemoryLog(), CONTROL_KEY, systemClock);
  const feed = new ControlFeed({ control, isFirst: true, mayConfirm: () => true, heard: () => undefined });
  control.publishTo((changes) => feed.published(changes));
  const replica = new ControlReplica();
  const early: ToLeader[] = [];
  let send = (message: ToLeader): void => void early.push(message);
  const subscription = new Subscription({ replica, send: (message) => send(message) });
  const end = feed.open((message) => subscription.receive(readMessage<ToCopy>(messageBytes(message))));
  send = end.receive;
  for (const message of early) end.receive(message);
  forgetWithKeys(new ReplicaView(replica), { forgetQueries: () => void done.push('forgotten') });
  return { control, end: () => subscription.end() };
}

test('a node drops its vectors of questions before an erasure on another node is answered', async (t) => {
  const done: string[] = [];
  const { control, end } = twoNodes(done);
  t.after(end);
  const call = async () => ({ redacted: 0, removed: 0, more: false });
  const shards = { call } as unknown as Pick<Shards, 'call'>; // the one called method
  const erasures = new Erasures({ control, shards, log: makeLog('silent'), clock: systemClock });
  const erase = async (): Promise<ErasureProof> => {
    done.push('erased');
    return PROOF;
  };
  for (let i = 0; i < 2; i++) {
    await erasures.user(MEMORY, 'ann', { actor: 'key:one' }, erase);
    assert.deepEqual(done.splice(0), ['erased', 'forgotten']);
  }
  const scope = { path: 'acme', timestamp: 5, proofs: [] };
  await erasures.scope(MEMORY, 'acme', { actor: 'key:one' }, async () => scope);
  assert.deepEqual(done.splice(0), ['forgotten']);
  await control.commit((change) => change.put('memory', MEMORY));
  assert.deepEqual(done, []);
  await control.commit((change) => change.remove('memory', MEMORY.id));
  assert.deepEqual(done, ['forgotten']);
});
