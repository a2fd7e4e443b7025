// Requirements for every HTTP listener's responses: complete, at the reader’s pace, one per request.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { suite, test } from 'node:test';
import type { Listen } from '../listener.ts';
import { pattern, serveWith, signal, TEXT, TIMEOUT_MS } from './served.ts';

export function responsesConform(name: string, listen: Listen): void {
  const served = serveWith(listen);
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
            // Buffers of both sockets plus one chunk; the stream is several times as long.
            assert.ok(ahead < 20e6, `${ahead} bytes ahead of the reader`);
            assert.equal((await client.exchange('GET', '/'))?.status, 200);
          },
        )();
      });
    }

    test(
      'chunks arrive as they are written, and an empty chunk does nothing',
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
      'a failing handler is a bare 500 with a report, and a failing stream is cut',
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
}
