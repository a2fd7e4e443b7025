// What every HTTP listener does: the same questions to each implementation.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { EngineError } from '../../engine/errors.ts';
import { HEADER_BYTES_MAX, MESSAGE_BYTES_MAX } from '../../engine/limits.ts';
import {
  type HttpHandler,
  type HttpListener,
  type HttpRequest,
  type Listen,
  type ListenOptions,
  RequestAborted,
} from './listener.ts';
import { SocketClient } from './socket-client.ts';

/** What takes longer hangs. */
const TIMEOUT_MS = 300_000;
const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'tls');
export const TLS = { certFile: join(FIXTURES, 'cert.pem'), keyFile: join(FIXTURES, 'key.pem') };

const TEXT = [['content-type', 'text/plain']] as const;

/** Something to wait for, and what makes it happen. */
function signal<T = void>(): { readonly wait: Promise<T>; readonly fire: (value: T) => void } {
  let fire: (value: T) => void = () => undefined;
  const wait = new Promise<T>((resolve) => {
    fire = resolve;
  });
  return { wait, fire };
}

/** Answers with the length of the body, or with 413. */
const bodyLength =
  (bytesMax: number): HttpHandler =>
  async (request) => {
    try {
      request.respond(200, TEXT, String((await request.body(bytesMax)).byteLength));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      assert.equal(error.code, 'LIM-E003');
      request.respond(413, TEXT, error.code);
    }
  };

const echo: HttpHandler = async (request) => request.respond(200, TEXT, await request.body(MESSAGE_BYTES_MAX));

export function conformance(name: string, listen: Listen): void {
  /** Runs `body` against a listener with `handler`, then closes it and fails on anything it reported. */
  const served = (
    handler: HttpHandler,
    body: (server: { listener: HttpListener; open: () => Promise<SocketClient>; reported: unknown[] }) => Promise<void>,
    options: Partial<ListenOptions> & { expectReports?: boolean } = {},
  ): (() => Promise<void>) => {
    return async () => {
      const reported: unknown[] = [];
      const { expectReports, ...listenOptions } = options;
      const listener = await listen(
        { host: '127.0.0.1', port: 0, onError: (error) => reported.push(error), ...listenOptions },
        handler,
      );
      const clients: SocketClient[] = [];
      const open = async (): Promise<SocketClient> => {
        const client = await SocketClient.open(listener.port, { tls: options.tls !== undefined });
        clients.push(client);
        return client;
      };
      try {
        await body({ listener, open, reported });
        if (!expectReports) assert.deepEqual(reported, []);
      } finally {
        for (const client of clients) client.close();
        listener.close();
      }
    };
  };

  suite(`${name}: requests`, { timeout: TIMEOUT_MS }, () => {
    test(
      'method, path, query, headers and address arrive as they were sent',
      served(
        (request) => {
          const { method, path, query, remoteAddress } = request;
          const headers = ['x-one', 'x-two', 'x-none'].map((header) => request.header(header) ?? null);
          request.respond(200, TEXT, JSON.stringify({ method, path, query, remoteAddress, headers }));
        },
        async ({ open }) => {
          const client = await open();
          client.send(
            'PATCH /a%2Fb/%C3%A9//..?c=d%20e&f HTTP/1.1\r\nhOST: x\r\nX-One: 1\r\nx-tWO: a\r\nX-Two: b\r\n\r\n',
          );
          const response = await client.response();
          assert.deepEqual(JSON.parse(String(response?.body)), {
            method: 'PATCH',
            path: '/a%2Fb/%C3%A9//..',
            query: 'c=d%20e&f',
            remoteAddress: '127.0.0.1',
            headers: ['1', 'a', null],
          });
          assert.equal(response?.headers.get('content-type'), 'text/plain');
        },
      ),
    );

    test(
      'a connection serves many requests, with and without bodies',
      served(echo, async ({ open }) => {
        const client = await open();
        for (let at = 0; at < 20; at++) {
          const body = at % 2 === 0 ? `body ${at}` : '';
          const response = await client.exchange('POST', '/', body === '' ? {} : { body });
          assert.equal(String(response?.body), body);
        }
        assert.equal((await client.exchange('POST', '/', { body: '' }))?.status, 200);
      }),
    );

    test(
      'pipelined requests are answered in order',
      served(
        (request) => request.respond(200, TEXT, request.path),
        async ({ open }) => {
          const client = await open();
          client.send(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
          for (const path of ['/1', '/2', '/3']) assert.equal(String((await client.response())?.body), path);
        },
      ),
    );

    test(
      'pipelined requests that wait for each other are answered in order or their connection is closed',
      served(
        async (request) => {
          await new Promise((resolve) => setImmediate(resolve));
          request.respond(200, TEXT, request.path);
        },
        async ({ open }) => {
          const client = await open();
          client.send(['/1', '/2', '/3'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
          const answers: string[] = [];
          for (let at = 0; at < 3; at++) {
            const response = await client.response();
            if (response === undefined) {
              await client.closed;
              break;
            }
            answers.push(String(response.body));
          }
          assert.deepEqual(answers, ['/1', '/2', '/3'].slice(0, answers.length));
          assert.equal(String((await (await open()).exchange('GET', '/next'))?.body), '/next');
        },
      ),
    );

    test(
      'HEAD has the length and not the body; 204 and 304 have neither',
      served(
        (request) => request.respond(Number(request.query || 200), TEXT, request.query === '' ? 'größer' : ''),
        async ({ open }) => {
          const client = await open();
          const head = await client.exchange('HEAD', '/');
          assert.equal(head?.headers.get('content-length'), '8');
          for (const status of [204, 304]) {
            const response = await client.exchange('GET', `/?${status}`);
            assert.equal(response?.status, status);
            assert.equal(response.headers.get('content-length'), undefined);
          }
          assert.equal(String((await client.exchange('GET', '/'))?.body), 'größer');
        },
      ),
    );

    test(
      'OPTIONS is a request like others, and an unknown method does no harm',
      served(
        (request) => request.respond(200, TEXT, request.method),
        async ({ open }) => {
          assert.equal(String((await (await open()).exchange('OPTIONS', '/a'))?.body), 'OPTIONS');
          const strange = await (await open()).exchange('FROB', '/a');
          assert.ok(strange?.status === 400 || String(strange?.body) === 'FROB');
          assert.equal(String((await (await open()).exchange('DELETE', '/a'))?.body), 'DELETE');
        },
      ),
    );

    test(
      'a path of raw bytes is refused or arrives so that nobody takes it for ASCII',
      served(
        (request) => request.respond(/^[!-~]*$/.test(request.path) ? 200 : 400, TEXT),
        async ({ open }) => {
          for (const path of ['/\xff\xfe', '/caf\xc3\xa9']) {
            const client = await open();
            client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
            assert.equal((await client.response())?.status, 400);
          }
        },
      ),
    );

    test('headers up to the limit pass, larger ones are 431', async () => {
      let calls = 0;
      await served(
        (request) => {
          calls++;
          request.respond(200, TEXT, String(request.header('x-long')?.length));
        },
        async ({ open }) => {
          const passes = HEADER_BYTES_MAX - 1_024;
          const response = await (await open()).exchange('GET', '/', { headers: { 'X-Long': 'a'.repeat(passes) } });
          assert.equal(String(response?.body), String(passes));
          const client = await open();
          client.request('GET', '/', { headers: { 'X-Long': 'a'.repeat(HEADER_BYTES_MAX + 1) } });
          assert.equal((await client.response())?.status, 431);
          await client.closed;
          assert.equal(calls, 1);
        },
      )();
    });

    const malformed: Record<string, string> = {
      'two lengths': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      'a length and chunks':
        'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'another transfer encoding': 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      'a length that is no number': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3x\r\n\r\nabc',
      'a negative length': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\nabc',
      'a length beyond all numbers': 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\nabc',
      'a space before the colon': 'GET / HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n',
      'a NUL in a header': 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\n\r\n',
      'no Host': 'GET / HTTP/1.1\r\n\r\n',
      'bytes that are no HTTP': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n',
    };
    for (const [what, bytes] of Object.entries(malformed)) {
      test(`a request with ${what} is refused and its connection closed`, async () => {
        let answered = 0;
        await served(
          async (request) => {
            await request.body(100);
            answered++;
            request.respond(200, TEXT, 'accepted');
          },
          async ({ open }) => {
            const client = await open();
            client.send(bytes);
            const response = await client.response();
            assert.ok(response === undefined || response.status >= 400, `status ${response?.status}`);
            await client.closed;
            assert.equal(answered, 0);
            assert.equal((await (await open()).exchange('GET', '/'))?.status, 200);
          },
        )();
      });
    }
  });

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
      'a chunk that cannot be read fails the body',
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
      'chunks beyond the limit are refused while they come',
      served(bodyLength(1_000), async ({ open }) => {
        const client = await open();
        client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
        client.send(`400\r\n${'a'.repeat(1_024)}\r\n`);
        assert.equal((await client.response())?.status, 413);
      }),
    );

    test(
      'a body that is asked for late arrives whole',
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
      'a body that nobody asks for does not stand in the next request’s way',
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
      'a body that does not come to its end is 408 and the connection is closed',
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

  suite(`${name}: responses`, { timeout: TIMEOUT_MS }, () => {
    test(
      'a long response arrives whole though its reader is slow',
      served(
        (request) => request.respond(200, TEXT, pattern(20 << 20)),
        async ({ open }) => {
          const client = await open();
          client.socket.pause();
          client.request('GET', '/');
          for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
          client.socket.resume();
          const response = await client.response();
          assert.ok(response?.body.equals(pattern(20 << 20)));
          assert.equal((await client.exchange('HEAD', '/'))?.headers.get('content-length'), String(20 << 20));
        },
      ),
    );

    for (const [what, chunkBytes, chunks] of [
      ['long chunks', 300_000, 150],
      ['short chunks', 4_000, 12_000],
    ] as const) {
      test(`a stream of ${what} arrives whole, and is written at its reader’s pace`, async () => {
        const chunk = pattern(chunkBytes);
        let written = 0;
        let ahead = 0;
        let read = 0;
        await served(
          async (request) => {
            const stream = request.stream(200, TEXT);
            for (let at = 0; at < chunks; at++) {
              await stream.write(chunk);
              written += chunk.byteLength;
              ahead = Math.max(ahead, written - read);
            }
            stream.end();
          },
          async ({ open }) => {
            const client = await open();
            client.socket.on('data', (bytes) => {
              read += bytes.length;
              client.socket.pause();
              setImmediate(() => client.socket.resume());
            });
            const response = await client.exchange('GET', '/');
            const whole = createHash('sha256');
            for (let at = 0; at < chunks; at++) whole.update(chunk);
            assert.equal(createHash('sha256').update(response!.body).digest('hex'), whole.digest('hex'));
            assert.equal(response?.headers.get('transfer-encoding'), 'chunked');
            // What the two sockets' buffers hold, and one chunk; the stream is several times as long.
            assert.ok(ahead < 20e6, `${ahead} bytes ahead of the reader`);
            assert.equal((await client.exchange('GET', '/'))?.status, 200);
          },
        )();
      });
    }

    test(
      'what is streamed arrives as it is written, and an empty chunk is nothing',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          await stream.write('one');
          await stream.write('');
          await seen.wait;
          await stream.write(Buffer.from('two'));
          stream.end();
        },
        async ({ open }) => {
          const client = await open();
          client.request('GET', '/');
          let text = '';
          await new Promise<void>((resolve) => {
            client.socket.on('data', (bytes) => {
              text += bytes.toString('latin1');
              if (text.includes('one')) resolve();
            });
          });
          assert.ok(!text.includes('two'));
          seen.fire();
          assert.equal(String((await client.response())?.body), 'onetwo');
        },
      ),
    );
    const seen = signal();

    test(
      'a streamed response to HEAD has no body',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          await stream.write('dropped');
          stream.end();
        },
        async ({ open }) => {
          const client = await open();
          assert.equal((await client.exchange('HEAD', '/'))?.status, 200);
          assert.equal(String((await client.exchange('GET', '/'))?.body), 'dropped');
        },
      ),
    );

    test(
      'a handler that fails is a bare 500 and a report, and a stream that fails is cut',
      served(
        async (request) => {
          if (request.path === '/sync') throw new Error(request.path);
          await new Promise((resolve) => setImmediate(resolve));
          if (request.path === '/stream') await request.stream(200, TEXT).write('half');
          throw new Error(request.path);
        },
        async ({ open, reported }) => {
          for (const path of ['/sync', '/async']) {
            const response = await (await open()).exchange('GET', path);
            assert.equal(response?.status, 500);
            assert.equal(response.body.length, 0);
          }
          const client = await open();
          assert.equal(await client.exchange('GET', '/stream'), undefined);
          await client.closed;
          assert.deepEqual(
            reported.map((error) => error instanceof Error && error.message),
            ['/sync', '/async', '/stream'],
          );
        },
        { expectReports: true },
      ),
    );

    test(
      'a header that would break its line, and a second response, are bugs',
      served(
        (request) => {
          if (request.path === '/header') request.respond(200, [['x-a', 'b\r\nset-cookie: c']]);
          request.respond(200, TEXT, 'first');
          request.respond(200, TEXT, 'second');
        },
        async ({ open, reported }) => {
          const refused = await (await open()).exchange('GET', '/header');
          assert.equal(refused?.status, 500);
          assert.equal(refused.headers.get('set-cookie'), undefined);
          const client = await open();
          assert.equal(String((await client.exchange('GET', '/'))?.body), 'first');
          assert.equal(String((await client.exchange('GET', '/'))?.body), 'first');
          assert.equal(reported.length, 3);
        },
        { expectReports: true },
      ),
    );
  });

  suite(`${name}: peers that go away`, { timeout: TIMEOUT_MS }, () => {
    test(
      'while their body comes: the body fails and the signal fires',
      served(
        async (request) => {
          const { aborted } = request;
          const body = request.body(1_000);
          arrived.fire();
          await assert.rejects(body, RequestAborted);
          if (!aborted.aborted) await new Promise((resolve) => aborted.addEventListener('abort', resolve));
          assert.ok(request.aborted.reason instanceof RequestAborted);
          request.respond(200, TEXT, 'to nobody');
          over.fire();
        },
        async ({ open }) => {
          const client = await open();
          client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc');
          await arrived.wait;
          client.close();
          await over.wait;
        },
      ),
    );
    const arrived = signal();
    const over = signal();

    test(
      'while their request is worked on: the signal fires, and answers go nowhere',
      served(
        async (request) => {
          begun.fire();
          await new Promise((resolve) => request.aborted.addEventListener('abort', resolve));
          if (request.path === '/respond') request.respond(200, TEXT, 'to nobody');
          else {
            const stream = request.stream(200, TEXT);
            await assert.rejects(stream.write('to nobody'), RequestAborted);
            stream.end();
          }
          ended.fire();
        },
        async ({ open }) => {
          for (const path of ['/respond', '/stream']) {
            [begun, ended] = [signal(), signal()];
            const client = await open();
            client.request('GET', path);
            await begun.wait;
            client.close();
            await ended.wait;
          }
        },
      ),
    );
    let begun = signal();
    let ended = signal();

    test(
      'while they are streamed to: the write rejects',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          const chunk = Buffer.alloc(100_000);
          await assert.rejects(async () => {
            for (let at = 0; at < 10_000; at++) await stream.write(chunk);
          }, RequestAborted);
          assert.ok(request.aborted.aborted);
          stopped.fire();
        },
        async ({ open }) => {
          const client = await open();
          client.request('GET', '/');
          await new Promise((resolve) => client.socket.once('data', resolve));
          client.close();
          await stopped.wait;
        },
      ),
    );
    const stopped = signal();

    test(
      'a finished request’s signal stays silent',
      served(
        async (request) => {
          request.respond(200, TEXT, 'done');
          signals.push(request.aborted);
        },
        async ({ open }) => {
          const client = await open();
          await client.exchange('GET', '/');
          client.close();
          await (await open()).exchange('GET', '/');
          assert.deepEqual(
            signals.map(({ aborted }) => aborted),
            [false, false],
          );
        },
      ),
    );
    const signals: AbortSignal[] = [];
  });

  suite(`${name}: listening`, { timeout: TIMEOUT_MS }, () => {
    test(
      'a port that is taken is refused',
      served(echo, async ({ listener }) => {
        await assert.rejects(listen({ host: '127.0.0.1', port: listener.port }, echo));
      }),
    );

    test(
      'connections beyond the limit are closed, and room is made when one goes',
      served(
        echo,
        async ({ open }) => {
          const first = await open();
          const second = await open();
          assert.equal(String((await first.exchange('POST', '/', { body: 'a' }))?.body), 'a');
          assert.equal(String((await second.exchange('POST', '/', { body: 'b' }))?.body), 'b');
          const third = await open();
          await third.closed;
          assert.equal(String((await first.exchange('POST', '/', { body: 'c' }))?.body), 'c');
          first.close();
          let answer: string | undefined;
          while (answer === undefined)
            answer = (await (await open()).exchange('POST', '/', { body: 'd' }))?.body.toString();
          assert.equal(answer, 'd');
        },
        { connectionsMax: 2 },
      ),
    );

    test(
      'TLS serves the same',
      served(
        echo,
        async ({ open }) => {
          const client = await open();
          const body = pattern(3 << 20);
          assert.ok((await client.exchange('POST', '/', { body }))?.body.equals(body));
          assert.equal(String((await client.exchange('POST', '/', { body: 'again' }))?.body), 'again');
        },
        { tls: TLS },
      ),
    );

    test('TLS files that cannot be read are refused', async () => {
      await assert.rejects(
        listen({ host: '127.0.0.1', port: 0, tls: { ...TLS, keyFile: 'nowhere.pem' } }, echo),
        /ENOENT/,
      );
    });

    test(
      'a drain refuses newcomers, closes idle connections and lets requests finish',
      served(
        async (request) => {
          inside.fire(request);
          await release.wait;
          request.respond(200, TEXT, await request.body(100));
        },
        async ({ listener, open }) => {
          const idle = await open();
          const busy = await open();
          busy.request('POST', '/', { body: 'in flight' });
          await inside.wait;
          const drained = listener.drain(30_000);
          await assert.rejects(SocketClient.open(listener.port));
          release.fire();
          assert.equal(String((await busy.response())?.body), 'in flight');
          await drained;
          await Promise.all([idle.closed, busy.closed]);
        },
      ),
    );
    const inside = signal<HttpRequest>();
    const release = signal();

    test(
      'a drain delivers what a slow reader has still to get',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          writing.fire();
          for (let at = 0; at < 200; at++) await stream.write(pattern(100_000));
          stream.end();
        },
        async ({ listener, open }) => {
          const client = await open();
          client.request('GET', '/');
          await writing.wait;
          const drained = listener.drain(30_000);
          assert.equal((await client.response())?.body.length, 20_000_000);
          client.close();
          await Promise.all([drained, client.closed]);
        },
      ),
    );
    const writing = signal();

    test(
      'a drain cuts off what is not finished by its deadline',
      served(
        async (request) => {
          working.fire();
          await new Promise((resolve) => request.aborted.addEventListener('abort', resolve));
        },
        async ({ listener, open }) => {
          const client = await open();
          client.request('GET', '/');
          await working.wait;
          await listener.drain(1);
          assert.equal(await client.response(), undefined);
        },
      ),
    );
    const working = signal();
  });
}

/** Bytes in which a piece that is missing or in the wrong place shows. */
function pattern(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32LE(at, at);
  return buffer;
}
