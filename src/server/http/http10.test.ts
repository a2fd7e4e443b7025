// HTTP/1.0 peers: nginx with default settings, and HAProxy's health checks.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { listenNode } from './node.ts';
import { echo, pattern, serveWith, TEXT, TIMEOUT_MS, TLS } from './testing/served.ts';

const served = serveWith(listenNode);

suite('HTTP/1.0', { timeout: TIMEOUT_MS }, () => {
  for (const tls of [undefined, TLS])
    test(
      `is answered, without Host, and its connection closed${tls === undefined ? '' : ', over TLS'}`,
      served(
        (request) => request.respond(200, TEXT, `${request.path} ${request.authority ?? 'nobody'}`),
        async ({ open }) => {
          const client = await open();
          client.send('GET /a HTTP/1.0\r\n\r\n');
          const answer = await client.response();
          assert.deepEqual([answer?.status, String(answer?.body)], [200, '/a nobody']);
          await client.closed;
          const named = await open();
          named.send('GET /a HTTP/1.0\r\nHost: here:1\r\nConnection: close\r\n\r\n');
          assert.equal(String((await named.response())?.body), '/a here:1');
          await named.closed;
        },
        tls === undefined ? {} : { tls },
      ),
    );

  test(
    'keeps a connection alive on request, and accepts bodies',
    served(echo, async ({ open }) => {
      const client = await open();
      for (const body of ['one', 'and another']) {
        client.send(`POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
        const answer = await client.response();
        assert.equal(String(answer?.body), body);
        assert.equal(answer?.headers.get('connection')?.toLowerCase(), 'keep-alive');
      }
    }),
  );

  test('a stream is not chunked, and ends with the connection', async () => {
    const bytes = pattern(300_000);
    await served(
      async (request) => {
        const stream = request.stream(200, TEXT);
        for (let at = 0; at < bytes.length; at += 100_000) await stream.write(bytes.subarray(at, at + 100_000));
        stream.end();
      },
      async ({ open }) => {
        const client = await open();
        client.send('GET / HTTP/1.0\r\n\r\n');
        const answer = await client.response();
        assert.equal(answer?.headers.get('transfer-encoding'), undefined);
        assert.deepEqual(answer?.body, bytes);
        await client.closed;
      },
    )();
  });

  test(
    'an absolute target gives host and path, whatever Host contains',
    served(
      (request) => request.respond(200, TEXT, `${request.authority} ${request.path} ${request.query}`),
      async ({ open }) => {
        for (const [target, expected] of [
          ['http://there:2/a/b?c', 'there:2 /a/b c'],
          ['HTTP://there?c', 'there / c'],
          ['/http://there', 'here /http://there '],
        ] as const) {
          const client = await open();
          client.send(`GET ${target} HTTP/1.1\r\nHost: here\r\n\r\n`);
          assert.equal(String((await client.response())?.body), expected, target);
        }
      },
    ),
  );
});
