import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steadyMs, systemClock } from '../../engine/base/clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { HELD_CALLS_MAX } from '../../engine/base/limits.ts';
import type { CallContext } from '../protocol.ts';
import { SETTINGS } from '../testing/memory.ts';
import type { RawShardCaller } from '../transport/client.ts';
import { LostCall } from './link/lost-call.ts';
import { RoutedShard } from './routed-shard.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };
const ELSEWHERE = new EngineError('STO-E002', 'not here', { isElsewhere: true });

/** Answers with the bytes that it gets, after its name; the first `misses` calls are refused as elsewhere. */
function answering(name: string, misses = 0): RawShardCaller {
  let left = misses;
  return {
    call: () => Promise.reject(new EngineError('SYS-E002', 'only raw calls')),
    callRaw: async (_codec, _context, bytes) => {
      if (left-- > 0) throw ELSEWHERE;
      return { bytes: Buffer.concat([Buffer.from(`${name}:`), bytes]), notes: '' };
    },
  };
}

const ask = async (caller: RawShardCaller, text: string, context = CONTEXT): Promise<string> =>
  Buffer.from((await caller.callRaw(1, context, Buffer.from(text))).bytes).toString();

test('calls wait while the shard moves, and go where it is then, with the bytes that they came with', async () => {
  const routed = new RoutedShard(3);
  const bytes = Buffer.from('first');
  const waiting = routed.caller.callRaw(1, CONTEXT, bytes);
  bytes.fill(0);
  const other = ask(routed.here, 'of another node');
  assert.equal(routed.waiting, 2);
  routed.set({ kind: 'there', node: 'b', address: 'b:1', caller: answering('b') });
  assert.equal(Buffer.from((await waiting).bytes).toString(), 'b:first');
  // It never goes on to a third node.
  await assert.rejects(other, { code: 'STO-E002', isElsewhere: true });
  routed.set({ kind: 'here', caller: answering('a') });
  assert.equal(await ask(routed.caller, 'x'), 'a:x');
  assert.equal(await ask(routed.here, 'y'), 'a:y');
  assert.equal(routed.waiting, 0);
});

test('a call that came to a node without the shard is sent again', async () => {
  let looks = 0;
  const routed = new RoutedShard(3, { onElsewhere: () => looks++ });
  routed.set({ kind: 'there', node: 'b', address: 'b:1', caller: answering('b', 2) });
  assert.equal(await ask(routed.caller, 'x'), 'b:x');
  assert.equal(looks, 2);
  // A shard that is closed here while calls are on their way.
  routed.set({ kind: 'here', caller: answering('a', 1) });
  assert.equal(await ask(routed.caller, 'y'), 'a:y');
});

test('a call whose connection broke is sent again if it can do no harm, a few times and until its deadline', async () => {
  const routed = new RoutedShard(3);
  let sent = 0;
  let losses = Number.POSITIVE_INFINITY;
  const lose = async (): Promise<never> => {
    sent += 1;
    if (losses-- > 0) throw new LostCall('STO-E002', 'the connection broke');
    return { bytes: Buffer.from('answer'), notes: '' } as never; // of raw calls and of others
  };
  routed.set({ kind: 'there', node: 'b', address: 'b:1', caller: { call: lose, callRaw: lose } });
  const keyed = { ...CONTEXT, idempotency: { key: 'k:0', bodyHash: 'h' } };
  const late = { ...keyed, deadlineMs: steadyMs(systemClock) };
  const { caller } = routed;
  const locate = { hashes: [] };
  const item = { grainType: 'event', fields: {}, sync: false } as const;
  for (const [times, call] of [
    [4, () => caller.callRaw(1, CONTEXT, Buffer.from('x'), 'read')],
    [4, () => caller.callRaw(1, keyed, Buffer.from('x'), 'write')],
    [1, () => caller.callRaw(1, CONTEXT, Buffer.from('x'), 'write')],
    [1, () => caller.callRaw(1, late, Buffer.from('x'), 'write')],
    [4, () => caller.call('locate', CONTEXT, locate)],
    [4, () => caller.call('add', keyed, item)],
    [1, () => caller.call('add', CONTEXT, item)],
    // It would undo what came between.
    [1, () => caller.call('attachMemory', keyed, { settings: SETTINGS })],
  ] as const) {
    losses = Number.POSITIVE_INFINITY;
    sent = 0;
    await assert.rejects(call, { code: 'STO-E002', message: /the connection broke/ });
    assert.equal(sent, times, String(call));
    losses = times - 1;
    await call();
  }
});

test('a call waits as long as its deadline and the move allow', async () => {
  const routed = new RoutedShard(3, { movesMs: 20 });
  const late = {
    code: 'STO-E002',
    retryable: true,
    retryAfterSeconds: 1,
    message: /shard 3 is moving to another node or being reopened/,
  };
  await assert.rejects(ask(routed.caller, 'x'), late);
  const patient = new RoutedShard(3);
  await assert.rejects(ask(patient.caller, 'x', { ...CONTEXT, deadlineMs: steadyMs(systemClock) + 20 }), late);
  routed.set({ kind: 'there', node: 'b', address: 'b:1', caller: answering('b', Number.POSITIVE_INFINITY) });
  await assert.rejects(ask(routed.caller, 'x'), late);
  routed.set({ kind: 'nowhere', retryAfterSeconds: 7 });
  await assert.rejects(ask(routed.caller, 'x'), { code: 'STO-E002', retryAfterSeconds: 7, isElsewhere: false });
});

test('more calls than may wait are refused', async () => {
  const routed = new RoutedShard(3);
  const calls = Array.from({ length: HELD_CALLS_MAX }, () => ask(routed.caller, 'x'));
  await assert.rejects(ask(routed.caller, 'y'), { code: 'LIM-E001', message: /too many calls wait for shard 3/ });
  routed.set({ kind: 'here', caller: answering('a') });
  assert.ok((await Promise.all(calls)).every((answer) => answer === 'a:x'));
});
