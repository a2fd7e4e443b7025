// Dry runs report what a removal would remove, by type and time, refuse what it would refuse, and change nothing; only
// the request itself is in the audit trail. Over memories of one partition and of two.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { shareServer } from './conformance/shared-server.ts';
import type { HttpAnswer } from './support/server-process.ts';

const THEN = 1_700_000_000;
const DRY = { 'x-dry-run': '1' };

const shared = shareServer();
const { send } = shared;

for (const partitions of [1, 2])
  describe(`${partitions} partitions`, () => {
    const id = `dry${partitions}`;
    const at = (verb: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
      send(verb, `/memories/${id}${path}`, json, headers);
    const exec = (command: string, args: object, headers: Record<string, string> = {}) =>
      at('POST', '/app/exec', { command, args }, headers);
    let hashes: string[];

    before(async () => {
      assert.equal((await send('POST', '/memories', { id, partitions })).status, 201);
      const belief = (object: string, more: object) => ({
        grain_type: 'belief',
        fields: { subject: 'Ada', relation: 'drinks', object, ...more },
      });
      const { body } = await at('POST', '/batch-add', {
        grains: [
          belief('tea', { user_id: 'u1', created_at: THEN }),
          belief('milk', { user_id: 'u1', created_at: THEN + 60, namespace: 'acme/prod' }),
          belief('rum', { user_id: 'u2', created_at: THEN + 120, namespace: 'acme' }),
          { grain_type: 'event', fields: { content: 'Ada came.', user_id: 'u1', created_at: THEN + 180 } },
        ],
      });
      assert.equal(body.total_added, 4);
      hashes = body.added.map((added: { blob_hash: string }) => added.blob_hash);
    });

    /** Runs `ask`, and checks that it left nothing except audit entries. */
    const unchanged = async (ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
      const state = async () => {
        const { body } = await at('GET', '/grains?limit=500&include_superseded=true');
        return body.grains.map((grain: { hash: string }) => grain.hash);
      };
      const events = async () => {
        const { body } = await at('GET', '/audit?limit=500');
        return body.entries.map((entry: { event_type: string }) => entry.event_type);
      };
      const before = await state();
      const eventsBefore = await events();
      const answer = await ask();
      const more = (await events()).length - eventsBefore.length;
      const news = (await events()).slice(0, more).filter((event: string) => event !== 'memory.read');
      assert.ok(
        news.every((event: string) => event === 'memory.searched'),
        news.join(),
      );
      assert.deepEqual(await state(), before);
      return answer;
    };

    test('a dry run by the header leaves its idempotency key to the change itself', async () => {
      const held = (headers: Record<string, string>) =>
        at('POST', '/retention/enforce', {}, { 'idempotency-key': `retention-${id}`, ...headers });
      assert.equal((await held(DRY)).body.dry_run, true);
      const meant = await held({});
      assert.notEqual(meant.body.dry_run, true, 'the answer of the dry run was repeated');
      assert.equal(meant.body.error.code, 'VAL-E005');
    });

    test('forget by subject, by hash and for a user', async () => {
      const bySubject = await unchanged(() => at('POST', '/forget', { subject: 'Ada', dry_run: true }));
      assert.equal(bySubject.status, 200, JSON.stringify(bySubject.body));
      assert.deepEqual(
        { ...bySubject.body, hashes: [...bySubject.body.hashes].sort() },
        {
          dry_run: true,
          count: 3,
          by_type: { belief: 3 },
          oldest_created_at: THEN,
          newest_created_at: THEN + 120,
          hashes: hashes.slice(0, 3).sort(),
          not_found: [],
          status: 'dry_run',
          warnings: [
            'dry run: nothing was done; would be removed: 3 belief, created 2023-11-14T22:13:20.000Z to 2023-11-14T22:15:20.000Z',
          ],
        },
      );
      const missing = 'f'.repeat(64);
      const byHash = await unchanged(() => at('POST', '/forget', { hashes: [hashes[3], missing] }, DRY));
      assert.deepEqual([byHash.body.count, byHash.body.by_type, byHash.body.not_found], [1, { event: 1 }, [missing]]);
      assert.equal((await at('POST', '/forget', { blob_hash: missing, dry_run: true })).code, 'MEM-E001');
      const user = await unchanged(() => at('POST', '/forget', { user_id: 'u1', dry_run: true }));
      assert.deepEqual([user.body.count, user.body.by_type, user.body.user_id], [3, { belief: 2, event: 1 }, 'u1']);
    });

    test('forget_user, scope-erase and the deletion of the memory', async () => {
      const user = await unchanged(() => exec('forget_user', { user_id: 'u1', dry_run: true }));
      assert.deepEqual([user.body.result.dry_run, user.body.result.count], [true, 3]);
      assert.equal(user.body.result.key_fingerprint, undefined);
      const byHeader = await unchanged(() => exec('forget_user', { user_id: 'nobody' }, DRY));
      assert.deepEqual([byHeader.body.result.count, byHeader.body.result.by_type], [0, {}]);
      const scope = await unchanged(() => at('POST', '/scope-erase', { scope_path: 'acme', dry_run: true }));
      assert.deepEqual(
        [scope.body.count, scope.body.scope_path, scope.body.scopes, scope.body.status],
        [
          2,
          'acme',
          [
            { scope_path: 'acme', count: 1 },
            { scope_path: 'acme/prod', count: 1 },
          ],
          'dry_run',
        ],
      );
      const byQuery = await unchanged(() => at('DELETE', '?dry_run=true'));
      assert.deepEqual([byQuery.body.deleted, byQuery.body.count], [false, 4], JSON.stringify(byQuery.body));
      const byBody = await unchanged(() => at('DELETE', '', { dry_run: true }));
      assert.deepEqual(byBody.body.by_type, { belief: 3, event: 1 });
    });

    test('a dry run over gRPC is requested by the header and answered in warnings', async () => {
      const client = shared.grpc.with({ 'x-memory-id': id, ...DRY });
      const noted = (trailers: { get(name: string): unknown[] }) => decodeURI(String(trailers.get('x-warnings')[0]));
      const forgotten = await client.ask('Forget', { hash: hashes[3] });
      assert.match(noted(forgotten.trailers), /dry run: nothing was done; would be removed: 1 event/);
      const user = await client.ask('ForgetUser', { user_id: 'u1' });
      assert.deepEqual([user.message.count, user.message.key_fingerprint], [3, '']);
      assert.match(noted(user.trailers), /would be removed: 2 belief, 1 event/);
      await assert.rejects(client.ask('RestrictProcessing', { user_id: 'u1' }), { code: 'VAL-E001' });
      assert.equal((await at('GET', '/grains')).body.total, 4);
    });

    test('a dry run refuses what the removal would refuse, and calls without a dry run refuse the header', async () => {
      const held = await at('PUT', '/policy', { overrides: { deletion: { hold: true } } });
      assert.equal(held.status, 200, JSON.stringify(held.body));
      for (const answer of [
        await at('POST', '/forget', { subject: 'Ada', dry_run: true }),
        await at('POST', '/scope-erase', { scope_path: 'acme', dry_run: true }),
        await at('DELETE', '?dry_run=true'),
      ])
        assert.equal(answer.code, 'POL-E003', JSON.stringify(answer.body));
      for (const [path, json] of [
        ['/add', { subject: 'a', relation: 'b', object: 'c' }],
        ['/consent/revoke', { user_id: 'u1', purpose: 'ads' }],
        ['/app/exec', { command: 'restrict', args: { user_id: 'u1' } }],
      ] as const)
        assert.equal((await at('POST', path, json, DRY)).code, 'VAL-E001', path);
      assert.equal((await exec('restrictions', {})).body.result.total, 0);
    });
  });
