// A whole server on sockets, with the real engine and both HTTP listeners.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ClientUnaryCall, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { USED_THREADS } from '../../test/support/used-threads.ts';
import { type Config, readConfig } from './config.ts';
import { lockDirectory } from './directory-lock.ts';
import type {
  AccumulateResponse,
  AddResponse,
  BatchAddResponse,
  FlushResponse,
  ForgetResponse,
  GetHistoryResponse,
  GetMetricsResponse,
  GetResponse,
  HealthResponse,
  RecallResponse,
  StatsResponse,
  SupersedeResponse,
} from './gen/memory/v1/memory.ts';
import { MemoryBatchServiceClient, MemoryServiceClient } from './gen/memory/v1/services.ts';
import { makeLog } from './log.ts';
import { startServer } from './main.ts';
import type { RunningServer } from './running-server.ts';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'granary-server-'));
  folders.push(folder);
  return folder;
}

function start(dataDir: string, flags: Record<string, string> = {}, env: Record<string, string> = {}) {
  const config = readConfig(
    { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1', ...flags },
    env,
  );
  return startServer(config, { log: makeLog('silent'), threads: USED_THREADS });
}

interface CallAnswer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read its members one by one.
  readonly body: Record<string, unknown>;
  readonly bytes: Buffer;
}

async function call(
  server: RunningServer,
  verb: string,
  path: string,
  options: {
    key?: string | undefined;
    json?: unknown;
    body?: string | FormData;
    headers?: Record<string, string>;
  } = {},
): Promise<CallAnswer> {
  const body = options.json === undefined ? options.body : JSON.stringify(options.json);
  const response = await fetch(`${server.http}${path}`, {
    method: verb,
    headers: {
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(bytes.toString()) : {},
    bytes,
  };
}

const M = '/api/memories/default';
const BELIEF = { subject: 'ann', relation: 'likes', object: 'green tea' };

for (const listener of ['uws', 'node'])
  test(`over HTTP (${listener}): writes, reads, pages, files and errors`, async () => {
    const server = await start(newFolder(), { http: listener });
    try {
      const key = server.firstKey;
      assert.ok(key !== undefined);
      const added = await call(server, 'POST', `${M}/add`, { key, json: BELIEF, headers: { 'x-request-id': 'mine' } });
      assert.equal(added.status, 200);
      assert.equal(added.headers.get('x-request-id'), 'mine');
      const hash = String(added.body['blob_hash']);
      const grains = Array.from({ length: 5 }, (_, at) => ({
        grain_type: 'event',
        fields: { content: `event ${at}` },
      }));
      assert.equal((await call(server, 'POST', `${M}/batch-add`, { key, json: { grains } })).body['total_added'], 5);

      const grain = await call(server, 'GET', `${M}/grains/${hash}`, { key });
      assert.deepEqual(
        [grain.body['blob_hash'], grain.body['version_status'], grain.body['namespace']],
        [hash, 'current', 'default'],
      );
      const raw = await call(server, 'GET', `${M}/grains/${hash}/raw`, { key });
      assert.equal(raw.headers.get('etag'), `"${hash}"`);
      assert.equal(raw.bytes.length, grain.body['size_bytes']);
      const known = await call(server, 'GET', `${M}/grains/${hash}/raw`, {
        key,
        headers: { 'if-none-match': `"${hash}"` },
      });
      assert.equal(known.status, 304);
      const nothing = await call(server, 'GET', `${M}/grains/${'0'.repeat(64)}`, { key });
      const answers = [added, grain, nothing, raw, known];
      assert.deepEqual(
        answers.map(({ status, headers }) => `${status} ${headers.get('cache-control')}`),
        ['200 null', '200 no-store', '404 no-store', '200 private, no-cache', '304 private, no-cache'],
      );
      const hits = (await call(server, 'POST', `${M}/recall`, { key, json: { query: 'green tea' } })).body['results'];
      assert.equal((hits as { hash: string }[])[0]?.hash, hash);

      const seen: unknown[] = [];
      for (let cursor = '', page = 0; page < 4; page += 1) {
        const found = await call(server, 'GET', `${M}/grains?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`, {
          key,
        });
        assert.equal(found.body['total'], 6);
        seen.push(...(found.body['grains'] as { hash: string }[]).map((one) => one.hash));
        if (found.body['next_cursor'] === null) break;
        cursor = String(found.body['next_cursor']);
      }
      assert.equal(new Set(seen).size, 6);
      assert.equal(seen.length, 6);

      // A memory's file is imported into another memory, and exports unchanged.
      await call(server, 'POST', '/api/memories', { key, json: { id: 'copy' } });
      const file = await call(server, 'GET', `${M}/export-file`, { key });
      assert.equal(file.headers.get('content-type'), 'application/octet-stream');
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(file.bytes)]), 'memory.mg');
      const imported = await call(server, 'POST', '/api/memories/copy/import-file', { key, body: form });
      assert.deepEqual([imported.status, imported.body['imported'], imported.body['errors']], [200, 6, []]);
      const copy = await call(server, 'GET', '/api/memories/copy/export-file', { key });
      assert.deepEqual(copy.bytes, file.bytes);

      for (const [verb, path, body, status, code] of [
        ['POST', `${M}/add`, '{', 400, 'VAL-E002'],
        ['POST', `${M}/add`, '{"subject":"a"}', 422, 'VAL-E003'],
        ['GET', `${M}/grains?limit=0`, undefined, 400, 'VAL-E004'],
        ['GET', `${M}/grains?limit=x`, undefined, 400, 'VAL-E004'],
        ['GET', `${M}/grains?cursor=abc`, undefined, 400, 'VAL-E004'],
        ['GET', `${M}/grains?offset=10001`, undefined, 400, 'VAL-E004'],
        ['GET', `${M}/grains/${'0'.repeat(64)}`, undefined, 404, 'MEM-E001'],
        ['GET', '/api/memories/none/stats', undefined, 404, 'MEM-E003'],
        ['POST', '/api/memories', '{"id":"copy"}', 409, 'MEM-E004'],
        ['POST', `${M}/imports`, '{}', 415, 'VAL-E006'],
        ['POST', `${M}/authz/grant`, '{}', 422, 'VAL-E003'],
        ['POST', `${M}/remember`, '{}', 422, 'VAL-E003'],
        ['GET', '/api/nothing', undefined, 404, 'SYS-E003'],
        ['PUT', `${M}/add`, '{}', 405, 'SYS-E004'],
        ['POST', `${M}/import-file`, '{}', 415, 'VAL-E006'],
      ] as const) {
        const found = await call(server, verb, path, { key, ...(body === undefined ? {} : { body }) });
        const { error } = found.body as { error?: Record<string, unknown> };
        assert.deepEqual([found.status, error?.['code']], [status, code], `${verb} ${path}`);
        assert.deepEqual(Object.keys(error ?? {}).sort(), ['code', 'details', 'message', 'request_id']);
        assert.ok(String(error?.['message']).startsWith(`${code}: `));
        assert.equal(found.headers.get('x-request-id'), error?.['request_id']);
      }
      const nobody = await call(server, 'GET', `${M}/stats`);
      assert.deepEqual([nobody.status, nobody.headers.get('www-authenticate')], [401, 'Bearer']);
      assert.equal((await call(server, 'GET', '/api/config')).body['auth_mode'], 'api-key');
      assert.equal((await call(server, 'GET', '/api/openapi.json', { key })).body['openapi'], '3.1.0');
      assert.match(
        (await call(server, 'GET', '/metrics', { key })).bytes.toString(),
        /granary_requests_total\{operation="add"/,
      );
      assert.equal((await call(server, 'GET', '/metrics')).status, 401);
    } finally {
      await server.close();
    }
  });

test('an idempotency key replays a write, and rejects another body', async () => {
  const server = await start(newFolder());
  try {
    const key = server.firstKey;
    const post = (json: unknown) =>
      call(server, 'POST', `${M}/add`, { key, json, headers: { 'idempotency-key': 'once' } });
    const first = await post(BELIEF);
    const again = await post(BELIEF);
    assert.deepEqual(again.body, first.body);
    assert.equal((await post({ ...BELIEF, object: 'milk' })).status, 409);
  } finally {
    await server.close();
  }
});

/** Makes a unary call of a generated client a promise. */
function unary<Res>(
  run: (metadata: Metadata, done: (error: ServiceError | null, reply: Res) => void) => ClientUnaryCall,
  headers: Record<string, string> = {},
): Promise<{ readonly reply: Res; readonly trailers: Metadata }> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return new Promise((resolve, reject) => {
    let reply: Res;
    run(metadata, (error, value) => {
      if (error !== null) reject(error);
      reply = value;
    }).on('status', ({ metadata: trailers }) => resolve({ reply, trailers }));
  });
}

test('over gRPC: writes, reads, history, batches, and errors with their trailers', async () => {
  const server = await start(newFolder());
  const client = new MemoryServiceClient(server.grpc, credentials.createInsecure());
  const batches = new MemoryBatchServiceClient(server.grpc, credentials.createInsecure());
  try {
    const auth = { authorization: `Bearer ${server.firstKey}` };
    const { reply: added, trailers } = await unary<AddResponse>(
      (metadata, done) =>
        client.add(
          { grainType: 'belief', fieldsJson: JSON.stringify({ ...BELIEF, n: 1 }), options: { autoRelate: true } },
          metadata,
          done,
        ),
      { ...auth, 'x-request-id': 'mine' },
    );
    assert.match(added.hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(trailers.get('x-request-id'), ['mine']);
    assert.match(String(trailers.get('x-warnings')[0]), /auto_relate/);
    const { reply: got } = await unary<GetResponse>(
      (metadata, done) => client.get({ hash: added.hash }, metadata, done),
      auth,
    );
    assert.equal(JSON.parse(got.fieldsJson).object, 'green tea');
    const { reply: newer } = await unary<SupersedeResponse>(
      (metadata, done) =>
        client.supersede({ oldHash: added.hash, grainType: '', fieldsJson: '{"object":"milk"}' }, metadata, done),
      { ...auth, 'x-reason': 'changed' },
    );
    const sum = {
      hash: newer.newHash,
      deltasJson: '{"n":2}',
      setJson: '',
      reason: '',
      namespace: '',
      subject: '',
      relation: '',
    };
    const { reply: summed } = await unary<AccumulateResponse>(
      (metadata, done) => client.accumulate(sum, metadata, done),
      auth,
    );
    assert.equal(JSON.parse(summed.fieldsJson).n, 3);
    const { reply: history } = await unary<GetHistoryResponse>(
      (metadata, done) => client.getHistory({ hash: added.hash }, metadata, done),
      auth,
    );
    assert.deepEqual(
      history.versions.map(({ relation }) => relation),
      ['original', 'superseded', 'supersedes'],
    );
    const { reply: batch } = await unary<BatchAddResponse>(
      (metadata, done) =>
        batches.batchAdd(
          {
            items: [
              // An event's time in seconds is part of its identity.
              { grainType: 'event', fieldsJson: '{"content":"met at the station","created_at":1760000000}' },
              { grainType: 'event', fieldsJson: '{' },
              { grainType: 'event', fieldsJson: '{"content":"met at the station","created_at":1760000000}' },
            ],
          },
          metadata,
          done,
        ),
      auth,
    );
    assert.deepEqual(
      batch.results.map(({ errorCode, duplicate }) => errorCode || duplicate),
      [false, 'VAL-E002', true],
    );
    const { reply: stats } = await unary<StatsResponse>((metadata, done) => client.stats({}, metadata, done), auth);
    assert.deepEqual([stats.totalGrains, stats.supersededGrains, stats.hasEncryption], [4, 2, true]);
    assert.equal(
      (await unary<HealthResponse>((metadata, done) => client.health({}, metadata, done), auth)).reply.status,
      'ok',
    );
    assert.equal(
      (await unary<FlushResponse>((metadata, done) => client.flush({}, metadata, done), auth)).reply.pending,
      0,
    );
    await unary<ForgetResponse>((metadata, done) => client.forget({ hash: summed.newHash }, metadata, done), auth);
    const refusals = [
      [
        () => unary<ForgetResponse>((metadata, done) => client.forget({ hash: summed.newHash }, metadata, done), auth),
        5,
        'MEM-E001',
      ],
      [() => unary<GetResponse>((metadata, done) => client.get({ hash: '' }, metadata, done), auth), 3, 'VAL-E003'],
      [() => unary<GetResponse>((metadata, done) => client.get({ hash: added.hash }, metadata, done)), 16, 'AUT-E005'],
      [
        () =>
          unary<GetResponse>((metadata, done) => client.get({ hash: added.hash }, metadata, done), {
            ...auth,
            'x-memory-id': 'none',
          }),
        5,
        'MEM-E003',
      ],
      [
        () => unary<GetMetricsResponse>((metadata, done) => client.getMetrics({ domain: '' }, metadata, done)),
        16,
        'AUT-E005',
      ],
    ] as const;
    for (const [refused, status, code] of refusals)
      await assert.rejects(refused(), (error: ServiceError) => {
        assert.deepEqual([error.code, error.metadata.get('x-error-code')], [status, [code]]);
        assert.ok(error.details.startsWith(`${code}: `), error.details);
        assert.match(String(error.metadata.get('x-request-id')[0]), /^req_/);
        return true;
      });
  } finally {
    client.close();
    batches.close();
    await server.close();
  }
});

test('a recall over gRPC answers like one over HTTP', async () => {
  const server = await start(newFolder());
  const client = new MemoryServiceClient(server.grpc, credentials.createInsecure());
  try {
    const key = server.firstKey;
    for (const object of ['green tea', 'black tea', 'milk'])
      await call(server, 'POST', `${M}/add`, { key, json: { ...BELIEF, object } });
    const { results, ...rest } = (
      await call(server, 'POST', `${M}/recall`, { key, json: { query: 'tea', limit: 600, count_entities: true } })
    ).body;
    const request = { ...EMPTY_RECALL, query: 'tea', limit: 600, countEntities: true };
    const { reply } = await unary<RecallResponse>((metadata, done) => client.recall(request, metadata, done), {
      authorization: `Bearer ${key}`,
    });
    const hits = results as { hash: string; score: number; fields: unknown }[];
    assert.equal(hits.length, 2);
    assert.deepEqual(
      reply.results.map(({ hash, score, fieldsJson }) => [hash, score, JSON.parse(fieldsJson)]),
      hits.map(({ hash, score, fields }) => [hash, score, fields]),
    );
    assert.deepEqual(
      [reply.count, reply.totalCandidates, reply.topicCoverage, reply.warnings, reply.entities],
      [rest['count'], rest['total_candidates'], rest['topic_coverage'], rest['warnings'], rest['entities']],
    );
  } finally {
    client.close();
    await server.close();
  }
});

/** The members that are not optional in the message, with their defaults. */
const EMPTY_RECALL = {
  subject: '',
  relation: '',
  object: '',
  namespace: '',
  userId: '',
  grainType: '',
  temporalExpr: '',
  tags: [],
  excludeTags: [],
  detectContradictions: false,
  scopePath: '',
  includeSiblings: false,
  deduplicate: false,
  embedding: [],
  scoreBreakdown: false,
  explanation: false,
  conflictResolution: false,
  rerank: false,
  queryExpansion: false,
  hyde: false,
  llmRerank: false,
  includeSources: false,
  annotateRelativeTime: false,
  queryDecompose: false,
  exhaustive: false,
  sessionCensus: false,
  aggregationIntent: false,
};

test('a data directory keeps everything over a restart, and accepts one server at a time', async () => {
  const folder = newFolder();
  const first = await start(folder);
  const key = first.firstKey;
  const { blob_hash: hash } = (await call(first, 'POST', `${M}/add`, { key, json: BELIEF })).body;
  const { raw_key: made } = (await call(first, 'POST', '/api/auth/keys', { key, json: { scopes: ['read'] } })).body;
  await call(first, 'POST', '/api/memories', { key, json: { name: 'Second one', partitions: 2 } });
  const serverFile = join(folder, 'server.json');
  const { secret, ...found } = JSON.parse(readFileSync(serverFile, 'utf8'));
  assert.deepEqual(found, { http: first.http, grpc: first.grpc, pid: process.pid, host: hostname() });
  assert.match(secret, /^[0-9a-f]{64}$/);
  await assert.rejects(start(folder), { code: 'STO-E001', message: /in use/ });
  await first.close();
  await first.close();
  assert.equal(existsSync(serverFile), false);
  for (const name of ['bootstrap.key', 'master.key', 'control.key'])
    assert.equal(statSync(join(folder, 'keys', name)).mode & 0o777, 0o600, name);

  await assert.rejects(start(folder, { shards: '3' }), { code: 'VAL-E001', message: /created with 2 shards/ });
  await assert.rejects(start(folder, {}, { GRANARY_MASTER_KEY: '0'.repeat(64) }), { code: 'AUT-E003' });
  const second = await start(folder);
  assert.equal(second.firstKey, undefined);
  const raw = String(made);
  assert.equal((await call(second, 'GET', `${M}/grains/${hash}`, { key: raw })).status, 200);
  const { memories } = (await call(second, 'GET', '/api/memories', { key: raw })).body;
  assert.deepEqual(
    (memories as { id: string }[]).map(({ id }) => id),
    ['second-one', 'default'],
  );
  const keys = (await call(second, 'GET', '/api/auth/keys', { key })).body['keys'] as Record<string, unknown>[];
  assert.equal(keys.length, 2);
  assert.doesNotMatch(JSON.stringify(keys), /g[rp]_[0-9a-f]{9}/);
  const gone = await call(second, 'DELETE', '/api/memories/second-one', { key });
  assert.deepEqual([gone.status, gone.body['deleted']], [200, true]);
  await second.close();
});

test('a bootstrap key from the environment replaces the previous one', async () => {
  const folder = newFolder();
  const first = await start(folder);
  const made = first.firstKey;
  await first.close();
  const given = `gr_${'5'.repeat(64)}`;
  const second = await start(folder, {}, { GRANARY_BOOTSTRAP_KEY: given });
  assert.equal(second.firstKey, undefined);
  assert.equal((await call(second, 'GET', '/api/memories', { key: given })).status, 200);
  assert.equal((await call(second, 'GET', '/api/memories', { key: made })).status, 401);
  await second.close();
});

test('a start that fails leaves nothing open', async () => {
  const folder = newFolder();
  const other = await start(newFolder());
  await assert.rejects(start(folder, { http: 'node', httpPort: String(other.httpPort) }), { code: 'EADDRINUSE' });
  const server = await start(folder);
  await server.close();
  await other.close();
});

test('a start that fails at the last port, or before it opens anything, releases the directory that it was given', async () => {
  const folder = newFolder();
  const other = await start(newFolder());
  const config = (flags: Record<string, string>) =>
    readConfig({ dataDir: folder, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '1', ...flags }, {});
  const startLocked = (of: Config) => startServer(of, { log: makeLog('silent'), lock: lockDirectory(folder) });
  await assert.rejects(startLocked(config({ grpcPort: String(other.grpcPort) })), { code: 'EADDRINUSE' });
  await assert.rejects(startLocked(config({ http: 'node', singlePort: 'true', httpPort: String(other.httpPort) })), {
    code: 'EADDRINUSE',
  });
  const noSuchCounter = 'none' as Config['calTokens'];
  await assert.rejects(startLocked({ ...config({}), calTokens: noSuchCounter }), { code: 'VAL-E001' });
  const server = await startLocked(config({}));
  await server.close();
  lockDirectory(folder).release();
  await other.close();
});

test('a running request is answered before the server ends', async () => {
  const folder = newFolder();
  const server = await start(folder);
  const key = server.firstKey;
  const adds = Array.from({ length: 20 }, (_, at) =>
    call(server, 'POST', `${M}/add`, { key, json: { ...BELIEF, object: `o${at}` } }),
  );
  await Promise.race(adds);
  const closing = server.close();
  const answers = await Promise.allSettled(adds);
  await closing;
  const again = await start(folder);
  const stored = Number((await call(again, 'GET', `${M}/stats`, { key })).body['total_grains']);
  const acknowledged = answers.filter((answer) => answer.status === 'fulfilled' && answer.value.status === 200).length;
  assert.ok(acknowledged >= 1 && stored >= acknowledged, `${acknowledged} acknowledged, ${stored} stored`);
  await again.close();
});
