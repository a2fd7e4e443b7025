// Several nodes that speak TLS with their callers, on two ports and on a shared one.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { GrpcClient } from './conformance/grpc-client.ts';
import { answered } from './support/answered.ts';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const TLS = join(import.meta.dirname, 'fixtures/tls');
const CERTIFICATE = join(TLS, 'cert.pem');
const CA = readFileSync(CERTIFICATE);
const MASTER = 'c0ffee0123456789'.repeat(4);
const KEY = `gr_${randomBytes(32).toString('hex')}`;

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
  readonly body: any;
}

/** Callers over TLS that trust the fixtures' certificate alone. */
function caller(t: TestContext) {
  const agent = new Agent({ keepAlive: true, ca: CA });
  t.after(() => agent.destroy());
  return (server: ServerProcess, method: string, path: string, json?: unknown, more?: object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...more };
      const sent = request(new URL(path, server.http), { method, headers, agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') === true;
          resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
        });
      });
      sent.on('error', reject);
      sent.end(json === undefined ? undefined : JSON.stringify(json));
    });
}

/** The protocol that the port chooses of those that the caller offers. */
function chosen(server: ServerProcess, offered: readonly string[]): Promise<string | false | null> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.http);
    const socket = connect({ host: hostname, port: Number(port), ca: CA, ALPNProtocols: [...offered] }, () => {
      resolve(socket.alpnProtocol);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

const belief = (subject: string) => ({ subject, relation: 'likes', object: 'smoked tea' });

test('nodes serve TLS, pass requests on, and take over with the same certificate', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const root = temporaryDirectory(t);
  const start = async (name: string, flags: readonly string[] = []): Promise<ServerProcess> => {
    const tls = ['--tls-cert', CERTIFICATE, '--tls-key', join(TLS, 'key.pem')];
    const nodes = ['--shards', '4', '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', '6000'];
    const server = await startServerProcess({
      directory: join(root, name),
      flags: [...nodes, ...tls, ...flags],
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: MASTER, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    assert.ok(server.http.startsWith('https://'), server.http);
    return server;
  };
  const ask = caller(t);
  const a = await start('a');
  const b = await start('b');
  const c = await start('c', ['--single-port']);
  for (const server of [b, c])
    await eventually('the node answers by its copy', async () =>
      /^granary_control_copy_up 1$/m.test((await ask(server, 'GET', '/metrics')).body),
    );
  await assert.rejects(fetch(`${b.http.replace('https', 'http')}/api/health/live`), 'nothing is served in plain text');
  await assert.rejects(fetch(`${b.http}/api/health/live`), 'of a certificate that the caller does not trust');
  assert.equal(await chosen(c, ['h2', 'http/1.1']), 'h2');
  assert.equal(await chosen(c, ['http/1.1']), 'http/1.1');

  for (const [at, server] of [b, c].entries()) {
    const id = `m${at}`;
    assert.equal((await ask(server, 'POST', '/api/memories', { id })).status, 201, 'passed on');
    for (const node of [a, b, c])
      assert.equal((await ask(node, 'POST', `/api/memories/${id}/add`, belief(node.http))).status, 200);
    const { body } = await ask(server, 'POST', `/api/memories/${id}/recall`, { query: 'smoked tea', limit: 10 });
    assert.equal(body.count, 3);
    const grpc = GrpcClient.open(server.grpc, KEY, credentials.createSsl(CA)).with({ 'x-memory-id': id });
    t.after(() => grpc.close());
    const { hash } = await grpc.call('Add', { grain_type: 'belief', fields_json: JSON.stringify(belief('grpc')) });
    assert.equal((await grpc.call('Get', { hash })).hash, hash);
    await grpc.call('Forget', { hash });
    await assert.rejects(grpc.call('Get', { hash }), /MEM-E001/);
    // A long body that is passed on, and the answer to it.
    const text = `Ada drinks smoked tea. ${'x'.repeat(200_000)}`;
    const detected = await ask(server, 'POST', `/api/memories/${id}/detect-pii`, { text });
    assert.equal(detected.status, 200, JSON.stringify(detected.body).slice(0, 200));
  }

  // They wait for the next owner, unless they leave on a connection whose other end has just gone.
  const killed = a.kill();
  const waiting = [b, c].map((server, at) =>
    answered('a memory is made', (headers) => ask(server, 'POST', '/api/memories', { id: `later-${at}` }, headers)),
  );
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status, body }) => (status === 201 ? status : body)),
    [201, 201],
  );
  await killed;
  // One of them runs the server now: on the same ports, with the same certificate.
  assert.equal(await chosen(c, ['h2', 'http/1.1']), 'h2');
  for (const server of [b, c]) {
    const grpc = GrpcClient.open(server.grpc, KEY, credentials.createSsl(CA)).with({ 'x-memory-id': 'later-0' });
    t.after(() => grpc.close());
    await eventually('all shards are served', async () => {
      const fields = { grain_type: 'belief', fields_json: JSON.stringify(belief(`late ${server.grpc}`)) };
      return (await grpc.call('Add', fields).catch(() => undefined)) !== undefined;
    });
    assert.equal((await ask(server, 'GET', '/api/memories')).body.memories.length, 5);
  }
  assert.equal(await b.stop(), 0);
  assert.equal(await c.stop(), 0);
});
