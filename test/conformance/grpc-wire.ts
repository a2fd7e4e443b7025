// gRPC on the wire, with a client that knows only the proto file: metadata, trailers, rpcs of later builds, the
// standard services, and access.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { credentials, loadPackageDefinition, Metadata, type ServiceClientConstructor, status } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { TestServer } from '../support/server.ts';
import { Refusal, refused } from './contract.ts';
import { GrpcClient, type Message, RPCS } from './grpc-client.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

/** Service contract 6.1: methods of this build, with the scope in order. */
const SCOPES: Readonly<Record<string, 'read' | 'write' | 'admin' | 'key'>> = {
  Add: 'write',
  Get: 'read',
  Forget: 'write',
  Recall: 'read',
  RecallChain: 'read',
  Supersede: 'write',
  Accumulate: 'write',
  Remember: 'write',
  Flush: 'write',
  Stats: 'read',
  Health: 'key',
  GrantConsent: 'write',
  RevokeConsent: 'write',
  RestrictProcessing: 'admin',
  LiftRestriction: 'admin',
  ForgetUser: 'admin',
  ExportUser: 'read',
  ExportPortability: 'read',
  VerifyCompliance: 'read',
  DetectPii: 'read',
  DetectPiiDetailed: 'read',
  GetHistory: 'read',
  CalQuery: 'read',
  GetMetrics: 'read',
  ListProvenance: 'read',
  GetProvenance: 'read',
  ProvenanceSummary: 'read',
  GetPolicyResolved: 'read',
  ListHarnessTemplates: 'read',
  BatchAdd: 'write',
};
const BELIEF = JSON.stringify({ subject: 'Ada', relation: 'likes', object: 'green tea', n: 1 });

/** Tests for the gRPC transport of a running server. */
export function grpcWire(running: () => TestServer): void {
  describe('gRPC', { concurrency: 4 }, () => grpcTests(running));
}

function grpcTests(running: () => TestServer): void {
  let server: TestServer;
  let http: HttpClient;
  let grpc: GrpcClient;
  before(() => {
    server = running();
    http = new HttpClient(server.http, server.key);
    grpc = GrpcClient.open(server.grpc, server.key);
  });
  after(() => grpc.close());
  const inNewMemory = async (): Promise<GrpcClient> => grpc.with({ 'x-memory-id': await newMemory(http, 1) });

  test('every rpc of the proto file is served, and requires its scope', async () => {
    assert.deepEqual([...RPCS].toSorted(), Object.keys(SCOPES).toSorted());
    const keys = {
      read: (await http.post('/auth/keys', { scopes: ['read'] })).raw_key,
      write: (await http.post('/auth/keys', { scopes: ['read', 'write'] })).raw_key,
    };
    const lesser = { key: [], read: [], write: [keys.read], admin: [keys.read, keys.write] };
    for (const rpc of RPCS) {
      await refused(grpc.nobody().call(rpc, {}), 'AUT-E005');
      await refused(grpc.call(rpc, {}, { authorization: `Bearer gr_${'0'.repeat(64)}` }), 'AUT-E004');
      for (const key of lesser[SCOPES[rpc]!])
        await refused(grpc.call(rpc, {}, { authorization: `Bearer ${key}` }), 'AUT-E001');
      const code = await grpc.call(rpc, {}).then(
        () => '',
        (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
      );
      assert.notEqual(code, 'SYS-E002', rpc);
    }
    assert.equal((await grpc.call('Health', {}, { authorization: `Bearer ${keys.read}` })).status, 'ok');
  });

  test('an unknown method is UNIMPLEMENTED', async () => {
    await new Promise<void>((done, fail) => {
      const session = connect(`http://${server.grpc}`);
      session.on('error', fail);
      const stream = session.request({
        ':method': 'POST',
        ':path': '/memory.v1.MemoryService/Dance',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      stream.on('response', (headers) => {
        assert.equal(Number(headers['grpc-status']), status.UNIMPLEMENTED);
        session.close();
        done();
      });
      stream.end(Buffer.alloc(5));
    });
  });

  test('the memory is in the metadata: default is the key’s own, else default; an unknown one is MEM-E003', async () => {
    const id = await newMemory(http, 1);
    const { hash } = await grpc.call('Add', { grain_type: 'belief', fields_json: BELIEF }, { 'x-memory-id': id });
    await refused(grpc.call('Get', { hash }), 'MEM-E001');
    const { raw_key } = await http.post('/auth/keys', { memory_id: id, scopes: ['read', 'write'] });
    const bound = grpc.with({ authorization: `Bearer ${raw_key}` });
    assert.equal((await bound.call('Get', { hash })).hash, hash);
    await refused(bound.call('Get', { hash }, { 'x-memory-id': 'default' }), 'MEM-E003', 'AUT-E001');
    await refused(grpc.call('Get', { hash }, { 'x-memory-id': 'no-such-memory' }), 'MEM-E003');
    const old = grpc.nobody().with({ 'x-api-key': raw_key });
    assert.equal((await old.call('Get', { hash })).hash, hash);
  });

  test('metadata narrow a call, and never widen it', async () => {
    const client = await inNewMemory();
    const { hash } = await client.call('Add', { grain_type: 'belief', fields_json: BELIEF });
    const narrow = client.with({ 'x-namespace': 'mine' });
    await refused(narrow.call('Get', { hash }), 'MEM-E001');
    const own = await narrow.call('Add', { grain_type: 'event', fields_json: '{"content":"x"}' });
    assert.equal(JSON.parse((await client.call('Get', own)).fields_json).namespace, 'mine');
    const { raw_key } = await http.post('/auth/keys', { namespace: 'mine', scopes: ['read'] });
    const bound = client.with({ authorization: `Bearer ${raw_key}` });
    assert.equal((await bound.call('Get', own)).hash, own.hash);
    await refused(bound.call('Get', own, { 'x-namespace': 'default' }), 'AUT-E001');
    const user = client.with({ 'x-user-id': 'ada' });
    const hers = await user.call('Add', { grain_type: 'event', fields_json: '{"content":"y"}' });
    assert.equal(JSON.parse((await client.call('Get', hers)).fields_json).user_id, 'ada');
  });

  test('the request id comes back, in trailers of answers and of errors', async () => {
    const client = await inNewMemory();
    const answer = await client.ask('Stats', {}, { 'x-request-id': 'mine-1' });
    assert.deepEqual(answer.trailers.get('x-request-id'), ['mine-1']);
    const refusal = await refused(
      client.call('Get', { hash: 'f'.repeat(64) }, { 'x-request-id': 'mine-2' }),
      'MEM-E001',
    );
    assert.equal(refusal.requestId, 'mine-2');
    const made = await client.ask('Stats', {});
    assert.match(String(made.trailers.get('x-request-id')[0]), /^req_/);
  });

  test('x-reason is the reason of a supersession; options that this build lacks warn in a trailer', async () => {
    const client = await inNewMemory();
    const added = await client.ask('Add', {
      grain_type: 'belief',
      fields_json: BELIEF,
      options: { auto_relate: true },
    });
    assert.match(String(added.trailers.get('x-warnings')[0]), /auto_relate/);
    const tip = await client.call(
      'Supersede',
      { old_hash: added.message.hash, fields_json: '{"object":"milk"}' },
      { 'x-reason': 'changed her mind' },
    );
    const { fields_json } = await client.call('Get', { hash: tip.new_hash });
    assert.equal(JSON.parse(fields_json).supersession_justification, 'changed her mind');
    const old = JSON.parse((await client.call('Get', { hash: added.message.hash })).fields_json);
    assert.equal(old.superseded_by, tip.new_hash);
  });

  test('invalid JSON texts are rejected', async () => {
    const client = await inNewMemory();
    for (const [fields_json, ...codes] of [
      ['{', 'VAL-E002'],
      ['nonsense', 'VAL-E002'],
      ['[]', 'VAL-E003'],
      ['7', 'VAL-E003'],
      ['null', 'VAL-E003'],
      ['', 'VAL-E002', 'VAL-E003'],
    ] as const)
      await refused(client.call('Add', { grain_type: 'event', fields_json }), ...codes).catch((error: Error) => {
        throw new Error(`${fields_json}: ${error.message}`);
      });
    const { hash } = await client.call('Add', { grain_type: 'belief', fields_json: BELIEF });
    for (const deltas_json of ['', '{', '[]', '{"n":"x"}', '{"n":1e400}'])
      await refused(client.call('Accumulate', { hash, deltas_json }), 'VAL-E001', 'VAL-E002', 'VAL-E003');
    await refused(client.call('Accumulate', { deltas_json: '{"n":1}' }), 'VAL-E001', 'VAL-E003');
    await refused(client.call('Add', { grain_type: '', fields_json: BELIEF }), 'VAL-E003', 'MEM-E005');
    await refused(client.call('Get', {}), 'VAL-E003');
    await refused(client.call('Forget', {}), 'VAL-E003');
    await refused(client.call('GetHistory', {}), 'VAL-E003');
    await refused(client.call('Supersede', { fields_json: '{}' }), 'VAL-E003');
    for (const field of ['target_date', 'reference_date', 'time_start', 'time_end'])
      await refused(client.call('Recall', { query: 'x', [field]: 1_700_000_000_000 }), 'VAL-E001');
  });

  test('a recall takes all sixty fields of the contract', async () => {
    const client = await inNewMemory();
    await client.call('Add', { grain_type: 'belief', fields_json: BELIEF });
    const answer = await client.call('Recall', {
      query: 'tea',
      time_start: 1,
      time_end: 9_999_999_999,
      exclude_superseded: true,
      include_contradicted: true,
      score_breakdown: true,
      rerank: true,
      hyde: true,
      llm_rerank: true,
      multi_hop: 2,
      exhaustive: true,
      session_census: true,
      aggregation_intent: true,
      preference_enrichment: false,
      temporal_field: 'both',
      reference_date: 1_700_000_000,
      temporal_expr: 'last 7 days',
    });
    assert.equal(answer.count, answer.results.length);
    for (const field of ['rerank', 'hyde', 'llm_rerank'])
      assert.ok(
        answer.warnings.some((warning: string) => warning.startsWith(field)),
        field,
      );
    await refused(client.call('Recall', { query: 'x', time_start: 2, time_end: 1 }), 'VAL-E001');
    await refused(client.call('Recall', { query: 'x', grain_type: 'fact' }), 'MEM-E005');
  });

  test('a chain of recalls returns its parts and their interpretation', async () => {
    const client = await inNewMemory();
    await client.call('Add', { grain_type: 'belief', fields_json: BELIEF });
    const answer = await client.call('RecallChain', {
      query: 'Who likes tea? Who likes chess?',
      params: { limit: 5, explanation: true, temporal_expr: 'since 2001' },
      max_sub_queries: 2,
    });
    assert.deepEqual(answer.sub_queries, ['Who likes tea', 'Who likes chess']);
    assert.equal(answer.sub_results.length, 2);
    assert.equal(answer.count, answer.results.length);
    assert.ok(answer.count >= 1);
    assert.match(answer.reasoning, /several questions/);
    assert.match(answer.sub_results[0].results[0].explanation, /^Score /);
    await refused(client.call('RecallChain', {}), 'VAL-E003');
    await refused(client.call('RecallChain', { query: 'x', max_sub_queries: 9 }), 'VAL-E001');
    await refused(client.call('RecallChain', { query: 'x', params: { recency_weight: 2 } }), 'VAL-E001');
  });

  test('temporal_expr narrows a recall; durations are for gRPC alone', async () => {
    const id = await newMemory(http, 1);
    const client = grpc.with({ 'x-memory-id': id });
    const now = Math.floor(Date.now() / 1000);
    for (const days of [0, 3, 40])
      await client.call('Add', {
        grain_type: 'event',
        fields_json: JSON.stringify({ content: `${days} days old`, created_at: now - days * 86_400 }),
      });
    const count = async (asked: object) => (await client.call('Recall', asked)).count;
    assert.equal(await count({ query: 'old', temporal_expr: 'last 7 days' }), 2);
    assert.equal(await count({ temporal_expr: 'since 2 days ago' }), 1);
    assert.equal(await count({ temporal_expr: 'last 7 days', time_end: now - 86_400 }), 1);
    assert.equal(await count({ temporal_expr: 'last 7 days', time_end: now - 30 * 86_400 }), 0);
    assert.equal(await count({ temporal_expr: 'last 7 days', reference_date: now - 38 * 86_400 }), 1);
    await refused(client.call('Recall', { temporal_expr: 'someday' }), 'VAL-E001');
    const recall = (temporal_expr: string) => http.post(`/memories/${id}/recall`, { query: 'old', temporal_expr });
    const since = new Date((now - 10 * 86_400) * 1000).toISOString().slice(0, 10);
    assert.equal((await recall(`since ${since}`)).count, 2);
    await refused(recall('last 7 days'), 'VAL-E001');
  });

  test('standard health needs no key, and answers for the server and its services', async () => {
    const Health = standard('grpc-health-check/proto/health/v1/health.proto', (loaded) => loaded.grpc.health.v1.Health);
    const client = new Health(server.grpc, credentials.createInsecure());
    for (const service of ['', 'memory.v1.MemoryService', 'memory.v1.MemoryBatchService']) {
      const answer = await new Promise<Message>((done, fail) => {
        client['check']!({ service }, (error: Error | null, value: Message) => (error ? fail(error) : done(value)));
      });
      assert.equal(answer.status, 'SERVING', service);
    }
    await assert.rejects(
      new Promise<Message>((done, fail) => {
        client['check']!({ service: 'nobody' }, (error: Error | null, value: Message) =>
          error ? fail(error) : done(value),
        );
      }),
      { code: status.NOT_FOUND },
    );
    client.close();
  });

  test('reflection lists the services to callers with a key, and to no other', async () => {
    const Reflection = standard(
      '@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto',
      (loaded) => loaded.grpc.reflection.v1.ServerReflection,
    );
    const client = new Reflection(server.grpc, credentials.createInsecure());
    const list = (metadata: Metadata) =>
      new Promise<Message>((done, fail) => {
        const stream = client['serverReflectionInfo']!(metadata);
        stream.on('data', done);
        stream.on('error', fail);
        stream.write({ host: '', list_services: '*' });
        stream.end();
      });
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${server.key}`);
    const answer = await list(metadata);
    const names = answer.list_services_response.service.map(({ name }: { name: string }) => name);
    for (const name of ['memory.v1.MemoryService', 'memory.v1.MemoryBatchService'])
      assert.ok(names.includes(name), name);
    await assert.rejects(list(new Metadata()), { code: status.UNAUTHENTICATED });
    client.close();
  });
}

/** The client of a standard service, from the proto file that its package comes with. */
function standard(file: string, find: (loaded: Message) => ServiceClientConstructor): ServiceClientConstructor {
  const path = resolve(import.meta.dirname, '../../node_modules', file);
  return find(loadPackageDefinition(loadSync(path, { keepCase: true, enums: String, defaults: true })));
}
