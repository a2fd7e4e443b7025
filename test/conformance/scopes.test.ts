// A memory's scopes over HTTP: the tree, its effect on writes and recalls, and erasure of a scope. With one partition
// and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { serveSuite } from './http-suite.ts';

const TREE = {
  name: 'org',
  children: [
    { name: 'acme', children: [{ name: 'prod', children: [{ name: 'bot1' }, { name: 'bot2' }] }, { name: 'test' }] },
    { name: 'globex' },
  ],
};

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);

    const believe = async (path: string, namespace: string, object: string, more: object = {}): Promise<string> => {
      const answer = await http.post(`${path}/add`, { subject: 'bot', relation: 'uses', object, namespace, ...more });
      return answer.blob_hash;
    };

    const found = async (path: string, query: object): Promise<string[]> => {
      const answer: ParsedJson = await http.post(`${path}/recall`, { subject: 'bot', limit: 50, ...query });
      return answer['results'].map(({ fields }: ParsedJson) => `${fields['namespace']}: ${fields['object']}`).sort();
    };

    test('a tree is set, shown, replaced and cleared; every change is in the trail', async () => {
      const path = await memory();
      await refused(http.get(`${path}/scope-tree`), 'SCP-E003');
      const set = await http.call('PUT', `${path}/scope-tree`, { json: TREE });
      assert.deepEqual({ ...set, updated_at: 0 }, { ...TREE, updated_at: 0 });
      assert.deepEqual(await http.get(`${path}/scope-tree`), set);
      await refused(http.call('PUT', `${path}/scope-tree`, { json: { name: 'a/b' } }), 'SCP-E002');
      await refused(http.call('PUT', `${path}/scope-tree`, { json: { children: [] } }), 'VAL-E003');
      assert.deepEqual(await http.get(`${path}/scope-tree`), set);
      await http.call('PUT', `${path}/scope-tree`, { json: { name: 'other' } });
      assert.equal((await http.get(`${path}/scope-tree`)).name, 'other');
      assert.deepEqual(await http.call('DELETE', `${path}/scope-tree`), { deleted: true });
      await refused(http.get(`${path}/scope-tree`), 'SCP-E003');
      const bound = await http.post('/auth/keys', { scopes: ['admin'], namespace: 'acme' });
      await refused(http.with(bound.raw_key).get(`${path}/scope-tree`), 'AUT-E001');
      const { entries } = await http.get(`${path}/audit?event_type=scope.tree_changed`);
      assert.deepEqual(entries.map(({ details }: ParsedJson) => details['nodes']).sort(), [0, 0, 6]);
    });

    test('a write under a known top level must name a node of the tree', async () => {
      const path = await memory();
      await believe(path, 'acme/anywhere', 'tea');
      await http.call('PUT', `${path}/scope-tree`, { json: TREE });
      await refused(believe(path, 'acme/nowhere', 'tea'), 'SCP-E001');
      const kept = await believe(path, 'acme/prod', 'tea');
      await believe(path, 'elsewhere/deep', 'tea');
      const batch = await http.post(`${path}/batch-add`, {
        grains: ['acme/none', 'globex'].map((namespace) => ({
          grain_type: 'belief',
          fields: { subject: 'bot', relation: 'has', object: 'x', namespace },
        })),
      });
      assert.deepEqual(
        batch.errors.map(({ index, code }: ParsedJson) => [index, code]),
        [[0, 'SCP-E001']],
      );
      await refused(
        http.post(`${path}/supersede`, { blob_hash: kept, fields: { namespace: 'acme/none', object: 'y' } }),
        'SCP-E001',
      );
      await http.call('DELETE', `${path}/scope-tree`);
      await believe(path, 'acme/nowhere', 'tea');
    });

    test('a recall sees its path, the root, everything below, and sibling nodes', async () => {
      const path = await memory();
      for (const namespace of ['org', 'acme', 'acme/prod', 'acme/prod/bot1', 'acme/prod/bot2', 'globex', 'default'])
        await believe(path, namespace, namespace, { relation: `at ${namespace}` });
      await http.call('PUT', `${path}/scope-tree`, { json: TREE });
      const namespaces = async (query: object): Promise<string[]> =>
        (await found(path, query)).map((line) => line.split(': ')[0] ?? '').sort();
      assert.deepEqual(await namespaces({ scope_path: 'acme/prod/bot1' }), [
        'acme',
        'acme/prod',
        'acme/prod/bot1',
        'org',
      ]);
      assert.deepEqual(await namespaces({ scope_path: 'org/acme/prod/bot1', include_siblings: true }), [
        'acme',
        'acme/prod',
        'acme/prod/bot1',
        'acme/prod/bot2',
        'org',
      ]);
      assert.deepEqual(await namespaces({ scope_path: 'globex', include_siblings: true }), ['acme', 'globex', 'org']);
      assert.equal((await namespaces({ scope_path: 'org' })).length, 6);
      await refused(found(path, { scope_path: 'initech' }), 'SCP-E001');
    });

    test('the deepest scope of the path wins, from the root on', async () => {
      const path = await memory();
      await http.call('PUT', `${path}/scope-tree`, { json: TREE });
      await believe(path, 'org', 'paper');
      await believe(path, 'acme', 'pens');
      await believe(path, 'acme/prod', 'robots');
      assert.deepEqual(await found(path, { scope_path: 'org/acme/prod' }), ['acme/prod: robots']);
      assert.deepEqual(await found(path, { scope_path: 'acme/test' }), ['acme: pens']);
      assert.deepEqual(await found(path, { scope_path: 'globex' }), ['org: paper']);
    });

    test('an erased scope is gone with everything below it, has a proof for each key, and can be written again', async () => {
      const path = await memory();
      const gone: string[] = [];
      for (const user of ['ada', 'bob', 'cyd', 'dan'])
        for (const namespace of ['acme/prod', 'acme/prod/bot1'])
          gone.push(await believe(path, namespace, user, { user_id: user }));
      const stays = await believe(path, 'acme', 'ada', { user_id: 'ada' });
      await http.call('PUT', `${path}/scope-tree`, { json: TREE });
      await refused(http.post(`${path}/scope-erase`, { scope_path: 'acme/none' }), 'SCP-E001');
      await refused(http.post(`${path}/scope-erase`, {}), 'VAL-E003');
      const answer = await http.post(`${path}/scope-erase`, { scope: 'org/acme/prod', reason: 'closed' });
      const { scope_path, scopes_erased, count, key_fingerprints, timestamp, status } = answer;
      assert.deepEqual([scope_path, scopes_erased, count, status], ['acme/prod', 2, 8, 'erased']);
      assert.equal(key_fingerprints.length, 2);
      for (const print of key_fingerprints) assert.match(print, /^[0-9a-f]{16}$/);
      for (const hash of gone) await refused(http.get(`${path}/grains/${hash}`), 'MEM-E001', 'MEM-E006');
      assert.equal((await http.get(`${path}/grains/${stays}`)).hash, stays);
      assert.deepEqual(await found(path, {}), ['acme: ada']);
      const again = await http.post(`${path}/scope-erase`, { scope_path: 'acme/prod' });
      assert.deepEqual(
        [again.count, again.scopes_erased, again.key_fingerprints, again.timestamp],
        [0, 0, key_fingerprints, timestamp],
      );
      await believe(path, 'acme/prod', 'ada', { user_id: 'ada' });
      assert.deepEqual(await found(path, {}), ['acme/prod: ada', 'acme: ada']);
      const { entries } = await http.get(`${path}/audit?event_type=scope.erased`);
      assert.equal(
        entries.reduce((sum: number, { details }: ParsedJson) => sum + details['count'], 0),
        8,
      );
      assert.ok(!JSON.stringify(entries).includes('closed'));
    });

    test('without a tree a scope is a namespace and everything with that prefix', async () => {
      const path = await memory();
      for (const namespace of ['team', 'team/a', 'teams', 'default']) await believe(path, namespace, namespace);
      const { count, scopes_erased } = await http.post(`${path}/scope-erase`, { scope_path: 'team' });
      assert.deepEqual([count, scopes_erased], [2, 2]);
      assert.deepEqual(await found(path, {}), ['default: default', 'teams: teams']);
    });

    test('a stored answer that quotes a scope is deleted with it', async () => {
      const path = await memory();
      const hash = await believe(path, 'acme/prod', 'secret', { visits: 1 });
      const headers = { 'idempotency-key': 'once' };
      const json = { blob_hash: hash, deltas: { visits: 1 }, set: { note: 'words' } };
      const first = await http.call('POST', `${path}/accumulate`, { json, headers });
      assert.deepEqual(await http.call('POST', `${path}/accumulate`, { json, headers }), first);
      await http.post(`${path}/scope-erase`, { scope_path: 'acme' });
      await refused(http.call('POST', `${path}/accumulate`, { json, headers }), 'MEM-E001', 'MEM-E006');
    });
  });
