// Import jobs over HTTP: their states, progress, cancellation and rules. On both listeners, with one partition and four.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EventClient } from '../support/event-stream.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { startTestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { HttpClient } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

const HANDBOOK = '# Handbook\n\n## Leave\n\nEveryone has thirty days of leave.\n';
const LONG = Array.from({ length: 400 }, (_, at) => `Line ${at} of a long document says something.`).join('\n\n');

function formOf(content: string | Uint8Array, name: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([typeof content === 'string' ? content : Uint8Array.from(content)]), name);
  return form;
}

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, () => {
    const { http, memory } = serveSuite(listener, partitions);
    const importing = (path: string, content: string | Uint8Array, name: string, query = '', headers = {}) =>
      http.call('POST', `${path}/imports${query}`, { body: formOf(content, name), headers });
    const streamOf = (path: string, id: string, key = http.key): Promise<EventClient> =>
      EventClient.open(`${http.base}/api${path}/imports/${id}/stream`, { authorization: `Bearer ${key}` });
    /** The job once it has ended. */
    const ended = async (path: string, id: string): Promise<ParsedJson> => {
      const client = await streamOf(path, id);
      await client.ended();
      const last = client.frames.at(-1);
      assert.ok(last !== undefined);
      assert.ok(['completed', 'failed', 'cancelled'].includes(last.event), last.event);
      const job = await http.get(`${path}/imports/${id}`);
      assert.deepEqual(last.data, job);
      return job;
    };
    const done = async (path: string, content: string | Uint8Array, name: string, query = '', headers = {}) =>
      ended(path, (await importing(path, content, name, query, headers)).job_id);

    test('H101 stores the chunks of a document, and H103 shows the job', async () => {
      const path = await memory();
      const answer = await importing(path, HANDBOOK, 'handbook.md', '?namespace=docs&tags=a,b&user_id=ada');
      assert.deepEqual([answer.status, Object.keys(answer)], ['queued', ['job_id', 'status']]);
      assert.match(answer.job_id, /^job_[a-z2-7]{24}$/);
      const job = await ended(path, answer.job_id);
      assert.deepEqual(
        [job.status, job.file_name, job.mime_type, job.size_bytes, job.percent],
        ['completed', 'handbook.md', 'text/markdown', HANDBOOK.length, 100],
      );
      assert.deepEqual([job.total_chunks, job.processed_chunks, job.grains_created, job.duplicates], [1, 1, 1, 0]);
      assert.ok(job.created_at <= job.started_at && job.started_at <= job.finished_at);
      const grain = await http.get(`${path}/grains/${job.hashes[0]}`);
      assert.deepEqual([grain.namespace, grain.fields.user_id, grain.fields.tags], ['docs', 'ada', ['a', 'b']]);
      assert.deepEqual(grain.fields.context.document.headings, ['Handbook', 'Leave']);
    });

    test('H101 and H90 make the same grains', async () => {
      const path = await memory();
      const job = await done(path, LONG, 'long.txt', '?chunk_size=200');
      const again = await http.call('POST', `${path}/import-document?chunk_size=200`, {
        body: formOf(LONG, 'long.txt'),
      });
      assert.ok(job.total_chunks > 50);
      assert.deepEqual([again.grains_created, again.duplicates], [0, job.total_chunks]);
      assert.deepEqual(again.hashes, job.hashes);
    });

    test('H104 streams progress, and the last event of a job that has ended at once', async () => {
      const path = await memory();
      const { job_id: id } = await importing(path, LONG, 'long.txt', '?chunk_size=100');
      const client = await streamOf(path, id);
      await client.ended();
      assert.equal(client.frames.at(-1)?.event, 'completed');
      for (const { event, data } of client.frames.slice(0, -1)) {
        assert.equal(event, 'progress');
        assert.deepEqual(Object.keys(data), [
          'job_id',
          'status',
          'phase',
          'percent',
          'processed_chunks',
          'total_chunks',
        ]);
      }
      const late = await streamOf(path, id);
      await late.ended();
      assert.deepEqual(
        late.frames.map(({ event }) => event),
        ['completed'],
      );
    });

    test('H101 refuses at once what can be seen at once, and a job fails with the code of what cannot', async () => {
      const path = await memory();
      await refused(importing(path, Buffer.from('\x89PNG\r\n', 'latin1'), 'a.png'), 'IMP-E001');
      await refused(importing(path, HANDBOOK, 'a.md', '?chunk_size=100&chunk_overlap=100'), 'VAL-E001');
      await refused(importing(path, HANDBOOK, 'a.md', `?user_id=${'x'.repeat(300)}`), 'VAL-E001');
      const root = { name: 'acme', children: [{ name: 'sales' }] };
      await http.call('PUT', `${path}/scope-tree`, { json: root });
      await refused(importing(path, HANDBOOK, 'a.md', '?namespace=sales/nowhere'), 'SCP-E001');
      assert.equal((await http.get(`${path}/imports`)).total, 0);
      assert.equal((await http.get(`${path}/audit?event_type=import.queued`)).entries.length, 0);
      const broken = await done(path, '%PDF-1.7 and no more', 'a.pdf');
      assert.deepEqual([broken.status, broken.error.code], ['failed', 'IMP-E004']);
      await refused(http.get(`${path}/imports/job_aaaaaaaaaaaaaaaaaaaaaaaa`), 'IMP-E002');
      const { entries } = await http.get(`${path}/audit?event_type=import.failed`);
      assert.deepEqual(
        entries.map(({ details }: ParsedJson) => details),
        [{ job_id: broken.job_id, imported: 0, duplicates: 0, errors: 0, code: 'IMP-E004' }],
      );
    });

    test('H102 lists jobs newest first, by status and in pages', async () => {
      const path = await memory();
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c']) ids.push((await done(path, `Text ${name}.`, `${name}.txt`)).job_id);
      await done(path, '%PDF-1.7', 'd.pdf');
      const first = await http.get(`${path}/imports?status=completed&limit=2`);
      assert.equal(first.total, 3);
      const second = await http.get(`${path}/imports?status=completed&limit=2&cursor=${first.next_cursor}`);
      const listed = [...first.jobs, ...second.jobs].map(({ job_id }: ParsedJson) => job_id);
      assert.deepEqual(listed.toSorted(), ids.toSorted());
      assert.equal(second.next_cursor, null);
      assert.equal((await http.get(`${path}/imports`)).total, 4);
      await refused(http.get(`${path}/imports?status=done`), 'VAL-E001', 'VAL-E003');
    });

    test('H105 cancels a job that has not ended', async () => {
      const path = await memory();
      const { job_id: id } = await importing(path, LONG.repeat(20), 'long.txt', '?chunk_size=100&chunk_overlap=0');
      const cancelled = await http.post(`${path}/imports/${id}/cancel`, {});
      assert.equal(cancelled.status, 'cancelled');
      const job = await ended(path, id);
      assert.equal(job.status, 'cancelled');
      const { total_grains: total } = await http.get(`${path}/stats`);
      assert.equal(job.grains_created, total);
      assert.ok(job.processed_chunks < (job.total_chunks ?? Number.POSITIVE_INFINITY));
      await refused(http.post(`${path}/imports/${id}/cancel`, {}), 'IMP-E003');
      const { entries } = await http.get(`${path}/audit?event_type=import.cancelled`);
      assert.equal(entries.length, 1);
    });

    test('jobs keep to the binding of their caller', async () => {
      const path = await memory();
      const mine = await done(path, 'Bob is here.', 'b.txt', '', { 'x-user-id': 'bob', 'x-namespace': 'n1' });
      const grain = await http.get(`${path}/grains/${mine.hashes[0]}`);
      assert.deepEqual([grain.namespace, grain.fields.user_id], ['n1', 'bob']);
      await done(path, 'Ada is here.', 'a.txt', '?user_id=ada');
      const bound = { headers: { 'x-user-id': 'bob' } };
      const seen = await http.call('GET', `${path}/imports`, bound);
      assert.deepEqual(
        seen.jobs.map(({ job_id }: ParsedJson) => job_id),
        [mine.job_id],
      );
      await refused(
        http.call('GET', `${path}/imports/${mine.job_id}`, { headers: { 'x-user-id': 'ada' } }),
        'IMP-E002',
      );
      await refused(importing(path, 'Elsewhere.', 'c.txt', '?namespace=n2', { 'x-namespace': 'n1' }), 'AUT-E001');
    });

    test('an erasure removes the jobs of the person, and a restricted person has none', async () => {
      const path = await memory();
      const job = await done(path, 'Ada is here.', 'a.txt', '?user_id=ada');
      const other = await done(path, 'Bob is here.', 'b.txt', '?user_id=bob');
      await http.post(`${path}/app/exec`, { command: 'forget_user', args: { user_id: 'ada' } });
      await refused(http.get(`${path}/imports/${job.job_id}`), 'IMP-E002');
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'bob', reason: 'asked' } });
      await refused(importing(path, 'Bob.', 'c.txt', '?user_id=bob'), 'POL-E008');
      await refused(http.get(`${path}/imports/${other.job_id}`), 'POL-E008');
    });

    test('extract=true extracts beliefs that name their chunk', async () => {
      const path = await memory();
      const job = await done(path, 'Ada lives in Paris.', 'a.txt', '?extract=true&user_id=ada');
      assert.deepEqual([job.status, job.extracted_count], ['completed', 1]);
      const { grains } = await http.get(`${path}/grains?grain_type=belief`);
      assert.equal(grains[0].fields.derived_from, job.hashes[0]);
    });

    test('a repeated request starts one job', async () => {
      const path = await memory();
      const keyed = { 'idempotency-key': 'k1' };
      const once = await importing(path, 'Once.', 'a.txt', '', keyed);
      assert.deepEqual(await importing(path, 'Once.', 'a.txt', '', keyed), once);
      assert.equal((await http.get(`${path}/imports`)).total, 1);
      await refused(importing(path, 'Twice.', 'a.txt', '', keyed), 'VAL-E005');
    });

    test('audit, event and metric tell the end of a job', async () => {
      const path = await memory();
      const job = await done(path, HANDBOOK, 'a.md');
      await done(path, '%PDF-1.7', 'b.pdf');
      const { entries } = await http.get(`${path}/audit?event_type=import.completed`);
      assert.deepEqual(
        entries.map(({ details }: ParsedJson) => details),
        [{ job_id: job.job_id, imported: 1, duplicates: 0, errors: 0 }],
      );
      assert.equal((await http.get(`${path}/audit?event_type=import.queued`)).entries.length, 2);
      const { events } = await http.call('GET', `${path}/events?types=import_finished&since=0&timeout_s=1`, {
        headers: { accept: 'application/json' },
      });
      assert.equal(events.length, 2);
      const { metrics } = await http
        .post(`${path}/app/exec`, { command: 'metrics', args: { domain: 'ops' } })
        .then(({ result }) => result);
      const failures = metrics.find(({ id }: ParsedJson) => id === 'ops.import_failure_pct');
      assert.deepEqual([failures.value, failures.samples, failures.status], [50, 2, 'red']);
    });
  });

test('a hosted deployment has no import jobs', async () => {
  const server = await startTestServer({ deployment: 'hosted' });
  try {
    const http = new HttpClient(server.http, server.key);
    const path = '/memories/default/imports';
    await refused(http.call('POST', path, { body: formOf(HANDBOOK, 'a.md') }), 'AUT-E006');
    for (const [verb, rest] of [
      ['GET', ''],
      ['GET', '/job_a'],
      ['GET', '/job_a/stream'],
      ['POST', '/job_a/cancel'],
    ] as const)
      await refused(http.call(verb, `${path}${rest}`, verb === 'POST' ? { json: {} } : {}), 'AUT-E006');
  } finally {
    await server.close();
  }
});
