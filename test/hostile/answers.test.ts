// Answers of potentially hundreds of megabytes: a grain may have a megabyte, and a page or recall 500 of them. Each
// answer ends at 16 MiB and reports it, and a list continues from there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { type StallLimits, stalledBy } from './limits.ts';
import { startVictim, type Victim } from './victim.ts';

const MIB = 1_048_576;
const ANSWER_BYTES_MAX = 16 * MIB;
/** Bytes around the grains of a page. */
const ENVELOPE_BYTES = 65_536;
const LIMITS: StallLimits = { mainMs: 100, workersMs: 500 };
const GRAINS = 24;
const VERSIONS = 20;
const MEMORIES = [
  { id: 'one', partitions: 1 },
  { id: 'several', partitions: 2 },
];

describe('answers of large grains', () => {
  let victim: Victim;
  let http: HttpClient;
  let grpc: GrpcClient;
  const rootOf = new Map<string, string>();

  before(async () => {
    victim = await startVictim();
    http = new HttpClient(victim.http, victim.key);
    grpc = GrpcClient.open(victim.grpc, victim.key);
    for (const { id, partitions } of MEMORIES) {
      await http.post('/memories', { id, partitions });
      for (let at = 0; at < GRAINS; at += 12) {
        const grains = Array.from({ length: 12 }, (_, i) => ({
          grain_type: 'event',
          fields: { content: `apple ${at + i}`, session_id: `s${at + i}`, body: 'x'.repeat(0.9 * MIB) },
        }));
        const { total_added } = await http.post(`/memories/${id}/batch-add`, { grains });
        assert.equal(total_added, 12);
      }
      let { blob_hash } = await http.post(`/memories/${id}/add`, { subject: 'a', relation: 'is', object: 'v0' });
      rootOf.set(id, blob_hash);
      for (let at = 1; at <= VERSIONS; at += 1) {
        const fields = { object: `v${at}`, body: `${at}${'y'.repeat(0.9 * MIB)}` };
        ({ blob_hash } = await http.post(`/memories/${id}/supersede`, { blob_hash, fields }));
      }
    }
  });
  after(async () => {
    grpc.close();
    await victim.close();
  });

  const isWithin = (bytes: number): boolean =>
    bytes > 0.5 * ANSWER_BYTES_MAX && bytes <= ANSWER_BYTES_MAX + ENVELOPE_BYTES;

  /** A test of questions alone: one that blocks a thread for too long asks them again. */
  function asks(name: string, body: () => Promise<void>): void {
    test(name, async () => {
      await victim.stalls();
      assert.deepEqual(await stalledBy(victim, LIMITS, body), []);
    });
  }

  for (const { id } of MEMORIES) {
    asks(`${id}: pages end where they have no room, and continue to the end`, async () => {
      const seen = new Set<string>();
      let cursor = '';
      for (let pages = 1; ; pages += 1) {
        const path = `/memories/${id}/grains?limit=500&grain_type=event${cursor && `&cursor=${cursor}`}`;
        const { bytes, json } = await http.ask('GET', path);
        assert.ok(bytes.length <= ANSWER_BYTES_MAX + ENVELOPE_BYTES, `a page of ${bytes.length} bytes`);
        for (const { hash } of json.grains) seen.add(hash);
        assert.equal(json.total, GRAINS);
        cursor = json.next_cursor;
        if (cursor === null) break;
        assert.ok(isWithin(bytes.length), `a page of ${bytes.length} bytes, and another follows`);
        assert.ok(pages < GRAINS);
      }
      assert.equal(seen.size, GRAINS);
    });

    asks(`${id}: a recall is cut and reports it, whatever its stages`, async () => {
      for (const more of [
        {},
        { diversity_lambda: 0.5 },
        { deduplicate: true, explanation: true },
        { query: undefined },
      ]) {
        const body = { query: 'apple', limit: 500, grain_type: 'event', ...more };
        const { bytes, json } = await http.ask('POST', `/memories/${id}/recall`, { json: body });
        assert.equal(json.truncated, true, JSON.stringify(more));
        assert.ok(isWithin(bytes.length), `${bytes.length} bytes for ${JSON.stringify(more)}`);
        assert.ok(json.warnings.some((warning: string) => /ends at 16 MiB/.test(warning)));
        assert.equal(json.count, json.results.length);
      }
      const whole = await http.post(`/memories/${id}/recall`, { query: 'apple', limit: 5, grain_type: 'event' });
      assert.equal(whole.truncated, undefined);
      assert.equal(whole.count, 5);
    });

    asks(`${id}: gRPC reports it too`, async () => {
      const asked = { query: 'apple', limit: 500, grain_type: 'event' };
      const { message } = await grpc.with({ 'x-memory-id': id }).ask('Recall', asked);
      assert.ok(message.warnings.some((warning: string) => /ends at 16 MiB/.test(warning)));
      const bytes = message.results.reduce(
        (sum: number, hit: { fields_json: string }) => sum + hit.fields_json.length,
        0,
      );
      assert.ok(isWithin(bytes), `${bytes} bytes`);
    });

    asks(`${id}: search and recall-chain are cut and report it`, async () => {
      for (const [path, body] of [
        ['search', { query: 'apple', limit: 500 }],
        ['recall-chain', { question: 'apple and what is apple', params: { limit: 500 } }],
      ] as const) {
        const { bytes, json } = await http.ask('POST', `/memories/${id}/${path}`, { json: body });
        assert.ok(bytes.length <= ANSWER_BYTES_MAX + ENVELOPE_BYTES, `${path}: ${bytes.length} bytes`);
        assert.ok(
          json.warnings.some((warning: string) => /ends at 16 MiB/.test(warning)),
          path,
        );
      }
    });

    asks(`${id}: a history continues from its cursor`, async () => {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const args = { hash: rootOf.get(id), ...(cursor === undefined ? {} : { cursor }) };
        const { bytes, json } = await http.ask('POST', `/memories/${id}/app/exec`, {
          json: { command: 'history', args },
        });
        assert.ok(bytes.length <= ANSWER_BYTES_MAX + ENVELOPE_BYTES, `${bytes.length} bytes`);
        const { versions, next_cursor } = json.result ?? json;
        for (const { fields } of versions) seen.push(fields.object);
        cursor = next_cursor;
      } while (cursor !== undefined);
      assert.deepEqual(
        seen,
        Array.from({ length: VERSIONS + 1 }, (_, at) => `v${at}`),
      );
    });

    asks(`${id}: CAL is cut and reports it, or refuses what has no room`, async () => {
      const cal = (query: string) =>
        http.ask('POST', `/memories/${id}/app/exec`, { json: { command: 'cal', args: { query } } });
      for (const query of ['RECALL events LIMIT 30', 'RECALL events LIMIT 30 FORMAT json']) {
        const { bytes, status, text } = await cal(query);
        assert.equal(status, 200, text.slice(0, 300));
        assert.ok(bytes.length <= ANSWER_BYTES_MAX + ENVELOPE_BYTES, `${query}: ${bytes.length} bytes`);
        assert.match(text, /CAL-W007/, query);
      }
    });
  }
});
