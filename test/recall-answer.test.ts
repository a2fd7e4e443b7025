// Every member that the contract defines for a recall's answer, its hits and their accounts is present over HTTP and
// over gRPC, with the same value over both, and every account adds up.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GrpcClient } from './conformance/grpc-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';

type Json = Record<string, unknown>;

const THEN = 1_700_000_000;
const ANSWER = [
  ...['count', 'results', 'sources', 'total_candidates', 'topic_coverage', 'recall_id', 'warnings', 'entity_count'],
  ...['entities', 'exhaustive_metadata', 'session_census_metadata', 'session_coverage_ratio'],
];
const HIT = [
  ...['hash', 'grain_type', 'score', 'source_namespace', 'scope_depth', 'score_breakdown', 'explanation'],
  ...['relative_time', 'conflict_status', 'supersession_status', 'recall_source'],
];
const TERMS = ['bm25', 'phrase', 'vector', 'near', 'answer', 'session', 'pooled', 'role', 'speaker', 'time', 'self'];
const CHANGES = [
  ...['recency_decay', 'temporal_decay_boost', 'target_date_proximity', 'session_affinity', 'subject_affinity'],
  ...['interference_penalty', 'supersession_demotion'],
];
const ACCOUNT = ['bm25_rank', 'vector_score', 'rrf_score', 'final_score', ...TERMS, ...CHANGES];

async function post(server: TestServer, path: string, body: object): Promise<Json> {
  const answer = await fetch(`${server.http}/api/memories/default/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await answer.json()) as Json;
  assert.ok(answer.ok, JSON.stringify(json));
  return json;
}

async function filled(t: TestContext): Promise<TestServer> {
  const server = await startTestServer({ auth: 'none', embedder: 'ngram', shards: '1' });
  t.after(() => server.close());
  const at = (second: number): Json => ({ created_at: THEN + second });
  const said = (second: number, speaker: string, content: string, more: Json = {}): Json => ({
    grain_type: 'event',
    fields: { content, speaker, role: 'user', session_id: 's', namespace: 'acme/prod', ...at(second), ...more },
  });
  const states = (object: string, second: number, more: Json = {}): Json => ({
    grain_type: 'belief',
    fields: {
      subject: 'Ada',
      relation: 'drinks',
      object,
      temporal_type: 'event',
      namespace: 'acme',
      ...at(second),
      ...more,
    },
  });
  const first = await post(server, 'batch-add', {
    grains: [
      said(0, 'Tom', 'Ada, when do you drink green tea?'),
      said(1, 'Ada', 'I drink green tea since yesterday, I like it'),
      states('green tea', 10),
      states('black tea', 20),
      states('tea with milk', 30, { relation: 'sells', namespace: 'acme/quiet' }),
    ],
  });
  const [source, , old] = (first['added'] as { blob_hash: string }[]).map(({ blob_hash: hash }) => hash);
  await post(server, 'add', {
    ...{ subject: 'Ada', relation: 'likes', object: 'green tea', derived_from: source, namespace: 'acme' },
    created_at: THEN + 40,
  });
  await post(server, 'supersede', { blob_hash: old, object: 'white tea' });
  await eventually('nothing waits for its vector', async () => {
    const answer = await fetch(`${server.http}/api/memories/default/stats`);
    return ((await answer.json()) as Json)['index_lag'] === 0;
  });
  return server;
}

const QUESTION = {
  query: 'when does Ada drink green tea',
  scope_path: 'acme/prod',
  exclude_superseded: false,
  score_breakdown: true,
  explanation: true,
  annotate_relative_time: true,
  detect_contradictions: true,
  include_sources: true,
  count_entities: true,
  exhaustive: true,
  session_census: true,
  recency_weight: 0.1,
  target_date: THEN,
  target_date_weight: 0.1,
  session_affinity_boost: 0.2,
  subject_affinity_boost: 0.2,
};

/** Members with a value: a gRPC message has the others at their defaults. */
function saying(value: Json): string[] {
  return Object.keys(value).filter((name) => {
    const member = value[name];
    return member !== undefined && member !== null && member !== '' && !(Array.isArray(member) && member.length === 0);
  });
}

function namesIn(answer: Json, further: readonly Json[]): Set<string> {
  const answers = [answer, ...further];
  const hits = answers.flatMap((one) => one['results'] as Json[]);
  const names = new Set(answers.flatMap(saying));
  for (const hit of hits) {
    for (const name of saying(hit)) names.add(`hit ${name}`);
    const account = hit['score_breakdown'] as Record<string, number>;
    for (const name of saying(account)) if (account[name] !== 0) names.add(`account ${name}`);
    const base = account['rrf_score'] || TERMS.reduce((sum, term) => sum + (account[term] ?? 0), 0);
    const sum = CHANGES.reduce((total, change) => total + (account[change] ?? 0), base);
    assert.ok(Math.abs(sum - (hit['score'] as number)) < 1e-9, JSON.stringify(account));
    assert.equal(account['final_score'], hit['score']);
  }
  return names;
}

test('every member of an answer is there over HTTP and gRPC, and accounts add up', async (t) => {
  const server = await filled(t);
  const client = GrpcClient.open(server.grpc, '');
  t.after(() => client.close());
  const several = [QUESTION, { ...QUESTION, subject: 'Ada' }, { query: 'Ada tea', limit: 501, score_breakdown: true }];
  const overHttp = await Promise.all(several.map((body) => post(server, 'recall', body)));
  const overGrpc = (await Promise.all(several.map((body) => client.call('Recall', body)))) as Json[];
  const expected = [...ANSWER, ...HIT.map((name) => `hit ${name}`), ...ACCOUNT.map((name) => `account ${name}`)];
  for (const answers of [overHttp, overGrpc]) {
    const names = namesIn(answers[0]!, answers.slice(1));
    assert.deepEqual(
      expected.filter((name) => !names.has(name)),
      [],
    );
  }
  const withFields = (names: ReadonlySet<string>) => names.has('hit fields') || names.has('hit fields_json');
  assert.ok(withFields(namesIn(overHttp[0]!, [])) && withFields(namesIn(overGrpc[0]!, [])));
  for (const [at, { results }] of overHttp.entries()) {
    const others = overGrpc[at]!['results'] as Json[];
    for (const [i, hit] of (results as Json[]).entries()) {
      for (const name of ['hash', 'grain_type', 'recall_source', 'scope_depth'])
        assert.deepEqual(others[i]![name] || undefined, hit[name] || undefined, name);
      // Its age grew between the two calls.
      assert.ok(Math.abs((others[i]!['score'] as number) - (hit['score'] as number)) < 1e-3);
    }
  }
  const excluded = overHttp[0]!['excluded'] as Record<string, number>;
  assert.ok(Object.keys(excluded).length > 0, 'with explanations the exclusions are reported');
});
