// The erasure of a user on every transport: by route, by rpc, by app/exec. With one partition and with four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { GrpcClient } from './grpc-client.ts';
import { newMemory } from './http-driver.ts';
import { serveSuite } from './http-suite.ts';

const FINGERPRINT = /^[0-9a-f]{16}$/;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, shared } = serveSuite(listener, partitions);

    const newId = (): Promise<string> => newMemory(http, partitions, {});

    const believe = async (id: string, subject: string, object: string, more: object = {}): Promise<string> => {
      const json = { subject, relation: 'knows', object, ...more };
      return (await http.post(`/memories/${id}/add`, json)).blob_hash;
    };

    type Ask = (id: string, user: string) => Promise<ParsedJson>;
    const WAYS: Readonly<Record<string, Ask>> = {
      'POST forget': async (id, user_id) => {
        const { status, ...proof } = await http.post(`/memories/${id}/forget`, { user_id });
        assert.equal(status, 'erased');
        return proof;
      },
      ForgetUser: (id, user_id) => shared.grpc.with({ 'x-memory-id': id }).call('ForgetUser', { user_id }),
      forget_user: async (id, user_id) => {
        const json = { command: 'forget_user', args: { user_id, reason: 'asked' } };
        return (await http.post(`/memories/${id}/app/exec`, json)).result;
      },
    };

    for (const [name, ask] of Object.entries(WAYS))
      test(`${name}: keys of the person are revoked and anonymised, others stay`, async () => {
        const id = await newId();
        const user = `ann of ${id}`;
        const makeKey = async (more: object): Promise<{ readonly id: string; readonly raw: string }> => {
          const { key_id, raw_key } = await http.post('/auth/keys', { name: `for ${user}`, scopes: ['read'], ...more });
          return { id: key_id, raw: raw_key };
        };
        const bound = await makeKey({ memory_id: id, user_id: user });
        const everywhere = await makeKey({ user_id: user });
        const other = await makeKey({ memory_id: id, user_id: 'bea' });
        const admin = await makeKey({ memory_id: id, scopes: ['admin'] });
        const statusOf = async ({ raw }: { readonly raw: string }): Promise<number> =>
          (await http.ask('GET', `/memories/${id}/grains?limit=1`, { key: raw })).status;
        const statuses = () => Promise.all([bound, everywhere, other].map(statusOf));
        await believe(id, user, 'umbrellas', { user_id: user });
        assert.deepEqual(await statuses(), [200, 200, 200]);
        // An admin of this memory revokes keys bound to it, but not the deployment's.
        await http.call('POST', `/memories/${id}/forget`, { json: { user_id: user }, key: admin.raw });
        assert.deepEqual(await statuses(), [401, 200, 200]);
        await ask(id, user);
        assert.deepEqual(await statuses(), [401, 401, 200]);
        const { keys } = await http.get('/auth/keys?limit=1000');
        const revoked = keys.filter(({ key_id }: ParsedJson) => [bound.id, everywhere.id].includes(key_id));
        assert.equal(revoked.length, 2);
        for (const key of revoked) {
          assert.deepEqual([key.name, key.principal, key.user_id], ['erased', `key:${key.key_id}`, undefined]);
          assert.ok(key.revoked_at > 0);
        }
      });

    for (const [name, ask] of Object.entries(WAYS))
      test(`${name}: grains and words are gone, the proof repeats, other data stays`, async () => {
        const id = await newId();
        const gone: string[] = [];
        for (let session = 0; session < 6; session++)
          gone.push(await believe(id, `ann${session}`, 'umbrellas', { user_id: 'ann', session_id: `s${session}` }));
        const kept = await believe(id, 'bea', 'umbrellas', { user_id: 'bea' });
        const { audit_entry_hash: entry, ...proof } = await ask(id, 'ann');
        assert.deepEqual([proof['user_id'], proof['count']], ['ann', 6]);
        assert.match(proof['key_fingerprint'], FINGERPRINT);
        for (const hash of gone) {
          await refused(http.get(`/memories/${id}/grains/${hash}`), 'MEM-E001', 'MEM-E006');
          await refused(http.get(`/memories/${id}/grains/${hash}/raw`), 'MEM-E001', 'MEM-E006');
        }
        const { results } = await http.post(`/memories/${id}/recall`, { query: 'umbrellas' });
        assert.deepEqual(
          results.map(({ hash }: ParsedJson) => hash),
          [kept],
        );
        // The gRPC message has no audit entry; the others name the same one every time.
        const entries = new Set(entry === undefined ? [] : [entry]);
        for (const again of Object.values(WAYS)) {
          const { audit_entry_hash: named, ...repeated } = await again(id, 'ann');
          assert.deepEqual(repeated, { ...proof, count: 0 });
          if (named !== undefined) entries.add(named);
        }
        assert.equal(entries.size, 1);
        for (const named of entries) assert.match(named, /^[0-9a-f]{64}$/);
        const unknown = await ask(id, 'nobody');
        assert.deepEqual([unknown['count'], unknown['key_fingerprint']], [0, '']);
        // A later write creates a new key: an erased user may write again.
        const later = await believe(id, 'ann', 'boots', { user_id: 'ann' });
        assert.equal((await http.get(`/memories/${id}/grains/${later}`)).fields.user_id, 'ann');
        const second = await ask(id, 'ann');
        assert.equal(second['count'], 1);
        assert.notEqual(second['key_fingerprint'], proof['key_fingerprint']);
      });

    test('with its idempotency key an erasure returns its first answer, and no name is stored', async () => {
      const id = await newId();
      await believe(id, 'ann', 'rain', { user_id: 'ann' });
      const headers = { 'idempotency-key': 'erase ann' };
      const json = { command: 'forget_user', args: { user_id: 'ann' } };
      const exec = async (body: object): Promise<ParsedJson> =>
        (await http.call('POST', `/memories/${id}/app/exec`, { json: body, headers })).result;
      const first = await exec(json);
      assert.deepEqual([first['user_id'], first['count']], ['ann', 1]);
      assert.deepEqual(await exec(json), first);
      await refused(exec({ ...json, args: { user_id: 'bea' } }), 'VAL-E005');
    });

    test('with its idempotency key the making of a key names nobody after the erasure', async () => {
      const id = await newId();
      const user = 'quetzalcoatl';
      const json = {
        memory_id: id,
        user_id: user,
        namespace: user,
        name: `the key of ${user}`,
        principal: `user:${user}`,
      };
      // A repeat lacks the secret, which the description of the answer requires.
      const made = async (): Promise<ParsedJson> => {
        const headers = {
          authorization: `Bearer ${http.key}`,
          'content-type': 'application/json',
          'idempotency-key': `key in ${id}`,
        };
        const answer = await fetch(`${http.base}/api/auth/keys`, {
          method: 'POST',
          headers,
          body: JSON.stringify(json),
        });
        return (await answer.json()) as ParsedJson; // an object, as the client parses it
      };
      const { raw_key: _, ...first } = await made();
      assert.deepEqual(await made(), first);
      await http.post(`/memories/${id}/forget`, { user_id: user });
      const again = await made();
      assert.deepEqual([again['key_id'], again['scopes']], [first['key_id'], first['scopes']]);
      assert.ok(!JSON.stringify(again).includes(user), JSON.stringify(again));
    });

    test('an erasure requires the admin scope and an unbound key', async () => {
      const id = await newId();
      await believe(id, 'ann', 'rain', { user_id: 'ann' });
      const key = async (more: object): Promise<string> =>
        (await http.post('/auth/keys', { memory_id: id, ...more })).raw_key;
      const writer = GrpcClient.open(shared.server.grpc, await key({ scopes: ['write'] }));
      await refused(writer.call('ForgetUser', { user_id: 'ann' }), 'AUT-E001');
      const bound = GrpcClient.open(shared.server.grpc, await key({ scopes: ['admin'], namespace: 'part' }));
      await refused(bound.call('ForgetUser', { user_id: 'ann' }), 'AUT-E001');
      const own = GrpcClient.open(shared.server.grpc, await key({ scopes: ['admin'], user_id: 'ann' }));
      await refused(own.call('ForgetUser', { user_id: 'bea' }), 'AUT-E001');
      assert.equal((await own.call('ForgetUser', { user_id: 'ann' })).count, 1);
      await refused(shared.grpc.with({ 'x-memory-id': id }).call('ForgetUser', {}), 'VAL-E001', 'VAL-E003');
      for (const client of [writer, bound, own]) client.close();
    });

    test('the name is removed from others’ grains: current ones are redacted, older versions with the name are removed', async () => {
      const id = await newId();
      const M = `/memories/${id}`;
      await believe(id, 'ann', 'rain', { user_id: 'ann' });
      const old = await believe(id, 'bea', ' ann ', {
        user_id: 'bea',
        confidence: 0.5,
        note: 'n',
        created_at: 1_700_000_000,
      });
      const newer = (await http.post(`${M}/supersede`, { blob_hash: old, fields: { confidence: 0.7 } })).new_hash;
      const once = await believe(id, 'ann', 'cyd', { user_id: 'cyd' });
      const renamed = (await http.post(`${M}/supersede`, { blob_hash: once, fields: { subject: 'dan' } })).new_hash;
      const ownerless = await believe(id, 'ann', 'ann');
      const other = await believe(id, 'annette', 'rain', { user_id: 'bea' });
      const { key_fingerprint, count } = await http.post(`${M}/forget`, { user_id: 'ann' });
      assert.equal(count, 1);
      const stands = `erased:${key_fingerprint}`;
      for (const hash of [old, newer, once, ownerless])
        await refused(http.get(`${M}/grains/${hash}`), 'MEM-E001', 'MEM-E006');
      assert.equal((await http.get(`${M}/grains/${renamed}`)).fields.subject, 'dan');
      assert.equal((await http.get(`${M}/grains/${other}`)).fields.subject, 'annette');
      const { grains } = await http.get(`${M}/grains?limit=50`);
      const triples = grains.map(({ fields }: ParsedJson) => [
        fields['subject'],
        fields['object'],
        fields['user_id'] ?? null,
      ]);
      assert.deepEqual(
        triples.sort(),
        [
          ['annette', 'rain', 'bea'],
          ['bea', stands, 'bea'],
          ['dan', 'cyd', 'cyd'],
          [stands, stands, null],
        ].sort(),
      );
      const redacted = grains.find(({ fields }: ParsedJson) => fields['subject'] === 'bea');
      assert.deepEqual([redacted.fields['confidence'], redacted.fields['note']], [0.7, 'n']);
      const { versions } = await http
        .get(`${M}/grains/${redacted.hash}`)
        .then(
          async () => (await http.post(`${M}/app/exec`, { command: 'history', args: { hash: redacted.hash } })).result,
        );
      assert.deepEqual(
        versions.map(({ hash }: ParsedJson) => hash),
        [redacted.hash],
      );
      for (const query of [{ entity: 'ann' }, { subject: 'ann' }, { query: 'ann' }])
        assert.deepEqual((await http.post(`${M}/recall`, query)).results, [], JSON.stringify(query));
      const { entries } = await http.get(`${M}/audit?event_type=erasure.cross_user_redacted`);
      const sum = (member: string): number =>
        entries.reduce((total: number, { details }: ParsedJson) => total + details[member], 0);
      assert.deepEqual([sum('redacted'), sum('removed')], [2, 4]);
      for (const { subject } of entries) assert.match(subject, /^(erased|user):/);
      const { valid } = (await http.post(`${M}/app/exec`, { command: 'verify_audit_chain', args: {} })).result;
      assert.equal(valid, true);
    });
  });
