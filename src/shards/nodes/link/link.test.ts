import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { Random } from '../../../../test/support/random.ts';
import { runs } from '../../../../test/support/runs.ts';
import { TcpProxy } from '../../../../test/support/tcp-proxy.ts';
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { LINK_BUFFER_BYTES_MAX, LINK_PING_MS, LINK_SILENT_MS } from '../../../engine/base/limits.ts';
import { type CallContext, METHODS } from '../../protocol.ts';
import { ADD_CODEC, addCodec } from '../../testing/add-codec.ts';
import { SETTINGS } from '../../testing/memory.ts';
import { TestEngine } from '../../testing/test-engine.ts';
import type { RawShardCaller } from '../../transport/client.ts';
import { directShard } from '../../transport/direct.ts';
import { RoutedShard } from '../routed-shard.ts';
import type { ChannelSend, OpenChannel } from './channel.ts';
import { FrameReader, framed } from './frames.ts';
import { answerHello, CallerHandshake, linkSecrets, refusalFrame } from './handshake.ts';
import { LinkListener } from './listener.ts';
import { type LinkTls, Peer, type PeerOptions } from './peer.ts';

const CONTEXT: CallContext = { memory: 1, partition: 0, actor: 'key:k1', requestId: 'r' };
const TLS = join(import.meta.dirname, '../../../../test/fixtures/tls');
const SECRETS = linkSecrets([Buffer.alloc(32, 7)]);
const CODECS = { [ADD_CODEC]: addCodec };
const self = (node: string, version = '1', methods: readonly string[] = METHODS) => ({ node, version, methods });

/** Node b with one real shard and one that is elsewhere, and what is needed to call it. */
async function setUp(t: TestContext, secrets = SECRETS, tls?: LinkTls, openChannel?: OpenChannel) {
  const engine = await TestEngine.open(0, { shards: 2 });
  const away = new RoutedShard(1);
  away.set({ kind: 'nowhere', retryAfterSeconds: 9 });
  const logged: string[] = [];
  let looks = 0;
  const listener = await LinkListener.start(
    {
      self: self('b'),
      secrets,
      tls,
      shards: [directShard(0, engine, { codecs: CODECS }), away.here],
      onLook: () => looks++,
      openChannel,
      log: { info: () => undefined, error: (fields) => logged.push(JSON.stringify(fields)) },
    },
    '127.0.0.1',
    0,
  );
  const peers: Peer[] = [];
  t.after(async () => {
    for (const peer of peers) peer.close();
    await listener.close();
    await engine.close();
  });
  const call = (options: Partial<PeerOptions> = {}): Peer => {
    const address = `127.0.0.1:${listener.port}`;
    const peer = new Peer({ self: self('a'), node: 'b', address, secrets: SECRETS, codecs: CODECS, ...options });
    peers.push(peer);
    return peer;
  };
  return { engine, listener, logged, call, looks: () => looks };
}

async function connected(peer: Peer): Promise<RawShardCaller> {
  await eventually('the nodes are connected', () => peer.isConnected);
  return peer.shard(0);
}

const add = (shard: RawShardCaller, content: string, context = CONTEXT) =>
  shard.call('add', context, { grainType: 'event', fields: { content, created_at: 1_700_000_000 }, sync: false });
const addRaw = async (shard: RawShardCaller, content: string): Promise<string> => {
  const item = { grainType: 'event', fields: { content, created_at: 1_700_000_000 } };
  return Buffer.from((await shard.callRaw(ADD_CODEC, CONTEXT, Buffer.from(JSON.stringify(item)))).bytes).toString();
};

test('calls of all kinds reach a shard of another node, with their caller and the time that they have left', async (t) => {
  const { engine, call, looks } = await setUp(t);
  const peer = call();
  // A call before there is a connection is not sent.
  await assert.rejects(add(peer.shard(0), 'too early'), { code: 'STO-E002', isElsewhere: true });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const context = { ...CONTEXT, userId: 'ann', onBehalfOf: 'agent:x', deadlineMs: steadyMs(systemClock) + 60_000 };
  const { hash } = await add(shard, 'typed', context);
  const received = engine.calls.at(-1)!.context;
  assert.deepEqual({ ...received, deadlineMs: 0 }, { ...context, deadlineMs: 0 });
  assert.ok(Math.abs(received.deadlineMs! - context.deadlineMs) < 1_000, 'both clocks are those of this process');
  const hashes = [hash, await addRaw(shard, 'raw'), '0'.repeat(64)];
  assert.deepEqual((await shard.call('locate', CONTEXT, { hashes })).held, [true, true, false]);
  const many = await Promise.all(Array.from({ length: 3_000 }, (_, i) => add(shard, `grain ${i}`)));
  assert.equal(new Set(many.map((one) => one.hash)).size, 3_000);
  const long = 'x'.repeat(500_000);
  const { hash: large } = await add(shard, long);
  assert.equal((await shard.call('get', CONTEXT, { hash: large })).fields['content'], long);

  await assert.rejects(shard.call('get', CONTEXT, { hash: '0'.repeat(64) }), { code: 'MEM-E001' });
  await assert.rejects(add(shard, 'late', { ...CONTEXT, deadlineMs: steadyMs(systemClock) - 1 }), { code: 'SYS-E005' });
  await assert.rejects(add(peer.shard(1), 'elsewhere'), { code: 'STO-E002', isElsewhere: true });
  await assert.rejects(add(peer.shard(7), 'nowhere'), { code: 'VAL-E001', message: /no shard 7/ });
  peer.look();
  await eventually('the other node was told to look', () => looks() === 1);
  assert.equal(peer.pending, 0);
});

test('nodes of neighbouring versions understand each other', async (t) => {
  const { engine, call } = await setUp(t);
  // It has a call that the called node does not know, and codecs of its own.
  const peer = call({ self: self('a', '2', [...METHODS, 'newCall']) });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const hash = await addRaw(shard, 'decoded by the caller');
  assert.deepEqual(engine.calls.at(-1)?.input, { grainType: 'event', fields: { content: 'decoded by the caller', created_at: 1_700_000_000 }, sync: false }); // biome-ignore format: one row
  assert.match(hash, /^[0-9a-f]{64}$/);

  // The names of the sender count: the number of "attachMemory" is another call for it.
  const renamed = METHODS.map((name) => (name === 'attachMemory' ? 'newCall' : name));
  const newer = call({ self: self('c', '3', renamed) });
  const other = await connected(newer);
  await assert.rejects(other.call('attachMemory', CONTEXT, { settings: SETTINGS }), {
    code: 'SYS-E002',
    message: /does not know this call/,
  });
  assert.deepEqual((await other.call('locate', CONTEXT, { hashes: [hash] })).held, [true]);
});

test('with certificates, both sides must show one that the authority has signed', async (t) => {
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => readFileSync(join(TLS, name), 'utf8'));
  const tls = { cert: cert!, key: key!, ca: cert! };
  const { call, listener } = await setUp(t, SECRETS, tls);
  const address = `localhost:${listener.port}`;
  const shard = await connected(call({ address, tls }));
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  assert.match(await addRaw(shard, 'over TLS'), /^[0-9a-f]{64}$/);
  const reasons: string[] = [];
  call({ address, onError: (reason) => reasons.push(reason) });
  await eventually('a node without TLS is not connected', () => reasons.length > 0);
  assert.deepEqual(listener.connected, ['a']);
});

test('a node without the secret, or another node than is wanted, is refused', async (t) => {
  const { logged, call, listener } = await setUp(t);
  const reasons: string[] = [];
  const onError = (reason: string): void => void reasons.push(reason);
  const stranger = call({ secrets: linkSecrets([Buffer.alloc(32, 8)]), onError });
  await eventually('it is refused', () => reasons.length > 0);
  assert.match(reasons[0]!, /does not know the secret of this deployment/);
  assert.ok(logged.some((line) => line.includes('does not know the secret')));
  await assert.rejects(add(stranger.shard(0), 'x'), { code: 'STO-E002', isElsewhere: false, retryAfterSeconds: 1 });
  stranger.close();

  reasons.length = 0;
  call({ node: 'c', onError });
  await eventually('it is told', () => reasons.length > 0);
  assert.match(reasons[0]!, /this is node b, but the caller expected node c/);
  assert.deepEqual(listener.connected, []);

  // A node that pretends to be the wanted one, without the secret.
  reasons.length = 0;
  const fake = createServer((socket) =>
    socket.once('data', (bytes) => {
      const reader = new FrameReader(1 << 20);
      reader.push(bytes, (frame) => {
        const body = frame.subarray(0, frame.length - 32);
        socket.write(framed(Buffer.concat([Buffer.from(body.toString().replace('"node":"a"', '"node":"b"')), Buffer.alloc(32, 1)]))); // biome-ignore format: one row
        return true;
      });
    }),
  );
  fake.listen(0, '127.0.0.1');
  await once(fake, 'listening');
  t.after(() => fake.close());
  const address = fake.address();
  assert.ok(typeof address === 'object' && address !== null);
  const fooled = call({ address: `127.0.0.1:${address.port}`, onError });
  await eventually('it is refused', () => reasons.length > 0);
  assert.match(reasons[0]!, /node b does not know the secret/);
  fooled.close();
});

test('during a rotation of the master key, nodes with the old and the new one understand each other', async (t) => {
  const [old, next, other] = [7, 9, 11].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  const reasons: string[] = [];
  const onError = (reason: string): void => void reasons.push(reason);
  const sets = [[old], [next, old], [next]].map((keys) => linkSecrets(keys));
  for (const [called, secrets] of sets.entries()) {
    const { call } = await setUp(t, secrets);
    for (const [caller, offered] of sets.entries()) {
      const peer = call({ secrets: offered, onError });
      if (Math.abs(caller - called) < 2) await connected(peer);
      else await eventually('they have no key in common', () => reasons.length > 0);
      peer.close();
    }
    assert.ok(reasons.splice(0).every((reason) => /does not know the secret of this deployment/.test(reason)));
  }
  // It stops after its last key, and begins again after the pause of a failure.
  const { call, logged } = await setUp(t, linkSecrets([other]));
  const began = performance.now();
  const stranger = call({ secrets: sets[1]!, onError });
  await eventually('it was refused four times', () => logged.length >= 8);
  assert.ok(performance.now() - began >= 0.9 * (40 + 80 + 160));
  assert.equal(reasons.length, 1);
  stranger.close();
});

test('a key is offered after another one only to a node that says that it does not know it', async (t) => {
  const secrets = linkSecrets([Buffer.alloc(32, 9), Buffer.alloc(32, 7)]);
  const answers = [
    () => refusalFrame('this is node c, and the caller wants node b'),
    (frame: Buffer) => {
      const { answer: proof } = answerHello(frame, self('b'), secrets);
      return proof.fill(1, proof.length - 4);
    },
  ];
  let frames: Buffer[] = [];
  let answer = answers[0]!;
  const fake = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) =>
      new FrameReader(65_536).push(bytes, (frame) => {
        frames.push(frame);
        socket.write(framed(answer(frame)));
        return false;
      }),
    );
  });
  await once(fake.listen(0, '127.0.0.1'), 'listening');
  t.after(() => fake.close());
  const { port } = fake.address() as { port: number };
  for (answer of answers) {
    frames = [];
    const peer = new Peer({ self: self('a'), node: 'b', address: `127.0.0.1:${port}`, secrets, codecs: CODECS });
    t.after(() => peer.close());
    await eventually('it has tried again', () => frames.length > 2);
    for (const frame of frames) assert.ok(answerHello(frame, self('b'), secrets.slice(0, 1)), 'the current key');
    peer.close();
  }
});

test('calls whose connection breaks are refused, and later ones go over a new connection', async (t) => {
  const { engine, call, listener } = await setUp(t);
  const proxy = await TcpProxy.to(t, listener.port);
  const peer = call({ address: `127.0.0.1:${proxy.port}` });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  for (let round = 0; round < 3; round++) {
    proxy.loseAnswers();
    const before = engine.calls.length;
    const lost = assert.rejects(add(shard, `lost ${round}`), {
      code: 'STO-E002',
      isElsewhere: false,
      message: /node b at .* cannot be called: the connection between two nodes broke/,
    });
    await eventually('the call has run', () => engine.calls.length > before);
    proxy.cut();
    await lost;
    await connected(peer);
    await add(shard, `after ${round}`);
  }
});

test('a call whose connection breaks is applied once, and answered, if it has a key or changes nothing', async (t) => {
  const { engine, call, listener } = await setUp(t);
  const proxy = await TcpProxy.to(t, listener.port);
  const peer = call({ address: `127.0.0.1:${proxy.port}` });
  const there = await connected(peer);
  await there.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const routed = new RoutedShard(0);
  routed.set({ kind: 'there', node: 'b', address: peer.address, caller: there });
  const cutAfter = async (act: () => Promise<{ readonly hash: string }>): Promise<string> => {
    const cut = proxy.loseTheirAnswers();
    const before = engine.calls.length;
    const answer = act();
    await eventually('the call has run', () => engine.calls.length > before);
    cut();
    const { hash } = await answer;
    assert.equal(engine.calls.length, before + 2, 'it came twice');
    return hash;
  };
  for (let round = 0; round < 3; round++) {
    const keyed = { ...CONTEXT, idempotency: { key: `k${round}:0`, bodyHash: 'h' } };
    const hash = await cutAfter(() => add(routed.caller, `lost ${round}`, keyed));
    await cutAfter(() => routed.caller.call('get', CONTEXT, { hash }));
  }
  assert.equal((await there.call('list', CONTEXT, { filter: {}, limit: 10, order: 'desc' })).grains.length, 3);
  // Without a key it may have run.
  const cut = proxy.loseTheirAnswers();
  const before = engine.calls.length;
  const lost = assert.rejects(add(routed.caller, 'no key'), { code: 'STO-E002', message: /the connection .* broke/ });
  await eventually('the call has run', () => engine.calls.length > before);
  cut();
  await lost;
  // One that comes while the connection is opened again waits for it.
  await add(routed.caller, 'later');
});

test('calls that were sent are in doubt when this node closes the connection itself', async (t) => {
  const { engine, call, listener } = await setUp(t);
  const proxy = await TcpProxy.to(t, listener.port);
  const peer = call({ address: `127.0.0.1:${proxy.port}` });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  proxy.loseAnswers();
  const before = engine.calls.length;
  const sent = assert.rejects(add(shard, 'sent'), { code: 'STO-E002', isElsewhere: false });
  await eventually('it has run', () => engine.calls.length > before);
  peer.close();
  await sent;
  await assert.rejects(add(shard, 'not sent'), { code: 'STO-E002', isElsewhere: true });
});

test('a thread that was busy for long does not take its own silence for that of the other side', async (t) => {
  const { call } = await setUp(t);
  const reasons: string[] = [];
  const peer = call({ onError: (reason) => reasons.push(reason) });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LINK_SILENT_MS + 2 * LINK_PING_MS);
  await add(shard, 'after it');
  assert.deepEqual(reasons, []);
});

test('a connection that breaks each time it has opened is opened after longer and longer pauses, and both ends are told once', async (t) => {
  const secrets = SECRETS;
  const opened: number[] = [];
  let isSick = true;
  const sick = createServer((socket) => {
    opened.push(performance.now());
    const reader = new FrameReader(65_536);
    socket.on('error', () => undefined);
    socket.once('data', (bytes) =>
      reader.push(bytes, (frame) => {
        socket.write(framed(answerHello(frame, self('b'), secrets).answer));
        socket.resume();
        if (isSick) socket.end();
        return false;
      }),
    );
  });
  await once(sick.listen(0, '127.0.0.1'), 'listening');
  const { port } = sick.address() as { port: number };
  const told: string[] = [];
  const peer = new Peer({
    self: self('a'),
    node: 'b',
    address: `127.0.0.1:${port}`,
    secrets,
    codecs: CODECS,
    onError: (reason) => told.push(reason),
    onSteady: () => told.push('steady'),
  });
  t.after(() => {
    peer.close();
    sick.close();
  });
  await eventually('several connections were opened', () => opened.length === 6);
  const pauses = opened.slice(1).map((at, i) => at - opened[i]!);
  // 40, 80, 160, 320 and 640 ms, and what the machine adds.
  assert.ok(
    pauses.every((ms, i) => ms >= 0.9 * 40 * 2 ** i),
    pauses.join(),
  );
  isSick = false;
  await eventually('a connection stays', () => told.length > 1);
  assert.equal(told.length, 2);
  assert.match(told[0]!, /the other node closed it/);
  assert.equal(told[1], 'steady');
});

test('a frame that was changed on its way ends the connection, and nothing of it runs', async (t) => {
  const { engine, call, listener } = await setUp(t);
  let isDamaging = false;
  const between = createServer((client) => {
    const upstream = connect(listener.port, '127.0.0.1');
    upstream.on('data', (bytes) => client.write(bytes));
    client.on('data', (bytes) => {
      const copy = Buffer.from(bytes);
      if (isDamaging && copy.length > 40) copy[copy.length - 20]! ^= 1;
      upstream.write(copy);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      // biome-ignore format: one row
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  between.listen(0, '127.0.0.1');
  await once(between, 'listening');
  t.after(() => between.close());
  const address = between.address();
  assert.ok(typeof address === 'object' && address !== null);
  const peer = call({ address: `127.0.0.1:${address.port}` });
  const shard = await connected(peer);
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  const before = engine.calls.length;
  isDamaging = true;
  await assert.rejects(add(shard, 'changed'), { code: 'STO-E002' });
  assert.equal(engine.calls.length, before);
  isDamaging = false;
  await connected(peer);
  await add(shard, 'whole');
  peer.close();
});

/** More than a side buffers and the system takes. */
const LONG_BYTES = 3 * LINK_BUFFER_BYTES_MAX;
const PIECE = Buffer.alloc(262_144);

/** A side of a channel that sends a lot as soon as it opens, and counts what it gets. */
function talker() {
  const state = { bytes: 0, isEnded: false };
  const open: OpenChannel = (_, send: ChannelSend) => {
    for (let sent = 0; sent < LONG_BYTES; sent += PIECE.length) send('passed', PIECE);
    return {
      receive: (_kind, bytes) => {
        state.bytes += bytes.length;
      },
      ended: () => {
        state.isEnded = true;
      },
    };
  };
  return { state, open };
}

test('both sides may send a lot at once, and neither waits for the other', async (t) => {
  const called = talker();
  const { call } = await setUp(t, SECRETS, undefined, called.open);
  const caller = talker();
  call({ openChannel: caller.open });
  await eventually('all has arrived', () => called.state.bytes >= LONG_BYTES && caller.state.bytes >= LONG_BYTES);
});

test('a connection ends whose other side reads nothing any more', async (t) => {
  let say: ChannelSend | undefined;
  let isEnded = false;
  const { call, listener } = await setUp(t, SECRETS, undefined, (_, send) => {
    say = send;
    return {
      receive: () => undefined,
      ended: () => {
        isEnded = true;
      },
    };
  });
  const proxy = await TcpProxy.to(t, listener.port);
  call({
    address: `127.0.0.1:${proxy.port}`,
    openChannel: (_, send) => {
      send('passed', Buffer.alloc(1));
      return { receive: () => undefined, ended: () => undefined };
    },
  });
  await eventually('the channel is open', () => say !== undefined);
  proxy.blackHole();
  for (let sent = 0; sent < LONG_BYTES; sent += PIECE.length) say?.('passed', PIECE);
  await eventually('it gives up', () => isEnded);
});

test('frames are read whole, however they are cut', () => {
  for (let seed = 1; seed <= runs(300); seed++) {
    const random = new Random(seed);
    const wanted = Array.from({ length: random.int(20) }, () => Buffer.alloc(random.int(random.pick([4, 200, 5_000])), random.int(256))); // biome-ignore format: one row
    const stream = Buffer.concat(wanted.map((frame) => framed(frame)));
    const reader = new FrameReader(5_000);
    const got: Buffer[] = [];
    for (let at = 0; at < stream.length; ) {
      const end = Math.min(stream.length, at + random.int(random.pick([2, 50, 9_000])));
      // The taker may stop after any frame, and the next push goes on.
      reader.push(stream.subarray(at, end), (frame) => {
        got.push(frame);
        return random.chance(0.5);
      });
      at = end;
    }
    while (got.length < wanted.length) reader.push(Buffer.alloc(0), (frame) => void got.push(frame));
    assert.deepEqual(got, wanted, `seed ${seed}`);
    assert.throws(() => reader.push(Buffer.from([0x89, 0x13, 0, 0, 9]), () => true), { code: 'VAL-E001' });
  }
});

test('strangers that send anything at all harm nothing', async (t) => {
  const { call, listener, engine } = await setUp(t);
  const { frame: hello } = new CallerHandshake(self('a'), 'b', SECRETS[0]!);
  const sent: Promise<unknown>[] = [];
  for (let seed = 1; seed <= runs(60); seed++) {
    const random = new Random(seed);
    const bytes = Buffer.from(framed(hello));
    const kind = random.int(5);
    if (kind === 0) for (let i = 0; i < bytes.length; i++) bytes[i] = random.int(256);
    else if (kind === 1) bytes[random.int(bytes.length)]! ^= 1 << random.int(8);
    const noise = Buffer.from(Array.from({ length: random.int(300) }, () => random.int(256)));
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => undefined);
    // A greeting that was heard and is repeated, with anything behind it.
    socket.end(kind === 2 ? bytes.subarray(0, random.int(bytes.length)) : Buffer.concat([bytes, framed(noise), noise]));
    socket.resume();
    sent.push(once(socket, 'close'));
  }
  await Promise.all(sent);
  assert.equal(engine.calls.length, 0);
  const shard = await connected(call());
  await shard.call('attachMemory', CONTEXT, { settings: SETTINGS });
  assert.deepEqual(listener.connected, ['a']);

  for (let seed = 1; seed <= runs(300); seed++) {
    const random = new Random(seed);
    const damaged = Buffer.from(hello);
    damaged[random.int(damaged.length)]! ^= 1 << random.int(8);
    assert.throws(() => answerHello(damaged, self('b'), SECRETS), EngineError, `seed ${seed}`);
  }
});
