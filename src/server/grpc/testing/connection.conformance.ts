// Misuse of HTTP/2: the connection ends and the front continues.
import assert from 'node:assert/strict';
import { after, suite } from 'node:test';
import { GRPC_KEEPALIVE_MS, GRPC_LOOK_MS, GRPC_STREAMS_MAX, HEADERS_TIMEOUT_MS } from '../../../engine/base/limits.ts';
import { SocketClient } from '../../http/socket-client.ts';
import type { GrpcFront } from '../front.ts';
import {
  ADD,
  ask,
  closeAll,
  echo,
  frame,
  openSession,
  openStream,
  startFrontOn,
  statusOf,
  toBeClosed,
} from './front.ts';
import { type ListenerUnderTest, testsOf } from './under-test.ts';

export function connectionsConform(under: ListenerUnderTest): void {
  suite(`${under.name}: connections`, () => {
    const test = testsOf(under);
    after(closeAll);
    const startFront = startFrontOn(under.listen);

    const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    const [DATA, HEADERS, RST_STREAM, SETTINGS, PING, , WINDOW_UPDATE, CONTINUATION] = [0, 1, 3, 4, 6, 7, 8, 9];
    const [END_STREAM, ACK, END_HEADERS] = [1, 1, 4];

    /** Builds an HTTP/2 frame. */
    function h2(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
      const head = Buffer.alloc(9);
      head.writeUIntBE(payload.length, 0, 3);
      head[3] = type;
      head[4] = flags;
      head.writeUInt32BE(stream, 5);
      return Buffer.concat([head, payload]);
    }

    /** Encodes headers that enter no table: names and values in turn, each shorter than 127 bytes unless `bytes` are. */
    function literal(name: string, value: string): Buffer {
      const text = (given: string): Buffer => {
        const bytes = Buffer.from(given);
        const { length } = bytes;
        // A length of 127 or more is encoded as the excess, seven bits at a time.
        const head = [Math.min(length, 127)];
        for (let rest = length - 127; length >= 127; rest = Math.floor(rest / 128)) {
          head.push(rest < 128 ? rest : (rest % 128) | 128);
          if (rest < 128) break;
        }
        return Buffer.concat([Buffer.from(head), bytes]);
      };
      return Buffer.concat([Buffer.of(0), text(name), text(value)]);
    }

    const CALL = Buffer.concat([
      literal(':method', 'POST'),
      literal(':scheme', 'http'),
      literal(':path', ADD),
      literal(':authority', 'x'),
      literal('content-type', 'application/grpc'),
    ]);

    async function connected(front: GrpcFront): Promise<SocketClient> {
      const client = toBeClosed(await SocketClient.open(front.port));
      client.send(PREFACE);
      client.send(h2(SETTINGS, 0, 0));
      return client;
    }

    async function livesOn(front: GrpcFront): Promise<void> {
      assert.equal(statusOf(await ask(await openSession(front.port), [frame(Buffer.from('lives on'))])), 0);
    }

    test('frames that violate the protocol end their connection', async () => {
      const front = await startFront(echo);
      const cases: readonly (readonly [string, Uint8Array])[] = [
        ['no preface', Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n')],
        ['half a preface, and other bytes', Buffer.from(`${PREFACE.slice(0, 10)}xxxxxxxxxxxxxxxxxxxx`)],
        ['headers before settings', Buffer.concat([Buffer.from(PREFACE), h2(HEADERS, END_HEADERS, 1, CALL)])],
      ];
      for (const [name, bytes] of cases) {
        const client = toBeClosed(await SocketClient.open(front.port));
        client.send(bytes);
        await client.closed;
        assert.ok(client.socket.destroyed, name);
      }
      const frames: readonly (readonly [string, Uint8Array])[] = [
        ['data on stream 0', h2(DATA, 0, 0, Buffer.from('x'))],
        ['data on a stream that is idle', h2(DATA, 0, 1, Buffer.from('x'))],
        ['headers on an even stream', h2(HEADERS, END_HEADERS, 2, CALL)],
        ['headers that are no HPACK', h2(HEADERS, END_HEADERS, 1, Buffer.alloc(20, 0xff))],
        [
          'a frame larger than any',
          Buffer.concat([Buffer.of(0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1), Buffer.alloc(100)]),
        ],
        ['settings that are cut', h2(SETTINGS, 0, 0, Buffer.alloc(5))],
        ['settings of a window that is too large', h2(SETTINGS, 0, 0, Buffer.of(0, 4, 0xff, 0xff, 0xff, 0xff))],
        ['a ping of seven bytes', h2(PING, 0, 0, Buffer.alloc(7))],
        ['a window that grows by nothing', h2(WINDOW_UPDATE, 0, 0, Buffer.alloc(4))],
        [
          'a window beyond its end',
          Buffer.concat([0, 1].map(() => h2(WINDOW_UPDATE, 0, 0, Buffer.of(0x7f, 0xff, 0xff, 0xff)))),
        ],
        ['a reset of a stream that is idle', h2(RST_STREAM, 0, 5, Buffer.alloc(4))],
        ['a continuation of nothing', h2(CONTINUATION, END_HEADERS, 1, CALL)],
        ['another frame between headers', Buffer.concat([h2(HEADERS, 0, 1, CALL), h2(PING, 0, 0, Buffer.alloc(8))])],
      ];
      for (const [name, bytes] of frames) {
        const client = await connected(front);
        client.send(bytes);
        await client.closed;
        assert.ok(client.socket.destroyed, name);
      }
      await livesOn(front);
    });

    test('headers over the limit reset their stream, and endless ones end the connection', async () => {
      const front = await startFront(echo);
      const session = await openSession(front.port);
      // The limit applies once the client has acknowledged it.
      assert.equal(statusOf(await ask(session, [frame(Buffer.from('x'))])), 0);
      const large = openStream(session, { 'x-large': 'x'.repeat(20_000) });
      await new Promise((resolve) => large.once('close', resolve));
      assert.equal(large.rstCode, 11); // ENHANCE_YOUR_CALM
      const many = openStream(session, Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`x-${at}`, 'y'])));
      await new Promise((resolve) => many.once('close', resolve));
      assert.equal(many.rstCode, 11);
      assert.equal(statusOf(await ask(session, [frame(Buffer.from('x'))])), 0);

      const client = await connected(front);
      client.send(h2(HEADERS, 0, 1, CALL));
      const block = literal('x-more', 'y'.repeat(100));
      for (let sent = 0; sent < 10_000 && !client.socket.destroyed; sent++) {
        client.send(h2(CONTINUATION, 0, 1, block));
        if (sent % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await client.closed;
      await livesOn(front);
    });

    for (const [name, flood] of [
      ['pings', h2(PING, 0, 0, Buffer.alloc(8))],
      ['settings', h2(SETTINGS, 0, 0)],
    ] as const)
      test(`a flood of ${name} with unread answers ends its connection`, async () => {
        const front = await startFront(echo);
        const client = await connected(front);
        client.socket.pause();
        const many = Buffer.concat(Array.from({ length: 1_000 }, () => flood));
        // Far more than the socket buffers of both sides hold.
        for (let sent = 0; sent < 2_000 && !client.socket.destroyed; sent++) {
          if (!client.socket.write(many))
            await Promise.race([new Promise((resolve) => client.socket.once('drain', resolve)), client.closed]);
        }
        client.socket.resume();
        await client.closed;
        assert.ok(client.socket.destroyed);
        await livesOn(front);
      });

    test('calls that are reset as fast as they are made end their connection, after few of them ran', async () => {
      let running = 0;
      const front = await startFront(({ bytes, aborted }) => {
        if (bytes.toString() === 'lives on') return Promise.resolve({ bytes });
        running += 1;
        return new Promise((resolve) => aborted.addEventListener('abort', () => resolve({ bytes })));
      });
      const client = await connected(front);
      const message = frame(Buffer.from('x'));
      let stream = 1;
      for (let sent = 0; sent < 500 && !client.socket.destroyed; sent++) {
        const burst = Array.from({ length: 100 }, () => {
          const call = [
            h2(HEADERS, END_HEADERS, stream, CALL),
            h2(DATA, END_STREAM, stream, message),
            h2(RST_STREAM, 0, stream, Buffer.of(0, 0, 0, 8)),
          ];
          stream += 2;
          return Buffer.concat(call);
        });
        client.send(Buffer.concat(burst));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await client.closed;
      assert.ok(running < 3_000, `${running} ran`);
      await livesOn(front);
    });

    test('the number of calls on a connection is bounded', async () => {
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let running = 0;
      const front = await startFront(async ({ bytes }) => {
        running += 1;
        await released;
        return { bytes };
      });
      const client = await connected(front);
      const message = frame(Buffer.from('x'));
      for (let at = 0; at < GRPC_STREAMS_MAX + 50; at++)
        client.send(
          Buffer.concat([h2(HEADERS, END_HEADERS, 2 * at + 1, CALL), h2(DATA, END_STREAM, 2 * at + 1, message)]),
        );
      const session = await openSession(front.port);
      const other = ask(session, [message]);
      await livesAfterPing(client);
      assert.ok(running <= GRPC_STREAMS_MAX + 1, `${running} ran`);
      release();
      assert.equal(statusOf(await other), 0);
    });

    /** Waits for the answer to a ping, or for the end of the connection. */
    async function livesAfterPing(client: SocketClient): Promise<void> {
      client.send(h2(PING, 0, 0, Buffer.alloc(8)));
      const answer = h2(PING, ACK, 0, Buffer.alloc(8));
      const received: Buffer[] = [];
      const answered = new Promise<void>((resolve) => {
        client.socket.on('data', (chunk: Buffer) => {
          received.push(chunk);
          if (Buffer.concat(received).includes(answer)) resolve();
        });
      });
      await Promise.race([answered, client.closed]);
    }

    test('a silent peer, and one that answers no ping, is disconnected', async (context) => {
      context.mock.timers.enable({ apis: ['setInterval'] });
      const front = await startFront(echo);
      const silent = toBeClosed(await SocketClient.open(front.port));
      const deaf = await connected(front);
      // Its settings have arrived once those of the front have.
      await new Promise((resolve) => deaf.socket.once('data', resolve));
      const session = await openSession(front.port);
      const until = async (ms: number): Promise<void> => {
        for (let passed = 0; passed <= ms; passed += GRPC_LOOK_MS) {
          context.mock.timers.tick(GRPC_LOOK_MS);
          await new Promise((resolve) => session.ping(resolve));
        }
      };
      await until(HEADERS_TIMEOUT_MS + GRPC_LOOK_MS);
      await silent.closed;
      assert.equal(deaf.socket.destroyed, false);
      await until(2 * GRPC_KEEPALIVE_MS);
      await deaf.closed;
      assert.equal(session.destroyed, false);
      assert.equal(statusOf(await ask(session, [frame(Buffer.from('x'))])), 0);
    });

    test('a drain closes idle connections at once, and others when their calls end', async () => {
      let arrived: () => void = () => undefined;
      let release: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const front = await startFront(async ({ bytes }) => {
        arrived();
        await released;
        return { bytes };
      });
      const idle = await connected(front);
      await livesAfterPing(idle);
      const session = await openSession(front.port);
      const goaway = new Promise<number>((resolve) =>
        session.once('goaway', (_code, lastStream) => resolve(lastStream)),
      );
      const running = ask(session, [frame(Buffer.from('x'))]);
      await inside;
      const drained = front.drain(60_000);
      await idle.closed;
      assert.equal(await goaway, 1);
      release();
      assert.equal(statusOf(await running), 0);
      await drained;
      await assert.rejects(SocketClient.open(front.port), /ECONNREFUSED/);
      // A second drain does nothing.
      await front.drain(60_000);
      front.close();
    });
  });
}
