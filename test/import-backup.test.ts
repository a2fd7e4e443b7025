// A backup that is taken while an import runs. Its copy holds the chunks of the job so far and no uploaded file, so the
// restored job fails and says so, and a further import of the file stores only what is missing.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { granaryJson, serve } from './support/cli.ts';
import { EventClient } from './support/event-stream.ts';
import { eventually } from './support/eventually.ts';
import { filesUnder } from './support/scan-files.ts';
import { temporaryDirectory } from './support/temporary.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

const LINES = 8_000;
const textOf = (person: string): string =>
  Array.from({ length: LINES }, (_, at) => `Line ${at} of ${person}: nothing of note.`.padEnd(60, '.')).join('\n\n');
const QUERY = 'chunk_size=64&chunk_overlap=0';

function formOf(person: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([textOf(person)]), `${person}.txt`);
  return form;
}

for (const partitions of [1, 2])
  test(`a backup during an import is whole, and the restored import can be repeated: ${partitions} partitions`, async (t) => {
    const directory = temporaryDirectory(t);
    const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
    const here = (...words: string[]): string[] => [...words, '--data-dir', data];
    const served = async () => {
      const server = await serve(data);
      t.after(() => server.stop());
      return { server, http: new HttpClient(server.http, keyOf(data)) };
    };
    const M = '/memories/m';
    const before = await served();
    await before.http.post('/memories', { id: 'm', partitions });
    const importing = (person: string): Promise<Json> =>
      before.http.call('POST', `${M}/imports?${QUERY}&user_id=${person}`, { body: formOf(person) });
    const jobOf = ({ http }: { readonly http: HttpClient }, id: string): Promise<Json> =>
      http.get(`${M}/imports/${id}`);
    const ids = { ann: (await importing('ann')).job_id, bob: (await importing('bob')).job_id };
    await eventually('both imports store', async () =>
      (await Promise.all(Object.values(ids).map((id) => jobOf(before, id)))).every((job) => job.processed_chunks > 0),
    );
    await before.http.post('/memories/default/app/exec', { command: 'backup', args: { path: copy } });
    for (const id of Object.values(ids))
      assert.equal((await jobOf(before, id)).status, 'running', 'the backup was quicker');
    assert.ok(!existsSync(join(copy, 'imports')), 'a backup has no uploads');
    assert.ok(filesUnder(copy).length > 0);

    // The imports themselves are not disturbed.
    for (const id of Object.values(ids)) {
      const stream = await EventClient.open(`${before.server.http}/api${M}/imports/${id}/stream`, {
        authorization: `Bearer ${keyOf(data)}`,
      });
      await stream.ended();
      assert.equal(stream.frames.at(-1)?.event, 'completed');
      assert.equal(stream.frames.at(-1)?.data['grains_created'], LINES);
    }
    await before.http.post(`${M}/app/exec`, { command: 'forget_user', args: { user_id: 'ann' } });
    assert.equal(await before.server.stop(), 0);

    const report = await granaryJson(here('restore', copy, '--yes'));
    assert.deepEqual([report['kept_erased_users'], report['warnings']], [1, []]);
    const after = await served();
    let job: Json;
    await eventually('the restored import has ended', async () => {
      job = await jobOf(after, ids.bob);
      return job.status !== 'running';
    });
    assert.deepEqual([job.status, job.error.code], ['failed', 'IMP-E004']);
    assert.match(job.error.message, /send it again/);
    assert.ok(job.processed_chunks > 0 && job.processed_chunks < LINES);
    for (const hash of job.hashes) assert.equal((await after.http.get(`${M}/grains/${hash}`)).fields.user_id, 'bob');
    // The job of the person who was erased since is gone with her chunks.
    assert.equal((await after.http.get(`${M}/imports`)).total, 1);
    assert.equal((await after.http.get(`${M}/grains?user_id=ann`)).grains.length, 0);
    const { total_grains: restored } = await after.http.get(`${M}/stats`);
    assert.ok(restored >= job.grains_created, 'nothing that the job counts is missing');
    assert.ok(restored < LINES);

    const again = await after.http.call('POST', `${M}/import-document?${QUERY}&user_id=bob`, { body: formOf('bob') });
    assert.deepEqual([again.grains_created, again.duplicates], [LINES - restored, restored]);
    assert.equal((await after.http.get(`${M}/stats`)).total_grains, LINES);
    const { valid } = (await after.http.post(`${M}/app/exec`, { command: 'verify_audit_chain' })).result;
    assert.ok(valid, 'the audit chain is whole');
    assert.equal((await granaryJson(here('verify')))['finding_count'], 0);
    assert.equal(await after.server.stop(), 0);
  });

function keyOf(data: string): string {
  return readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
}
