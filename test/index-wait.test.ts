// Reads that wait for vectors: over HTTP by body and header, over gRPC by metadata, in a recall, a chain, CAL and a
// flush. The backlog embedder waits until the test releases it, so that nothing depends on time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from '../src/embed/embedder.ts';
import { ngramVector } from '../src/embed/ngram.ts';
import { shareServer } from './conformance/shared-server.ts';

/** Embeds questions at once, and the backlog only while its gate is open. */
class Gated implements Embedder {
  readonly name = 'gated/1';
  readonly dimensions = 512;
  #opened = Promise.withResolvers<void>();
  #asked = Promise.withResolvers<void>();

  /** Resolves when the backlog waits at the gate. */
  get asked(): Promise<void> {
    return this.#asked.promise;
  }

  closeGate(): void {
    this.#opened = Promise.withResolvers();
    this.#asked = Promise.withResolvers();
  }

  open(): void {
    this.#opened.resolve();
  }

  async embed(
    texts: readonly string[],
    options?: { readonly priority?: string | undefined; readonly signal?: AbortSignal | undefined },
  ) {
    if (options?.priority !== 'query') {
      this.#asked.resolve();
      const { promise, reject } = Promise.withResolvers<never>();
      const abort = () => reject(options?.signal?.reason);
      options?.signal?.addEventListener('abort', abort);
      try {
        await Promise.race([this.#opened.promise, promise]);
      } finally {
        options?.signal?.removeEventListener('abort', abort);
      }
    }
    return texts.map(ngramVector);
  }

  close(): Promise<void> {
    this.open();
    return Promise.resolve();
  }
}

const embedder = new Gated();
embedder.open();
const shared = shareServer(
  { embedder: 'use-lite-int8', shards: '2' },
  { openers: () => ({ 'use-lite-int8': () => Promise.resolve({ embedder }) }) },
);
const { send } = shared;

let made = 0;
async function memory(options: object = {}) {
  made += 1;
  const id = `waits${made}`;
  assert.equal((await send('POST', '/memories', { id, ...options })).status, 201);
  const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
    send('POST', `/memories/${id}/${path}`, json, headers);
  return { id, post };
}

const BELIEF = { subject: 'Ada', relation: 'drinks', object: 'green tea' };
const NOT_READY = /did not catch up in time/;
const MS = 30_000;

test('a recall waits until vectors cover the earlier writes, over every interface', async () => {
  for (const partitions of [1, 2]) {
    const { id, post } = await memory({ partitions });
    const reads: (() => Promise<{ results: { score_breakdown?: object }[]; warnings: string[] }>)[] = [
      async () => (await post('recall', { query: 'tea', score_breakdown: true, wait_for_index_ms: MS })).body,
      async () =>
        (await post('recall', { query: 'tea', score_breakdown: true }, { 'x-wait-for-index-ms': String(MS) })).body,
      () =>
        shared.grpc.call(
          'Recall',
          { query: 'tea', score_breakdown: true },
          { 'x-memory-id': id, 'x-wait-for-index-ms': String(MS) },
        ),
    ];
    for (const [at, asked] of reads.entries()) {
      embedder.closeGate();
      assert.equal((await post('add', { ...BELIEF, object: `green tea ${at}` })).status, 200);
      let isOver = false;
      const waiting = asked().finally(() => {
        isOver = true;
      });
      await embedder.asked;
      assert.equal(isOver, false);
      embedder.open();
      const { results, warnings } = await waiting;
      assert.equal(results.length, at + 1);
      assert.doesNotMatch(warnings.join(), /words alone|no vectors|in time/);
      assert.ok(results.every(({ score_breakdown: account }) => account !== undefined && 'vector_score' in account));
    }
  }
});

test('a flush, CAL and a chain wait too', async () => {
  const { id, post } = await memory();
  const query = 'RECALL beliefs ABOUT "tea"';
  for (const asked of [
    () => post('flush', { vectors: true }).then(({ status, body }) => [status, body.warnings]),
    () => post('app/exec', { command: 'cal', args: { query, wait_for_index_ms: MS } }).then(({ status }) => [status]),
    () => post('recall-chain', { question: 'tea', wait_for_index_ms: MS }).then(({ status }) => [status]),
    () =>
      shared.grpc
        .ask('Flush', {}, { 'x-memory-id': id, 'x-wait-for-index-ms': String(MS) })
        .then(({ trailers }) => [200, trailers.get('x-warnings')[0]]),
  ]) {
    embedder.closeGate();
    made += 1;
    assert.equal((await post('add', { ...BELIEF, object: `tea ${made}` })).status, 200);
    let isOver = false;
    const waiting = asked().finally(() => {
      isOver = true;
    });
    await embedder.asked;
    assert.equal(isOver, false);
    embedder.open();
    const [status, warnings] = await waiting;
    assert.deepEqual([status, warnings], [200, undefined]);
  }
});

test('a wait that times out is reported, and the read is answered', async () => {
  const { post } = await memory();
  embedder.closeGate();
  assert.equal((await post('add', BELIEF)).status, 200);
  const { status, body } = await post('recall', { query: 'tea', wait_for_index_ms: 1 });
  assert.deepEqual([status, body.results.length], [200, 1]);
  assert.match(body.warnings.join(), NOT_READY);
  const header = await post('recall', { query: 'tea' }, { 'x-wait-for-index-ms': '1' });
  assert.match(header.body.warnings.join(), NOT_READY);
  const cal = await post('app/exec', {
    command: 'cal',
    args: { query: 'RECALL beliefs ABOUT "tea"', wait_for_index_ms: 1 },
  });
  assert.match(cal.body.warnings.join(), NOT_READY);
  const chain = await post('recall-chain', { question: 'tea', wait_for_index_ms: 1 });
  assert.match(chain.body.warnings.join(), NOT_READY);
  const flush = await post('flush', { wait_for_index_ms: 1 });
  assert.deepEqual([flush.status, NOT_READY.test(flush.body.warnings.join())], [200, true]);
  assert.doesNotMatch((await post('recall', { query: 'tea', wait_for_index_ms: 0 })).body.warnings.join(), NOT_READY);
  embedder.open();
});

test('a memory without vectors causes no wait, and times out of range are refused', async () => {
  const { post } = await memory({ vector_backend: 'none' });
  assert.equal((await post('add', BELIEF)).status, 200);
  const { body } = await post('recall', { query: 'tea', wait_for_index_ms: MS });
  assert.deepEqual([body.results.length, body.warnings], [1, []]);
  for (const wait of [30_001, -1]) {
    assert.equal((await post('recall', { query: 'tea', wait_for_index_ms: wait })).code, 'VAL-E001');
    assert.equal((await post('recall', { query: 'tea' }, { 'x-wait-for-index-ms': String(wait) })).code, 'VAL-E001');
  }
  assert.equal((await post('recall', { query: 'tea', wait_for_index_ms: 'soon' })).code, 'VAL-E003');
  assert.equal((await post('recall', { query: 'tea' }, { 'x-wait-for-index-ms': 'soon' })).code, 'VAL-E001');
});
