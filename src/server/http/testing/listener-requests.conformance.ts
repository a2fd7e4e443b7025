// Requirements for every HTTP listener's requests: which arrive, and which are refused.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { HEADER_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { Listen } from '../listener.ts';
import { echo, serveWith, TEXT, TIMEOUT_MS } from './served.ts';

/** Answers whose heads or bodies the buffers of the system do not take for so many requests. */
const UNREAD_REQUESTS = 500_000;
const UNREAD: readonly { what: string; method: string; status: number; body: string }[] = [
  { what: 'short bodies', method: 'GET', status: 401, body: 'x'.repeat(500) },
  { what: 'long bodies', method: 'GET', status: 200, body: 'x'.repeat(100_000) },
  { what: 'HEAD', method: 'HEAD', status: 200, body: 'x'.repeat(500) },
  { what: 'what the peer has', method: 'GET', status: 304, body: 'x'.repeat(500) },
  { what: 'no bodies', method: 'OPTIONS', status: 204, body: '' },
];
/** Looks at a count that does not grow, until nothing more is expected. */
const UNREAD_LOOKS = 40;
/** By the handler of such a test. */
let answered = 0;

export function requestsConform(name: string, listen: Listen): void {
  const served = serveWith(listen);
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

    for (const { what, method, status, body } of UNREAD)
      test(
        `a peer that pipelines requests and reads nothing is read no further, or cut off: ${what}`,
        served(
          (request) => {
            answered += 1;
            request.respond(status, TEXT, body);
          },
          async ({ open }) => {
            answered = 0;
            const client = await open();
            client.socket.pause();
            const one = Buffer.from(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
            client.send(Buffer.alloc(UNREAD_REQUESTS * one.length, one));
            let [before, looks] = [-1, 0];
            await eventually('it is read no further', () => {
              looks = answered === before ? looks + 1 : 0;
              before = answered;
              return looks === UNREAD_LOOKS;
            });
            assert.ok(answered > 0 && answered < UNREAD_REQUESTS, `${answered} requests were answered`);
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
}
