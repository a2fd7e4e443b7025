// Unusual recall requests, over HTTP and over gRPC alike: values out of range, memories with one grain or without a
// current one, and unusual questions.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from './conformance/contract.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

interface Hit {
  readonly hash: string;
  readonly score: number;
}
interface RecallJson {
  readonly count: number;
  readonly results: readonly Hit[];
  readonly warnings: readonly string[];
  readonly topic_coverage?: string | null;
}

let server: TestServer;
let client: GrpcClient;
before(async () => {
  server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '4' });
  client = GrpcClient.open(server.grpc, '');
});
after(async () => {
  client.close();
  await server.close();
});

async function http(path: string, body: object): Promise<{ status: number; json: Record<string, unknown> }> {
  const answer = await fetch(`${server.http}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
}

let made = 0;
async function memoryWith(objects: readonly string[], partitions = 1): Promise<string> {
  const id = `m${++made}`;
  assert.equal((await http('/memories', { id, partitions })).status, 201);
  const grains = objects.map((object, at) => ({
    grain_type: 'belief',
    fields: { subject: 'Ada', relation: `r${at}`, object, session_id: `s${at}`, tags: ['t'] },
  }));
  if (grains.length > 0) assert.equal((await http(`/memories/${id}/batch-add`, { grains })).status, 200);
  return id;
}

/** The answer of both transports, which must be the same. */
async function both(memory: string, body: object): Promise<RecallJson> {
  const { status, json } = await http(`/memories/${memory}/recall`, body);
  assert.equal(status, 200, JSON.stringify(json).slice(0, 500));
  const parsed = json as unknown as RecallJson;
  const message = (await client.call('Recall', body, { 'x-memory-id': memory })) as RecallJson;
  const shown = ({ hash, score }: Hit): readonly [string, number] => [hash, score];
  assert.deepEqual(message.results.map(shown), parsed.results.map(shown));
  assert.equal(message.count, parsed.count);
  return parsed;
}

/** Values out of range, by field. */
const OUT: Readonly<Record<string, readonly unknown[]>> = {
  grain_type: ['fact'],
  temporal_expr: ['someday', '2024-13'],
  temporal_field: ['valid_from'],
  time_start: [1_700_000_000_000],
  time_end: [1_700_000_000_000],
  reference_date: [1_700_000_000_000],
  target_date: [1_700_000_000_000],
  deduplicate_threshold: [-0.1, 1.1],
  recency_weight: [-0.1, 1.1],
  diversity_lambda: [-0.1, 1.1],
  session_affinity_boost: [-0.1, 1.1],
  subject_affinity_boost: [-0.1, 1.1],
  target_date_weight: [-0.1, 1.1],
  conflict_similarity_threshold: [-0.1, 1.1],
  min_score: [-0.1, 1.1],
  session_census_min_score: [-0.1, 1.1],
  multi_hop: [4],
  min_per_namespace: [11],
  max_namespaces: [101],
  exhaustive_max_rounds: [6],
  session_census_min_per_session: [11],
  session_census_max_queries: [51],
};

for (const [field, values] of Object.entries(OUT))
  test(`${field} out of its range is refused with the same code over HTTP and gRPC`, async () => {
    const code = field === 'grain_type' ? 'MEM-E005' : 'VAL-E001';
    for (const value of values) {
      const body = { query: 'tea', [field]: value };
      const { status, json } = await http('/memories/default/recall', body);
      assert.equal(status, 400, JSON.stringify(json));
      assert.equal((json['error'] as { code: string }).code, code);
      await assert.rejects(client.call('Recall', body), (error) => error instanceof Refusal && error.code === code);
    }
  });

test('time_start after time_end, and a vector that cannot be compared, are refused over both', async () => {
  const memory = await memoryWith(['tea']);
  for (const body of [
    { query: 'tea', time_start: 5, time_end: 4 },
    { query: 'tea', embedding: [1, 0, 0] },
  ]) {
    if ('embedding' in body) await ready(memory);
    const { status, json } = await http(`/memories/${memory}/recall`, body);
    assert.deepEqual([status, (json['error'] as { code: string }).code], [400, 'VAL-E001']);
    await assert.rejects(
      client.call('Recall', body, { 'x-memory-id': memory }),
      (error) => error instanceof Refusal && error.code === 'VAL-E001',
    );
  }
});

const ready = (memory: string): Promise<void> =>
  eventually('nothing waits for its vector', async () => {
    const answer = await fetch(`${server.http}/api/memories/${memory}/stats`);
    const { index_lag: lag, vectors } = (await answer.json()) as { index_lag: number; vectors: number };
    return lag === 0 && vectors > 0;
  });

test('limit 0 means 20, 500 stays 500, and more is 500 with a warning', async () => {
  const memory = await memoryWith(Array.from({ length: 600 }, (_, at) => `tea number ${at}`));
  await ready(memory);
  assert.equal((await both(memory, { query: 'tea', limit: 0 })).count, 20);
  const all = await both(memory, { query: 'tea', limit: 500 });
  assert.deepEqual([all.count, all.warnings.filter((text) => text.includes('limit'))], [500, []]);
  const more = await both(memory, { query: 'tea', limit: 501 });
  assert.deepEqual(
    [more.count, more.warnings.filter((text) => text.includes('limit'))],
    [500, ['limit 501 is treated as 500']],
  );
});

test('unknown fields are ignored', async () => {
  const memory = await memoryWith(['tea']);
  const { status, json } = await http(`/memories/${memory}/recall`, {
    query: 'tea',
    nobody: { knows: [1] },
    top_k: 'x',
  });
  assert.deepEqual([status, json['count']], [200, 1]);
});

/** Every stage at once. */
const EVERYTHING = {
  score_breakdown: true,
  explanation: true,
  detect_contradictions: true,
  deduplicate: true,
  conflict_resolution: true,
  diversity_lambda: 0.5,
  recency_weight: 0.2,
  target_date: 1_700_000_000,
  target_date_weight: 0.1,
  session_affinity_boost: 0.2,
  subject_affinity_boost: 0.2,
  query_expansion: true,
  query_decompose: true,
  multi_hop: 2,
  min_per_namespace: 2,
  max_namespaces: 3,
  session_census: true,
  exhaustive: true,
  preference_enrichment: true,
  include_sources: true,
  count_entities: true,
  annotate_relative_time: true,
  min_score: 0.1,
};

for (const partitions of [1, 4]) {
  test(`empty memories, memories of one grain and memories without a current grain are recalled like others (${partitions} partitions)`, async () => {
    const empty = await memoryWith([], partitions);
    const one = await memoryWith(['tea'], partitions);
    const old = await memoryWith(['tea', 'milk'], partitions);
    await ready(old);
    const { results } = await both(old, { subject: 'Ada' });
    for (const { hash } of results)
      assert.equal((await http(`/memories/${old}/supersede`, { blob_hash: hash, tags: ['gone'] })).status, 200);
    // Vectors that arrive between two calls would change the ranking of the second.
    for (const memory of [one, old]) await ready(memory);
    for (const asked of [{}, EVERYTHING]) {
      assert.equal((await both(empty, { query: 'tea', ...asked })).count, 0);
      assert.equal((await both(empty, asked)).count, 0);
      assert.equal((await both(one, { query: 'tea', ...asked })).count, 1);
      assert.equal((await both(one, { subject: 'Ada', ...asked })).count, 1);
      assert.equal((await both(old, { query: 'tea', tags: ['t'], ...asked })).count, 0);
      assert.ok((await both(old, { query: 'tea', tags: ['t'], exclude_superseded: false, ...asked })).count >= 1);
    }
  });

  test(`questions of stop words, signs, other scripts, nothing and 250 KB are answered (${partitions} partitions)`, async () => {
    const memory = await memoryWith(['tea 🍵', 'שלום עולם', 'مرحبا بالعالم', '東京の天気', 'tea'], partitions);
    await ready(memory);
    const long = 'tea with saffron and honey '.repeat(9_500);
    assert.ok(long.length > 250_000);
    for (const [query, least] of [
      ['', 5],
      ['   ', 5],
      ['the of and', 0],
      ['?!…', 0],
      ['🍵', 0],
      ['שלום', 1],
      ['مرحبا', 1],
      ['\u202eשלום\u202c', 1],
      ['東京', 1],
      ['\ud83d', 0],
      ['a\u0000b', 0],
      [long, 2],
      ['x'.repeat(250_000), 0],
      ['"'.repeat(1_000), 0],
      ['+tea -milk subject:Ada "tea"', 1],
    ] as const)
      for (const asked of [{}, EVERYTHING]) {
        // gRPC replaces half a surrogate pair; neither transport refuses NUL.
        const { count } = await both(memory, { query, ...asked });
        // Grains that say tea hold too little of the long question for the `min_score` of EVERYTHING.
        const bare = 'explanation' in asked ? Math.min(least, query === long ? 0 : 1) : least;
        assert.ok(count >= bare, `${JSON.stringify(query.slice(0, 20))} found ${count}`);
      }
  });
}
