// Import jobs over in-memory logs: the order of their steps, and what a start goes on with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { IMPORT_END_RETRY_MS } from '../../engine/base/limits.ts';
import { MemoryLog } from '../../engine/log/memory.ts';
import { ControlStore } from '../control/store.ts';
import { makeLog } from '../log.ts';
import { ADMIN, ask, CONTROL_KEY, makeParts, type Parts, type PartsOptions } from '../testing/parts.ts';
import { namesPerson } from './holds.ts';
import { ImportJobs } from './import-jobs.ts';
import { runJob } from './run-job.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

const M = '/memories/default';
const TEXT = 'One paragraph of words. '.repeat(200);

/** Notes of the end of a job pass through here. */
type Gate = (event: string, write: () => Promise<unknown>) => Promise<unknown>;

async function importing(gate: Gate = (_, write) => write(), options: PartsOptions = {}) {
  const parts = await makeParts(options);
  const { services } = parts;
  const call = services.shards.call.bind(services.shards);
  services.shards.call = (async (method: string, context: never, input: { readonly event: string }) => {
    const write = () => call(method as never, context, input as never);
    return method === 'note' && input.event !== 'import.queued' ? await gate(input.event, write) : await write();
  }) as typeof call;
  const start = () => services.imports.start((run) => runJob({ ...run, services, documents: services.documents }));
  const send = async (text: string, name = 'a.txt', query: Record<string, string[]> = {}): Promise<string> => {
    const { body } = await ask(parts, 'POST', `${M}/imports`, {
      key: ADMIN,
      file: { name, bytes: Buffer.from(text) },
      query,
    });
    return (body as Json).job_id;
  };
  return { parts, start, send };
}

const jobOf = async (parts: Parts, id: string): Promise<Json> =>
  (await ask(parts, 'GET', `${M}/imports/${id}`, { key: ADMIN })).body;

const entriesOf = async (parts: Parts, status: string): Promise<Json[]> => {
  const query = { event_type: [`import.${status}`] };
  return ((await ask(parts, 'GET', `${M}/audit`, { key: ADMIN, query })).body as Json).entries;
};

const failures = async (parts: Parts): Promise<number> => {
  const { body } = await ask(parts, 'POST', `${M}/app/exec`, {
    key: ADMIN,
    json: { command: 'metrics', args: { domain: 'ops' } },
  });
  return (body as Json).result.metrics.find(({ id }: Json) => id === 'ops.import_failure_pct').value;
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** One job for each end; `name` of a file that fails cannot be read. */
const ENDS = [
  ['completed', TEXT, 'a.txt'],
  ['failed', '%PDF-1.7 and no more', 'a.pdf'],
  ['cancelled', TEXT, 'a.txt'],
] as const;

for (const [end, text, name] of ENDS) {
  /** Starts the job, and cancels it if that is its end: before the server runs jobs. */
  const begin = async ({ parts, start, send }: Awaited<ReturnType<typeof importing>>): Promise<string> => {
    if (end !== 'cancelled') await start();
    const id = await send(text, name);
    if (end === 'cancelled') {
      await start();
      void ask(parts, 'POST', `${M}/imports/${id}/cancel`, { key: ADMIN, json: {} });
    }
    return id;
  };

  test(`a job shows that it is ${end} once trail, event and metric have it`, async () => {
    let id = '';
    const seen: unknown[] = [];
    const statusOf = (): string | undefined => parts.services.control.get('importJob', id)?.status;
    const jobs = await importing(async (event, write) => {
      seen.push(event, isOpen(statusOf()), (await entriesOf(parts, end)).length);
      const written = await write();
      seen.push(isOpen(statusOf()), (await entriesOf(parts, end)).length, (await failures(parts)) ?? 0);
      // A reader that knows the event finds the status.
      reading = jobOf(parts, id);
      await turn();
      return written;
    });
    let reading: Promise<Json> | undefined;
    const { parts } = jobs;
    id = await begin(jobs);
    await eventually('the end shows', () => statusOf() === end);
    assert.deepEqual(seen, [`import.${end}`, true, 0, true, 1, end === 'failed' ? 100 : 0]);
    assert.equal((await reading).status, end);
    await parts.close();
  });

  for (const place of ['before', 'after'])
    test(`a kill ${place} the entry of a job that is ${end}: the next start tells it once`, async () => {
      let killed: (() => void) | undefined;
      const kill = new Promise<void>((resolve) => {
        killed = resolve;
      });
      let isFirst = true;
      const jobs = await importing(async (_, write) => {
        if (!isFirst) return await write();
        isFirst = false;
        if (place === 'after') await write();
        killed?.();
        return await new Promise<never>(() => undefined);
      });
      const { parts } = jobs;
      const id = await begin(jobs);
      await kill;
      const { clock, logStore, services } = parts;
      const control = ControlStore.open(new MemoryLog(logStore), CONTROL_KEY, clock);
      const found = control.get('importJob', id);
      assert.deepEqual([isOpen(found?.status), found?.ending?.status], [true, end]);
      const next = new ImportJobs({
        control,
        clock,
        log: makeLog('silent'),
        shards: services.shards,
        directory: `/nonexistent/${id}`,
      });
      await next.start(() => Promise.resolve());
      const told = control.get('importJob', id);
      assert.deepEqual([told?.status, told?.ending, told?.finishedAtMs], [end, undefined, found?.ending?.atMs]);
      assert.equal((await entriesOf(parts, end)).length, 1);
      await next.close();
      await control.close();
      await parts.close();
    });
}

test('an end that the trail does not take is told again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let refusals = 0;
  const { parts, start, send } = await importing(async (_, write) => {
    refusals += 1;
    if (refusals <= 2) throw new EngineError('STO-E001', 'no room');
    return await write();
  });
  await start();
  const id = await send(TEXT);
  const status = () => parts.services.control.get('importJob', id)?.status;
  while (refusals < 1) await turn();
  for (let at = 0; at < 20; at++) await turn();
  assert.equal(status(), 'running');
  const { error } = await ask(parts, 'POST', `${M}/imports/${id}/cancel`, { key: ADMIN, json: {} });
  assert.equal(error?.code, 'IMP-E003', 'its end is decided');
  while (status() === 'running') {
    t.mock.timers.tick(IMPORT_END_RETRY_MS);
    await turn();
  }
  assert.equal(refusals, 3);
  assert.equal((await entriesOf(parts, 'completed')).length, 1);
  await parts.close();
});

test('a cancellation that the trail does not take is an error, and a further one completes it', async () => {
  let refusals = 0;
  const { parts, start, send } = await importing(async (_, write) => {
    refusals += 1;
    if (refusals === 1) throw new EngineError('STO-E001', 'no room');
    return await write();
  });
  const id = await send(TEXT);
  await start();
  const cancel = () => ask(parts, 'POST', `${M}/imports/${id}/cancel`, { key: ADMIN, json: {} });
  assert.equal((await cancel()).error?.code, 'STO-E001');
  assert.equal((await cancel()).body['status'], 'cancelled');
  assert.equal((await cancel()).error?.code, 'IMP-E003');
  await parts.services.imports.close();
  await parts.close();
});

test('a queue that the trail does not take, or the control log, is an error and no job', async () => {
  for (const failing of ['note', 'commit'] as const) {
    const { parts, start } = await importing();
    const { control, shards } = parts.services;
    const error = new EngineError('STO-E001', 'no room');
    const call = shards.call.bind(shards);
    if (failing === 'note')
      shards.call = ((method: string, ...rest: [never, never]) =>
        method === 'note' ? Promise.reject(error) : call(method as never, ...rest)) as typeof call;
    else control.commit = () => Promise.reject(error);
    const { error: refusal } = await ask(parts, 'POST', `${M}/imports`, {
      key: ADMIN,
      file: { name: 'a.txt', bytes: Buffer.from(TEXT) },
    });
    assert.equal(refusal?.code, 'STO-E001', failing);
    await start();
    assert.deepEqual([control.count('importJob'), control.count('importFile')], [0, 0]);
    await parts.close();
  }
});

test('the erasure of a person takes the person out of the file names of other jobs', async () => {
  const { parts, send } = await importing();
  const named = await send('a,b', 'CV Ada_Lovelace (2).csv');
  const other = await send('a,b', 'Canada.csv');
  const erased = await ask(parts, 'POST', `${M}/app/exec`, {
    key: ADMIN,
    json: { command: 'forget_user', args: { user_id: 'ada.lovelace' } },
  });
  assert.equal(erased.error, undefined);
  assert.equal((await jobOf(parts, named)).file_name, 'document.csv');
  assert.equal((await jobOf(parts, other)).file_name, 'Canada.csv');
  await parts.close();
});

test('the erasure of a scope removes its jobs, however its path and their namespaces are written', async () => {
  const { parts, send } = await importing();
  const tree = { name: 'org', children: [{ name: 'acme', children: [{ name: 'prod' }] }, { name: 'caf\u00e9' }] };
  const erase = async (scope_path: string): Promise<unknown> =>
    (await ask(parts, 'POST', `${M}/scope-erase`, { key: ADMIN, json: { scope_path } })).error?.code;
  const left = (): number => parts.services.control.count('importJob');
  const erased = async (namespace: string, path: string, more = 0): Promise<void> => {
    await send('a,b', 'a.csv', { namespace: [namespace] });
    assert.deepEqual([await erase(path), left()], [undefined, more], `${namespace} under ${path}`);
  };
  await erased('acme/prod', '/acme//prod/');
  await erased('cafe\u0301', 'caf\u00e9');
  await erased('caf\u00e9', 'cafe\u0301');
  const { error } = await ask(parts, 'PUT', `${M}/scope-tree`, { key: ADMIN, json: tree });
  assert.equal(error, undefined);
  await erased('acme/prod', 'org/acme');
  await send('a,b', 'a.csv', { namespace: ['elsewhere'] });
  await erased('acme', 'org', 1);
  await erased('org', 'org', 1);
  assert.deepEqual([await erase('nowhere'), left()], ['SCP-E001', 1]);
  await parts.close();
});

test('words of an id name a person, parts of words do not', () => {
  for (const [name, id, says] of [
    ['ada-lovelace.pdf', 'ada.lovelace', true],
    ['Notes of Ada.txt', 'ada', true],
    ['Canada.txt', 'ada', false],
    ['lovelace ada.txt', 'ada.lovelace', false],
    ['\u041e\u0422\u0427\u0401\u0422 \u0410\u043d\u043d\u0430.pdf', '\u0430\u043d\u043d\u0430', true],
    ['a.txt', '...', false],
  ] as const)
    assert.equal(namesPerson(name, id), says, `${name} ${id}`);
});

function isOpen(status: string | undefined): boolean {
  return status === 'queued' || status === 'running';
}
