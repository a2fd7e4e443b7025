import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { PACK_ITEMS_MAX, PENDING_BYTES_MAX, PENDING_ITEMS_MAX } from '../../engine/base/limits.ts';
import type { CallContext } from '../protocol.ts';
import { ShardClient } from './client.ts';
import { type Lane, type PackedRequest, ReplyWriter, readRequests } from './pack.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };

/** A client whose worker is simulated by the test, which also runs the turns of the event loop by hand. */
function setUp(batchesOutMax = 1) {
  const sent: PackedRequest[][] = [];
  const turns: (() => void)[] = [];
  const clock = { ms: 1_000, nowMs: () => clock.ms };
  const unreadable: unknown[] = [];
  const client = new ShardClient({
    send: (message) => sent.push([...readRequests(message, (_, error) => assert.ifError(error))]),
    schedule: (run) => turns.push(run),
    clock,
    batchesOutMax,
    onUnreadable: (error) => unreadable.push(error),
  });
  const replies = new ReplyWriter();
  return {
    client,
    shard: client.shard(3),
    sent,
    unreadable,
    clock,
    turn: () => {
      for (const run of turns.splice(0)) run();
    },
    /** Answers these requests with their hash, at the end of `batches` batches of a lane. */
    answer: (requests: readonly PackedRequest[], batches: number, lane: Lane = 'read') => {
      for (const { id, body } of requests) {
        if ('raw' in body) replies.appendRaw(id, { bytes: body.raw, notes: 'a note' });
        else replies.appendValue(id, body.input);
      }
      client.receive(replies.take({ [lane]: batches }));
    },
  };
}

const code = (expected: string, retryable: boolean) => (error: unknown) =>
  error instanceof EngineError && error.code === expected && error.retryable === retryable;

test('calls of one turn leave in one batch, and replies come in any order', async () => {
  const { shard, sent, turn, answer } = setUp();
  const calls = ['a', 'b', 'c'].map((hash) => shard.call('get', CONTEXT, { hash }));
  const raw = shard.callRaw(9, CONTEXT, Buffer.from('wire'), 'read');
  assert.equal(sent.length, 0);
  turn();
  assert.equal(sent.length, 1);
  assert.deepEqual(
    sent[0]!.map(({ shard }) => shard),
    [3, 3, 3, 3],
  );
  answer(sent[0]!.toReversed(), 1);
  assert.deepEqual(await Promise.all(calls), [{ hash: 'a' }, { hash: 'b' }, { hash: 'c' }]);
  const { bytes, notes } = await raw;
  assert.deepEqual([Buffer.from(bytes).toString(), notes], ['wire', 'a note']);
});

test('a write that is alone holds up no later call, and is answered without a report that it ran', async () => {
  const { client, shard, sent, turn, answer } = setUp();
  const alone = shard.callRaw(9, CONTEXT, Buffer.from('alone'));
  turn();
  const second = shard.callRaw(9, CONTEXT, Buffer.from('second'));
  turn();
  assert.equal(sent.length, 2);
  const third = shard.callRaw(9, CONTEXT, Buffer.from('third'));
  turn();
  assert.equal(sent.length, 2, 'the second was not alone');
  answer(sent[0]!, 0, 'write');
  turn();
  assert.equal(sent.length, 2);
  answer(sent[1]!, 1, 'write');
  turn();
  answer(sent[2]!, 0, 'write');
  await Promise.all([alone, second, third]);
  assert.equal(client.pendingItems, 0);
  client.open();
});

test('calls gather while a batch is out, and leave together when it has run, answered or not', async () => {
  const { client, shard, sent, turn, answer } = setUp();
  const first = shard.call('statistics', CONTEXT, {});
  turn();
  const later = [shard.call('get', CONTEXT, { hash: 'x' }), shard.call('get', CONTEXT, { hash: 'y' })];
  turn();
  assert.equal(sent.length, 1);
  answer([], 1);
  turn();
  assert.equal(sent.length, 2);
  assert.equal(sent[1]!.length, 2);
  answer([...sent[1]!, ...sent[0]!], 1);
  await Promise.all([first, ...later]);
  assert.equal(client.pendingItems, 0);
  assert.equal(client.pendingBytes, 0);
});

test('reads leave while writes wait for theirs to run, and before them; and the reverse', async () => {
  const { client, shard, sent, turn, answer } = setUp();
  // Two, since one would be alone.
  const first = [shard.call('flush', CONTEXT, {}), shard.call('flush', CONTEXT, {})];
  turn();
  const behind = [shard.call('flush', CONTEXT, {}), shard.callRaw(1, CONTEXT, Buffer.from('an add'))];
  const read = shard.call('get', CONTEXT, { hash: 'x' });
  turn();
  assert.deepEqual(
    sent.map(({ length }) => length),
    [2, 1],
  );
  answer(sent[1]!, 0);
  assert.deepEqual(await read, { hash: 'x' });
  const waiting = shard.call('get', CONTEXT, { hash: 'y' });
  answer(sent[0]!, 1, 'write');
  turn();
  assert.deepEqual(
    sent.map(({ length }) => length),
    [2, 1, 2],
  );
  answer([], 1, 'read');
  turn();
  assert.deepEqual(
    sent.map(({ length }) => length),
    [2, 1, 2, 1],
  );
  answer(sent[2]!, 1, 'write');
  answer(sent[3]!, 1, 'read');
  const both = [shard.call('flush', CONTEXT, {}), shard.call('get', CONTEXT, { hash: 'z' })];
  turn();
  assert.deepEqual(
    sent[4]!.map(({ body }) => 'method' in body && body.method),
    ['get'],
  );
  answer(sent[5]!, 1, 'write');
  answer(sent[4]!, 1, 'read');
  await Promise.all([...first, ...behind, waiting, ...both]);
  assert.equal(client.pendingItems, 0);
});

test('wire bytes are copied at once: the caller may use its buffer again', () => {
  const { shard, sent, turn } = setUp();
  const buffer = Buffer.from('first');
  void shard.callRaw(1, CONTEXT, buffer);
  buffer.write('xxxxx');
  turn();
  const body = sent[0]?.[0]?.body;
  assert.ok(body !== undefined && 'raw' in body);
  assert.equal(Buffer.from(body.raw).toString(), 'first');
});

test('a full batch is closed, and the number of waiting calls is bounded', async () => {
  const { client, shard, sent, turn, answer } = setUp();
  const calls = Array.from({ length: PENDING_ITEMS_MAX }, () => shard.call('get', CONTEXT, { hash: 'x' }));
  await assert.rejects(shard.call('get', CONTEXT, { hash: 'x' }), code('LIM-E001', true));
  for (let batch = 0; batch < PENDING_ITEMS_MAX / PACK_ITEMS_MAX; batch++) {
    turn();
    assert.equal(sent[batch]!.length, PACK_ITEMS_MAX);
    answer(sent[batch]!, 1);
  }
  await Promise.all(calls);
  assert.equal(client.pendingItems, 0);
  assert.deepEqual([client.refusedOf(3), client.refusedOf(2)], [1, 0]);
  const again = shard.call('get', CONTEXT, { hash: 'y' });
  turn();
  answer(sent.at(-1)!, 1);
  assert.deepEqual(await again, { hash: 'y' });
});

test('the bytes of waiting calls are bounded', async () => {
  const { client, shard } = setUp();
  const blob = Buffer.alloc(8 * 1_048_576);
  const calls = Array.from({ length: PENDING_BYTES_MAX / blob.length }, () => shard.callRaw(1, CONTEXT, blob));
  await assert.rejects(shard.call('get', CONTEXT, { hash: 'x' }), code('LIM-E001', true));
  client.fail(new EngineError('STO-E002'));
  for (const call of calls) await assert.rejects(call, code('STO-E002', true));
  assert.equal(client.pendingBytes, 0);
});

test('a call past its deadline is answered without being sent', async () => {
  const { shard, sent, clock, turn, answer } = setUp();
  const late = shard.call('get', { ...CONTEXT, deadlineMs: 1_500 }, { hash: 'late' });
  const inTime = shard.call('get', { ...CONTEXT, deadlineMs: 2_500 }, { hash: 'in time' });
  clock.ms = 2_000;
  turn();
  await assert.rejects(late, code('SYS-E005', false));
  assert.equal(sent[0]!.length, 1);
  answer(sent[0]!, 1);
  assert.deepEqual(await inTime, { hash: 'in time' });
});

test('a batch whose calls are all past their deadline is not sent, and the next is', async () => {
  const { shard, sent, clock, turn, answer } = setUp();
  const late = shard.call('get', { ...CONTEXT, deadlineMs: 1_500 }, { hash: 'late' });
  clock.ms = 2_000;
  turn();
  await assert.rejects(late, code('SYS-E005', false));
  assert.equal(sent.length, 0);
  const next = shard.call('get', CONTEXT, { hash: 'next' });
  turn();
  answer(sent[0]!, 1);
  assert.deepEqual(await next, { hash: 'next' });
});

test('an error arrives as the same EngineError', async () => {
  const { client, shard, sent, turn } = setUp();
  const call = shard.call('get', CONTEXT, { hash: 'x' });
  turn();
  const replies = new ReplyWriter();
  const error = new EngineError('VAL-E003', 'bad', { details: [{ field: 'f', issue: 'i' }], retryable: true });
  replies.appendError(sent[0]![0]!.id, error.toWire());
  client.receive(replies.take({ read: 1 }));
  await assert.rejects(
    call,
    (got) => got instanceof EngineError && assert.deepEqual(got.toWire(), error.toWire()) === undefined,
  );
});

test('a reply that cannot be read fails its own call alone, and is told', async () => {
  const { client, shard, sent, unreadable, turn, answer } = setUp();
  const [first, garbled, odd, last] = ['a', 'b', 'c', 'd'].map((hash) => shard.call('get', CONTEXT, { hash }));
  turn();
  const replies = new ReplyWriter();
  const ends: number[] = [];
  for (const { id, body } of sent[0]!) {
    assert.ok('input' in body);
    ends.push(replies.byteLength);
    replies.appendValue(id, body.input);
  }
  const message = replies.take({ read: 1 });
  const bytes = new Uint8Array(message);
  bytes[ends[1]! + 5] = 1; // another form than the body has
  bytes[ends[2]! + 4] = 9; // no kind
  client.receive(message);
  await assert.rejects(garbled!, code('SYS-E001', false));
  await assert.rejects(odd!, code('SYS-E001', false));
  assert.deepEqual(await Promise.all([first, last]), [{ hash: 'a' }, { hash: 'd' }]);
  assert.equal(unreadable.length, 2);
  assert.equal(client.pendingItems, 0);
  const next = shard.call('get', CONTEXT, { hash: 'next' });
  turn();
  answer(sent[1]!, 1);
  assert.deepEqual(await next, { hash: 'next' });
});

test('a call that cannot be packed is rejected, and leaves nothing in its batch', async () => {
  const { shard, sent, turn, answer } = setUp();
  const first = shard.call('get', CONTEXT, { hash: 'first' });
  await assert.rejects(shard.call('get', { ...CONTEXT, memory: -1 }, { hash: 'x' }));
  const last = shard.call('get', CONTEXT, { hash: 'last' });
  turn();
  answer(sent[0]!, 1);
  assert.deepEqual(await Promise.all([first, last]), [{ hash: 'first' }, { hash: 'last' }]);
});

test('pending calls are rejected when the worker dies, and new ones until it is open again', async () => {
  const { client, shard, sent, turn, answer } = setUp();
  const outstanding = shard.call('get', CONTEXT, { hash: 'sent' });
  const culprit = shard.call('get', CONTEXT, { hash: 'culprit' });
  turn();
  const gathered = shard.call('get', CONTEXT, { hash: 'gathered' });
  const drained = client.drained();
  const death = new EngineError('STO-E002', 'the worker died');
  client.fail(death, { id: sent[0]![1]!.id, error: new EngineError('SYS-E001') });
  await assert.rejects(outstanding, code('STO-E002', true));
  await assert.rejects(gathered, code('STO-E002', true));
  await assert.rejects(culprit, code('SYS-E001', false));
  await drained;
  await assert.rejects(shard.call('get', CONTEXT, { hash: 'new' }), code('STO-E002', true));
  client.open();
  const call = shard.call('get', CONTEXT, { hash: 'after' });
  turn();
  answer(sent.at(-1)!, 1);
  assert.deepEqual(await call, { hash: 'after' });
});

test('an input that nests too deeply is the caller’s fault, and does not affect other calls', async () => {
  const { shard, sent, turn, answer } = setUp();
  // A depth that JSON.parse accepts, but a recursive walk in JavaScript does not.
  const deep = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  for (const nested of [deep, [-0, deep]]) {
    const call = shard.call('add', CONTEXT, { grainType: 'belief', fields: { nested }, sync: false });
    await assert.rejects(call, code('VAL-E001', false));
  }
  const neighbour = shard.call('get', CONTEXT, { hash: 'x' });
  turn();
  assert.equal(sent[0]!.length, 1);
  answer(sent[0]!, 1);
  assert.deepEqual(await neighbour, { hash: 'x' });
});

test('the time with calls that somebody asked is measured; calls of embedding and long calls do not count', async () => {
  const { client, shard, sent, clock, turn, answer } = setUp(4);
  const wait = (ms: number): number => {
    clock.ms += ms;
    return client.askedMs;
  };
  assert.equal(wait(10), 0);
  const own = [
    shard.call('embedPages', CONTEXT, { embedders: {}, grainsMax: 1 }),
    shard.call('vectorState', CONTEXT, {}),
    shard.call('verify', CONTEXT, {}),
  ];
  turn();
  assert.equal(wait(10), 0);
  const read = shard.call('get', CONTEXT, { hash: 'x' });
  const raw = shard.callRaw(9, CONTEXT, Buffer.from('wire'), 'write');
  assert.equal(wait(10), 10);
  turn();
  answer(
    sent.flat().filter(({ body }) => 'method' in body),
    0,
  );
  await Promise.all([...own, read]);
  assert.equal(wait(10), 20);
  client.fail(new EngineError('STO-E002', 'gone'));
  await assert.rejects(raw);
  assert.equal(wait(10), 20);
});
