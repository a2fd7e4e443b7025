// /mcp on the HTTP port, as clients of both generations see it, on both listeners.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, type TestContext, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { AUDIENCE, startOidcIssuer } from '../support/oidc-issuer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ask } from '../support/server-process.ts';
import {
  keepsHostileTexts,
  livesOneLife,
  offersResourcesAndPrompts,
  refusesBadArguments,
  showsHeavyGrain,
} from './behaviour.ts';
import { GENERATIONS, overHttp, type TestClient } from './clients.ts';

type Generation = (typeof GENERATIONS)[number];

/** A message of revision 2025-06-18, which needs no session here. */
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const ACCEPT = 'application/json, text/event-stream';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A request with headers that fetch does not send. */
function raw(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = JSON.stringify(LIST),
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = { 'content-type': 'application/json', accept: ACCEPT, ...headers };
    const asked = request(url, { method, headers: sent, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(pieces).toString(),
        }),
      );
    });
    asked.on('error', reject);
    asked.end(method === 'POST' ? body : undefined);
  });
}

/** The answer to these bytes. */
function sentAs(url: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const pieces: Buffer[] = [];
    const socket = connect({ host, port: Number(port) }, () => socket.write(bytes));
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(pieces).toString()));
  });
}

for (const http of ['node', 'uws'])
  describe(`/mcp on the listener ${http}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ http });
    });
    after(() => server.close());

    const bearer = (key = server.key): Record<string, string> => ({ authorization: `Bearer ${key}` });
    async function connected(
      t: TestContext,
      generation: Generation,
      { query = '', headers = {}, key }: { query?: string; headers?: Record<string, string>; key?: string } = {},
    ): Promise<TestClient> {
      const client = await overHttp[generation]({
        url: `${server.http}/mcp${query}`,
        headers: { ...bearer(key), ...headers },
      });
      t.after(() => client.close());
      return client;
    }

    for (const generation of GENERATIONS)
      test(`a client of ${generation} has all tools, resources and prompts`, async (t) => {
        const client = await connected(t, generation);
        await livesOneLife(client, `Ada${generation}`);
        await refusesBadArguments(client);
        await keepsHostileTexts(client);
        await offersResourcesAndPrompts(client);
        const content = `heavyweight ${'x'.repeat(1_000_000)} ${generation}`;
        const heavy = await ask(server, 'POST', '/memories/default/add', { grain_type: 'event', fields: { content } });
        await showsHeavyGrain(client, heavy.body.blob_hash);
      });

    test('two clients at once see what the other one stores', async (t) => {
      const [one, two] = await Promise.all([connected(t, '2026'), connected(t, '2025')]);
      const texts = Array.from({ length: 10 }, (_, at) => `Box ${at} holds item number ${at * 7}.`);
      await Promise.all(texts.map((text, at) => (at % 2 === 0 ? one : two).call('remember', { text })));
      const { structured } = await one.call('list', { limit: 100 });
      for (const text of texts)
        assert.ok(
          structured.grains.some((grain: { text: string }) => grain.text.includes(text)),
          text,
        );
    });

    test('headers and the key limit memory, namespace and user; the address says which tools there are', async (t) => {
      await ask(server, 'POST', '/memories', { id: 'team' });
      const headers = { 'x-memory-id': 'team', 'x-namespace': 'kitchen', 'x-user-id': "UTF-8''zo%C3%AB" };
      const zoe = await connected(t, '2026', { headers });
      const { hash } = (await zoe.call('remember', { text: 'Zoë keeps the flour in the attic.' })).structured;
      const stored = await ask(server, 'GET', `/memories/team/grains/${hash}`);
      assert.deepEqual([stored.body.user_id, stored.body.namespace], ['zoë', 'kitchen']);
      const { structured } = await zoe.call('status');
      assert.deepEqual([structured.memory, structured.namespace, structured.user], ['team', 'kitchen', 'zoë']);
      const other = await connected(t, '2025', { headers: { ...headers, 'x-user-id': 'bob' } });
      assert.ok(!(await other.call('recall', { query: 'flour' })).text.includes('attic'));

      const made = await ask(server, 'POST', '/auth/keys', {
        name: 'bound',
        scopes: ['read'],
        memory_id: 'team',
        user_id: 'zoë',
      });
      const bound = await connected(t, '2026', { key: made.body.raw_key });
      assert.match((await bound.call('recall', { query: 'flour' })).text, /in the attic/);
      // A key that only reads is offered only tools that read.
      assert.deepEqual(
        (await bound.tools()).map(({ name }) => name),
        ['recall', 'context', 'history', 'list', 'status'],
      );
      const wider = await raw(`${server.http}/mcp`, {
        headers: { ...bearer(made.body.raw_key), 'x-memory-id': 'default' },
      });
      assert.deepEqual([wider.status, JSON.parse(wider.body).error.code], [403, 'AUT-E001']);

      const full = await connected(t, '2026', { query: '?profile=full&read_only=1' });
      const names = (await full.tools()).map(({ name }) => name);
      assert.ok(names.includes('cal') && !names.includes('remember'), names.join());
      const few = await connected(t, '2025', { query: '?tools=recall,status' });
      assert.equal((await few.tools()).length, 2);
      for (const query of ['?profile=huge', '?read_only=yes', '?tools=recal']) {
        const refused = await raw(`${server.http}/mcp${query}`, { headers: bearer() });
        assert.deepEqual([refused.status, JSON.parse(refused.body).error.code], [400, 'VAL-E001'], query);
      }
    });

    test('wrong, revoked and expired keys are refused before anything is answered', async () => {
      const url = `${server.http}/mcp`;
      const missing = await raw(url);
      assert.deepEqual([missing.status, missing.headers['www-authenticate']], [401, 'Bearer']);
      assert.equal(JSON.parse(missing.body).error.code, 'AUT-E005');
      const wrong = await raw(url, { headers: bearer(`gr_${'0'.repeat(64)}`) });
      assert.deepEqual([wrong.status, JSON.parse(wrong.body).error.code], [401, 'AUT-E004']);
      const expires_at = Math.floor(Date.now() / 1000) + 2;
      const made = await ask(server, 'POST', '/auth/keys', { name: 'short', scopes: ['read'], expires_at });
      const short = () => raw(url, { headers: bearer(made.body.raw_key) });
      assert.equal((await short()).status, 200);
      await eventually('the key expires', async () => (await short()).status === 401);
      // Without an issuer there is no OAuth.
      assert.equal(
        (await raw(`${server.http}/.well-known/oauth-protected-resource/mcp`, { method: 'GET' })).status,
        404,
      );
    });

    test('pages of other sites and foreign names are refused, even with a key', async () => {
      const url = `${server.http}/mcp`;
      const port = new URL(url).port;
      for (const [headers, status, message] of [
        [
          { origin: 'https://evil.example' },
          403,
          /\/mcp does not answer pages of https:\/\/evil\.example \(--cors-origins/,
        ],
        [{ origin: 'null' }, 403, /does not answer pages of null/],
        [{ 'sec-fetch-site': 'cross-site' }, 403, /does not answer pages of other sites/],
        [
          { host: 'rebound.example' },
          403,
          /does not answer to the name rebound\.example \(--allowed-hosts rebound\.example/,
        ],
        [{ origin: `http://127.0.0.1:${port}` }, 200, /recall/],
        [{ host: `localhost:${port}`, origin: `http://localhost:${port}` }, 200, /recall/],
      ] as const) {
        const { status: got, body } = await raw(url, { headers: { ...bearer(), ...headers } });
        assert.equal(got, status, `${JSON.stringify(headers)}: ${body}`);
        assert.match(body, message);
      }
    });

    test('a request with two Host headers, and one of a method that nobody knows, are refused', async () => {
      const statusOf = async (head: string): Promise<number> => {
        const answer = await sentAs(server.http, `${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
        return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
      };
      const key = `authorization: Bearer ${server.key}`;
      const refused = http === 'node' ? 401 : 400;
      assert.equal(await statusOf('POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: other'), refused);
      assert.equal(await statusOf(`POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: other\r\n${key}`), 400);
      assert.equal(await statusOf(`TRACE /mcp HTTP/1.1\r\nhost: localhost\r\n${key}`), 405);
    });

    test('messages that are none get an error of the protocol or of the contract', async () => {
      const url = `${server.http}/mcp`;
      const json = async (body: string, headers = {}) => raw(url, { body, headers: { ...bearer(), ...headers } });
      assert.match((await json('{"jsonrpc":')).body, /-32700/);
      assert.match((await json('{"jsonrpc":"2.0","id":1,"method":"no/such"}')).body, /-32601/);
      assert.equal((await json('{}', { 'content-type': 'text/plain' })).status, 415);
      assert.equal((await raw(url, { method: 'GET', headers: bearer() })).status, 405);
      assert.equal((await raw(url, { method: 'DELETE', headers: bearer() })).status, 405);
      const large = await json(JSON.stringify({ ...LIST, params: { x: 'x'.repeat(5_000_000) } }));
      assert.deepEqual([large.status, JSON.parse(large.body).error.code], [413, 'LIM-E003']);
    });
  });

test('a server without keys answers its own machine alone', async (t) => {
  const server = await startTestServer({ auth: 'none' });
  t.after(() => server.close());
  const url = `${server.http}/mcp`;
  assert.equal((await raw(url)).status, 200);
  assert.equal((await raw(url, { headers: { host: 'rebound.example' } })).status, 403);
  const client = await overHttp[2026]({ url, headers: {} });
  await livesOneLife(client, 'Ada');
  await client.close();
});

test('a message counts once for the rate limit, with the first operation of its tool', async (t) => {
  // A stopped clock, ahead of the workers' own: neither a minute nor a call's time passes.
  const nowMs = Date.now() + 120_000;
  const server = await startTestServer({ rateLimit: '12' }, { clock: { nowMs: () => nowMs } });
  t.after(() => server.close());
  const call = (key: string, name: string, given: object) =>
    raw(`${server.http}/mcp`, {
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...LIST, method: 'tools/call', params: { name, arguments: given } }),
    });
  // Two requests at once, of which this is one of the first key.
  const { body } = await ask(server, 'POST', '/auth/keys', { name: 'other', scopes: ['read'] });
  for (const remaining of ['1', '0']) {
    const { status, headers, body: answer } = await call(body.raw_key, 'status', {});
    assert.deepEqual([status, headers['x-ratelimit-remaining']], [200, remaining]);
    assert.match(answer, /total_grains/);
  }
  assert.equal((await call(body.raw_key, 'status', {})).status, 429);
  // It looks for what is known first: its second operation is one request too many.
  assert.match((await call(server.key, 'remember', { text: 'The keys are in the blue bowl.' })).body, /LIM-E001/);
});

test('--no-mcp serves nothing at /mcp', async (t) => {
  const server = await startTestServer({ mcp: 'false' });
  t.after(() => server.close());
  assert.equal((await raw(`${server.http}/mcp`, { headers: { authorization: `Bearer ${server.key}` } })).status, 404);
});

for (const http of ['node', 'uws'])
  test(`a client finds the issuer by the metadata, and its tokens open /mcp (${http})`, async (t) => {
    const issuer = await startOidcIssuer(t, 'ES256', {
      writer: { scope: 'memory:write' },
      reader: { scope: 'memory:read' },
    });
    const server = await startTestServer({ http, oidcIssuer: issuer.url, oidcAudience: AUDIENCE });
    t.after(() => server.close());
    const url = `${server.http}/mcp`;
    const refused = await raw(url);
    assert.equal(refused.status, 401);
    const metadata = `${server.http}/.well-known/oauth-protected-resource/mcp`;
    assert.equal(refused.headers['www-authenticate'], `Bearer resource_metadata="${metadata}"`);
    const forged = await raw(url, { headers: { authorization: 'Bearer a.b.c' } });
    assert.equal(forged.headers['www-authenticate'], `Bearer error="invalid_token", resource_metadata="${metadata}"`);
    for (const address of [metadata, `${server.http}/.well-known/oauth-protected-resource`]) {
      const { status, headers, body } = await raw(address, { method: 'GET' });
      assert.deepEqual(
        [status, headers['content-type'], headers['access-control-allow-origin']],
        [200, 'application/json', '*'],
      );
      const document = JSON.parse(body);
      assert.deepEqual([document.resource, document.authorization_servers], [url, [issuer.url]]);
    }
    assert.equal((await raw(metadata)).status, 405);
    const client = await overHttp[2026]({
      url,
      headers: { authorization: `Bearer ${await issuer.tokenFor('writer')}` },
    });
    t.after(() => client.close());
    assert.equal((await client.call('remember', { text: 'Tokens open the memory.' })).isError, false);
    const reader = await overHttp[2025]({
      url,
      headers: { authorization: `Bearer ${await issuer.tokenFor('reader')}` },
    });
    t.after(() => reader.close());
    assert.match((await reader.call('recall', { query: 'tokens' })).text, /Tokens open the memory/);
    assert.ok(!(await reader.tools()).some(({ name }) => name === 'remember'));
  });

test('--mcp-url is the address that the metadata names', async (t) => {
  const issuer = await startOidcIssuer(t, 'ES256', {});
  const mcpUrl = 'https://memory.example/granary/mcp';
  const server = await startTestServer({ oidcIssuer: issuer.url, oidcAudience: AUDIENCE, mcpUrl });
  t.after(() => server.close());
  const refused = await raw(`${server.http}/mcp`);
  const metadata = 'https://memory.example/.well-known/oauth-protected-resource/granary/mcp';
  assert.equal(refused.headers['www-authenticate'], `Bearer resource_metadata="${metadata}"`);
  const { body } = await raw(`${server.http}/.well-known/oauth-protected-resource/granary/mcp`, { method: 'GET' });
  assert.equal(JSON.parse(body).resource, mcpUrl);
  const { http: address } = server;
  const authorization = `Bearer ${server.key}`;
  assert.equal((await raw(`${address}/mcp`, { headers: { host: 'memory.example', authorization } })).status, 200);
  for (const wrong of ['memory.example/mcp', 'https://memory.example/', 'ftp://memory.example/mcp'])
    await assert.rejects(
      () => startTestServer({ mcpUrl: wrong }),
      /--mcp-url must be an http or https URL that ends in \/mcp/,
    );
});

test('open streams end with the server', async () => {
  const server = await startTestServer();
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { _meta: meta, notifications: { toolsListChanged: true } };
  const response = await fetch(`${server.http}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.key}`,
      'content-type': 'application/json',
      accept: ACCEPT,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'subscriptions/listen', params }),
  });
  assert.equal(response.headers.get('content-type')?.startsWith('text/event-stream'), true, await headOf(response));
  const reader = response.body!.getReader();
  const first = await reader.read();
  assert.match(Buffer.from(first.value ?? []).toString(), /acknowledged/);
  const ended = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read());
  })().catch(() => undefined);
  await server.close();
  await ended;
});

/** The beginning of an answer that is no stream. */
async function headOf(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return isStream ? 'a stream' : (await response.text()).slice(0, 300);
}
