// Servers with other than default options: TLS, no authentication, a rate limit.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { GrpcClient } from './grpc-client.ts';
import { refusalOf } from './http-client.ts';

const TLS = join(import.meta.dirname, '../fixtures/tls');
const CERTIFICATE = join(TLS, 'cert.pem');
const TLS_FLAGS = { tlsCert: CERTIFICATE, tlsKey: join(TLS, 'key.pem') };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A TLS request that trusts only the fixtures' certificate. */
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
        const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

describe('TLS without authentication', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ http: 'uws', auth: 'none', ...TLS_FLAGS });
  });
  after(() => server.close());

  test('HTTP and gRPC are served only over TLS, and every local caller is admin', async () => {
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

  test('credentials that are sent are checked nevertheless', async () => {
    const wrong = await secure(server, 'GET', '/memories', { authorization: `Bearer gr_${'0'.repeat(64)}` });
    assert.equal(refusalOf(wrong, 'mode none').code, 'AUT-E004');
  });
});

describe('TLS and a rate limit', () => {
  let server: TestServer;
  // A stopped clock, ahead of the workers' own, so that no call expires during this file's tests.
  const clock = { ms: Date.now() + 600_000, nowMs: () => clock.ms };
  before(async () => {
    server = await startTestServer({ http: 'node', rateLimit: '60', ...TLS_FLAGS }, { clock });
  });
  after(() => server.close());
  const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

  test('above the burst a key must wait, over HTTP and gRPC together, and others need not', async () => {
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
    assert.equal((await secure(server, 'GET', '/health')).status, 200, 'public routes have no key to limit');

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

  test('guessing keys is slowed down by address', async () => {
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
