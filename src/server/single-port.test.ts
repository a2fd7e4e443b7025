// TLS on both transports, and both on one port.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request as requestTls } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { startTestServer, type TestServer } from '../../test/support/server.ts';
import type { AddResponse } from './gen/memory/v1/memory.ts';
import { MemoryServiceClient } from './gen/memory/v1/services.ts';

const TLS = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'tls');
const FILES = { tlsCert: join(TLS, 'cert.pem'), tlsKey: join(TLS, 'key.pem') };
const CERTIFICATE = readFileSync(FILES.tlsCert);

type Flags = Record<string, string>;
const isTls = (flags: Flags): boolean => flags['tlsCert'] !== undefined;

async function withServer(flags: Flags, run: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await startTestServer(flags);
  try {
    await run(server);
    assert.deepEqual(server.errors, []);
  } finally {
    await server.close();
  }
}

function grpcClient(server: TestServer, flags: Flags): MemoryServiceClient {
  if (!isTls(flags)) return new MemoryServiceClient(server.grpc, credentials.createInsecure());
  return new MemoryServiceClient(server.grpc, credentials.createSsl(CERTIFICATE), {
    'grpc.ssl_target_name_override': 'localhost',
  });
}

function add(client: MemoryServiceClient, key: string, content: string): Promise<AddResponse> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const request = { grainType: 'event', fieldsJson: JSON.stringify({ content }) };
  return new Promise((resolve, reject) => {
    client.add(request, metadata, (error: ServiceError | null, reply) =>
      error === null ? resolve(reply) : reject(error),
    );
  });
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** One HTTP/1.1 request; with TLS the client selects it in the handshake. */
async function overHttp1(server: TestServer, path: string, body?: string): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const method = body === undefined ? 'GET' : 'POST';
  if (!server.http.startsWith('https')) {
    const response = await fetch(`${server.http}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    return { status: response.status, body: await response.text(), headers: Object.fromEntries(response.headers) };
  }
  return new Promise((resolve, reject) => {
    const options = { method, headers, ca: CERTIFICATE, servername: 'localhost', agent: false };
    requestTls(`${server.http}${path}`, options, async (response) => {
      const chunks = await response.toArray();
      resolve({
        status: response.statusCode ?? 0,
        body: Buffer.concat(chunks).toString(),
        headers: response.headers,
      });
    })
      .on('error', reject)
      .end(body);
  });
}

/** Concurrent requests over one HTTP/2 connection. */
async function overHttp2(
  server: TestServer,
  requests: readonly { path: string; body?: string }[],
): Promise<HttpAnswer[]> {
  const session = connectHttp2(server.http, { ca: CERTIFICATE, servername: 'localhost' });
  try {
    return await Promise.all(
      requests.map(
        ({ path, body }) =>
          new Promise<HttpAnswer>((resolve, reject) => {
            const stream = session.request({
              ':method': body === undefined ? 'GET' : 'POST',
              ':path': path,
              authorization: `Bearer ${server.key}`,
              'content-type': 'application/json',
            });
            stream.on('error', reject);
            stream.on('response', async (headers) => {
              const chunks = await stream.toArray();
              resolve({ status: Number(headers[':status']), body: Buffer.concat(chunks).toString(), headers });
            });
            stream.end(body);
          }),
      ),
    );
  } finally {
    session.close();
  }
}

for (const http of ['uws', 'node'])
  test(`TLS on two ports (${http})`, () =>
    withServer({ http, ...FILES }, async (server) => {
      assert.match(server.http, /^https:/);
      assert.equal((await overHttp1(server, '/api/health')).status, 200);
      const client = grpcClient(server, FILES);
      assert.match((await add(client, server.key, 'over TLS')).hash, /^[0-9a-f]{64}$/);
      client.close();
    }));

for (const flags of [{ singlePort: 'true' }, { singlePort: 'true', ...FILES }] as Flags[])
  test(`one port for HTTP/1.1, HTTP/2 and gRPC${isTls(flags) ? ', with TLS' : ''}`, () =>
    withServer(flags, async (server) => {
      assert.equal(server.grpcPort, server.httpPort);
      const client = grpcClient(server, flags);
      const { hash } = await add(client, server.key, 'a grain of gRPC');
      const first = await overHttp1(server, `/api/memories/default/grains/${hash}`);
      assert.equal(first.status, 200);
      assert.match(first.body, /a grain of gRPC/);

      const content = 'a large one '.repeat(50_000);
      const grain = JSON.stringify({ grains: [{ grain_type: 'event', fields: { content } }] });
      const [added, health, missing, forbidden] = await overHttp2(server, [
        { path: '/api/memories/default/batch-add', body: grain },
        { path: '/api/health' },
        { path: '/api/nowhere?x=1' },
        { path: '/api/memories/default/add', body: '{"subject":' },
      ]);
      assert.deepEqual([added?.status, health?.status, missing?.status, forbidden?.status], [200, 200, 404, 400]);
      assert.match(String(missing?.headers['x-request-id']), /^req_/);
      const { added: items } = JSON.parse(added?.body ?? '') as { added: { blob_hash: string }[] };
      const [raw] = await overHttp2(server, [{ path: `/api/memories/default/grains/${items[0]?.blob_hash}` }]);
      assert.ok(raw?.body.includes(content));
      const file = await overHttp2(server, [{ path: '/api/memories/default/export-file' }]);
      assert.equal(file[0]?.status, 200);
      assert.ok((file[0]?.body.length ?? 0) > content.length);

      // Both on connections opened before the others.
      assert.match((await add(client, server.key, 'a second one')).hash, /^[0-9a-f]{64}$/);
      const config = JSON.parse((await overHttp1(server, '/api/config')).body) as { features: object };
      assert.deepEqual(
        Object.entries(config.features).filter(([name]) => name === 'grpc_port' || name === 'http_listener'),
        [
          ['http_listener', 'node'],
          ['grpc_port', server.httpPort],
        ],
      );
      client.close();
    }));

test('without TLS the first bytes decide, in whatever pieces they arrive', () =>
  withServer({ singlePort: 'true' }, async (server) => {
    const socket = connect(server.httpPort, '127.0.0.1').setNoDelay();
    const answered = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
        if (text.split('HTTP/1.1 200').length === 3) resolve(text);
      });
    });
    // Two pipelined requests, the first one's method in pieces.
    const request = 'PUT /api/health HTTP/1.1\r\nHost: x\r\n\r\n'.replace('PUT', 'GET');
    for (const piece of [request.slice(0, 1), request.slice(1, 3), request.slice(3) + request]) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await answered, /"status":"ok"/);
    socket.destroy();
    const silent = connect(server.httpPort, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    silent.destroy();
  }));

test('a drain lets calls on the shared port finish and closes idle connections', async () => {
  const server = await startTestServer({ singlePort: 'true' });
  const client = grpcClient(server, {});
  await add(client, server.key, 'before');
  const session = connectHttp2(server.http);
  await new Promise((resolve) => session.once('connect', resolve));
  const closed = new Promise((resolve) => session.once('close', resolve));
  await Promise.all([server.close(), closed]);
  await assert.rejects(add(client, server.key, 'after'), { code: 14 });
  client.close();
});
