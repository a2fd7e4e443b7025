// Checks before every operation: credentials, narrowing, CORS, request ids, routes, types and limits of bodies.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refused } from './contract.ts';
import { type HttpClient, refusalOf } from './http-client.ts';
import { newMemory } from './http-driver.ts';

const MIB = 1_048_576;
/** Flags of the server. */
export const ORIGIN = 'https://app.example';
const M = '/memories/default';

export function guards(client: () => HttpClient): void {
  describe('guards', { concurrency: 4 }, () => {
    test('a key is accepted in either header; an invalid one is rejected and not quoted', async () => {
      const http = client();
      assert.equal(
        (await http.ask('GET', `${M}/stats`, { key: null, headers: { 'x-api-key': http.key } })).status,
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

    test('an expired key is rejected; one that expires later is accepted', async () => {
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
      const { blob_hash } = await bound.post(`${M}/add`, { subject: 'a', relation: 'b', object: 'c' });
      const grain = await bound.get(`${M}/grains/${blob_hash}`, {
        headers: { 'x-namespace': 'mine', 'x-user-id': 'ada' },
      });
      assert.deepEqual([grain.namespace, grain.user_id], ['mine', 'ada']);
      for (const headers of [{ 'x-namespace': 'other' }, { 'x-user-id': 'bob' }] as Record<string, string>[]) {
        await refused(bound.get(`${M}/grains/${blob_hash}`, { headers }), 'AUT-E001');
        await refused(http.get(`${M}/grains/${blob_hash}`, { headers }), 'MEM-E001');
      }
    });

    test('a valid request id is echoed, otherwise one is made; errors have it too', async () => {
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
        const allowed = await http.ask('GET', path, { headers: { origin: ORIGIN } });
        assert.equal(allowed.headers.get('access-control-allow-origin'), ORIGIN, path);
        assert.match(allowed.headers.get('vary') ?? '', /origin/i);
        const other = await http.ask('GET', path, { headers: { origin: 'https://evil.example' } });
        assert.equal(other.headers.get('access-control-allow-origin'), null, path);
      }
      const nobody = await http.ask('GET', `${M}/stats`, { key: null, headers: { origin: ORIGIN } });
      assert.deepEqual(
        [nobody.status, nobody.headers.get('access-control-allow-origin')],
        [401, ORIGIN],
        'CORS comes before auth',
      );
    });

    test('a preflight needs no key', async () => {
      const http = client();
      const headers = {
        origin: ORIGIN,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization, content-type, x-purpose',
      };
      const reply = await http.ask('OPTIONS', `${M}/add`, { key: null, headers });
      assert.ok(reply.status === 204 || reply.status === 200, `status ${reply.status}`);
      assert.equal(reply.headers.get('access-control-allow-origin'), ORIGIN);
      assert.match(reply.headers.get('access-control-allow-methods') ?? '', /POST/);
      assert.match((reply.headers.get('access-control-allow-headers') ?? '').toLowerCase(), /authorization/);
    });

    test('OPTIONS without a preflight lists the methods of a path', async () => {
      const reply = await client().ask('OPTIONS', `${M}/grains`, { key: null });
      assert.equal(reply.status, 204);
      assert.deepEqual((reply.headers.get('allow') ?? '').split(', ').toSorted(), ['GET', 'HEAD', 'OPTIONS']);
      await refused(client().call('OPTIONS', '/nothing'), 'SYS-E003');
    });

    test('an admin who narrows a call has rights only on that part', async () => {
      const http = client();
      const memory = await newMemory(http, 1);
      const narrow = { headers: { 'x-user-id': 'ada' } };
      await refused(http.call('DELETE', `/memories/${memory}`, narrow), 'AUT-E001');
      await refused(http.call('POST', '/memories', { ...narrow, json: {} }), 'AUT-E001');
      const exec = { command: 'rotate_keys', args: { scope: 'kek' } };
      await refused(http.call('POST', `/memories/${memory}/app/exec`, { ...narrow, json: exec }), 'AUT-E001');
      assert.equal((await http.call('POST', '/auth/keys', { ...narrow, json: {} })).user_id, 'ada');
      assert.equal((await http.call('DELETE', `/memories/${memory}`)).deleted, true);
    });

    test('unknown routes, methods and content types are rejected', async () => {
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
      // Sent without a content type; a request without a body needs none.
      for (const [method, path] of [
        ['POST', `${M}/add`],
        ['POST', `${M}/recall`],
        ['POST', `${M}/forget`],
        ['POST', `${M}/app/exec`],
        ['PUT', `${M}/policy`],
      ] as const)
        await refused(http.call(method, path, { body: new TextEncoder().encode('{"query":"x"}') }), 'VAL-E006');
      assert.equal((await http.ask('POST', `${M}/flush`)).status, 200);
      const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
      await refused(http.call('POST', `${M}/add`, { body: '{}', headers: gzip }), 'VAL-E006');
      for (const type of ['application/json', 'application/json; charset=utf-8', 'APPLICATION/JSON'])
        await refused(http.call('POST', `${M}/add`, { body: '{}', headers: { 'content-type': type } }), 'VAL-E003');
      for (const body of ['', '{', 'nonsense', '{"a":1}x', "{'a':1}"])
        await refused(
          http.call('POST', `${M}/add`, { body, headers: { 'content-type': 'application/json' } }),
          'VAL-E002',
          'VAL-E003',
        );
    });

    test('a body of 16 MiB is read, and a longer one is rejected, whatever length it declares', async () => {
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
}
