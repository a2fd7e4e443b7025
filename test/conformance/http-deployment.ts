// HTTP routes of the deployment: configuration, health, keys, memories, statistics, access to every route, and the
// OpenAPI document.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { refused } from './contract.ts';
import type { HttpClient } from './http-client.ts';
import { refusalOf } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { pathOf, ROUTES, type Scope } from './routes.ts';

/** H74 to H85, and every route by its number. */
export function deploymentRoutes(client: () => HttpClient): void {
  describe('deployment', { concurrency: 4 }, () => {
    test('H74 and H75 are public', async () => {
      const http = client().with('');
      const config = await http.get('/config');
      assert.equal(config.auth_mode, 'api-key');
      assert.equal(typeof config.version, 'string');
      for (const member of ['deployment', 'features', 'limits']) assert.ok(member in config, member);
      assert.deepEqual(await http.get('/health'), { status: 'ok', version: config.version });
    });

    test('H76 to H78: a key is created, shown once, listed without its secret, and revoked permanently', async () => {
      const http = client();
      const asked = await http.ask('POST', '/auth/keys', {
        json: { name: 'mine', scopes: ['read'], principal: 'user:ada' },
      });
      assert.equal(asked.status, 201);
      const made = asked.json;
      assert.match(made.raw_key, /^gr_[0-9a-f]{64}$/);
      assert.match(made.key_id, /^key_[a-z2-7]{24}$/);
      assert.deepEqual([made.prefix, made.name, made.scopes], [made.raw_key.slice(0, 10), 'mine', ['read']]);
      const bound = await http.post('/auth/keys', { memory_id: await newMemory(http, 1) });
      assert.match(bound.raw_key, /^gp_[0-9a-f]{64}$/);
      assert.deepEqual([bound.name, bound.scopes.toSorted()], ['key', ['admin', 'read', 'write']]);

      const keys = await everyKey(http);
      const listed = keys.find(({ key_id }) => key_id === made.key_id);
      assert.deepEqual([listed?.['prefix'], listed?.['principal']], [made.prefix, 'user:ada']);
      for (const { raw_key } of [made, bound]) assert.ok(!JSON.stringify(keys).includes(raw_key));

      const reader = http.with(made.raw_key);
      await reader.get('/memories');
      assert.deepEqual(await http.call('DELETE', `/auth/keys/${made.key_id}`), { revoked: true, key_id: made.key_id });
      await refused(reader.get('/memories'), 'AUT-E004');
      const unknown = await http.ask('DELETE', '/auth/keys/key_aaaaaaaaaaaaaaaaaaaaaaaa');
      assert.equal(unknown.status, 404);
      for (const wrong of [{ scopes: ['all'] }, { scopes: [] }, { expires_at: 1 }, { expires_at: 1e13 }])
        await refused(http.post('/auth/keys', wrong), 'VAL-E001', 'VAL-E003').catch((error: Error) => {
          throw new Error(`${JSON.stringify(wrong)}: ${error.message}`);
        });
      await refused(http.post('/auth/keys', { memory_id: 'no-such-memory' }), 'MEM-E003');
      await refused(http.post('/auth/keys', { name: 7 }), 'VAL-E003');
    });

    test('H79 to H82: a memory is made, named, listed, described and deleted', async () => {
      const http = client();
      const name = `Notes of Ada ${http.base.slice(-5)}`;
      const asked = await http.ask('POST', '/memories', { json: { name, description: 'hers' } });
      assert.equal(asked.status, 201);
      const slug = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
      assert.equal(asked.json.id, slug);
      const second = await http.post('/memories', { name });
      assert.notEqual(second.id, slug);
      assert.ok(second.id.startsWith(slug), second.id);
      const nameless = await http.post('/memories', {});
      assert.match(nameless.id, /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/);
      await refused(http.post('/memories', { id: slug }), 'MEM-E004');
      for (const id of ['', '-a', '.a', 'a b', 'a/b', 'ä', 'a'.repeat(64), '../x', 'a\0'])
        await refused(http.post('/memories', { id }), 'VAL-E001').catch((error: Error) => {
          throw new Error(`${JSON.stringify(id)}: ${error.message}`);
        });
      for (const wrong of [
        { dedup: 'sometimes' },
        { dedup_threshold: 2 },
        { language: 'xx9' },
        { partitions: 0 },
        { id: 7 },
      ])
        await refused(http.post('/memories', wrong), 'VAL-E001', 'VAL-E003').catch((error: Error) => {
          throw new Error(`${JSON.stringify(wrong)}: ${error.message}`);
        });
      const memory = await http.get(`/memories/${slug}`);
      assert.deepEqual(
        [memory.id, memory.name, memory.description, memory.dedup, memory.dedup_threshold, memory.partitions],
        [slug, name, 'hers', 'exact', 0.85, 1],
      );
      const settings = { theme: 'dark', depth: { n: 1.5 } };
      const placed = await http.post('/memories', { region: 'eu', settings });
      const shown = await http.get(`/memories/${placed.id}`);
      assert.deepEqual([shown.region, shown.settings], ['eu', settings]);
      const listed = await http.get('/memories?limit=500');
      assert.ok(listed.memories.some(({ id }: { id: string }) => id === slug));
      assert.ok(listed.memories.some(({ id }: { id: string }) => id === 'default'));
      assert.equal(listed.total >= 3, true);

      const { raw_key } = await http.post('/auth/keys', { memory_id: slug, scopes: ['read', 'write'] });
      const bound = http.with(raw_key);
      const seen = await bound.get('/memories');
      assert.deepEqual([seen.memories.map(({ id }: { id: string }) => id), seen.total], [[slug], 1]);
      await refused(bound.get('/memories/default/stats'), 'MEM-E003', 'AUT-E001');

      await http.post(`/memories/${slug}/add`, { subject: 'a', relation: 'b', object: 'c' });
      const gone = await http.call('DELETE', `/memories/${slug}`);
      assert.deepEqual([gone.deleted, gone.id], [true, slug]);
      assert.match(gone.key_fingerprint, /^[0-9a-f]{16}$/);
      await refused(http.get(`/memories/${slug}/stats`), 'MEM-E003');
      await refused(http.call('DELETE', `/memories/${slug}`), 'MEM-E003');
      await refused(bound.get(`/memories/${slug}`), 'MEM-E003', 'AUT-E001', 'AUT-E004');
      // The name is free again, and the new memory is empty.
      assert.equal((await http.post('/memories', { id: slug })).id, slug);
      assert.equal((await http.get(`/memories/${slug}/stats`)).total_grains, 0);
    });

    test('H83 to H85: statistics, their history, and tiers', async () => {
      const http = client();
      const M = `/memories/${await newMemory(http, 1)}`;
      await http.post(`${M}/add`, { subject: 'a', relation: 'b', object: 'c', user_id: 'u' });
      // The shard's other memories write too.
      let stats = await http.get(`${M}/stats`);
      await eventually('the shard has no pending writes', async () => {
        stats = await http.get(`${M}/stats`);
        return stats.pending_writes === 0;
      });
      assert.deepEqual(Object.keys(stats.type_counts).toSorted(), [
        'action',
        'belief',
        'consensus',
        'consent',
        'event',
        'goal',
        'observation',
        'reasoning',
        'state',
        'workflow',
      ]);
      assert.deepEqual(
        [stats.total_grains, stats.triples, stats.users, stats.has_encryption, stats.vectors],
        [1, 1, 1, true, 0],
      );
      for (const interval of ['hour', 'day']) {
        const history = await http.get(`${M}/stats/history?interval=${interval}`);
        assert.equal(history.interval, interval);
        for (const point of history.points)
          assert.ok(Number.isInteger(point.timestamp) && Number.isInteger(point.total_grains));
      }
      await refused(http.get(`${M}/stats/history?interval=year`), 'VAL-E001', 'VAL-E003');
      await refused(http.get(`${M}/stats/history?from=x`), 'VAL-E001', 'VAL-E003');
      await refused(http.get(`${M}/stats/history?from=2&to=1`), 'VAL-E001');
      const { tiers } = await http.get(`${M}/tier-info`);
      assert.deepEqual(
        tiers.map(({ name, enabled }: { name: string; enabled: boolean }) => [name, enabled]),
        [
          ['hot', true],
          ['warm', false],
          ['cold', false],
        ],
      );
    });

    test('every route of the contract answers', async () => {
      const http = client();
      for (const route of ROUTES) {
        const nobody = route.path.replace(/^M/, '/memories/no-such-memory').replaceAll(/\{[a-z_]+\}/g, 'f'.repeat(64));
        const { status } = await http.ask(route.verb, nobody);
        assert.ok(![405, 500, 501, 503].includes(status), `H${route.number} answered ${status}`);
      }
    });

    test('every route requires credentials and the contract’s scope', async () => {
      const http = client();
      const memory = await newMemory(http, 1);
      const keys: Partial<Record<Scope, HttpClient>> = {};
      for (const [scope, scopes] of [
        ['read', ['read']],
        ['write', ['read', 'write']],
      ] as const)
        keys[scope] = http.with((await http.post('/auth/keys', { scopes })).raw_key);
      const wants: Readonly<Record<Scope, readonly HttpClient[]>> = {
        read: [],
        write: [keys.read!],
        admin: [keys.read!, keys.write!],
      };
      for (const route of ROUTES) {
        const path = pathOf(route, memory);
        const asking = route.verb === 'GET' || route.verb === 'DELETE' ? {} : { json: {} };
        if (route.scope === undefined) continue;
        const nobody = await http.ask(route.verb, path, { ...asking, key: null });
        assert.equal(refusalOf(nobody, path).code, 'AUT-E005', `H${route.number}`);
        assert.equal(nobody.headers.get('www-authenticate'), 'Bearer');
        for (const lesser of wants[route.scope]) {
          const reply = await lesser.ask(route.verb, path, asking);
          assert.equal(refusalOf(reply, path).code, 'AUT-E001', `H${route.number} requires ${route.scope}`);
        }
      }
    });

    test('a missing memory is MEM-E003 on every route of a memory', async () => {
      const http = client();
      for (const route of ROUTES.filter(({ path }) => path.startsWith('M'))) {
        const path = pathOf(route, 'no-such-memory').replace(/x1/, 'f'.repeat(64));
        const json = { subject: 'a', relation: 'b', object: 'c', grains: [], query: 'x', blob_hash: 'f'.repeat(64) };
        const body = { ...json, deltas: { n: 1 }, command: 'help' };
        if (route.number === 92) continue; // a file, not JSON
        const reply = await http.ask(route.verb, path, route.verb === 'POST' ? { json: body } : {});
        assert.equal(refusalOf(reply, `H${route.number}`).code, 'MEM-E003', `H${route.number}`);
      }
    });

    test('openapi.json is a valid OpenAPI 3.1 document and has every route', async () => {
      const document = await client().get('/openapi.json');
      assert.equal(document.openapi, '3.1.0');
      assert.ok(document.info.title.length > 0 && document.info.version.length > 0);
      const ids = new Set<string>();
      for (const [path, item] of Object.entries<Record<string, Record<string, unknown>>>(document.paths)) {
        assert.match(path, /^\/[^?#]*$/);
        for (const [verb, operation] of Object.entries(item)) {
          assert.match(verb, /^(get|put|post|delete|patch|parameters)$/);
          if (verb === 'parameters') continue;
          checkOperation(document, path, verb, operation, ids);
        }
      }
      checkReferences(document, document);
      for (const route of ROUTES) {
        const path = route.path.replace(/^M/, '/memories/{id}');
        const found = Object.keys(document.paths).find((one) => one.replace(/^\/api/, '') === path);
        assert.ok(found, `H${route.number} ${path} is not in the document`);
        assert.ok(document.paths[found][route.verb.toLowerCase()], `H${route.number} ${route.verb} ${path}`);
      }
    });
  });
}

async function everyKey(http: HttpClient): Promise<{ key_id: string; [member: string]: unknown }[]> {
  const keys = [];
  for (let cursor = '', page = 0; ; page += 1) {
    assert.ok(page < 100, 'a list ends');
    const listing = await http.get(`/auth/keys?limit=500${cursor}`);
    keys.push(...listing.keys);
    if (listing.next_cursor === null) return keys;
    cursor = `&cursor=${encodeURIComponent(listing.next_cursor)}`;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON, looked into member by member
type Json = any;

function checkOperation(document: Json, path: string, verb: string, operation: Json, ids: Set<string>): void {
  const where = `${verb} ${path}`;
  assert.ok(operation.operationId && !ids.has(operation.operationId), `${where}: operationId`);
  ids.add(operation.operationId);
  const declared = [...(document.paths[path].parameters ?? []), ...(operation.parameters ?? [])];
  const inPath = declared.filter((one) => one.in === 'path');
  assert.deepEqual(
    inPath.map(({ name }) => name).toSorted(),
    [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name).toSorted(),
    `${where}: path parameters`,
  );
  for (const parameter of declared) {
    assert.match(parameter.in, /^(path|query|header)$/, where);
    assert.ok(parameter.schema || parameter.content, `${where}: ${parameter.name} has no schema`);
    if (parameter.in === 'path') assert.equal(parameter.required, true);
  }
  assert.equal(new Set(declared.map((one) => `${one.in} ${one.name}`)).size, declared.length, `${where}: parameters`);
  const statuses = Object.keys(operation.responses);
  assert.ok(
    statuses.some((status) => /^2\d\d$/.test(status)),
    `${where}: no success`,
  );
  for (const status of statuses) {
    assert.match(status, /^([1-5]\d\d|[1-5]XX|default)$/);
    const { description, $ref } = operation.responses[status];
    assert.ok($ref !== undefined || typeof description === 'string', `${where}: ${status} has no description`);
  }
  for (const { schema } of Object.values<Json>(operation.requestBody?.content ?? {})) assert.ok(schema, where);
}

/** Every `$ref` resolves within the document, and every schema type is valid. */
function checkReferences(document: Json, node: Json): void {
  if (node === null || typeof node !== 'object') return;
  if (typeof node.$ref === 'string') {
    const steps: string[] = node.$ref.replace(/^#\//, '').split('/');
    const found = steps.reduce((at: Json, step) => at?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document);
    assert.ok(found !== undefined, node.$ref);
  }
  for (const child of Object.values(node)) checkReferences(document, child);
}
