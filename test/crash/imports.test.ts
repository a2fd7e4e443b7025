// kill -9 of a server in each phase of import jobs. After the restart the jobs go on, and store each chunk and each fact
// once. The server that finishes them takes the next ones, in other memories.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { armPlaces, isArmed } from './places.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

/** Time in which a server must reach its cut. */
const CUT_MS = 60_000;
/** Of two batches. */
const CHUNKS = 300;
const TEXT = Array.from({ length: CHUNKS }, (_, at) => `Ada lives in Oslo ${at}.`.padEnd(60, '.')).join('\n\n');

/**
 * Places of import-cut.ts. A server runs two jobs at once, so one kill cuts two. A queued job is alone in its request, and
 * comes second: a request that ends starts the jobs that wait.
 */
const CUTS = [
  ['parsing', 'chunking'],
  ['storing', 'before 1'],
  ['after 1', 'after 2'],
  ['extracting', 'facts'],
  ['told', 'queued'],
];

for (const [partitions, dedup] of [
  [1, 'none'],
  [4, 'exact'],
] as const)
  test(`import jobs survive kill -9: ${partitions} partitions, dedup ${dedup}`, async (t) => {
    const directory = temporaryDirectory(t);
    const cuts = temporaryDirectory(t);
    const start = (listener: 'node' | 'uws'): Promise<ServerProcess> =>
      startServerProcess({
        directory,
        flags: ['--shards', '4', '--workers', '1', '--http', listener],
        preload: resolve(import.meta.dirname, 'import-cut.ts'),
        env: { IMPORT_CUTS: cuts },
      });
    let server = await start('node');
    t.after(() => server.kill());
    const extracts = (cut: string): boolean => cut === 'extracting' || cut === 'facts';
    const memoryOf = (cut: string): string => cut.replace(' ', '-');
    /** Resolves to the status; undefined where the server ended before its answer. */
    const upload = async (cut: string): Promise<number | undefined> => {
      const form = new FormData();
      form.append('file', new Blob([TEXT]), 'a.txt');
      const query = `chunk_size=64&chunk_overlap=0${extracts(cut) ? '&extract=true' : ''}`;
      const answer = await fetch(`${server.http}/api/memories/${memoryOf(cut)}/imports?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'idempotency-key': 'once' },
        body: form,
      }).catch(() => undefined);
      return answer?.status;
    };
    const check = async (cut: string): Promise<void> => {
      const M = `/memories/${memoryOf(cut)}`;
      let job: Json;
      await eventually(`the job that was cut at ${cut} ends`, async () => {
        const { body } = await ask(server, 'GET', `${M}/imports`);
        [job] = body['jobs'] as Json[];
        return job !== undefined && job.status !== 'queued' && job.status !== 'running';
      });
      assert.deepEqual([job.status, job.error], ['completed', undefined], cut);
      assert.deepEqual([job.total_chunks, job.grains_created, job.duplicates], [CHUNKS, CHUNKS, 0], cut);
      const { body: stats } = await ask(server, 'GET', `${M}/stats`);
      const { event, belief = 0 } = (stats as Json).type_counts;
      const facts = extracts(cut) ? CHUNKS : 0;
      assert.deepEqual([event, belief, job.extracted_count], [CHUNKS, facts, extracts(cut) ? facts : undefined], cut);
      assert.equal(new Set(job.hashes).size, job.hashes.length, cut);
      const trail = await ask(server, 'GET', `${M}/audit?event_type=import.completed`);
      assert.equal((trail.body as Json).entries.length, 1, cut);
      const told = await ask(server, 'GET', `${M}/audit?event_type=memory.extracted&limit=1000`);
      const counts = (told.body as Json).entries.map(({ details }: Json) => details.count ?? 0);
      assert.equal(
        counts.reduce((sum: number, count: number) => sum + count, 0),
        facts,
        cut,
      );
    };
    for (const [number, pair] of CUTS.entries()) {
      for (const cut of pair)
        assert.equal((await ask(server, 'POST', '/memories', { id: memoryOf(cut), partitions, dedup })).status, 201);
      armPlaces(cuts, Object.fromEntries(pair.map((cut) => [memoryOf(cut), cut])));
      for (const cut of pair) {
        const status = await upload(cut);
        assert.ok(status === 202 || status === undefined, `${cut}: ${status}`);
      }
      await Promise.race([server.ended, delay(CUT_MS, undefined, { ref: false })]);
      assert.ok(!isArmed(cuts), `the server was cut at ${pair}`);
      server = await start(number % 2 === 0 ? 'uws' : 'node');
      for (const cut of pair) await check(cut);
      await eventually('the uploaded files are gone', () => readdirSync(join(directory, 'imports')).length === 0);
    }
  });
