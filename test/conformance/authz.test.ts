// Access tuples over both HTTP listeners, in memories of one partition and of four, and what they decide on gRPC.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { Fields, ParsedJson } from './driver.ts';
import { GrpcClient } from './grpc-client.ts';
import type { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { serveSuite } from './http-suite.ts';

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`over ${listener}`, () => {
    const { http, shared } = serveSuite(listener, partitions, { workers: '2' });

    describe(`${partitions} partitions`, () => {
      async function open(options: Fields = {}) {
        const id = await newMemory(http, partitions, options);
        const [first] = (await http.post(`/memories/${id}/app/exec`, { command: 'authz_list', args: {} })).result
          .tuples;
        assert.equal(first.relation, 'owner');
        await http.post(`/memories/${id}/authz/revoke`, {
          subject: first.subject,
          relation: first.relation,
          object: first.object,
        });
        const M = `/memories/${id}`;
        const tuple = (what: 'grant' | 'revoke', subject: string, relation: string, object: string, headers = {}) =>
          http.post(`${M}/authz/${what}`, { subject, relation, object }, { headers });
        const check = (subject: string, relation: string, object: string): Promise<ParsedJson> =>
          http.get(`${M}/authz/check?${new URLSearchParams({ subject, relation, object })}`);
        const list = async (args: Fields = {}): Promise<ParsedJson> =>
          (await http.post(`${M}/app/exec`, { command: 'authz_list', args })).result;
        return { id, M, tuple, check, list };
      }
      const keyOf = async (principal: string, scopes: readonly string[] = ['read', 'write']): Promise<HttpClient> =>
        http.with((await http.post('/auth/keys', { principal, scopes })).raw_key);

      test('a grant is made once, found by a check with its path, listed, and revoked once', async () => {
        const { tuple, check, list } = await open();
        const place = ['group:eng#member', 'editor', 'namespace:acme/prod'] as const;
        const shown = { subject: place[0], relation: place[1], object: place[2] };
        assert.deepEqual(await tuple('grant', ...place), { granted: true, created: true, tuple: shown });
        assert.deepEqual(await tuple('grant', ...place), { granted: true, created: false, tuple: shown });
        await tuple('grant', 'user:alice', 'member', 'group:eng');
        const allowed = await check('user:alice', 'viewer', 'namespace:acme/prod');
        assert.equal(allowed['allowed'], true);
        assert.deepEqual(allowed['path'], [shown, { subject: 'user:alice', relation: 'member', object: 'group:eng' }]);
        assert.ok(Math.abs(allowed['checked_at'] - Date.now() / 1000) < 600);
        const { tuples, total, next_cursor: next } = await list();
        assert.deepEqual(
          [tuples.map((one: ParsedJson) => one['object']), total, next],
          [['group:eng', 'namespace:acme/prod'], 2, null],
          'newest first',
        );
        assert.match(tuples[0].granted_by, /^key:/);
        assert.equal((await list({ object: 'group:eng' })).total, 1);
        assert.equal((await list({ subject: place[0] })).total, 1);
        assert.equal((await list({ subject: place[0], object: 'group:eng' })).total, 0);
        assert.deepEqual(await tuple('revoke', ...place), { revoked: true, existed: true, tuple: shown });
        assert.deepEqual(await tuple('revoke', ...place), { revoked: true, existed: false, tuple: shown });
        assert.deepEqual((await check('user:alice', 'viewer', 'namespace:acme/prod'))['path'], []);
      });

      test('the creator of a memory is its owner', async () => {
        const admin = await keyOf('user:carol', ['read', 'write', 'admin']);
        const { id } = await admin.post('/memories', { partitions });
        const allowed = await http.get(
          `/memories/${id}/authz/check?subject=user:carol&relation=auditor&object=memory:${id}`,
        );
        assert.deepEqual([allowed.allowed, allowed.path[0].relation], [true, 'owner']);
      });

      test('a list comes in pages', async () => {
        const { tuple, list } = await open();
        for (let i = 0; i < 5; i++) await tuple('grant', `user:u${i}`, 'viewer', 'namespace:n');
        const seen: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
          assert.equal(page['total'], 5);
          seen.push(...page['tuples'].map((one: ParsedJson) => one['subject']));
          if (page['next_cursor'] === null) break;
          cursor = page['next_cursor'];
        }
        assert.deepEqual(seen, ['user:u4', 'user:u3', 'user:u2', 'user:u1', 'user:u0']);
        const oldest = await list({ order: 'asc', limit: 1, offset: 1 });
        assert.equal(oldest['tuples'][0].subject, 'user:u1');
        await refused(list({ cursor: 'nonsense' }), 'VAL-E004');
      });

      test('a tuple may be sent under its other names, and a bad one is refused', async () => {
        const { M, check } = await open();
        const post = (body: Fields) => http.post(`${M}/authz/grant`, body);
        const other = { user: 'agent:bot', permission: 'viewer', resource: 'memory:m' };
        assert.equal((await post(other)).tuple.subject, 'agent:bot');
        await refused(post({ subject: 'agent:bot', relation: 'viewer' }), 'VAL-E003');
        await refused(post({ ...other, subject: 'user:eve' }), 'VAL-E001');
        await refused(post({ subject: 'bot', relation: 'viewer', object: 'memory:m' }), 'VAL-E001');
        await refused(post({ subject: 'agent:bot', relation: 'member', object: 'memory:m' }), 'VAL-E001');
        await refused(post({ subject: 'agent:bot', relation: 'viewer', object: 'user:ann' }), 'VAL-E001');
        await refused(post({ ...other, colour: 'red' }), 'VAL-E001');
        await refused(check('agent:bot', 'sings', 'memory:m'), 'VAL-E001');
        const { warnings } = await post({ subject: 'group:eng', relation: 'viewer', object: 'memory:m' });
        assert.match(String(warnings), /group:eng#member/);
      });

      test('a chain beyond 25 steps is denied with its reason, and a circle ends', async () => {
        const { tuple, check } = await open();
        for (let i = 0; i < 27; i++) await tuple('grant', `group:g${i + 1}#member`, 'member', `group:g${i}`);
        await tuple('grant', 'user:ann', 'member', 'group:g27');
        const beyond = await check('user:ann', 'member', 'group:g0');
        assert.deepEqual([beyond['allowed'], beyond['path']], [false, ['depth_exceeded']]);
        assert.equal((await check('user:ann', 'member', 'group:g4'))['path'].length, 24);
        await tuple('grant', 'group:g0#member', 'member', 'group:g3');
        assert.equal((await check('user:bob', 'member', 'group:g20'))['allowed'], false);
      });

      test('an idempotency key repeats the first answer', async () => {
        const { tuple, check } = await open();
        const grant = (headers: Record<string, string>, relation = 'viewer') =>
          tuple('grant', 'user:ann', relation, 'namespace:n', headers);
        const first = await grant({ 'idempotency-key': 'k1' });
        await tuple('revoke', 'user:ann', 'viewer', 'namespace:n');
        assert.deepEqual(await grant({ 'idempotency-key': 'k1' }), first);
        assert.equal((await check('user:ann', 'viewer', 'namespace:n'))['allowed'], false, 'nothing was done again');
        await refused(grant({ 'idempotency-key': 'k1' }, 'editor'), 'VAL-E005');
      });

      test('grants and revocations at the same time leave every partition with the same tuples', async () => {
        const { M, tuple, check } = await open({ policies: ['soc2'] });
        const writer = await keyOf('agent:bot');
        await Promise.all(
          Array.from({ length: 24 }, (_, i) =>
            tuple(i % 2 === 0 ? 'grant' : 'revoke', 'agent:bot', 'editor', 'namespace:n'),
          ),
        );
        const { allowed } = await check('agent:bot', 'editor', 'namespace:n');
        const adds = await Promise.all(
          Array.from({ length: 12 }, (_, i) =>
            writer
              .post(`${M}/add`, { subject: 'a', relation: 'b', object: `${i}`, namespace: 'n', session_id: `s${i}` })
              .then(
                () => true,
                () => false,
              ),
          ),
        );
        assert.deepEqual(new Set(adds), new Set([allowed]));
      });

      test('where the policy requires it, tuples decide on every transport, and each denial is in the trail', async () => {
        const { id, M, tuple } = await open({ policies: ['soc2'] });
        const bot = await keyOf('agent:bot');
        const grpc = GrpcClient.open(shared.server.grpc, bot.key).with({ 'x-memory-id': id });
        const fields = { subject: 'ann', relation: 'likes', object: 'tea' };
        const open1 = (await http.post(`${M}/add`, { ...fields, namespace: 'team/open' })).blob_hash;
        const shut = (await http.post(`${M}/add`, { ...fields, namespace: 'team/shut' })).blob_hash;
        await refused(bot.get(`${M}/grains/${open1}`), 'AUT-E001');
        await tuple('grant', 'agent:bot', 'viewer', 'namespace:team/open');
        assert.equal((await bot.get(`${M}/grains/${open1}`)).hash, open1);
        await refused(bot.get(`${M}/grains/${shut}`), 'AUT-E001');
        await refused(grpc.call('Get', { hash: shut }), 'AUT-E001');
        const recalled = (await bot.post(`${M}/recall`, { query: 'tea', explanation: true })).results;
        assert.deepEqual(
          recalled.map(({ hash }: ParsedJson) => hash),
          [open1],
        );
        assert.deepEqual(
          (await grpc.call('Recall', { query: 'tea' })).results.map(({ hash }: ParsedJson) => hash),
          [open1],
        );
        const more = { ...fields, object: 'coffee', namespace: 'team/open' };
        await refused(bot.post(`${M}/add`, more), 'AUT-E001');
        await tuple('grant', 'agent:bot', 'editor', 'namespace:team/open');
        await bot.post(`${M}/add`, more);
        await refused(bot.post(`${M}/supersede`, { old_hash: open1, object: 'x', namespace: 'team/shut' }), 'AUT-E001');
        await refused(bot.post(`${M}/forget`, { hash: open1, reason: 'x' }), 'AUT-E001');
        await tuple('grant', 'agent:bot', 'eraser', 'namespace:team');
        await bot.post(`${M}/forget`, { hash: open1, reason: 'no longer true' });
        for (const path of ['audit', 'provenance', 'policy', 'scope-tree', 'stats/history?from=0&to=1', ''])
          await refused(bot.get(`${M}/${path}`.replace(/\/$/, '')), 'AUT-E001');
        assert.equal((await bot.get(`${M}/stats`)).total_grains, 1, 'the one that is left');
        await tuple('grant', 'agent:bot', 'auditor', `memory:${id}`);
        const { entries } = await bot.get(`${M}/audit?event_type=authz.access_denied&limit=500`);
        const denied = entries.map(
          ({ actor, details }: ParsedJson) => `${actor} ${details['relation']} ${details['operation']}`,
        );
        for (const wanted of ['viewer get', 'editor add', 'editor supersede', 'eraser forget', 'auditor auditPage'])
          assert.ok(denied.includes(`agent:bot ${wanted}`), `${wanted} is not among ${denied}`);
        assert.ok(entries.every(({ details }: ParsedJson) => details['principal'] === 'agent:bot'));
        const changed = (await bot.get(`${M}/audit?event_type=authz.changed`)).entries;
        assert.equal(changed.filter(({ partition }: ParsedJson) => partition === 0).length, 6);
        await tuple('revoke', 'agent:bot', 'editor', 'namespace:team/open');
        await tuple('revoke', 'agent:bot', 'viewer', 'namespace:team/open');
        assert.deepEqual((await bot.post(`${M}/recall`, { query: 'coffee' })).results, []);
      });

      test('an admin key counts as owner, so that requiring tuples locks no operator out', async () => {
        const { M, check } = await open();
        await http.call('PUT', `${M}/policy`, { json: { overrides: { 'access.authz_required': true } } });
        const { blob_hash: hash } = await http.post(`${M}/add`, { subject: 'a', relation: 'b', object: 'c' });
        assert.equal((await http.get(`${M}/grains/${hash}`)).hash, hash);
        assert.ok((await http.get(`${M}/audit`)).entries.length > 0);
        const exported = (client: HttpClient) => client.ask('GET', `${M}/export-file`);
        assert.ok(Buffer.from((await exported(http)).bytes).includes('MG'), 'the head of a file');
        assert.equal(Buffer.from((await exported(http)).bytes).readUInt32BE(4), 1, 'the grain is in the file');
        assert.equal((await check('user:nobody', 'viewer', 'namespace:default'))['allowed'], false);
        const reader = await keyOf('user:nobody', ['read']);
        assert.equal(Buffer.from((await exported(reader)).bytes).readUInt32BE(4), 0, 'no grain is');
        await refused(reader.get(`${M}/authz/check?subject=user:ann&relation=viewer&object=namespace:n`), 'AUT-E001');
        const own = await reader.get(`${M}/authz/check?subject=user:nobody&relation=viewer&object=namespace:n`);
        assert.equal(own.allowed, false, 'callers may ask about themselves');
      });

      test('a simulated policy counts the principals that would view nothing', async () => {
        const { id, M, tuple } = await open();
        await http.post(`${M}/add`, { subject: 'a', relation: 'b', object: 'c', namespace: 'team/x' });
        for (const principal of ['agent:in', 'agent:out', 'user:out'])
          await http.post('/auth/keys', { principal, scopes: ['read'], memory_id: id });
        const losing = async (): Promise<number> => {
          const change = { overrides: { 'access.authz_required': true } };
          return (await http.post(`${M}/policy/simulate`, change)).impact.principals_losing_access;
        };
        const before = await losing();
        await tuple('grant', 'agent:in', 'viewer', 'namespace:team');
        assert.equal(await losing(), before - 1);
        await tuple('grant', 'user:out', 'viewer', 'namespace:elsewhere');
        assert.equal(await losing(), before - 1, 'there is nothing to be viewed');
        const none = await http.post(`${M}/policy/simulate`, { add_policies: ['gdpr'] });
        assert.equal(none.impact.principals_losing_access, 0);
      });

      test('under the segregation of duties nobody becomes both admin and auditor', async () => {
        const { id, tuple } = await open({ policies: ['soc2'] });
        await tuple('grant', 'user:ann', 'admin', `memory:${id}`);
        await refused(tuple('grant', 'user:ann', 'auditor', `memory:${id}`), 'AUT-E001');
        await tuple('grant', 'user:bob', 'auditor', `memory:${id}`);
        await refused(tuple('grant', 'user:bob', 'owner', `memory:${id}`), 'AUT-E001');
        await tuple('revoke', 'user:ann', 'admin', `memory:${id}`);
        assert.equal((await tuple('grant', 'user:ann', 'auditor', `memory:${id}`)).created, true);
      });

      test('the erasure of a person removes the tuples that name the person', async () => {
        const { M, tuple, check, list } = await open();
        for (const object of ['namespace:n', 'group:eng', 'memory:m'])
          await tuple('grant', 'user:ann', object === 'group:eng' ? 'member' : 'viewer', object);
        await tuple('grant', 'user:bob', 'viewer', 'namespace:n');
        await http.post(`${M}/app/exec`, { command: 'forget_user', args: { user_id: 'ann' } });
        assert.deepEqual(
          (await list())['tuples'].map((one: ParsedJson) => one['subject']),
          ['user:bob'],
        );
        assert.equal((await check('user:ann', 'viewer', 'namespace:n'))['allowed'], false);
        const { entries } = await http.get(`${M}/audit?event_type=authz.changed`);
        assert.ok(!JSON.stringify(entries).includes('user:ann'));
        assert.equal((await tuple('grant', 'user:ann', 'viewer', 'namespace:n')).created, true);
      });
    });
  });
