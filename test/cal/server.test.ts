// CAL on a whole server: rights, switches, stored templates, auditing, and errors on the wire.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { CalQueryRequest, CalQueryResponse } from '../../src/server/gen/memory/v1/memory.ts';
import { refused } from '../conformance/contract.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { ParsedJson } from './memory.ts';

let server: TestServer;
let admin: HttpClient;
before(async () => {
  server = await startTestServer({ calTier1: 'true' });
  admin = new HttpClient(server.http, server.key);
});
after(async () => {
  await server.close();
  assert.deepEqual(server.errors, []);
});

let memories = 0;
async function newMemory(partitions = 1): Promise<string> {
  memories += 1;
  const id = `cal-${memories}`;
  await admin.post('/memories', { id, partitions });
  return id;
}

async function exec(client: HttpClient, id: string, command: string, args: object): Promise<ParsedJson> {
  return (await client.post(`/memories/${id}/app/exec`, { command, args })).result;
}
const ask = async (client: HttpClient, id: string, query: string): Promise<ParsedJson> =>
  (await exec(client, id, 'cal', { query }))['result'];

async function keyOf(scopes: readonly string[], bound: object = {}): Promise<HttpClient> {
  const { raw_key: key } = await admin.post('/auth/keys', { scopes, ...bound });
  return admin.with(key);
}

const ADD =
  'ADD belief SET subject = "ada" SET relation = "mg:prefers" SET object = "tea" SET confidence = 0.5 REASON "she said so"';

for (const partitions of [1, 2])
  test(`Tier 1 adds, supersedes and reverts, ${partitions} partitions`, async () => {
    const id = await newMemory(partitions);
    const added = await ask(admin, id, ADD);
    assert.equal(added['grain_type'], 'belief');
    const { hash: first } = added as { hash: string };
    const superseded = await ask(admin, id, `SUPERSEDE ${first} SET object = "coffee" BECAUSE "she changed"`);
    assert.equal(superseded['old_hash'], first);
    const second: string = superseded['new_hash'];
    const [now] = (await ask(admin, id, 'RECALL beliefs'))['grains'];
    assert.deepEqual([now.hash, now.fields.object, now.fields.confidence], [second, 'coffee', 0.5]);
    await refused(ask(admin, id, `SUPERSEDE ${first} SET object = "x" REASON "late"`), 'CAL-E040');
    await refused(ask(admin, id, `REVERT ${first} REASON "nothing before"`), 'CAL-E041');
    await refused(ask(admin, id, `SUPERSEDE sha256:${'0'.repeat(64)} SET object = "x" REASON "r"`), 'CAL-E046');
    const reverted = await ask(admin, id, `REVERT ${second} REASON "a mistake"`);
    assert.deepEqual([reverted['reverted_hash'], reverted['restored_from']], [second, first]);
    const [again] = (await ask(admin, id, 'RECALL beliefs'))['grains'];
    assert.deepEqual([again.hash, again.fields.object], [reverted['new_hash'], 'tea']);
    assert.equal((await ask(admin, id, `HISTORY ${first}`))['versions'].length, 3);
    const goal = await ask(
      admin,
      id,
      'ADD goal SET subject = "ada" SET relation = "has" SET object = "learn" SET deadline = "2026-12-01" REASON "r"',
    );
    await refused(ask(admin, id, `SUPERSEDE ${goal['hash']} SET object = "x" REASON "r"`), 'CAL-E042');
    assert.equal((await ask(admin, id, 'RECALL goals WHERE deadline = "2026-12-01" AND object = "learn"'))['total'], 1);
    assert.deepEqual((await ask(admin, id, 'DESCRIBE capabilities'))['info'].cal_tiers, [0, 1]);
  });

test('a read-only caller has Tier 0, and a bound writer writes within its binding', async () => {
  const id = await newMemory();
  await refused(ask(await keyOf(['read'], { memory_id: id }), id, ADD), 'CAL-E044');
  const writer = await keyOf(['write'], { memory_id: id, namespace: 'mine', user_id: 'ann' });
  const { hash } = (await ask(writer, id, ADD)) as { hash: string };
  const [seen] = (await ask(admin, id, 'RECALL beliefs WHERE namespace = "mine" AND user_id = "ann"'))['grains'];
  assert.equal(seen.hash, hash);
  await refused(ask(writer, id, 'DEFINE TEMPLATE mine AS "{{grain.content}}"'), 'CAL-E044');
});

test('section 2.4: switches apply at once', async () => {
  const id = await newMemory();
  const writer = await keyOf(['write'], { memory_id: id });
  await refused(exec(writer, id, 'cal_switch', { enabled: false }), 'AUT-E001');
  assert.deepEqual(await exec(admin, id, 'cal_switch', {}), { enabled: true, tier1_enabled: true });
  await exec(admin, id, 'cal_switch', { tier1_enabled: false });
  await refused(ask(writer, id, ADD), 'CAL-E044');
  assert.equal((await ask(writer, id, 'RECALL beliefs'))['total'], 0);
  await exec(admin, id, 'cal_switch', { enabled: false, tier1_enabled: true });
  const off = await refused(ask(writer, id, 'RECALL beliefs'), 'CAL-E101');
  assert.match(off.message, /switched off/);
  await exec(admin, id, 'cal_switch', { enabled: true });
  assert.equal((await ask(writer, id, 'RECALL beliefs'))['total'], 0);
});

test('section 15: changes per minute are limited', async (t) => {
  // A stopped clock, ahead of the workers' own: neither a minute nor a call's time passes.
  const nowMs = Date.now() + 120_000;
  const still = await startTestServer({ calTier1: 'true' }, { clock: { nowMs: () => nowMs } });
  t.after(() => still.close());
  const other = new HttpClient(still.http, still.key);
  const writer = other.with((await other.post('/auth/keys', { scopes: ['write'] })).raw_key);
  const id = 'default';
  for (let i = 0; i < 20; i++) await ask(writer, id, ADD.replace('tea', `tea ${i}`));
  await refused(ask(writer, id, ADD), 'CAL-E052');
  const { hash } = (await ask(other, id, ADD)) as { hash: string };
  for (let i = 0; i < 10; i++)
    await refused(ask(writer, id, `SUPERSEDE sha256:${'0'.repeat(64)} SET object = "x" REASON "r"`), 'CAL-E046');
  await refused(ask(writer, id, `SUPERSEDE ${hash} SET object = "x" REASON "r"`), 'CAL-E043');
});

test('section 12.9, D-6: a template is stored once for its namespace, and deleted with its memory', async () => {
  const id = await newMemory();
  await ask(admin, id, ADD);
  await ask(admin, id, 'DEFINE TEMPLATE short AS "{{grain.content}};"');
  assert.match((await ask(admin, id, 'RECALL beliefs AS TEMPLATE short'))['content'], /prefers tea;/);
  assert.deepEqual((await ask(admin, id, 'DESCRIBE templates'))['info'].templates, [{ name: 'short', extends: null }]);
  await refused(ask(admin, id, 'DEFINE TEMPLATE short AS "x"'), 'CAL-E088');
  await refused(ask(admin, id, 'DEFINE TEMPLATE markdown AS "x"'), 'CAL-E088');
  const elsewhere = await keyOf(['read'], { memory_id: id, namespace: 'other' });
  await refused(ask(elsewhere, id, 'RECALL beliefs AS TEMPLATE short'), 'CAL-E085');
  for (let i = 1; i < 50; i++) await ask(admin, id, `DEFINE TEMPLATE t${i} AS "x"`);
  await refused(ask(admin, id, 'DEFINE TEMPLATE t50 AS "x"'), 'CAL-E089');
});

test('section 20: every query leaves one audit entry, a rejected one too', async () => {
  const id = await newMemory();
  const entries = async (): Promise<number> => (await admin.get(`/memories/${id}/stats`)).audit_entries;
  const before = await entries();
  await ask(admin, id, 'RECALL beliefs WHERE subject = "secret"');
  await refused(ask(admin, id, 'RECALL facts'), 'CAL-E003');
  // Entries may follow the answer; a flush waits for all of them.
  await admin.post(`/memories/${id}/flush`, {});
  assert.ok((await entries()) >= before + 2);
});

test('section 1.2, D-2, D-4: a refusal carries its JSON, as a status detail and in the body', async () => {
  const id = await newMemory();
  const client = new Client(server.grpc, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${server.key}`);
  metadata.set('x-memory-id', id);
  const call = (query: string): Promise<ServiceError | CalQueryResponse> =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        '/memory.v1.MemoryService/CalQuery',
        (value: CalQueryRequest) => Buffer.from(CalQueryRequest.encode(value).finish()),
        (bytes: Buffer) => CalQueryResponse.decode(bytes),
        { query },
        metadata,
        (error, answer) => resolve(error ?? answer!),
      );
    });
  const error = (await call('RECALL  facts')) as ServiceError;
  assert.equal(error.code, status.INVALID_ARGUMENT);
  assert.match(error.details, /^CAL-E003: /);
  const detail = error.metadata.get('grpc-status-details-bin')[0];
  assert.ok(Buffer.isBuffer(detail));
  const text = detail.toString('utf8');
  assert.ok(text.includes('google.protobuf.StringValue'));
  const json = JSON.parse(text.slice(text.indexOf('{')));
  assert.equal(json.error.code, 'CAL-E003');
  assert.equal(json.error.suggestion, 'Did you mean beliefs?');
  assert.deepEqual(json.error.position, { start: 8, end: 13, line: 1, col: 9 });
  const good = (await call(' RECALL beliefs ')) as CalQueryResponse;
  assert.equal(good.query, ' RECALL beliefs ');
  assert.equal(good.queryHash, hash('sha256', 'RECALL beliefs', 'hex'));
  assert.equal(good.queryHash, ((await call('RECALL beliefs')) as CalQueryResponse).queryHash);
  client.close();
});

for (const partitions of [1, 2])
  test(`IN SCOPE sees what the scope path of a recall sees, ${partitions} partitions`, async () => {
    const id = await newMemory(partitions);
    const grains = ['org', 'acme', 'acme/prod', 'acme/prod/bot', 'acme/test', 'default'].map((namespace) => ({
      grain_type: 'belief',
      fields: { subject: `in ${namespace}`, relation: 'is', object: 'saffron', namespace },
    }));
    await admin.post(`/memories/${id}/batch-add`, { grains });
    const seen = async (path: string): Promise<[string[], string[], string[]]> => {
      const subjects = (result: ParsedJson): string[] =>
        result['grains'].map(({ fields }: { fields: { subject: string } }) => fields.subject).sort();
      const recalled = await admin.post(`/memories/${id}/recall`, { relation: 'is', scope_path: path, limit: 50 }).then(
        ({ results }) => subjects({ grains: results }),
        () => [],
      );
      const scope = `RECALL beliefs IN SCOPE "${path}"`;
      return [
        recalled,
        subjects(await ask(admin, id, scope)),
        subjects(await ask(admin, id, `${scope} LIKE "saffron"`)),
      ];
    };
    for (const tree of [undefined, { name: 'org', children: [{ name: 'acme', children: [{ name: 'prod' }] }] }]) {
      if (tree !== undefined) await admin.call('PUT', `/memories/${id}/scope-tree`, { json: tree });
      for (const path of ['acme/prod', 'acme', 'org', 'nowhere', 'acme/none']) {
        const [recalled, structural, searched] = await seen(path);
        assert.deepEqual(structural, recalled, path);
        assert.deepEqual(searched, recalled, path);
      }
    }
    assert.deepEqual((await seen('acme/prod'))[1], ['in acme', 'in acme/prod', 'in acme/prod/bot', 'in org']);
  });
