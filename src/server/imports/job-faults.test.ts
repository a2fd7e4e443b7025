// Faults around import jobs: damaged uploads, full queues, old jobs, keys that have ended.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { IMPORT_JOB_KEPT_MS, IMPORT_JOBS_OPEN_OF_MEMORY_MAX } from '../../engine/base/limits.ts';
import type { Scope } from '../auth/principal.ts';
import type { ImportJobOptions } from '../control/records.ts';
import { makeLog } from '../log.ts';
import { ADMIN, ask, makeParts } from '../testing/parts.ts';
import { ImportJobs } from './import-jobs.ts';
import { runJob } from './run-job.ts';

const TEXT = 'One paragraph of words. '.repeat(200);

/** Jobs over a folder of the test; `next` are those of a server that starts again. */
async function jobsIn(t: TestContext) {
  const parts = await makeParts();
  t.after(() => parts.close());
  const { control, shards, memories } = parts.services;
  const directory = temporaryDirectory(t);
  const next = () => new ImportJobs({ control, shards, clock: parts.clock, log: makeLog('silent'), directory });
  const jobs = next();
  const memory = memories.get('default');
  const create = (keyId?: string, options: ImportJobOptions = {}, scope: Scope = 'admin') =>
    jobs.create({
      memory,
      caller: { actor: 'key:one', scope, ...(keyId === undefined ? {} : { keyId }) },
      options,
      fileName: 'a.txt',
      bytes: Buffer.from(TEXT),
      queued: () => Promise.resolve(),
    });
  const start = async (some: ImportJobs): Promise<void> => {
    await some.start((run) => runJob({ ...run, services: parts.services, documents: parts.services.documents }));
    t.after(() => some.close());
  };
  /** Runs jobs; `act` happens when a document is read and nothing of it is stored. */
  const startAnd = async (act: () => Promise<unknown>): Promise<void> => {
    const { documents } = parts.services;
    const reading: typeof documents.chunks = async (...asked) => {
      const document = await documents.chunks(...asked);
      await act();
      return document;
    };
    await jobs.start((run) => runJob({ ...run, services: parts.services, documents: { chunks: reading } }));
    t.after(() => jobs.close());
  };
  return { startAnd, parts, control, directory, jobs, next, memory, create, start };
}

const DAMAGES: Readonly<Record<string, (file: string) => void>> = {
  flipped: (file) => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
  },
  truncated: (file) => truncateSync(file, 100),
  removed: (file) => rmSync(file),
};

for (const [damage, apply] of Object.entries(DAMAGES))
  test(`a stored upload that is ${damage} fails its job at the next start, and no other job`, async (t) => {
    const { control, directory, next, create, start } = await jobsIn(t);
    const [broken, whole] = [await create(), await create()];
    apply(join(directory, broken.id));
    await start(next());
    const statusOf = (id: string) => control.get('importJob', id)?.status;
    await eventually('both end', () => [broken, whole].every(({ id }) => /completed|failed/.test(statusOf(id) ?? '')));
    const code = damage === 'removed' ? 'IMP-E004' : 'STO-E001';
    assert.equal(control.get('importJob', broken.id)?.error?.code, code);
    assert.equal(statusOf(whole.id), 'completed');
    assert.equal(control.count('importFile'), 0);
  });

test('a memory has a bounded queue, which takes jobs again when some have ended', async (t) => {
  const { jobs, create } = await jobsIn(t);
  const first = await create();
  for (let at = 1; at < IMPORT_JOBS_OPEN_OF_MEMORY_MAX; at++) await create();
  await assert.rejects(create(), { code: 'LIM-E001' });
  await jobs.cancel(first.id);
  assert.equal((await create()).status, 'queued');
});

test('a job that ended is kept for seven days', async (t) => {
  const { parts, control, jobs, memory, create } = await jobsIn(t);
  const { id } = await create();
  await jobs.cancel(id);
  parts.clock.now += IMPORT_JOB_KEPT_MS - 1;
  assert.equal(jobs.find(memory, id)?.status, 'cancelled');
  parts.clock.now += 1;
  assert.equal(jobs.find(memory, id), undefined);
  assert.deepEqual(jobs.of(memory), []);
  const { id: later } = await create();
  assert.deepEqual([control.get('importJob', id), jobs.find(memory, later)?.status], [undefined, 'queued']);
});

test('a job whose key has ended stores nothing', async (t) => {
  const { control, jobs, create, start } = await jobsIn(t);
  const { id } = await create('key_of_nobody');
  await start(jobs);
  await eventually('the job ends', () => control.get('importJob', id)?.status === 'failed');
  const job = control.get('importJob', id);
  assert.deepEqual([job?.error?.code, job?.created], ['AUT-E004', 0]);
});

test('the deletion of its memory in mid-job removes the job and its file', async (t) => {
  const { parts, control, directory, create, startAnd } = await jobsIn(t);
  const made = await ask(parts, 'POST', '/memories', { key: ADMIN, json: { id: 'doomed' } });
  assert.equal(made.error, undefined);
  await create();
  let deleted: unknown;
  await startAnd(async () => {
    deleted ??= (await ask(parts, 'DELETE', '/memories/default', { key: ADMIN })).error ?? 'done';
  });
  await eventually('the job is gone', () => deleted !== undefined && control.count('importJob') === 0);
  assert.equal(deleted, 'done');
  await eventually('its file is gone', () => readdirSync(directory).length === 0);
});

test('the restriction of its person in mid-job fails the job, and nothing is stored', async (t) => {
  const { parts, control, create, startAnd } = await jobsIn(t);
  const { id } = await create(undefined, { userId: 'ada' });
  await startAnd(async () => {
    const json = { command: 'restrict', args: { user_id: 'ada', reason: 'asked' } };
    const { error } = await ask(parts, 'POST', '/memories/default/app/exec', { key: ADMIN, json });
    assert.equal(error, undefined);
  });
  await eventually('the job ends', () => control.get('importJob', id)?.status === 'failed');
  const job = control.get('importJob', id);
  assert.deepEqual([job?.error?.code, job?.created], ['POL-E008', 0]);
});

test('a key that is revoked in mid-job stores nothing more', async (t) => {
  const { parts, control, create, startAnd } = await jobsIn(t);
  const { keys } = parts.services;
  const { key } = await keys.create({ name: 'of the import', scopes: ['write'] }, 'system');
  const { id } = await create(key.keyId, {}, 'write');
  await startAnd(async () => {
    const { error } = await ask(parts, 'DELETE', `/auth/keys/${key.keyId}`, { key: ADMIN });
    assert.equal(error, undefined);
  });
  await eventually('the job ends', () => control.get('importJob', id)?.status === 'failed');
  const job = control.get('importJob', id);
  assert.deepEqual([job?.error?.code, job?.created], ['AUT-E004', 0]);
});

test('access tuples that decide from mid-job on stop a caller without them', async (t) => {
  const { parts, control, create, startAnd } = await jobsIn(t);
  const { id } = await create(undefined, {}, 'write');
  await startAnd(async () => {
    const json = { overrides: { 'access.authz_required': true } };
    const { error } = await ask(parts, 'PUT', '/memories/default/policy', { key: ADMIN, json });
    assert.equal(error, undefined);
  });
  await eventually('the job ends', () => control.get('importJob', id)?.status === 'failed');
  const job = control.get('importJob', id);
  assert.deepEqual([job?.error?.code, job?.created], ['AUT-E001', 0]);
});

test('a repeat of an import whose process ended before its answer was kept gets the job that it made', async (t) => {
  const { control, directory, jobs, memory, create } = await jobsIn(t);
  const kept: unknown[] = [];
  const wanted = {
    memory,
    caller: { actor: 'key:one', scope: 'admin' as const },
    options: {},
    fileName: 'a.txt',
    bytes: Buffer.from(TEXT),
  };
  const keep = (_: unknown, made: unknown) => kept.push(made);
  const made = await jobs.create({ ...wanted, queued: async () => undefined, first: { made: undefined, keep } });
  assert.deepEqual(kept, [made.id]);
  const queued = () => assert.fail('nothing is queued again');
  assert.deepEqual(await jobs.create({ ...wanted, queued, first: { made: made.id, keep } }), made);
  assert.deepEqual([control.count('importJob'), readdirSync(directory).length, kept.length], [1, 1, 1]);
  assert.notEqual((await create()).id, made.id);
});
