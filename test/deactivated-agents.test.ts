// A deactivated agent writes nothing: every call of a shard whose row says that it changes something, and every operation of
// the table, asked as such an agent. A new one is asked without a line here.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { EngineError } from '../src/engine/base/errors.ts';
import type { CallContext } from '../src/engine/calls/context.ts';
import type { Engine } from '../src/engine/engine.ts';
import { openEngine } from '../src/engine/open.ts';
import { OPERATIONS } from '../src/server/operations/table.ts';
import { type Input, MEMORY_ROWS, type MemoryMethod } from '../src/shards/protocol.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import type { HttpClient } from './conformance/http-client.ts';
import { newMemory } from './conformance/http-driver.ts';
import { shareServer } from './conformance/shared-server.ts';
import { LISTENER_PARTITIONS } from './support/listener-partitions.ts';

const owner: CallContext = { memory: 1, partition: 0, actor: 'key:test', requestId: 'req_test', owns: true };
const PRINCIPAL: CallContext = { ...owner, actor: 'agent:planner' };
const CLAIM: CallContext = { ...owner, actor: 'user:ann', agentId: 'planner' };
const DID = 'did:web:example.com:planner';
const FIELDS = { subject: 'ann', relation: 'likes', object: 'tea' };

function codeOf(error: unknown): string {
  return error instanceof EngineError ? error.code : `${error}`;
}

describe('on a shard', () => {
  const directory = mkdtempSync(join(tmpdir(), 'granary-deactivated-'));
  let engine: Engine;
  let nowMs = 1_760_000_000_000;
  const open = () =>
    openEngine({
      directory: join(directory, 'shard-0'),
      keysDirectory: join(directory, 'keys', 'shard-0'),
      shard: 0,
      shards: 1,
      masterKeys: [Buffer.alloc(32, 7)],
      indexHeapBytes: 64 << 20,
      clock: { nowMs: () => nowMs },
      onFatal: (error) => assert.fail(`fatal: ${error instanceof Error ? error.stack : error}`),
    });
  const add = (caller: CallContext, more: object = {}) =>
    engine.write('add', caller, { grainType: 'belief', fields: { ...FIELDS, ...more }, sync: false });
  const register = (agentId: string, did?: string) =>
    engine.write('registerAgent', owner, { identity: { agentId, did, capabilities: [], metadata: {} } });

  before(async () => {
    engine = await open();
    await engine.write('attachMemory', owner, {
      settings: {
        number: 1,
        id: 'm',
        partitions: 1,
        language: 'en',
        dedup: 'exact',
        dedupThreshold: 0.85,
        createdAtMs: nowMs,
      },
    });
    await register('planner', DID);
    await register('other', 'did:web:example.com:other');
    await add(PRINCIPAL, { object: 'before' });
    await engine.write('deactivateAgent', owner, { agentId: 'planner', reason: 'replaced' });
  });
  after(async () => {
    await engine.close();
    rmSync(directory, { recursive: true });
  });

  const CHANGES = Object.entries(MEMORY_ROWS).flatMap(([method, row]) =>
    'changes' in row && row.changes !== 'nothing' ? [[method as MemoryMethod, row.changes] as const] : [],
  );
  for (const [method, changes] of CHANGES) {
    if (changes === 'trail' || changes === 'idempotency') continue;
    test(`${method} is refused`, async () => {
      for (const caller of [PRINCIPAL, CLAIM, { ...PRINCIPAL, actor: 'system', onBehalfOf: 'agent:planner' }])
        await assert.rejects(
          // The input does not matter: nothing of the call runs.
          engine.write(method as 'add', caller, {} as Input<'add'>),
          (error) => codeOf(error) === 'AGT-E003',
        );
    });
  }

  test('the walk has met the calls that write grains', () => {
    const grains = CHANGES.filter(([, changes]) => changes === 'grains').map(([method]) => method);
    for (const method of ['add', 'addBatch', 'importBlobs', 'supersede', 'accumulate', 'forget', 'eraseUser'] as const)
      assert.ok(grains.includes(method), method);
  });

  test('a write that waits while the agent is deactivated is refused', async () => {
    await register('late');
    const late: CallContext = { ...owner, actor: 'agent:late' };
    const results = await Promise.allSettled([
      add(late, { object: 'first' }),
      engine.write('deactivateAgent', owner, { agentId: 'late' }),
      add(late, { object: 'second' }),
    ]);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? 'done' : codeOf(result.reason))),
      ['done', 'done', 'AGT-E003'],
    );
  });

  test('a grain in its name is refused whoever sends it, in a batch alone', async () => {
    await assert.rejects(add(owner, { object: 'x', author_did: DID }), (error) => codeOf(error) === 'AGT-E003');
    const { outcomes } = await engine.write('addBatch', owner, {
      items: [DID, 'did:web:example.com:other'].map((did) => ({
        grainType: 'belief',
        fields: { ...FIELDS, object: did, author_did: did },
      })),
    });
    assert.deepEqual(
      outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'added')),
      ['AGT-E003', 'added'],
    );
  });

  test('others may build on what it wrote before', async () => {
    await register('author', 'did:web:example.com:author');
    const { hash } = await add(owner, { object: 'old', author_did: 'did:web:example.com:author' });
    await engine.write('deactivateAgent', owner, { agentId: 'author' });
    const { newHash } = await engine.write('accumulate', owner, {
      target: { hash },
      deltas: { success_count: 1 },
      set: {},
    });
    assert.notEqual(newHash, hash);
    await assert.rejects(
      engine.write('supersede', owner, { oldHash: newHash, fields: { author_did: 'did:web:example.com:author' } }),
      (error) => codeOf(error) === 'AGT-E003',
    );
  });

  test('it may read, and its reads are noted', async () => {
    assert.ok(engine.read('list', PRINCIPAL, { filter: {}, limit: 1, order: 'asc' }).grains.length === 1);
    await engine.write('note', PRINCIPAL, { event: 'user.data_exported', details: { count: 0 } });
  });

  test('refusals are in the trail with the agent and the operation', async () => {
    const { entries } = await engine.write('auditPage', owner, { filter: {}, limit: 500, order: 'desc' });
    const denied = entries.filter(({ eventType }) => eventType === 'authz.access_denied');
    const named = denied.filter(({ details }) => details['agent'] === 'planner' && details['code'] === 'AGT-E003');
    assert.ok(named.some(({ details }) => details['operation'] === 'eraseUser'));
    assert.ok(denied.some(({ details }) => details['agent'] === DID));
  });

  test('the refusal survives a crash', async () => {
    await engine.abandon();
    nowMs += 1_000;
    engine = await open();
    await assert.rejects(add(PRINCIPAL, { object: 'after' }), (error) => codeOf(error) === 'AGT-E003');
    const { identity } = engine.read('identity', owner, { agentId: 'planner' });
    assert.deepEqual([identity.status, identity.deactivationReason, identity.did], ['deactivated', 'replaced', DID]);
  });

  test('an agent that is a person is forgotten with the person, and its did is free again', async () => {
    const did = 'did:web:example.com:ann';
    await register('user:ann', did);
    await assert.rejects(register('agent:user:ann'), (error) => codeOf(error) === 'AGT-E002');
    await assert.rejects(register('someone', did), (error) => codeOf(error) === 'AGT-E002');
    const before = await engine.write('identities', owner, { order: 'asc', offset: 0, limit: 100 });
    await engine.write('eraseUser', owner, { userId: 'ann' });
    const after = await engine.write('identities', owner, { order: 'asc', offset: 0, limit: 100 });
    assert.equal(after.total, before.total - 1);
    assert.throws(() => engine.read('identity', owner, { agentId: 'user:ann' }), /AGT-E001|no identity/);
    await register('someone', did);
  });
});

/** A message for each rpc that changes a memory. A new one fails the walk until it is here. */
const MESSAGES: Readonly<Record<string, object>> = {
  Add: { grain_type: 'belief', fields_json: JSON.stringify(FIELDS) },
  BatchAdd: { items: [{ grain_type: 'belief', fields_json: JSON.stringify(FIELDS) }] },
  Supersede: { old_hash: '0'.repeat(64), fields_json: JSON.stringify(FIELDS) },
  Accumulate: { hash: '0'.repeat(64), deltas_json: '{"success_count":1}' },
  Forget: { hash: '0'.repeat(64) },
  ForgetUser: { user_id: 'ann' },
  GrantConsent: { user_id: 'ann', purpose: 'ads' },
  RevokeConsent: { user_id: 'ann', purpose: 'ads' },
  RestrictProcessing: { user_id: 'ann' },
  LiftRestriction: { user_id: 'ann' },
  Flush: {},
  Remember: { text: 'Ann likes tea.' },
  RebuildIndexes: {},
  Compact: {},
  RotateKeys: { scope: 'memory' },
};
/** Rows that change data for some inputs only; their writes are asked below. */
const MAY_ONLY_READ = new Set(['exec', 'cal']);

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`over ${listener}`, () => {
    const shared = shareServer({ shards: '4', workers: '2', http: listener, calTier1: 'true' });
    const { http } = shared;

    describe(`${partitions} partitions`, () => {
      let id: string;
      let agent: HttpClient;
      let grpc: GrpcClient;
      const isRefused = (what: Promise<unknown>, label: string) =>
        assert.rejects(what, (error: { readonly code?: string }) => error.code === 'AGT-E003', label);
      before(async () => {
        id = await newMemory(http, partitions);
        const asked = { principal: 'agent:planner', scopes: ['read', 'write', 'admin'] };
        agent = http.with((await http.post('/auth/keys', asked)).raw_key);
        grpc = GrpcClient.open(shared.server.grpc, agent.key).with({ 'x-memory-id': id });
        await http.post(`/memories/${id}/app/exec`, { command: 'cal_switch', args: { tier1_enabled: true } });
        await agent.post(`/memories/${id}/add`, FIELDS);
        await http.post(`/memories/${id}/agents/identities`, { agent_id: 'planner' });
        await http.post(`/memories/${id}/agents/identities/planner/deactivate`, {});
      });

      const changing = OPERATIONS.filter(
        ({ on, mutates, name }) => on === 'memory' && mutates && !MAY_ONLY_READ.has(name),
      );
      for (const row of changing)
        test(`${row.name} is refused`, async () => {
          for (const { verb, path, body } of row.http) {
            const rest = { ...row.example };
            const filled = path.replace(/^M/, `/memories/${id}`).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
              const { [name]: value } = rest;
              delete rest[name];
              return String(value ?? 'x');
            });
            const file = new FormData();
            file.set('file', new Blob([Buffer.from('MG')]), 'x.mg');
            const asking = body === 'file' ? { body: file } : body === 'none' ? {} : { json: rest };
            await isRefused(agent.call(verb, filled, asking), `${verb} ${path}`);
          }
          if (row.exec !== undefined)
            await isRefused(
              agent.post(`/memories/${id}/app/exec`, { command: row.exec.command, args: row.example }),
              row.exec.command,
            );
          if (row.grpc === undefined) return;
          const message = MESSAGES[row.grpc.rpc];
          assert.ok(message !== undefined, `there is no message for ${row.grpc.rpc}`);
          await isRefused(grpc.call(row.grpc.rpc, message), row.grpc.rpc);
        });

      test('a query that writes is refused, one that reads is answered', async () => {
        const cal = (query: string) => agent.post(`/memories/${id}/app/exec`, { command: 'cal', args: { query } });
        await cal('RECALL beliefs');
        await isRefused(cal('ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "x"'), 'CAL');
      });

      test('it may read', async () => {
        assert.equal((await agent.get(`/memories/${id}/grains`)).grains.length, 1);
        assert.equal((await agent.post(`/memories/${id}/recall`, { query: 'tea' })).results.length, 1);
        await agent.post(`/memories/${id}/app/exec`, { command: 'restrictions' });
      });

      test('it writes in another memory, where it is not deactivated', async () => {
        const other = await newMemory(http, partitions);
        await agent.post(`/memories/${other}/add`, FIELDS);
      });
    });
  });
