// Probes of load balancers: HTTP/1.0, without Host or key, on paths without /api.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '../../test/support/server.ts';
import { SocketClient, type WireResponse } from './http/socket-client.ts';
import { ask, makeParts } from './testing/parts.ts';

async function saying(port: number, bytes: string): Promise<WireResponse> {
  const client = await SocketClient.open(port);
  client.send(bytes);
  const answer = await client.response();
  await client.closed;
  assert.ok(answer !== undefined, `an answer to ${bytes}`);
  return answer;
}

async function withServer(flags: Record<string, string>, run: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await startTestServer(flags);
  try {
    await run(server);
    assert.deepEqual(server.errors, []);
  } finally {
    await server.close();
  }
}

/** Default requests of HAProxy's `option httpchk` and nginx's `proxy_pass`. */
async function answersHttp10(server: TestServer, port: number): Promise<void> {
  assert.equal((await saying(port, 'OPTIONS / HTTP/1.0\r\n\r\n')).status, 204);
  for (const path of ['/health', '/health/live', '/health/ready', '/api/health/live'])
    assert.equal((await saying(port, `GET ${path} HTTP/1.0\r\n\r\n`)).status, 200, path);
  const body = '{"subject":"ann","relation":"likes","object":"tea"}';
  const added = await saying(
    port,
    `POST /api/memories/default/add HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n` +
      `Authorization: Bearer ${server.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  assert.match(String(added.body), /"blob_hash":"[0-9a-f]{64}"/);
  // A file is streamed, and ends with the connection.
  const file = await saying(
    port,
    `GET /api/memories/default/export-file HTTP/1.0\r\nAuthorization: Bearer ${server.key}\r\n\r\n`,
  );
  assert.deepEqual([file.status, file.body.subarray(0, 2).toString()], [200, 'MG']);
}

test('the listener answers HTTP/1.0 unless another one is requested', () =>
  withServer({}, async (server) => {
    assert.equal(server.httpListener, 'node');
    await answersHttp10(server, server.httpPort);
  }));

test('HTTP/1.0 is answered where gRPC shares the port', () =>
  withServer({ singlePort: 'true' }, (server) => answersHttp10(server, server.httpPort)));

test('HTTP/1.0 is answered beside uWebSockets.js, on a port of its own', () =>
  withServer({ http: 'uws', http10Port: '0' }, async (server) => {
    assert.ok(server.http10Port !== undefined);
    await answersHttp10(server, server.http10Port);
    if (server.httpListener === 'uws')
      assert.equal((await saying(server.httpPort, 'GET /health HTTP/1.0\r\nHost: x\r\n\r\n')).status, 505);
  }));

for (const http of ['uws', 'node'])
  test(`probes need no key, and report why the server is not ready (${http})`, () =>
    withServer({ http }, async (server) => {
      const health = async (path: string) => {
        const answer = await fetch(`${server.http}${path}`);
        return [answer.status, (await answer.json()) as { status: string; reasons?: string[] }] as const;
      };
      for (const prefix of ['', '/api']) {
        const [status, { status: word }] = await health(`${prefix}/health/live`);
        assert.deepEqual([status, word], [200, 'ok']);
        assert.equal((await health(`${prefix}/health/ready`))[0], 200);
      }
      assert.equal((await fetch(`${server.http}/health/ready`, { method: 'HEAD' })).status, 200);
      assert.equal((await fetch(`${server.http}/health/other`)).status, 404);
      assert.equal((await fetch(server.http, { method: 'OPTIONS' })).status, 204);
    }));

test('a server that is shutting down is alive and not ready', async () => {
  const parts = await makeParts();
  assert.equal((await ask(parts, 'GET', '/health/ready')).status, 200);
  Object.assign(parts.services, { isEnding: () => true });
  const ready = await ask(parts, 'GET', '/health/ready');
  assert.deepEqual([ready.status, ready.body['reasons']], [503, ['the server is shutting down']]);
  assert.equal((await ask(parts, 'GET', '/health/live')).status, 200);
});
