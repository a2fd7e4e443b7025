// kill -9 of a server in each phase of an import job. After the restart the job goes on, and stores each chunk and each fact
// once. The server that finishes a job takes the next one, in another memory.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

/** Time in which a server must reach its cut. */
const CUT_MS = 60_000;
const CHUNKS = 600;
const TEXT = Array.from({ length: CHUNKS }, (_, at) => `Ada lives in Oslo ${at}.`.padEnd(60, '.')).join('\n\n');

const CUTS = [
  'queued',
  'parsing',
  'chunking',
  'storing',
  'before 1',
  'after 1',
  'after 2',
  'extracting',
  'facts',
  'told',
];

for (const [partitions, dedup] of [
  [1, 'none'],
  [4, 'exact'],
] as const)
  test(`import jobs survive kill -9: ${partitions} partitions, dedup ${dedup}`, async (t) => {
    const directory = temporaryDirectory(t);
    const cuts = join(temporaryDirectory(t), 'cuts');
    mkdirSync(cuts);
    const start = (listener: 'node' | 'uws'): Promise<ServerProcess> =>
      startServerProcess({
        directory,
        flags: ['--shards', '4', '--workers', '1', '--http', listener],
        preload: resolve(import.meta.dirname, 'import-cut.ts'),
        env: { IMPORT_CUTS: cuts },
      });
    let server = await start('node');
    t.after(() => server.kill());
    for (const [number, cut] of CUTS.entries()) {
      const memory = `m${number}`;
      const M = `/memories/${memory}`;
      assert.equal((await ask(server, 'POST', '/memories', { id: memory, partitions, dedup })).status, 201);
      const armed = join(cuts, 'armed');
      writeFileSync(armed, cut);
      const form = new FormData();
      form.append('file', new Blob([TEXT]), 'a.txt');
      const extracts = cut === 'extracting' || cut === 'facts';
      const extract = extracts ? '&extract=true' : '';
      const answer = await fetch(`${server.http}/api${M}/imports?chunk_size=64&chunk_overlap=0${extract}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'idempotency-key': 'once' },
        body: form,
      }).catch(() => undefined);
      if (answer !== undefined) assert.equal(answer.status, 202, cut);
      await Promise.race([server.ended, delay(CUT_MS, undefined, { ref: false })]);
      assert.ok(!existsSync(armed), `the server was cut at ${cut}`);
      server = await start(number % 2 === 0 ? 'uws' : 'node');
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
      const facts = extracts ? CHUNKS : 0;
      assert.deepEqual([event, belief, job.extracted_count], [CHUNKS, facts, extracts ? facts : undefined], cut);
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
      await eventually('the uploaded file is gone', () => readdirSync(join(directory, 'imports')).length === 0);
    }
  });
