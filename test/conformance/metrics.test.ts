// The metrics of a memory over app/exec and gRPC, against counts that the test makes itself. With one partition and with
// four, which give the same numbers.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import { GrpcClient } from './grpc-client.ts';
import { HttpClient } from './http-client.ts';
import { boundKey, newMemory } from './http-driver.ts';

interface Row {
  readonly id: string;
  readonly domain: string;
  readonly value: number | null;
  readonly status: string;
  readonly samples: number;
  readonly window_s: number;
  readonly reason?: string;
}

interface Answer {
  readonly computed_at: number;
  readonly domain: string;
  readonly metrics: readonly Row[];
  readonly total: number;
  readonly green: number;
  readonly yellow: number;
  readonly red: number;
  readonly not_computed: number;
}

const DAY_S = 86_400;
const NOW_S = Math.floor(Date.now() / 1000);
const OLD_S = NOW_S - 200 * DAY_S;

const beliefs = Array.from({ length: 40 }, (_, i) => ({
  grain_type: 'belief',
  fields: {
    subject: `s${i}`,
    relation: 'likes',
    object: `o${i}`,
    confidence: i < 6 ? 0.1 : 0.9,
    session_id: `p${i % 7}`,
  },
}));
/** Three pairs that contradict each other; their sessions lie in different partitions. */
const rivals = Array.from({ length: 6 }, (_, i) => ({
  grain_type: 'belief',
  fields: { subject: `r${i >> 1}`, relation: 'lives in', object: `city ${i}`, session_id: `q${i}`, user_id: 'ann' },
}));
/** The same subject and relation about two persons: no contradiction. */
const others = ['bob', 'eve', undefined].map((user) => ({
  grain_type: 'belief',
  fields: { subject: 'user', relation: 'is', object: `called ${user}`, ...(user && { user_id: user }) },
}));
/** Two grains that say the same at different times. */
const twins = [1, 2].map((at) => ({
  grain_type: 'belief',
  fields: { subject: 'twin', relation: 'is', object: 'same', created_at: NOW_S - at },
}));
const old = Array.from({ length: 10 }, (_, i) => ({
  grain_type: 'belief',
  fields: { subject: `old${i}`, relation: 'was', object: i < 2 ? 'wombat' : `thing${i}`, created_at: OLD_S + i },
}));
const goals = ['satisfied', 'satisfied', 'satisfied', 'satisfied', 'failed', 'failed', 'suspended', 'active'].map(
  (goal_state, i) => ({ grain_type: 'goal', fields: { description: `goal ${i}`, goal_state, session_id: `g${i}` } }),
);
const longClosed = { grain_type: 'goal', fields: { description: 'past', goal_state: 'failed', created_at: OLD_S } };
const actions = Array.from({ length: 25 }, (_, i) => ({
  grain_type: 'action',
  fields: { tool_name: `tool ${i}`, content: 'x', is_error: i < 5, session_id: `a${i}` },
}));
const ALL = [...beliefs, ...rivals, ...others, ...twins, ...old, ...goals, longClosed, ...actions];
/** With the consent; a superseded grain has one current version. */
const GRAINS = ALL.length + 1;
const BELIEFS = ALL.filter(({ grain_type }) => grain_type === 'belief').length;
const share = (part: number, of: number): number => Math.round((100_000 * part) / of) / 1_000;

const EXPECTED: Readonly<Record<string, readonly [value: number, status: string, samples: number]>> = {
  'ops.index_lag_grains': [0, 'green', 1],
  'ops.write_buffer_depth': [0, 'green', 0],
  'ops.oldest_unflushed_s': [0, 'green', 0],
  'intel.recall_hit_rate_pct': [80, 'green', 20],
  'intel.low_confidence_pct': [share(6, GRAINS), 'green', GRAINS],
  // Of the sample, the actions have no identity: they name no call.
  'intel.duplicate_ratio_pct': [share(2, GRAINS - actions.length), 'green', GRAINS - actions.length],
  'intel.contradiction_ratio_pct': [share(6, BELIEFS), 'yellow', BELIEFS],
  'intel.stale_pct': [share(10, GRAINS), 'green', GRAINS],
  'intel.max_chain_depth': [4, 'green', 3],
  'intel.extraction_backlog': [0, 'green', 0],
  'intel.goal_success_pct': [share(4, 6), 'yellow', 6],
  'intel.blocked_goals': [1, 'green', 9],
  'intel.action_error_pct': [20, 'yellow', 25],
  'intel.consent_coverage_pct': [share(6, 8), 'red', 8],
};
const REASONS: Readonly<Record<string, RegExp>> = {
  'ops.disk_quota_pct': /^no quota$/,
  'ops.hook_success_pct': /^no webhook deliveries$/,
  'ops.hook_dead_letters': /^no webhook$/,
  'ops.retention_backlog': /^no time to live/,
  'ops.import_failure_pct': /^no import jobs$/,
  'intel.mean_top_score': /^fewer than 20 recalls by text .*: 16$/,
  'intel.embedding_coverage_pct': /^vectors are off$/,
};

let server: TestServer;
let http: HttpClient;
let grpc: GrpcClient;
let offsetMs = 0;
/** Serves the tests of the surrounding `describe`. */
function serveWith(listener: string): void {
  before(async () => {
    offsetMs = 0;
    const clock = { nowMs: () => Date.now() + offsetMs };
    server = await startTestServer({ shards: '4', workers: '2', http: listener }, { clock });
    http = new HttpClient(server.http, server.key);
    grpc = GrpcClient.open(server.grpc, server.key);
  });
  after(async () => {
    grpc.close();
    await server.close();
  });
}

const asked = async (client: HttpClient, memory: string, args: object = {}): Promise<Answer> =>
  (await client.post(`/memories/${memory}/app/exec`, { command: 'metrics', args })).result;
const rowsOf = ({ metrics }: Answer): Map<string, Row> => new Map(metrics.map((row) => [row.id, row]));

async function filled(partitions: number): Promise<string> {
  const id = await newMemory(http, partitions, { dedup: 'none' });
  const M = `/memories/${id}`;
  await http.call('PUT', `${M}/policy`, { json: { overrides: { consent: { mode: 'opt_out' } }, reason: 'a test' } });
  await http.post(`${M}/consent/grant`, { user_id: 'ann', purpose: 'storage' });
  const { added, total_added } = await http.post(`${M}/batch-add`, { grains: ALL });
  assert.equal(total_added, ALL.length);
  let hash: string = added[0].blob_hash;
  for (const object of ['b', 'c', 'd'])
    hash = (await http.post(`${M}/supersede`, { blob_hash: hash, object, confidence: 0.1 })).blob_hash;
  // 16 recalls with results, of which the first finds one of the old grains; 4 without.
  for (let i = 0; i < 20; i++)
    await http.post(`${M}/recall`, {
      query: i === 0 ? 'thing7' : i < 16 ? `city ${i % 6}` : `nothing${i}`,
      limit: 1,
      record_provenance: true,
    });
  return id;
}

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(listener, () => {
    serveWith(listener);
    describe(`${partitions} partitions`, () => {
      let memory: string;
      before(async () => {
        memory = await filled(partitions);
      });

      test('every row has its value or its reason', async () => {
        const answer = await asked(http, memory);
        const rows = rowsOf(answer);
        assert.equal(rows.size, 25);
        assert.equal(answer.domain, 'all');
        const found = Object.keys(EXPECTED).map((id) => [
          id,
          rows.get(id)?.value,
          rows.get(id)?.status,
          rows.get(id)?.samples,
        ]);
        assert.deepEqual(
          found,
          Object.entries(EXPECTED).map(([id, expected]) => [id, ...expected]),
        );
        assert.equal(rows.get('ops.audit_chain_valid')?.value, 1);
        assert.ok((rows.get('ops.recall_latency_p95_ms')?.value ?? 0) > 0);
        for (const [id, reason] of Object.entries(REASONS)) {
          assert.equal(rows.get(id)?.status, 'not_computed', id);
          assert.equal(rows.get(id)?.value, null);
          assert.match(String(rows.get(id)?.reason), reason);
        }
        for (const row of answer.metrics) assert.equal(row.value === null, row.reason !== undefined, row.id);
      });

      test('the counts add up, domains select, and gRPC gives the same', async () => {
        const all = await asked(http, memory, { domain: 'all' });
        for (const domain of ['ops', 'intel']) {
          const one = await asked(http, memory, { domain });
          assert.deepEqual(
            one.metrics,
            all.metrics.filter((row) => row.domain === domain),
          );
          const { total, green, yellow, red, not_computed } = one;
          assert.deepEqual([total, green + yellow + red + not_computed], [one.metrics.length, one.metrics.length]);
        }
        const message = await grpc.call('GetMetrics', { domain: '' }, { 'x-memory-id': memory });
        assert.deepEqual(JSON.parse(message.metrics_json), all.metrics);
        assert.equal(Number(message.computed_at), all.computed_at);
        assert.equal(message.not_computed, all.not_computed);
        await refused(asked(http, memory, { domain: 'sales' }), 'VAL-E001');
        await refused(grpc.call('GetMetrics', { domain: 'sales' }, { 'x-memory-id': memory }), 'VAL-E001');
      });

      test('values are answered again for 30 seconds', async () => {
        const before = rowsOf(await asked(http, memory)).get('intel.blocked_goals');
        await http.post(`/memories/${memory}/add`, {
          grain_type: 'goal',
          fields: { description: 'later', goal_state: 'suspended' },
        });
        assert.deepEqual(rowsOf(await asked(http, memory)).get('intel.blocked_goals'), before);
        offsetMs += 30_000;
        assert.equal(rowsOf(await asked(http, memory)).get('intel.blocked_goals')?.value, 2);
      });

      test('a bound caller gets no row about what it does not see', async () => {
        const bound = http.with(await boundKey(http, memory, { namespace: 'elsewhere' }));
        const rows = rowsOf(await asked(bound, memory));
        for (const [id, row] of rows) {
          assert.notEqual(row.status, 'green', id);
          if (id.startsWith('ops.')) assert.equal(row.value, null, id);
          assert.equal(row.samples, 0, id);
        }
        const ofMemory = http.with((await http.post('/auth/keys', { memory_id: memory, scopes: ['read'] })).raw_key);
        const own = rowsOf(await asked(ofMemory, memory));
        assert.match(String(own.get('ops.error_rate_pct')?.reason), /whole server/);
        assert.equal(own.get('intel.action_error_pct')?.value, 20);
        assert.equal(own.get('ops.audit_chain_valid')?.value, 1);
      });
    });
  });
