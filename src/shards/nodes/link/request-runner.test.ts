import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LINK_BATCHES_UNREPORTED_MAX } from '../../../engine/base/limits.ts';
import { type CallContext, METHODS } from '../../protocol.ts';
import type { RawShardCaller } from '../../transport/client.ts';
import type { RawReply } from '../../transport/codec.ts';
import { batchesRun, RequestWriter, readReplies } from '../../transport/pack.ts';
import { RequestRunner } from './request-runner.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'key:k1', requestId: 'r' };
const REPLY: RawReply = { bytes: Buffer.from('answer'), notes: '' };

/** A runner with one shard, whose calls are answered when the test says so. */
function setUp() {
  const asked: (() => void)[] = [];
  const sent: { readonly ids: readonly number[]; readonly reads: number }[] = [];
  let flushes = 0;
  const shard: RawShardCaller = {
    call: () => assert.fail('all calls are raw'),
    callRaw: () => new Promise((resolve) => asked.push(() => resolve(REPLY))),
  };
  const runner = new RequestRunner({
    shards: [shard],
    methods: METHODS,
    send: (message) => {
      const replies = [...readReplies(message, () => assert.fail('a reply cannot be read'))];
      sent.push({ ids: replies.map(({ id }) => id), reads: batchesRun(message, 'read') });
    },
    ran: () => {
      flushes += 1;
    },
  });
  const ask = (...ids: readonly number[]): void => {
    const writer = new RequestWriter('read');
    for (const id of ids) writer.appendRaw({ id, shard: 0 }, 1, CONTEXT, Buffer.from('ask'));
    runner.run(Buffer.concat([Buffer.alloc(8), Buffer.from(writer.take())]));
  };
  return { asked, sent, ask, flushes: () => flushes };
}

/** Until what the event loop has to do now is done. */
async function turn(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

test('the report of a batch goes with an answer, so a call costs one message in each direction', async () => {
  const { asked, sent, ask, flushes } = setUp();
  ask(1);
  assert.equal(flushes(), 1);
  await turn();
  assert.deepEqual(sent, []);
  asked.shift()!();
  await turn();
  assert.deepEqual(sent, [{ ids: [1], reads: 1 }]);
});

test('batches are reported without an answer before their sender has no room for more', async () => {
  const { asked, sent, ask } = setUp();
  for (let id = 0; id < LINK_BATCHES_UNREPORTED_MAX; id++) ask(id);
  await turn();
  assert.deepEqual(sent, []);
  ask(LINK_BATCHES_UNREPORTED_MAX);
  await turn();
  assert.deepEqual(sent, [{ ids: [], reads: LINK_BATCHES_UNREPORTED_MAX + 1 }]);
  for (const answer of asked) answer();
  await turn();
  // Answers of one turn share a message.
  assert.deepEqual(sent.slice(1), [{ ids: [0, 1, 2, 3], reads: 0 }]);
});
