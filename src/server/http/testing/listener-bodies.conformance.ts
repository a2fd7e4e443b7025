// Requirements for every HTTP listener's request bodies: complete, bounded, and in time.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import {
  BODY_DROPPED_BYTES_MAX,
  BODY_PIECE_BYTES_MIN,
  BODY_PIECES_MAX,
  MESSAGE_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import { requestBudget } from '../../byte-budget.ts';
import { type Listen, RequestAborted } from '../listener.ts';
import { SENDERS } from './senders.ts';
import { bodyLength, echo, serveWith, signal, TEXT, TIMEOUT_MS } from './served.ts';

const noCurl = spawnSync('curl', ['--version']).error !== undefined && 'curl is not installed';

export function bodiesConform(name: string, listen: Listen): void {
  const served = serveWith(listen);
  suite(`${name}: bodies`, { timeout: TIMEOUT_MS }, () => {
    test(
      'a body arrives whole in whatever pieces it comes',
      served(echo, async ({ open }) => {
        const client = await open();
        client.socket.setNoDelay(true);
        const bytes = Buffer.from('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz');
        for (const byte of bytes) {
          client.send(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.equal(String((await client.response())?.body), 'abcdefghijklmnopqrstuvwxyz');
      }),
    );

    test(
      'a chunked body arrives without its chunks',
      served(echo, async ({ open }) => {
        const client = await open();
        client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
        await new Promise((resolve) => setImmediate(resolve));
        client.send('A\r\n0123456789\r\n0\r\n\r\n');
        assert.equal(String((await client.response())?.body), 'abc0123456789');
        assert.equal(String((await client.exchange('POST', '/', { body: 'next' }))?.body), 'next');
      }),
    );

    test(
      'a body in very many tiny pieces is rejected; the same in larger pieces is not',
      served(bodyLength(MESSAGE_BYTES_MAX), async ({ open }) => {
        const head = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
        const client = await open();
        client.send(`${head}${'1\r\nx\r\n'.repeat(BODY_PIECES_MAX + 1)}`);
        assert.equal((await client.response())?.status, 400);
        await client.closed;
        const other = await open();
        // A piece that ends inside one socket read arrives as two.
        const piece = 'x'.repeat(2 * BODY_PIECE_BYTES_MIN);
        other.send(`${head}${`20\r\n${piece}\r\n`.repeat(BODY_PIECES_MAX + 1)}0\r\n\r\n`);
        assert.equal(String((await other.response())?.body), String((BODY_PIECES_MAX + 1) * piece.length));
      }),
    );

    test('bytes that arrive or are processed count in the budget, and are released', async () => {
      const requests = requestBudget(64);
      const reserved: number[] = [];
      const serve = serveWith((options, handler) => listen({ ...options, requests }, handler));
      await serve(
        async (request) => {
          const body = await request.body(MESSAGE_BYTES_MAX);
          reserved.push(requests.heldBytes);
          request.respond(200, [], String(body.length));
        },
        async ({ open }) => {
          const client = await open();
          assert.equal(String((await client.exchange('POST', '/', { body: 'x'.repeat(100_000) }))?.body), '100000');
          const [first = 0] = reserved;
          assert.ok(first >= 100_000 && first < 200_000, `${first} bytes were held`);
          // An abandoned request holds no bytes either.
          const gone = await open();
          gone.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc');
          gone.close();
          await eventually('nothing is held', async () => requests.heldBytes === 0);
        },
      )();
    });

    test(
      'an invalid chunk fails the body',
      served(
        async (request) => {
          await assert.rejects(request.body(100), RequestAborted);
          failed.fire();
        },
        async ({ open }) => {
          const client = await open();
          client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n');
          await client.closed;
          await failed.wait;
        },
      ),
    );
    const failed = signal();

    test(
      'a body of exactly the limit passes',
      served(bodyLength(MESSAGE_BYTES_MAX), async ({ open }) => {
        const client = await open();
        const response = await client.exchange('POST', '/', { body: Buffer.alloc(MESSAGE_BYTES_MAX) });
        assert.equal(String(response?.body), String(MESSAGE_BYTES_MAX));
      }),
    );

    test(
      'a declared length beyond the limit is refused before the body is sent',
      served(bodyLength(1_000), async ({ open }) => {
        const client = await open();
        client.request('POST', '/', { headers: { 'Content-Length': '1001' } });
        const response = await client.response();
        assert.equal(response?.status, 413);
        assert.equal(String(response.body), 'LIM-E003');
      }),
    );

    test(
      'a client that sends its whole body before it reads still gets the 413',
      served(bodyLength(1_000), async ({ open }) => {
        const client = await open();
        const response = await client.exchange('POST', '/', { body: Buffer.alloc(8 << 20) });
        assert.equal(response?.status, 413);
      }),
    );

    test(
      'chunks over the limit are rejected as they arrive',
      served(bodyLength(1_000), async ({ open }) => {
        const client = await open();
        client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
        client.send(`400\r\n${'a'.repeat(1_024)}\r\n`);
        assert.equal((await client.response())?.status, 413);
      }),
    );

    test(
      'a body requested late arrives whole',
      served(
        async (request) => {
          await asked.wait;
          request.respond(
            200,
            TEXT,
            createHash('sha256')
              .update(await request.body(MESSAGE_BYTES_MAX))
              .digest('hex'),
          );
        },
        async ({ open }) => {
          const client = await open();
          const body = Buffer.alloc(4 << 20, 'granary ');
          client.request('POST', '/', { body });
          for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
          asked.fire();
          assert.equal(String((await client.response())?.body), createHash('sha256').update(body).digest('hex'));
        },
      ),
    );
    const asked = signal();

    test(
      'an unread body does not block the next request',
      served(
        (request) => request.respond(401, TEXT, request.path),
        async ({ open }) => {
          const client = await open();
          for (const path of ['/1', '/2', '/3']) {
            const response = await client.exchange('POST', path, { body: Buffer.alloc(300_000, 'x') });
            assert.equal(String(response?.body), path);
          }
        },
      ),
    );

    for (const [client, send] of Object.entries(SENDERS))
      for (const connection of client === 'fetch' ? ['keep-alive'] : ['keep-alive', 'close'])
        for (const expects of client === 'fetch' ? [false] : [false, true])
          test(
            `${client} gets a refusal before its body was read: ${connection}${expects ? ', expecting 100-continue' : ''}`,
            { skip: client === 'curl' && noCurl },
            served(
              async (request) => {
                await new Promise((resolve) => setImmediate(resolve));
                request.respond(404, TEXT, 'no such thing');
              },
              async ({ listener }) => {
                const sent = [1, 2, 3].map(() => send(listener.port, { connection, expects, bytes: 8 << 20 }));
                const answer = { status: 404, body: 'no such thing' };
                assert.deepEqual(await Promise.all(sent), [answer, answer, answer]);
              },
            ),
          );

    test(
      'a client that sends slowly and reads last gets a refusal',
      served(
        (request) => request.respond(404, TEXT, 'no such thing'),
        async ({ open }) => {
          for (const connection of ['keep-alive', 'close']) {
            const client = await open();
            client.socket.pause();
            client.request('POST', '/', { headers: { 'Content-Length': '1000000', Connection: connection } });
            for (let piece = 0; piece < 10; piece++) {
              client.send(Buffer.alloc(100_000));
              await new Promise((resolve) => setTimeout(resolve, 20));
              assert.ok(client.socket.writable, `${connection}: the connection takes the rest`);
            }
            client.socket.resume();
            assert.equal((await client.response())?.status, 404, connection);
          }
        },
      ),
    );

    for (const header of ['Content-Length: 100000000000\r\nConnection: close', 'Content-Length: 100000000000'])
      test(
        `a client that sends on after a refusal is cut off: ${header.replace('\r\n', ', ')}`,
        served(
          (request) => request.respond(404, TEXT, 'no such thing'),
          async ({ open }) => {
            const client = await open();
            client.send(`POST / HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
            const piece = Buffer.alloc(1 << 20);
            let sent = 0;
            while (client.socket.writable && sent <= 2 * BODY_DROPPED_BYTES_MAX) {
              sent += piece.length;
              if (!client.socket.write(piece))
                await Promise.race([once(client.socket, 'drain').catch(() => undefined), client.closed]);
            }
            assert.ok(sent <= 2 * BODY_DROPPED_BYTES_MAX, `${sent} bytes were sent`);
          },
        ),
      );

    test(
      'a client that expects 100-continue is told to go on',
      served(echo, async ({ open }) => {
        const client = await open();
        client.request('POST', '/', { headers: { 'Content-Length': '5', Expect: '100-continue' } });
        await new Promise((resolve) => client.socket.once('data', resolve));
        client.send('hello');
        assert.equal(String((await client.response())?.body), 'hello');
      }),
    );

    test(
      'an incomplete body is 408 and the connection is closed',
      served(
        async (request) => {
          await request.body(1_000);
        },
        async ({ open }) => {
          const stalled = await open();
          stalled.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc');
          const trickling = await open();
          trickling.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
          const drip = setInterval(() => trickling.send('1\r\na\r\n'), 20);
          for (const client of [stalled, trickling]) {
            assert.equal((await client.response())?.status, 408);
            await client.closed;
          }
          clearInterval(drip);
        },
        { bodyTimeoutMs: 100 },
      ),
    );
  });
}
