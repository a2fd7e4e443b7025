// What stands before every operation: TLS, credentials, rate limits, CORS, request ids, limits of bodies. Two servers
// with what is not the default, one a listener.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { GrpcClient } from './grpc-client.ts';
import { HttpClient, refusalOf } from './http-client.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const CERTIFICATE = join(TLS, 'cert.pem');
const TLS_FLAGS = { tlsCert: CERTIFICATE, tlsKey: join(TLS, 'key.pem') };
const MIB = 1_048_576;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A request over TLS that trusts the certificate of the fixtures alone. */
function secure(
  server: TestServer,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  const url = new URL(`${server.http.replace('127.0.0.1', 'localhost')}/api${path}`);
  const options = {
    method,
    headers,
    ca: readFileSync(CERTIFICATE),
    checkServerIdentity: () => undefined,
    agent: false,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const told = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: new Headers(told), text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

for (const listener of ['uws', 'node'])
  describe(`guards before HTTP by ${listener}`, { concurrency: 4 }, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ http: listener, corsOrigins: 'https://app.example' });
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });
    const client = (): HttpClient => new HttpClient(server.http, server.key);
    const M = '/memories/default';

    test('a key is taken in either header; what is none is refused, and its words are not repeated', async () => {
      const http = client();
      assert.equal(
        (await http.ask('GET', `${M}/stats`, { key: null, headers: { 'x-api-key': server.key } })).status,
        200,
      );
      const wrong = `gr_${'5'.repeat(64)}`;
      for (const authorization of [
        `Bearer ${wrong}`,
        wrong,
        'Bearer',
        'Bearer ',
        `Basic ${wrong}`,
        `bearer  ${wrong} x`,
      ]) {
        const reply = await http.ask('GET', `${M}/stats`, { key: null, headers: { authorization } });
        const { code } = refusalOf(reply, authorization);
        assert.ok(code === 'AUT-E004' || code === 'AUT-E005', `${authorization}: ${code}`);
        assert.equal(reply.headers.get('www-authenticate'), 'Bearer');
        assert.ok(!reply.text.includes(wrong));
      }
    });

    test('a key that expired is refused, one that will is not yet', async () => {
      const http = client();
      const soon = Math.floor(Date.now() / 1000) + 3600;
      const made = await http.post('/auth/keys', { scopes: ['read'], expires_at: soon });
      assert.equal(made.expires_at, soon);
      assert.equal((await http.with(made.raw_key).ask('GET', `${M}/stats`)).status, 200);
    });

    test('headers narrow a call, and never widen it', async () => {
      const http = client();
      const { raw_key } = await http.post('/auth/keys', {
        scopes: ['read', 'write'],
        namespace: 'mine',
        user_id: 'ada',
      });
      const bound = http.with(raw_key);
      const { blob_hash } = await bound.post(`${M}/add`, { subject: 'a', relation: 'b', object: `c ${listener}` });
      const grain = await bound.get(`${M}/grains/${blob_hash}`, {
        headers: { 'x-namespace': 'mine', 'x-user-id': 'ada' },
      });
      assert.deepEqual([grain.namespace, grain.user_id], ['mine', 'ada']);
      for (const headers of [{ 'x-namespace': 'other' }, { 'x-user-id': 'bob' }] as Record<string, string>[]) {
        await refused(bound.get(`${M}/grains/${blob_hash}`, { headers }), 'AUT-E001');
        await refused(http.get(`${M}/grains/${blob_hash}`, { headers }), 'MEM-E001');
      }
    });

    test('a request id is echoed when it is sane, else made; errors tell it too', async () => {
      const http = client();
      const asked = async (id: string) =>
        (await http.ask('GET', '/health', { headers: { 'x-request-id': id } })).headers;
      assert.equal((await asked('mine-1')).get('x-request-id'), 'mine-1');
      for (const odd of ['x'.repeat(10_000), 'a b', 'a"b'])
        assert.match((await asked(odd)).get('x-request-id') ?? '', /^req_/, odd.slice(0, 10));
      const ids = await Promise.all(
        [1, 2, 3].map(async () => (await http.ask('GET', '/health')).headers.get('x-request-id')),
      );
      assert.equal(new Set(ids).size, 3);
      const refusal = refusalOf(
        await http.ask('GET', '/nothing', { headers: { 'x-request-id': 'mine-2' } }),
        'nothing',
      );
      assert.equal(refusal.requestId, 'mine-2');
    });

    test('an allowed origin may read every answer, errors too, and another may not', async () => {
      const http = client();
      for (const path of ['/health', `${M}/stats`, '/nothing', `${M}/policy`]) {
        const allowed = await http.ask('GET', path, { headers: { origin: 'https://app.example' } });
        assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://app.example', path);
        assert.match(allowed.headers.get('vary') ?? '', /origin/i);
        const other = await http.ask('GET', path, { headers: { origin: 'https://evil.example' } });
        assert.equal(other.headers.get('access-control-allow-origin'), null, path);
      }
      const nobody = await http.ask('GET', `${M}/stats`, { key: null, headers: { origin: 'https://app.example' } });
      assert.deepEqual(
        [nobody.status, nobody.headers.get('access-control-allow-origin')],
        [401, 'https://app.example'],
        'CORS comes before auth',
      );
    });

    test('a preflight needs no key', async () => {
      const http = client();
      const headers = {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type, x-purpose',
      };
      const reply = await http.ask('OPTIONS', `${M}/add`, { key: null, headers });
      assert.ok(reply.status === 204 || reply.status === 200, `status ${reply.status}`);
      assert.equal(reply.headers.get('access-control-allow-origin'), 'https://app.example');
      assert.match(reply.headers.get('access-control-allow-methods') ?? '', /POST/);
      assert.match((reply.headers.get('access-control-allow-headers') ?? '').toLowerCase(), /authorization/);
    });

    test('no route, another method, another type', async () => {
      const http = client();
      for (const path of ['/', '', '/nothing', `${M}/`, `${M}/adds`, `${M}/add/x`, '//add', `${M}/grains/a/b`])
        await refused(http.get(path), 'SYS-E003').catch((error: Error) => {
          throw new Error(`${path}: ${error.message}`);
        });
      const reply = await http.ask('PUT', `${M}/add`, { json: {} });
      assert.equal(refusalOf(reply, 'PUT').code, 'SYS-E004');
      assert.match(reply.headers.get('allow') ?? '', /POST/);
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/jsonx'])
        await refused(
          http.call('POST', `${M}/add`, { body: '{}', headers: { 'content-type': type } }),
          'VAL-E006',
        ).catch((error: Error) => {
          throw new Error(`${type}: ${error.message}`);
        });
      for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'])
        await refused(http.call('POST', `${M}/add`, { body: '{}', headers: { 'content-type': type } }), 'VAL-E003');
      for (const body of ['', '{', 'nonsense', '{"a":1}x', "{'a':1}"])
        await refused(
          http.call('POST', `${M}/add`, { body, headers: { 'content-type': 'application/json' } }),
          'VAL-E002',
          'VAL-E003',
        );
    });

    test('a body of 16 MiB is read, a longer one is refused, whatever it says of itself', async () => {
      const http = client();
      const ofLength = (length: number) => `{"query":"x","pad":"${'p'.repeat(length - 22)}"}`;
      const headers = { 'content-type': 'application/json' };
      assert.equal(ofLength(100).length, 100);
      const whole = await http.ask('POST', `${M}/search`, { body: ofLength(16 * MIB), headers });
      assert.equal(whole.status, 200, whole.text.slice(0, 200));
      await refused(http.call('POST', `${M}/search`, { body: ofLength(16 * MIB + 1), headers }), 'LIM-E003');
    });

    test('an upload beyond 50 MiB is refused', async () => {
      const http = client();
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(50 * MIB + 1)]), 'big.mg');
      await refused(http.call('POST', `${M}/import-file`, { body: form }), 'LIM-E003');
    });
  });

describe('TLS, and nobody to know', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ http: 'uws', auth: 'none', ...TLS_FLAGS });
  });
  after(() => server.close());

  test('HTTP and gRPC are served over TLS alone, and anybody on the machine is admin', async () => {
    assert.ok(server.http.startsWith('https://'));
    const config = JSON.parse((await secure(server, 'GET', '/config')).text);
    assert.equal(config.auth_mode, 'none');
    assert.equal((await secure(server, 'GET', '/auth/keys')).status, 200);
    await assert.rejects(fetch(`${server.http.replace('https', 'http')}/api/health`));
    const grpc = GrpcClient.open(server.grpc, '', credentials.createSsl(readFileSync(CERTIFICATE)));
    const { hash } = await grpc.call('Add', { grain_type: 'event', fields_json: '{"content":"x"}' });
    assert.equal((await grpc.call('Get', { hash })).hash, hash);
    grpc.close();
  });

  test('a credential that is sent is checked all the same', async () => {
    const wrong = await secure(server, 'GET', '/memories', { authorization: `Bearer gr_${'0'.repeat(64)}` });
    assert.equal(refusalOf(wrong, 'mode none').code, 'AUT-E004');
  });
});

describe('TLS and a rate limit', () => {
  let server: TestServer;
  const clock = { ms: Date.now(), nowMs: () => clock.ms };
  before(async () => {
    server = await startTestServer({ http: 'node', rateLimit: '60', ...TLS_FLAGS }, { clock });
  });
  after(() => server.close());
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  test('beyond the burst a key waits as long as it is told, over HTTP and gRPC together, and others do not', async () => {
    const headers = bearer(server.key);
    const made: string[] = [];
    let spent = 0;
    for (let at = 0; at < 10; at++) {
      const reply = await secure(server, 'GET', '/memories', headers);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get('x-ratelimit-limit'), '60');
      made.push(reply.headers.get('x-ratelimit-remaining') ?? '');
      spent += 1;
    }
    assert.deepEqual(made.map(Number), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    const over = await secure(server, 'GET', '/memories', headers);
    assert.equal(refusalOf(over, 'burst').code, 'LIM-E001');
    assert.equal(spent, 10);
    const wait = Number(over.headers.get('retry-after'));
    assert.ok(wait >= 1 && wait <= 60, `retry after ${wait}`);
    assert.ok(Number(over.headers.get('x-ratelimit-reset')) > 0);

    const grpc = GrpcClient.open(server.grpc, server.key, credentials.createSsl(readFileSync(CERTIFICATE)));
    await refused(grpc.call('Stats', {}), 'LIM-E001');
    assert.equal((await secure(server, 'GET', '/health')).status, 200, 'what is public has no key to limit');

    clock.ms += wait * 1000;
    assert.equal((await secure(server, 'GET', '/memories', headers)).status, 200);
    clock.ms += 60_000;
    const json = { ...headers, 'content-type': 'application/json' };
    const { raw_key } = JSON.parse((await secure(server, 'POST', '/auth/keys', json, '{"scopes":["read"]}')).text);
    for (let at = 0; at < 9; at++) await grpc.call('Stats', {});
    await refused(grpc.call('Stats', {}), 'LIM-E001');
    assert.equal((await secure(server, 'GET', '/memories', bearer(raw_key))).status, 200);
    grpc.close();
  });

  test('who guesses keys is slowed down by address', async () => {
    const codes = new Map<string, number>();
    for (let at = 0; at < 70; at++) {
      const reply = await secure(server, 'GET', '/memories', bearer(`gr_${String(at).padStart(64, '0')}`));
      const { code } = refusalOf(reply, 'guess');
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    assert.deepEqual([...codes.keys()], ['AUT-E004', 'LIM-E001']);
    assert.ok((codes.get('AUT-E004') ?? 0) <= 60);
  });
});
