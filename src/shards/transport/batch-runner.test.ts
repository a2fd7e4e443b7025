import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../engine/base/errors.ts';
import { ALONE_AFTER_READ_MS, REPLY_BYTES_OUT_MAX } from '../../engine/base/limits.ts';
import type { CallContext } from '../protocol.ts';
import { ADD_CODEC, addCodec } from '../testing/add-codec.ts';
import { SETTINGS } from '../testing/memory.ts';
import { TestEngine } from '../testing/test-engine.ts';
import { BatchRunner } from './batch-runner.ts';
import type { ShardCodec } from './codec.ts';
import { batchesRun, markLone, type PackedReply, RequestWriter, readReplies } from './pack.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'a', requestId: 'r' };
const DEEP_CODEC = 10;
const ODD_CODEC = 11;
const MUTE_CODEC = 12;
const deep: ShardCodec = {
  decode: () => {
    throw new RangeError('Maximum call stack size exceeded');
  },
};
/** A codec whose decoder has a bug. */
const odd: ShardCodec = {
  decode: () => {
    throw new TypeError('a bug on purpose');
  },
};
/** An `add` whose answer cannot be encoded. */
const mute: ShardCodec = {
  decode: (bytes, context) => ({
    ...addCodec.decode(bytes, context),
    encode: () => {
      throw new TypeError('a bug on purpose');
    },
  }),
};

async function openEngine(): Promise<TestEngine> {
  const engine = await TestEngine.open(0, { shards: 1 });
  await engine.write('attachMemory', CONTEXT, { settings: SETTINGS });
  return engine;
}

/** A runner over one engine with memory 1; `arrival` resolves with its next message or bug. */
async function setUp(options: { faults?: boolean; nowMs?: number } = {}) {
  const engine = await openEngine();
  const messages: { batches: number; replies: PackedReply[] }[] = [];
  const bugs: { error: unknown; id: number | undefined }[] = [];
  const lost: unknown[] = [];
  let arrived = Promise.withResolvers<void>();
  const runner = new BatchRunner({
    engines: new Map([[0, engine]]),
    codecs: { [ADD_CODEC]: addCodec, [DEEP_CODEC]: deep, [ODD_CODEC]: odd, [MUTE_CODEC]: mute },
    send: (message) => {
      messages.push({
        batches: batchesRun(message, 'write'),
        replies: [...readReplies(message, (_, error) => assert.ifError(error))],
      });
      arrived.resolve();
    },
    onBug: (error, id) => {
      bugs.push({ error, id });
      arrived.resolve();
    },
    onLost: (error) => lost.push(error),
    clock: { nowMs: () => options.nowMs ?? 0 },
    // A whole batch in one turn, however slow the machine is.
    turnMs: 60_000,
    ...(options.faults === true ? { onFault: () => assert.fail('a fault on purpose') } : {}),
  });
  return {
    engine,
    runner,
    messages,
    bugs,
    lost,
    arrival: async () => {
      await arrived.promise;
      arrived = Promise.withResolvers();
    },
  };
}

const ids = (replies: readonly PackedReply[]) => replies.map(({ id }) => id);

test('a batch that is alone costs one message: the answer', async () => {
  const { runner, messages, arrival } = await setUp();
  const batch = new RequestWriter('write');
  batch.append({ id: 3, shard: 0 }, 'add', CONTEXT, { grainType: 'event', fields: { content: 'x' }, sync: false });
  const message = batch.take();
  markLone(message);
  runner.run(message);
  assert.equal(messages.length, 0);
  await arrival();
  const refused = new RequestWriter('write');
  refused.append(
    { id: 4, shard: 0 },
    'add',
    { ...CONTEXT, deadlineMs: -1 },
    { grainType: 'event', fields: {}, sync: false },
  );
  const second = refused.take();
  markLone(second);
  runner.run(second);
  assert.deepEqual(
    messages.map(({ batches, replies }) => [batches, ids(replies)]),
    [
      [0, [3]],
      [0, [4]],
    ],
  );
});

test('a thread is alone with a single write, when no read came lately', async (t) => {
  let ms = 1_000_000;
  t.mock.method(performance, 'now', () => ms);
  const { runner, messages, arrival } = await setUp();
  const send = (...methods: readonly ('add' | 'statistics' | 'health')[]): void => {
    const batch = new RequestWriter('write');
    const inputs = { add: { grainType: 'event', fields: { content: 'x' }, sync: false }, statistics: {}, health: {} };
    for (const [id, method] of methods.entries()) batch.append({ id, shard: 0 }, method, CONTEXT, inputs[method]);
    runner.run(batch.take());
  };
  assert.equal(runner.isAlone, false, 'there is nothing to write');
  send('health', 'add');
  assert.equal(runner.isAlone, true);
  await arrival();
  while (messages.flatMap(({ replies }) => replies).length < 2) await arrival();
  send('add', 'add');
  assert.equal(runner.isAlone, false, 'two writes');
  while (messages.flatMap(({ replies }) => replies).length < 4) await arrival();
  send('statistics', 'add');
  assert.equal(runner.isAlone, false, 'a read came');
  ms += ALONE_AFTER_READ_MS + 1;
  assert.equal(runner.isAlone, true);
  while (messages.flatMap(({ replies }) => replies).length < 6) await arrival();
  assert.equal(runner.isAlone, false);
});

test('reads are answered when the batch has run, and its writes together when they are durable', async () => {
  const { engine, runner, messages, arrival } = await setUp();
  const before = engine.commits;
  const batch = new RequestWriter('write');
  const fields = { content: 'x' };
  batch.append({ id: 1, shard: 0 }, 'add', CONTEXT, { grainType: 'event', fields, sync: false });
  batch.append({ id: 2, shard: 0 }, 'locate', CONTEXT, { hashes: [] });
  batch.appendRaw(
    { id: 3, shard: 0 },
    ADD_CODEC,
    CONTEXT,
    Buffer.from('{"grainType":"event","fields":{"content":"y"}}'),
  );
  batch.append({ id: 4, shard: 0 }, 'statistics', CONTEXT, {});
  runner.run(batch.take());
  assert.deepEqual(
    messages.map(({ batches, replies }) => [batches, ids(replies)]),
    [[1, [2, 4]]],
  );
  await arrival();
  await arrival();
  assert.deepEqual(
    messages.slice(1).map(({ batches, replies }) => [batches, ids(replies)]),
    [[0, [1, 3]]],
  );
  assert.equal(engine.commits, before + 1);
  const [typed, raw] = messages[1]!.replies;
  assert.equal(typed?.kind, 'value');
  assert.match(raw?.kind === 'raw' ? Buffer.from(raw.raw.bytes).toString() : '', /^[0-9a-f]{64}$/);
});

test('the record of a recall is answered at once, and not as a read', async () => {
  const { engine, runner, messages } = await setUp();
  engine.read = () => assert.fail('a record is no read');
  const batch = new RequestWriter('read');
  batch.append({ id: 1, shard: 0 }, 'keepRecall', CONTEXT, {
    mode: 'text',
    asked: true,
    query: { detect_contradictions: false, grain_type: null, has_embedding: false, has_text: false, options: [] },
    namespace: 'default',
    candidateCount: 0,
    results: [],
    excluded: { counts: {}, named: [] },
  });
  runner.run(batch.take());
  const [reply] = messages[0]!.replies;
  assert.ok(reply?.kind === 'value');
  assert.deepEqual(Object.keys(reply.value as object), ['recallId']);
});

test('a refusal answers its own call alone, with the error unchanged', async () => {
  const { runner, messages, arrival } = await setUp();
  const batch = new RequestWriter('write');
  batch.append({ id: 1, shard: 0 }, 'get', CONTEXT, { hash: 'unknown' });
  batch.append({ id: 2, shard: 0 }, 'add', CONTEXT, { grainType: 'event', fields: { refuse: true }, sync: false });
  batch.appendRaw({ id: 3, shard: 0 }, DEEP_CODEC, CONTEXT, Buffer.from('[['));
  batch.append({ id: 4, shard: 0 }, 'fault', CONTEXT, { kind: 'exit' });
  runner.run(batch.take());
  await arrival();
  await arrival();
  const codes = messages
    .flatMap(({ replies }) => replies)
    .map((reply) => [reply.id, reply.kind === 'error' && reply.error.code]);
  assert.deepEqual(codes, [
    [1, 'MEM-E001'],
    [3, 'VAL-E001'],
    [4, 'SYS-E002'],
    [2, 'VAL-E003'],
  ]);
});

test('a request that cannot be read, and an answer that cannot be packed, fail their own call alone', async () => {
  const { engine, runner, messages, bugs, lost, arrival } = await setUp();
  const { read } = engine;
  // Nothing packs a function.
  engine.read = (method, context, input) =>
    method === 'statistics'
      ? ({ odd: '\ud800', unpackable: () => undefined } as never)
      : read.call(engine, method, context, input);
  const batch = new RequestWriter('write');
  const grain = Buffer.from('{"grainType":"event","fields":{"content":"x"}}');
  const garbled = batch.append({ id: 1, shard: 0 }, 'locate', CONTEXT, { hashes: ['a'] });
  const isNoMethod = batch.append({ id: 2, shard: 0 }, 'locate', CONTEXT, { hashes: ['b'] });
  batch.appendRaw({ id: 3, shard: 0 }, ODD_CODEC, CONTEXT, grain);
  batch.appendRaw({ id: 4, shard: 0 }, 200, CONTEXT, grain);
  batch.append({ id: 5, shard: 0 }, 'statistics', CONTEXT, {});
  batch.append({ id: 6, shard: 0 }, 'locate', CONTEXT, { hashes: ['c'] });
  batch.appendRaw({ id: 7, shard: 0 }, MUTE_CODEC, CONTEXT, grain);
  batch.appendRaw({ id: 8, shard: 0 }, ADD_CODEC, CONTEXT, grain);
  const message = batch.take();
  new Uint8Array(message)[garbled + 6] = 1; // another form than the body has
  new Uint8Array(message)[isNoMethod + 5] = 253;
  const before = engine.commits;
  runner.run(message);
  await arrival();
  await arrival();
  const answers = messages.flatMap(({ replies }) => replies);
  assert.deepEqual(
    answers.map((reply) => [reply.id, reply.kind === 'error' ? reply.error.code : reply.kind]),
    [
      [1, 'SYS-E001'],
      [2, 'SYS-E001'],
      [3, 'SYS-E001'],
      [4, 'SYS-E001'],
      [5, 'SYS-E001'],
      [6, 'value'],
      [7, 'SYS-E001'],
      [8, 'raw'],
    ],
  );
  assert.equal(lost.length, 6);
  assert.deepEqual(bugs, []);
  // The write whose answer was lost is durable: it was one of the group.
  assert.equal(engine.commits, before + 1);
});

test('a call past its deadline is refused, and not run', async () => {
  const { engine, runner, messages } = await setUp({ nowMs: 5_000 });
  const before = engine.calls.length;
  const batch = new RequestWriter('write');
  batch.append({ id: 1, shard: 0 }, 'statistics', { ...CONTEXT, deadlineMs: 4_999 }, {});
  batch.append({ id: 2, shard: 0 }, 'statistics', { ...CONTEXT, deadlineMs: 5_000 }, {});
  runner.run(batch.take());
  const [late, inTime] = messages[0]!.replies;
  assert.ok(late?.kind === 'error' && late.error.code === 'SYS-E005');
  assert.equal(inTime?.kind, 'value');
  assert.equal(engine.calls.length, before + 1);
});

test('an error in a read that only a bug can cause ends the runner: nothing is answered after it', async () => {
  const { engine, runner, messages, bugs } = await setUp({ faults: true });
  const batch = new RequestWriter('write');
  batch.append({ id: 1, shard: 0 }, 'statistics', CONTEXT, {});
  batch.append({ id: 2, shard: 0 }, 'fault', CONTEXT, { kind: 'throw' });
  batch.append({ id: 3, shard: 0 }, 'statistics', CONTEXT, {});
  const before = engine.calls.length;
  runner.run(batch.take());
  assert.deepEqual(
    bugs.map(({ id }) => id),
    [2],
  );
  assert.equal(engine.calls.length, before + 1);
  assert.equal(messages.length, 0);
});

test('an error in a write that only a bug can cause names its call', async () => {
  const { engine, runner, messages, bugs, arrival } = await setUp();
  engine.failure = (method) => (method === 'flush' ? new TypeError('a bug on purpose') : undefined);
  const batch = new RequestWriter('write');
  batch.append({ id: 7, shard: 0 }, 'flush', CONTEXT, {});
  batch.append({ id: 8, shard: 0 }, 'add', CONTEXT, { grainType: 'event', fields: { content: 'x' }, sync: false });
  runner.run(batch.take());
  while (bugs.length === 0) await arrival();
  engine.failure = () => undefined;
  // The add is durable when this is answered; a runner that went on would answer it in the next turn.
  await engine.write('flush', CONTEXT, {});
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    bugs.map(({ id }) => id),
    [7],
  );
  assert.ok(!(bugs[0]!.error instanceof EngineError));
  assert.deepEqual(
    messages.flatMap(({ replies }) => replies),
    [],
  );
});

test('a batch that takes longer than a turn lets a health check in between, and is reported as run at its end', async () => {
  const scheduled: (() => void)[] = [];
  const engine = await openEngine();
  const answered: number[][] = [];
  let turns = 0;
  const runner = new BatchRunner({
    engines: new Map([[0, engine]]),
    codecs: {},
    send: (message) =>
      answered.push([
        batchesRun(message, 'read'),
        ...ids([...readReplies(message, (_, error) => assert.ifError(error))]),
      ]),
    onBug: (error) => assert.fail(String(error)),
    onLost: (error) => assert.fail(String(error)),
    ran: () => {
      turns += 1;
    },
    turnMs: 0,
    schedule: (run) => scheduled.push(run),
  });
  const reads = new RequestWriter('read');
  for (const id of [1, 2, 3]) reads.append({ id, shard: 0 }, 'locate', CONTEXT, { hashes: [] });
  runner.run(reads.take());
  const probe = new RequestWriter('probe');
  probe.append({ id: 9, shard: 0 }, 'health', CONTEXT, {});
  runner.run(probe.take());
  for (let run = scheduled.shift(); run !== undefined; run = scheduled.shift()) run();
  // The first read ran at once and leaves with the next message; the last message reports that the batch has run.
  assert.deepEqual(
    answered.flatMap((entry) => entry.slice(1)),
    [1, 9, 2, 3],
  );
  assert.deepEqual(
    answered.map(([batches]) => batches),
    [0, 1],
  );
  assert.ok(turns >= 4);
});

test('nothing more runs while too many bytes of answers are not taken', async () => {
  const scheduled: (() => void)[] = [];
  const large: ShardCodec = {
    reads: true,
    decode: () => ({
      call: { method: 'locate', input: { hashes: [] } },
      encode: () => ({ bytes: new Uint8Array(REPLY_BYTES_OUT_MAX / 2), notes: '' }),
    }),
  };
  const engine = await openEngine();
  const sent: number[] = [];
  const runner = new BatchRunner({
    engines: new Map([[0, engine]]),
    codecs: { 1: large },
    send: (message) => sent.push(message.byteLength),
    onBug: (error) => assert.fail(String(error)),
    onLost: (error) => assert.fail(String(error)),
    turnMs: 60_000,
    schedule: (run) => scheduled.push(run),
  });
  const batch = new RequestWriter('read');
  for (const id of [1, 2, 3, 4, 5]) batch.appendRaw({ id, shard: 0 }, 1, CONTEXT, new Uint8Array(0));
  runner.run(batch.take());
  assert.equal(sent.length, 2);
  assert.equal(scheduled.length, 0);
  runner.taken(sent[0]!);
  scheduled.shift()?.();
  assert.equal(sent.length, 3);
  runner.taken(sent[1]!);
  runner.taken(sent[2]!);
  scheduled.shift()?.();
  assert.equal(sent.filter((bytes) => bytes > 1_000).length, 5);
});
