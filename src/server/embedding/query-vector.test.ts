import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from '../../embed/embedder.ts';
import {
  QUERY_VECTOR_SHORT_FOR_MS,
  QUERY_VECTOR_SHORT_WAIT_MS,
  QUERY_VECTOR_WAIT_MS,
  VECTORS_LOADING_LOOK_MS,
  VECTORS_LOADING_WAIT_MS,
} from '../../engine/base/limits.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { EmbedderStatus } from './embedders.ts';
import { QueryVectors, type QueryVectorsOptions } from './query-vector.ts';

type Backend = 'use-lite' | 'remote' | 'ngram';

/** Embedders by backend; the default is the built-in one. */
interface Setting {
  readonly embedders?: Partial<Record<Backend, Embedder>>;
  readonly status?: EmbedderStatus['state'];
  readonly own?: Backend | 'none';
  /** Names of the embedders whose vectors answer. */
  readonly serving?: readonly string[];
  readonly lag?: number;
  /** How many times the shard reports that vectors are still loading. */
  readonly loading?: number;
  readonly mayLeave?: boolean;
  /** The part of a text that may be sent; default: all of it. */
  readonly leaves?: (text: string) => string;
}

const works: Embedder['embed'] = async (texts) => texts.map(() => Float32Array.of(0.6, 0.8));
const embedder = (name: string, embed = works): Embedder => ({ name, dimensions: 2, embed, close: async () => {} });

function made(setting: Setting, time: Pick<QueryVectorsOptions, 'nowMs' | 'after'> = {}) {
  const {
    embedders = { 'use-lite': embedder('e/1') },
    own = 'use-lite',
    lag = 0,
    loading = 0,
    mayLeave = false,
  } = setting;
  const serving = setting.serving ?? ['e/1'];
  const asked = { times: 0, serving };
  const vectors = new QueryVectors({
    embedders: {
      of: (backend) => embedders[(backend || own) as Backend], // of the test's own names
      nameOf: (backend) => (backend || own) as Backend, // the same
      named: async (name) =>
        (Object.keys(embedders) as Backend[]) // keys of the record above
          .map((backend) => ({ backend, embedder: embedders[backend]! }))
          .find((one) => one.embedder.name === name),
      destinationOf: () => undefined,
      status: () => ({ backend: 'e/1', dimensions: 2, state: setting.status ?? 'ready' }),
    },
    stateOf: async () => {
      asked.times += 1;
      const serving = asked.serving.map((name) => ({ name, dimensions: 2 }));
      return { serving, lag, ...(asked.times <= loading ? { loading: true as const } : {}) };
    },
    departure: () => (mayLeave ? { leaving: setting.leaves ?? ((text) => text) } : undefined),
    hasGrants: () => Promise.resolve(false),
    ...time,
  });
  return { vectors, asked };
}

const memory = (vectorBackend?: string): MemoryRecord =>
  ({ number: 7, ...(vectorBackend === undefined ? {} : { vectorBackend }) }) as MemoryRecord; // no more of it is read

const of = (setting: Setting, vectorBackend?: string, waitMs = 1_000) =>
  made(setting).vectors.of(memory(vectorBackend), { text: 'who' }, waitMs);

test('a question gets its vector, with the embedder and the text used', async () => {
  const { vector, warning } = await of({});
  assert.deepEqual([...new Float32Array(vector!.bytes.buffer)], [...Float32Array.of(0.6, 0.8)]);
  assert.equal(vector!.of, 'who');
  assert.equal(vector!.embedder, 'e/1');
  assert.equal(vector!.also, undefined);
  assert.equal(warning, undefined);
});

test('the serving vectors are looked up until only the memory’s own ones answer', async () => {
  const { vectors, asked } = made({
    serving: ['old/1'],
    embedders: { 'use-lite': embedder('e/1'), ngram: embedder('old/1') },
  });
  assert.equal((await vectors.of(memory(), { text: 'who' }, 1_000)).vector?.embedder, 'old/1');
  assert.equal(vectors.isSettled(memory()), false);
  asked.serving = ['old/1', 'e/1'];
  const both = await vectors.of(memory(), { text: 'who' }, 1_000);
  assert.equal(both.vector?.embedder, 'old/1');
  assert.deepEqual(
    both.vector?.also?.map((one) => one.embedder),
    ['e/1'],
  );
  asked.serving = ['e/1'];
  for (let times = 0; times < 3; times++)
    assert.equal((await vectors.of(memory(), { text: 'who' }, 1_000)).vector?.embedder, 'e/1');
  assert.equal(asked.times, 3);
  assert.equal(vectors.isSettled(memory()), true);
  assert.equal(vectors.isSettled(memory('ngram')), false, 'the memory has another embedder now');
});

test('a question waits for loading vectors, at most half of its time', async () => {
  const waits: number[] = [];
  const after: QueryVectorsOptions['after'] = (ms, run) => {
    if (ms !== VECTORS_LOADING_LOOK_MS) return () => undefined;
    waits.push(ms);
    const soon = setImmediate(run);
    return () => clearImmediate(soon);
  };
  const looks = VECTORS_LOADING_WAIT_MS / VECTORS_LOADING_LOOK_MS;
  const soon = made({ loading: 3 }, { after });
  assert.equal((await soon.vectors.of(memory(), { text: 'who' }, 10_000)).vector?.embedder, 'e/1');
  assert.equal(waits.splice(0).length, 3);
  assert.equal(soon.vectors.isSettled(memory()), true);
  const late = made({ loading: 1_000 }, { after });
  for (const [waitMs, most] of [
    [10_000, looks],
    [6 * VECTORS_LOADING_LOOK_MS, 3],
  ] as const) {
    assert.equal((await late.vectors.of(memory(), { text: 'who' }, waitMs)).vector?.embedder, 'e/1');
    assert.equal(waits.splice(0).length, most);
    assert.equal(late.vectors.isSettled(memory()), false, 'the next query checks again');
  }
});

test('a memory without vectors answers by words, with a warning if it will get some', async () => {
  assert.deepEqual(await of({ serving: [] }), {});
  assert.deepEqual(await of({}, 'none'), {});
  assert.match((await of({ serving: [], lag: 3 })).warning!, /still to be embedded/);
  assert.deepEqual(await of({ embedders: { 'use-lite': embedder('e/1', async () => [undefined]) } }), {});
});

test('a missing, failing or hanging embedder costs a warning and bounded time, never the answer', async () => {
  const none = { embedders: {} };
  assert.match((await of({ ...none, status: 'opening' })).warning!, /being loaded/);
  assert.match((await of({ ...none, status: 'failed' })).warning!, /out of order/);
  assert.match((await of({ ...none, status: 'failed', serving: [], lag: 1 })).warning!, /out of order/);
  assert.match((await of({ serving: ['gone/1'] })).warning!, /no longer has/);
  const failing = embedder('e/1', () => Promise.reject(new Error('gone')));
  assert.match((await of({ embedders: { 'use-lite': failing } })).warning!, /out of order/);
  const listening = embedder(
    'e/1',
    (_texts, options) =>
      new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      }),
  );
  const deaf = embedder('e/1', () => new Promise(() => undefined));
  for (const hanging of [listening, deaf])
    assert.match((await of({ embedders: { 'use-lite': hanging } }, undefined, 5)).warning!, /in time/);
});

test('a question goes to the service if its memory’s texts may, also for old vectors of the service', async () => {
  const sent: string[] = [];
  const service = embedder('service/1', (texts) => {
    sent.push(...texts);
    return works(texts);
  });
  const embedders = { 'use-lite': embedder('e/1'), remote: service };
  const kept = await of({ embedders, serving: ['service/1'] });
  assert.match(kept.warning!, /may not be sent/);
  assert.equal(kept.vector, undefined);
  assert.deepEqual(sent, []);
  const both = await of({ embedders, serving: ['service/1', 'e/1'] });
  assert.deepEqual([both.vector?.embedder, both.vector?.also, sent], ['e/1', undefined, []]);
  const allowed = await of({ embedders, serving: ['service/1'], mayLeave: true }, 'remote');
  assert.equal(allowed.vector?.embedder, 'service/1');
  assert.deepEqual(sent, ['who']);
});

test('after one timeout queries wait only briefly, until one succeeds or some time has passed', async () => {
  let nowMs = 0;
  let hangs = true;
  const waits: number[] = [];
  const flaky = embedder('e/1', (texts) => (hangs ? new Promise(() => undefined) : works(texts)));
  const { vectors } = made(
    { embedders: { 'use-lite': flaky } },
    {
      nowMs: () => nowMs,
      after: (ms, run) => {
        waits.push(ms);
        const soon = setImmediate(hangs ? run : () => undefined);
        return () => clearImmediate(soon);
      },
    },
  );
  const ask = (waitMs = 10_000) => vectors.of(memory(), { text: 'who' }, waitMs);
  const [whole, short] = [QUERY_VECTOR_WAIT_MS, QUERY_VECTOR_SHORT_WAIT_MS];
  await ask(5);
  for (let times = 0; times < 3; times++) await ask();
  assert.deepEqual(
    waits.splice(0),
    [5, whole, short, short],
    'a caller without time proves nothing about the embedder',
  );
  nowMs += QUERY_VECTOR_SHORT_FOR_MS;
  await ask();
  hangs = false;
  await ask();
  assert.equal((await ask()).warning, undefined);
  assert.deepEqual(waits, [whole, short, whole]);
});

test('a question is redacted for the service, and its vector is for the question', async () => {
  const sent: string[] = [];
  const service = embedder('service/1', (texts) => {
    sent.push(...texts);
    return works(texts, { priority: 'query' });
  });
  const setting: Setting = { embedders: { remote: service }, serving: ['service/1'], mayLeave: true };
  const { vectors } = made({ ...setting, leaves: (text) => text.replace('ann', '[NAME]') });
  const { vector } = await vectors.of(memory('remote'), { text: 'where is ann' }, 1_000);
  assert.deepEqual([sent, vector?.of], [['where is [NAME]'], 'where is ann']);
});
