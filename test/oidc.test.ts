// A server that takes tokens of a real issuer (oidc-provider): its discovery, its key sets and its access tokens.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { HttpClient } from './conformance/http-client.ts';
import { AUDIENCE, startOidcIssuer } from './support/oidc-issuer.ts';
import { startTestServer } from './support/server.ts';

const CLIENTS = {
  reader: { scope: 'memory:read' },
  writer: { scope: 'memory:write' },
  admin: { memory_scopes: ['admin'] },
  'of one memory': { memory_scopes: ['write'], memories: ['team'] },
  'of two memories': { memory_scopes: ['write'], memories: ['team', 'default'] },
  'of no memory': { memory_scopes: ['write'], memories: [] },
  'of a namespace': { memory_scopes: ['write'], memory_namespace: 'kitchen' },
} as const;

async function begun(t: TestContext, mode: 'oidc' | 'composite', listener: 'node' | 'uws' = 'node') {
  const issuer = await startOidcIssuer(t, mode === 'oidc' ? 'RS256' : 'ES256', CLIENTS);
  const flags = { oidcIssuer: issuer.url, oidcAudience: `other,${AUDIENCE}`, http: listener };
  // `composite` is what an issuer alone turns on.
  const server = await startTestServer(mode === 'oidc' ? { ...flags, auth: mode } : flags);
  t.after(() => server.close());
  const as = async (client: keyof typeof CLIENTS): Promise<HttpClient> =>
    new HttpClient(server.http, await issuer.tokenFor(client));
  return { issuer, server, as };
}

const belief = (subject: string, namespace?: string) => ({
  json: { subject, relation: 'likes', object: 'tea', ...(namespace === undefined ? {} : { namespace }) },
});

for (const listener of ['node', 'uws'] as const)
  test(`tokens open a server in mode oidc, with their scopes and bindings (${listener})`, async (t) => {
    const { issuer, server, as } = await begun(t, 'oidc', listener);
    const admin = await as('admin');
    assert.deepEqual((await admin.ask('GET', '/config', { key: null })).json.oidc, {
      issuer: issuer.url,
      audience: ['other', AUDIENCE],
      signs_in: false,
    });
    assert.equal((await admin.ask('GET', '/config', { key: null })).json.auth_mode, 'oidc');
    assert.equal((await admin.ask('POST', '/memories', { json: { id: 'team' } })).status, 201);

    const reader = await as('reader');
    assert.equal((await reader.ask('GET', '/memories/team/stats')).status, 200);
    assert.equal((await reader.ask('POST', '/memories/team/add', belief('ann'))).json.error.code, 'AUT-E001');
    const writer = await as('writer');
    assert.equal((await writer.ask('POST', '/memories/team/add', belief('ann'))).status, 200);
    assert.equal((await writer.ask('GET', '/auth/keys')).json.error.code, 'AUT-E001');

    const statuses = async (client: keyof typeof CLIENTS) => {
      const http = await as(client);
      const asked = ['team', 'default', 'none'].map(
        async (id) => (await http.ask('POST', `/memories/${id}/add`, belief(client))).status,
      );
      const { memories } = (await http.ask('GET', '/memories')).json;
      return [await Promise.all(asked), memories.map(({ id }: { readonly id: string }) => id).sort()];
    };
    assert.deepEqual(await statuses('of one memory'), [[200, 403, 403], ['team']]);
    assert.deepEqual(await statuses('of two memories'), [
      [200, 200, 403],
      ['default', 'team'],
    ]);
    assert.deepEqual(await statuses('of no memory'), [[403, 403, 403], []]);

    const bound = await as('of a namespace');
    assert.equal((await bound.ask('POST', '/memories/team/add', belief('bob', 'garden'))).json.error.code, 'AUT-E001');
    assert.equal((await bound.ask('POST', '/memories/team/add', belief('bob'))).status, 200);
    const { grains } = (await bound.ask('GET', '/memories/team/grains')).json;
    assert.deepEqual(
      grains.map(({ namespace }: { readonly namespace: string }) => namespace),
      ['kitchen'],
    );

    // The audit trail names the token's subject, which is the client here.
    const { total } = (await admin.ask('GET', '/memories/team/audit?event_type=memory.added&actor=user:writer')).json;
    assert.equal(total, 1);
    // API keys are not accepted, and neither are no credentials.
    assert.equal((await admin.ask('GET', '/memories', { key: server.key })).json.error.code, 'AUT-E004');
    assert.equal((await admin.ask('GET', '/memories', { key: null })).json.error.code, 'AUT-E005');
  });

test('API keys and tokens open a server in mode composite, over HTTP and gRPC', async (t) => {
  const { issuer, server, as } = await begun(t, 'composite');
  const writer = await as('writer');
  assert.equal((await writer.ask('GET', '/config')).json.auth_mode, 'composite');
  assert.equal((await writer.ask('POST', '/memories/default/add', belief('ann'))).status, 200);
  assert.equal((await new HttpClient(server.http, server.key).ask('GET', '/auth/keys')).status, 200);

  const grpc = GrpcClient.open(server.grpc, await issuer.tokenFor('writer'));
  t.after(() => grpc.close());
  const fields = { subject: 'bob', relation: 'likes', object: 'tea' };
  const { hash } = await grpc.call('Add', { grain_type: 'belief', fields_json: JSON.stringify(fields) });
  assert.match(hash, /^[0-9a-f]{64}$/);
  await assert.rejects(grpc.with({ authorization: 'Bearer a.b.c' }).call('Stats', {}), { code: 'AUT-E004' });
});

test('a token of a rotated key is refused once the new key is known; a dead issuer shuts nobody out', async (t) => {
  const { issuer, as } = await begun(t, 'composite');
  const before = await as('reader');
  assert.equal((await before.ask('GET', '/memories')).status, 200);
  await issuer.rotate();
  // The issuer's keys were fetched a moment ago, and a token of an unknown key does not fetch them again so soon.
  assert.equal((await (await as('reader')).ask('GET', '/memories')).json.error.code, 'AUT-E004');
  issuer.stop();
  assert.equal((await before.ask('GET', '/memories')).status, 200);
});

test('a server whose issuer is dead from the start serves keys, and tells tokens to try again', async (t) => {
  const { issuer, server } = await begun(t, 'composite');
  const token = await issuer.tokenFor('reader');
  issuer.stop();
  const http = new HttpClient(server.http, token);
  const answer = await http.ask('GET', '/memories');
  assert.deepEqual([answer.status, answer.json.error.code], [503, 'AUT-E008']);
  assert.equal((await http.with(server.key).ask('GET', '/memories')).status, 200);
  const ready = await http.ask('GET', '/health/ready');
  assert.equal(ready.status, 200);
});
