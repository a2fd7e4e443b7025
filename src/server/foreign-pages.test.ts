// A server without keys is protected from web pages in a browser on the same machine.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../../test/support/server.ts';
import { readConfig } from './config.ts';
import { SocketClient } from './http/socket-client.ts';

const NAMED = { allowedHosts: 'granary.internal', corsOrigins: 'https://app.example' };

for (const flags of [{ http: 'uws' }, { http: 'node' }, { singlePort: 'true' }] as Record<string, string>[])
  describe(`pages of other sites, ${JSON.stringify(flags)}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ auth: 'none', ...flags, ...NAMED });
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });

    async function outcomeOf(start: string, lines: readonly string[], body = ''): Promise<string> {
      const client = await SocketClient.open(server.httpPort);
      const length = body === '' ? [] : [`Content-Length: ${body.length}`];
      client.send(`${start}\r\n${[...lines, ...length].map((line) => `${line}\r\n`).join('')}\r\n${body}`);
      const answer = await client.response({ bodiless: start.startsWith('HEAD') });
      client.close();
      return /"code":"([^"]+)"/.exec(String(answer?.body))?.[1] ?? String(answer?.status);
    }
    const host = (): string => `Host: localhost:${server.httpPort}`;
    const LIST = 'GET /api/memories HTTP/1.1';

    test('host names of this machine and allowed ones are answered; others are rejected', async () => {
      const port = server.httpPort;
      for (const name of [
        `localhost:${port}`,
        `LocalHost.:${port}`,
        'localhost',
        'localhost:9999',
        `127.0.0.1:${port}`,
        '127.8.8.8',
        `[::1]:${port}`,
        'granary.internal',
        `Granary.Internal:${port}`,
      ])
        assert.equal(await outcomeOf(LIST, [`Host: ${name}`]), '200', name);
      for (const name of [
        'evil.example',
        `evil.example:${port}`,
        'localhost.evil.example',
        `127.0.0.1.evil.example:${port}`,
        `localhost@evil.example:${port}`,
        `evil.example@localhost`,
        '10.0.0.1',
        '0.0.0.0',
        '[::2]',
        'xgranary.internal',
        'a.granary.internal',
        ':80',
      ])
        for (const start of [LIST, 'GET /api/health HTTP/1.1', 'GET /metrics HTTP/1.1', 'GET /nothing HTTP/1.1'])
          assert.equal(await outcomeOf(start, [`Host: ${name}`]), 'AUT-E001', `${start} ${name}`);
      assert.match(await outcomeOf(LIST, ['Host: localhost', 'Host: evil.example']), /^(400|VAL-E001)$/);
      assert.match(await outcomeOf('GET /health/live HTTP/1.1', ['Host:']), /^(400|AUT-E001|VAL-E002)$/);
    });

    test('a page of this server or of an allowed origin is answered', async () => {
      const port = server.httpPort;
      const json = 'Content-Type: application/json';
      for (const origin of [
        'https://evil.example',
        'null',
        'http://localhost',
        'http://localhost:3000',
        `http://evil.example:${port}`,
        `http://localhost.evil.example:${port}`,
        'file://',
        'nonsense',
        `http://localhost:${port}, https://evil.example`,
        `http://localhost:${port}@evil.example`,
        'https://app.example.evil.example',
        'http://app.example',
      ]) {
        for (const start of [LIST, 'HEAD /api/memories HTTP/1.1', 'DELETE /api/memories/default HTTP/1.1']) {
          const code = await outcomeOf(start, [host(), `Origin: ${origin}`]);
          assert.equal(code, start.startsWith('HEAD') ? '403' : 'AUT-E001', `${start} ${origin}`);
        }
        assert.equal(
          await outcomeOf('POST /api/memories HTTP/1.1', [host(), json, `Origin: ${origin}`], '{"id":"theirs"}'),
          'AUT-E001',
          origin,
        );
      }
      for (const origin of [
        `http://localhost:${port}`,
        `http://127.0.0.1:${port}`,
        `http://[::1]:${port}`,
        'https://app.example',
      ])
        assert.equal(await outcomeOf(LIST, [host(), `Origin: ${origin}`]), '200', origin);
      // A tunnel changes the port in the page's address.
      assert.equal(await outcomeOf(LIST, ['Host: localhost:9999', 'Origin: http://localhost:9999']), '200');
      assert.equal(await outcomeOf(LIST, ['Host: granary.internal', 'Origin: https://granary.internal']), '200');
      assert.equal(
        await outcomeOf(LIST, [host(), `Origin: http://localhost:${port}`, 'Origin: https://evil.example']),
        'VAL-E001',
      );
    });

    test('browser headers count for a request without Origin too', async () => {
      for (const site of ['cross-site', 'same-site'])
        for (const mode of ['no-cors', 'websocket', 'cors'])
          assert.equal(
            await outcomeOf(LIST, [host(), `Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`]),
            'AUT-E001',
            `${site} ${mode}`,
          );
      const navigation = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'];
      assert.equal(
        await outcomeOf(LIST, [host(), ...navigation, 'Sec-Fetch-Dest: document']),
        '200',
        'a link is followed',
      );
      assert.equal(await outcomeOf(LIST, [host(), ...navigation, 'Sec-Fetch-Dest: iframe']), 'AUT-E001');
      for (const site of ['same-origin', 'none'])
        assert.equal(await outcomeOf(LIST, [host(), `Sec-Fetch-Site: ${site}`]), '200', site);
      assert.equal(await outcomeOf(LIST, [host(), 'Origin: https://app.example', 'Sec-Fetch-Site: cross-site']), '200');
    });

    test('a key is checked even if none is needed, and a preflight lets no other page in', async () => {
      assert.equal(await outcomeOf(LIST, [host(), 'Authorization: Bearer wrong']), 'AUT-E004');
      const client = await SocketClient.open(server.httpPort);
      for (const [origin, allowed] of [
        ['https://evil.example', undefined],
        ['https://app.example', 'https://app.example'],
      ] as const) {
        const answer = await client.exchange('OPTIONS', '/api/memories', {
          headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' },
        });
        assert.equal(answer?.headers.get('access-control-allow-origin'), allowed);
      }
      client.close();
    });

    test('gRPC is checked by its own authority', async () => {
      const code = (port: number, headers: Record<string, string>): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const session = connect(`http://127.0.0.1:${port}`);
          const stream = session.request({
            ':method': 'POST',
            'content-type': 'application/grpc',
            te: 'trailers',
            ...headers,
          });
          let found: unknown;
          const look = (given: Record<string, unknown>): void => {
            found =
              given['x-error-code'] ?? (given['grpc-status'] === undefined ? found : Number(given['grpc-status']));
          };
          stream.on('response', look).on('trailers', look).on('error', reject).resume();
          stream.on('close', () => {
            session.close();
            resolve(found);
          });
          stream.end(Buffer.alloc(5));
        });
      for (const path of ['/memory.v1.MemoryService/Health', '/grpc.health.v1.Health/Check']) {
        for (const authority of ['localhost:1', '127.0.0.1', '[::1]:5', 'granary.internal:50051'])
          assert.equal(await code(server.grpcPort, { ':path': path, ':authority': authority }), 0, authority);
        for (const headers of [
          { ':authority': 'evil.example' },
          { ':authority': 'localhost', origin: 'https://evil.example' },
          { ':authority': 'localhost', 'sec-fetch-site': 'cross-site' },
        ])
          assert.equal(await code(server.grpcPort, { ':path': path, ...headers }), 'AUT-E001', JSON.stringify(headers));
      }
    });

    if (flags['singlePort'] !== undefined)
      test('HTTP/2 is checked by its authority', async () => {
        const session = connect(server.http);
        const status = (headers: Record<string, string>): Promise<unknown> =>
          new Promise((resolve, reject) => {
            const stream = session.request({ ':path': '/api/memories', ...headers });
            stream
              .on('response', (given) => resolve(given[':status']))
              .on('error', reject)
              .resume();
          });
        assert.equal(await status({ ':authority': 'localhost' }), 200);
        assert.equal(await status({ ':authority': 'evil.example' }), 403);
        assert.equal(await status({ ':authority': 'localhost', origin: 'https://evil.example' }), 403);
        session.close();
      });

    if (flags['http'] !== 'uws')
      test('an absolute target counts as Host', async () => {
        assert.equal(await outcomeOf('GET http://localhost/api/memories HTTP/1.1', ['Host: evil.example']), '200');
        assert.equal(await outcomeOf('GET http://evil.example/api/memories HTTP/1.1', [host()]), 'AUT-E001');
        assert.equal(await outcomeOf('GET /api/memories HTTP/1.0', []), '200', 'HTTP/1.0 has no Host, and no browser');
      });
  });

test('with keys, any page and any host name are answered', async (t) => {
  const server = await startTestServer({});
  t.after(() => server.close());
  const headers = {
    authorization: `Bearer ${server.key}`,
    origin: 'https://any.example',
    'sec-fetch-site': 'cross-site',
  };
  assert.equal((await fetch(`${server.http}/api/memories`, { headers })).status, 200);
});

test('on a public address other pages are rejected, and unknown host names once some are configured', async (t) => {
  const open = await startTestServer({ auth: 'none', host: '0.0.0.0', insecure: 'true' });
  t.after(() => open.close());
  const named = await startTestServer({
    auth: 'none',
    host: '0.0.0.0',
    insecure: 'true',
    allowedHosts: 'mine.example',
  });
  t.after(() => named.close());
  const outcomeOf = async ({ httpPort }: TestServer, lines: string[]): Promise<number | undefined> => {
    const client = await SocketClient.open(httpPort);
    client.send(`GET /api/memories/default/stats HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`);
    const answer = await client.response();
    client.close();
    return answer?.status;
  };
  assert.equal(await outcomeOf(open, ['Host: other.example:80']), 200);
  assert.equal(await outcomeOf(open, ['Host: other.example:80', 'Origin: http://other.example']), 200);
  assert.equal(await outcomeOf(open, ['Host: other.example:80', 'Origin: http://evil.example']), 403);
  assert.equal(await outcomeOf(named, ['Host: other.example:80']), 403);
  assert.equal(await outcomeOf(named, ['Host: mine.example:80']), 200);
});

test('any origin without keys is rejected', () => {
  assert.throws(() => readConfig({ auth: 'none', corsOrigins: '*' }, {}), {
    code: 'AUT-E003',
    message: /--cors-origins/,
  });
  assert.deepEqual(readConfig({ corsOrigins: '*' }, {}).corsOrigins, ['*']);
});
