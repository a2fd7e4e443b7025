// Known floods of HTTP/2: each ends its connection with ENHANCE_YOUR_CALM, and the front serves others.
import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { after, suite, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import {
  GRPC_CONNECTION_WINDOW_BYTES,
  GRPC_IDLE_FRAMES_AT_ONCE,
  GRPC_RESETS_AT_ONCE,
  GRPC_SETTINGS_MAX,
  GRPC_SOCKET_BYTES_MAX,
  GRPC_UNREAD_BYTES_MAX,
  GRPC_UNREAD_MB,
} from '../../../engine/base/limits.ts';
import { unreadBudget } from '../../byte-budget.ts';
import type { GrpcHandler } from '../front.ts';
import { ask, closeAll, frame, openSession, startFrontOn, statusOf, toBeClosed } from '../testing/front.ts';
import { CODE, FLAG, FRAME, SETTING } from './frames.ts';
import { listenNative } from './front.ts';
import { NativeSession } from './session.ts';
import type { NativeStream } from './stream.ts';
import { blockOf, CALL, callOn, h2, RawConnection, uint32 } from './testing/raw-connection.ts';

const MESSAGE = frame(Buffer.from('x'));
const startFront = startFrontOn(listenNative);

async function opened(port: number, settings: readonly number[] = []): Promise<RawConnection> {
  return toBeClosed(await RawConnection.open(port, settings));
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** Many of the same at once: one after the other would take a turn of the event loop for each. */
const many = (bytes: Uint8Array, count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));

interface Flood {
  readonly name: string;
  readonly settings?: readonly number[];
  readonly handler?: GrpcHandler;
  /** Sent first. */
  readonly before?: Uint8Array;
  /** Bytes of a round; each of `rounds` may be the last. */
  readonly round: (at: number) => Uint8Array;
  readonly rounds: number;
}

const never: GrpcHandler = () => new Promise(() => undefined);
const LARGE = Buffer.alloc(1_000_000);
const LONG_END = 'x'.repeat(2_000);
const ROUND = 200;
/** Rounds of idle frames that no connection survives, however slow the machine. */
const IDLE_ROUNDS = (40 * GRPC_IDLE_FRAMES_AT_ONCE) / ROUND;
const RESET_ROUNDS = (40 * GRPC_RESETS_AT_ONCE) / ROUND;
const ofRound = (at: number, of: (stream: number) => Uint8Array): Buffer =>
  Buffer.concat(Array.from({ length: ROUND }, (_, place) => of(2 * (at * ROUND + place) + 1)));

const FLOODS: readonly Flood[] = [
  {
    name: 'CVE-2019-9511, a window that grows by one byte at a time',
    settings: [SETTING.INITIAL_WINDOW_SIZE, 0],
    handler: async () => ({ bytes: LARGE }),
    before: Buffer.concat([callOn(1), h2(FRAME.DATA, FLAG.END_STREAM, 1, MESSAGE)]),
    round: () => many(h2(FRAME.WINDOW_UPDATE, 0, 1, uint32(1)), ROUND),
    rounds: IDLE_ROUNDS,
  },
  {
    name: 'CVE-2019-9512, pings whose answers are read',
    round: () => many(h2(FRAME.PING, 0, 0, Buffer.alloc(8)), ROUND),
    rounds: IDLE_ROUNDS,
  },
  {
    name: 'CVE-2019-9513, priorities that change',
    round: (at) => many(h2(FRAME.PRIORITY, 0, 3, Buffer.concat([uint32(2 * at + 5), Buffer.of(1)])), ROUND),
    rounds: IDLE_ROUNDS,
  },
  {
    name: 'CVE-2019-9514, requests that are invalid',
    round: (at) => ofRound(at, (stream) => callOn(stream, [':method', 'POST'])),
    rounds: RESET_ROUNDS,
  },
  {
    name: 'CVE-2019-9515, settings whose answers are read',
    round: () => many(h2(FRAME.SETTINGS, 0, 0), ROUND),
    rounds: IDLE_ROUNDS,
  },
  {
    name: 'CVE-2019-9516, headers without a name',
    round: (at) => ofRound(at, (stream) => callOn(stream, [...CALL, '', 'x'])),
    rounds: RESET_ROUNDS,
  },
  {
    name: 'CVE-2019-9518, data without bytes',
    before: callOn(1),
    round: () => many(h2(FRAME.DATA, 0, 1), ROUND),
    rounds: IDLE_ROUNDS,
  },
  {
    name: 'CVE-2019-9518, continuations without bytes',
    before: h2(FRAME.HEADERS, 0, 1, blockOf(CALL)),
    round: () => h2(FRAME.CONTINUATION, 0, 1),
    rounds: 1_000,
  },
  {
    name: 'CVE-2020-11080, settings without end',
    round: () => h2(FRAME.SETTINGS, 0, 0, Buffer.alloc(6 * (GRPC_SETTINGS_MAX + 1))),
    rounds: 1_000,
  },
  {
    name: 'CVE-2023-44487, calls that are reset at once',
    round: (at) =>
      ofRound(at, (stream) => Buffer.concat([callOn(stream), h2(FRAME.RST_STREAM, 0, stream, uint32(CODE.CANCEL))])),
    rounds: RESET_ROUNDS,
  },
  {
    name: 'CVE-2024-27316, continuations without end',
    before: h2(FRAME.HEADERS, 0, 1, blockOf(CALL)),
    round: () => h2(FRAME.CONTINUATION, 0, 1, blockOf(['x-more', 'y'.repeat(16_000)])),
    rounds: 1_000,
  },
  {
    name: 'CVE-2025-8671, frames that make the server reset',
    round: (at) =>
      ofRound(at, (stream) => Buffer.concat([callOn(stream), h2(FRAME.WINDOW_UPDATE, 0, stream, uint32(0))])),
    rounds: RESET_ROUNDS,
  },
];

suite('floods', () => {
  after(closeAll);

  for (const { name, settings, handler = never, before, round, rounds } of FLOODS)
    test(name, async () => {
      const { port } = await startFront(async (call) =>
        call.bytes.toString() === 'lives on' ? { bytes: call.bytes } : handler(call),
      );
      const connection = await opened(port, settings);
      if (before !== undefined) connection.send(before);
      await connection.flood(round, rounds);
      await connection.closed;
      assert.equal(connection.goneWith, CODE.ENHANCE_YOUR_CALM);
      assert.equal(statusOf(await ask(await openSession(port), [frame(Buffer.from('lives on'))])), 0);
    });

  test('CVE-2019-9517, answers that fit the windows and that nobody reads, wait in their streams', async () => {
    let socket: Socket | undefined;
    const server = createServer((accepted) => {
      socket = accepted;
      const accept = (stream: NativeStream): void =>
        stream.serve({
          take: () => undefined,
          finish: () => stream.end({ 'grpc-status': '0', 'grpc-message': 'OK' }, LARGE),
          closed: () => undefined,
        });
      new NativeSession(accepted, accept, unreadBudget(GRPC_UNREAD_MB));
    });
    const client = await opened(await portOf(server), [SETTING.INITIAL_WINDOW_SIZE, 2 ** 31 - 1]);
    client.pause();
    client.send(h2(FRAME.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)));
    for (let at = 0; at < 50; at++) client.send(callOn(2 * at + 1, CALL, FLAG.END_HEADERS | FLAG.END_STREAM));
    // The socket's buffers of both sides take some of it.
    for (let turn = 0; turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok((socket?.writableLength ?? 0) <= GRPC_SOCKET_BYTES_MAX + 20_000, `${socket?.writableLength}`);
    }
    client.resume();
    const last = await client.frame(
      ({ type, stream, flags }) => type === FRAME.HEADERS && stream === 99 && flags === 5,
    );
    assert.ok(last !== undefined);
    const bytes = client.frames.reduce(
      (sum, { type, payload }) => (type === FRAME.DATA ? sum + payload.length : sum),
      0,
    );
    assert.equal(bytes, 50 * (LARGE.length + 5));
    server.close();
  });

  test('ends of calls that nobody reads: the connection is read no further, and all are answered once it reads', async () => {
    let socket: Socket | undefined;
    const unread = unreadBudget(GRPC_UNREAD_MB);
    const server = createServer((accepted) => {
      socket = accepted;
      new NativeSession(accepted, (stream) => stream.refuse({ 'grpc-status': '12', 'x-long': LONG_END }), unread);
    });
    const client = await opened(await portOf(server));
    client.pause();
    // They are more than the buffers of the system take.
    const calls = 20_000;
    for (let at = 0; at < calls; at += ROUND)
      client.send(
        Buffer.concat(
          Array.from({ length: ROUND }, (_, i) => callOn(2 * (at + i) + 1, CALL, FLAG.END_HEADERS | FLAG.END_STREAM)),
        ),
      );
    await eventually('much is unread', () => (socket?.writableLength ?? 0) > GRPC_SOCKET_BYTES_MAX);
    for (let turn = 0; turn < 200; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      assert.ok((socket?.writableLength ?? 0) <= GRPC_UNREAD_BYTES_MAX + 2 * LONG_END.length);
    }
    assert.ok(unread.heldBytes >= GRPC_SOCKET_BYTES_MAX, `${unread.heldBytes}`);
    client.resume();
    await client.frame(({ type, stream }) => type === FRAME.HEADERS && stream === 2 * calls - 1);
    assert.equal(client.frames.filter(({ type }) => type === FRAME.HEADERS).length, calls);
    await eventually('nothing is unread', () => unread.heldBytes === 0);
    server.close();
  });

  test('a peer that reads nothing is disconnected when the memory is short', async () => {
    const unread = unreadBudget(1);
    const { port } = await startFront(never, { unread });
    const silent = await opened(port);
    silent.pause();
    const path = `/${'p'.repeat(1_900)}`;
    const list = CALL.map((text, at) => (CALL[at - 1] === ':path' ? path : text));
    const round = (at: number): Uint8Array =>
      ofRound(at, (stream) => callOn(stream, list, FLAG.END_HEADERS | FLAG.END_STREAM));
    await silent.flood(round, 200);
    silent.resume();
    await silent.closed;
    await eventually('nothing of it counts', () => unread.heldBytes === 0);
    assert.equal(statusOf(await ask(await openSession(port), [MESSAGE], { ':path': '/no/Method' })), 12);
  });

  test('requests that are longer than they say give their bytes back to the window of the connection', async () => {
    const { port } = await startFront(never);
    const connection = await opened(port);
    const data = Buffer.alloc(16_384);
    // Updates of the connection's window come for half of it.
    const calls = GRPC_CONNECTION_WINDOW_BYTES / 2 / data.length + 1;
    for (let at = 0; at < calls; at++) {
      const stream = 2 * at + 1;
      connection.send(callOn(stream, [...CALL, 'content-length', '1']), h2(FRAME.DATA, 0, stream, data));
    }
    await connection.frame(({ type, stream }) => type === FRAME.RST_STREAM && stream === 2 * calls - 1);
    assert.equal(connection.goneWith, undefined);
    const grown = connection.frames.filter(({ type, stream }) => type === FRAME.WINDOW_UPDATE && stream === 0);
    // The first one belongs to the greeting.
    assert.equal(grown.length, 2);
  });

  test('a client that makes calls may send many pings and window updates', async () => {
    const { port } = await startFront(async ({ bytes }) => ({ bytes }));
    const connection = await opened(port);
    const calls = GRPC_IDLE_FRAMES_AT_ONCE;
    const round = 50;
    for (let at = 0; at < calls; at += round) {
      for (let place = at; place < at + round; place++) {
        const stream = 2 * place + 1;
        connection.send(
          callOn(stream),
          h2(FRAME.DATA, FLAG.END_STREAM, stream, MESSAGE),
          h2(FRAME.PING, 0, 0, Buffer.alloc(8)),
          h2(FRAME.WINDOW_UPDATE, 0, 0, uint32(6)),
        );
      }
      const last = 2 * (at + round) - 1;
      await connection.frame(({ type, stream, flags }) => type === FRAME.HEADERS && stream === last && flags === 5);
      connection.frames.length = 0;
    }
    assert.equal(connection.isClosed, false);
  });
});
