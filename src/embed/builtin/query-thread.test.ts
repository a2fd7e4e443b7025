import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  QUERY_THREAD_BACKLOG_TEXTS,
  QUERY_THREAD_IDLE_MS,
  QUERY_THREAD_SLOW_MS,
  SECOND_THREAD_BACKLOG_TEXTS,
  SECOND_THREAD_PAUSE_MS,
  SECOND_THREAD_QUERY_MS,
} from '../../engine/base/limits.ts';
import { type Embedder, EmbedError } from '../embedder.ts';
import { WHOLE_SHARE } from '../pace.ts';
import type { Spare } from '../spare.ts';
import { type BuiltinEmbedder, openBuiltinEmbedder } from './builtin.ts';
import { withQueryThread } from './query-thread.ts';

const OPEN = 1_000_000;

/** A thread without an encoder (testing/fake-thread.ts). */
function fake(gate: Int32Array): BuiltinEmbedder {
  return openBuiltinEmbedder({
    thread: new URL('./testing/fake-thread.ts', import.meta.url),
    threadData: { gate },
    delay: () => () => undefined,
  });
}

interface Both {
  readonly embedder: Embedder;
  readonly main: BuiltinEmbedder;
  readonly mainGate: Int32Array;
  readonly queryGate: Int32Array;
  readonly opened: BuiltinEmbedder[];
  readonly timers: { readonly run: () => void; readonly ms: number }[];
}

function both(t: TestContext, nowMs: () => number = () => 0, spare?: Spare): Both {
  const [mainGate, queryGate] = [1, 2].map(() => new Int32Array(new SharedArrayBuffer(12))) as [Int32Array, Int32Array]; // array of two
  mainGate[0] = OPEN;
  queryGate[0] = OPEN;
  const main = fake(mainGate);
  const opened: BuiltinEmbedder[] = [];
  const timers: Both['timers'] = [];
  const embedder = withQueryThread(main, {
    nowMs,
    spare,
    open: () => {
      opened.push(fake(queryGate));
      return opened.at(-1)!;
    },
    delay: (run, ms) => {
      const timer = { run, ms };
      timers.push(timer);
      return () => {
        timers.splice(timers.indexOf(timer), 1);
      };
    },
  });
  t.after(() => embedder.close());
  return { embedder, main, mainGate, queryGate, opened, timers };
}

const closeGate = (gate: Int32Array): void => void Atomics.store(gate, 0, 0);

function release(gate: Int32Array): void {
  Atomics.store(gate, 0, OPEN);
  Atomics.notify(gate, 0);
}

const ask = (embedder: Embedder) => embedder.embed(['q'], { priority: 'query' });
const texts = (count: number) => Array.from({ length: count }, (_, i) => `backlog ${i}`);

test('during a long backlog, queries get a thread of their own, which closes when no query comes', async (t) => {
  const { embedder, main, mainGate, opened, timers } = both(t);
  await ask(embedder);
  closeGate(mainGate);
  const backlog = embedder.embed(texts(QUERY_THREAD_BACKLOG_TEXTS));
  const first = ask(embedder);
  assert.equal(opened.length, 1);
  await opened[0]!.load();
  assert.equal((await ask(embedder))[0]![0], 0, 'the first text of its thread');
  assert.equal((await ask(embedder))[0]![0], 1);
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [QUERY_THREAD_IDLE_MS],
  );
  release(mainGate);
  assert.equal((await first).length, 1, 'queries before it was ready are answered by the other thread');
  await backlog;
  assert.equal(main.backlogTexts, 0);
  await ask(embedder);
  assert.equal(opened.length, 1);
  timers[0]!.run();
  await embedder.close();
  assert.equal(opened[0]!.status.state, 'closed');
  assert.equal(main.status.state, 'closed');
});

test('a short backlog, or one without queries, starts no second thread', async (t) => {
  const { embedder, opened } = both(t);
  const short = embedder.embed(texts(QUERY_THREAD_BACKLOG_TEXTS - 1));
  await ask(embedder);
  await short;
  const long = embedder.embed(texts(10 * QUERY_THREAD_BACKLOG_TEXTS));
  await long;
  assert.equal(opened.length, 0);
});

test('one slow query on a busy machine starts the second thread', async (t) => {
  let nowMs = 0;
  const { embedder, opened } = both(t, () => nowMs);
  await embedder.embed(['loads']);
  await ask(embedder);
  assert.equal(opened.length, 0);
  const slow = ask(embedder);
  nowMs += QUERY_THREAD_SLOW_MS + 1;
  await slow;
  assert.equal(opened.length, 1);
  await opened[0]!.load();
  assert.equal((await ask(embedder))[0]![0], 0, 'the first text of its thread');
});

test('a text that hangs delays one query; later queries use the second thread', async (t) => {
  const { embedder, mainGate, opened } = both(t);
  await ask(embedder);
  closeGate(mainGate);
  const controller = new AbortController();
  const hanging = embedder.embed(['hang'], { signal: controller.signal }).catch(() => 'given up');
  const given = new AbortController();
  const waiting = embedder.embed(['q'], { priority: 'query', signal: given.signal });
  given.abort(new Error('late'));
  await assert.rejects(waiting, /late/);
  assert.equal(opened.length, 1);
  await opened[0]!.load();
  assert.equal((await ask(embedder))[0]![0], 0);
  controller.abort();
  assert.equal(await hanging, 'given up');
});

test('a text that kills the second thread does not kill the first, which answers the next query', async (t) => {
  const { embedder, main, mainGate, opened } = both(t);
  await embedder.embed(['warm']);
  closeGate(mainGate);
  const backlog = embedder.embed(texts(QUERY_THREAD_BACKLOG_TEXTS));
  const first = ask(embedder);
  await opened[0]!.load();
  await assert.rejects(embedder.embed(['exit'], { priority: 'query' }), EmbedError);
  assert.equal(opened[0]!.status.state, 'down');
  const next = ask(embedder);
  release(mainGate);
  assert.deepEqual(
    [await first, await next].map((vectors) => vectors.length),
    [1, 1],
  );
  await backlog;
  assert.equal(main.status.restarts, 0);
});

/** Spare processors; `second` is the share of the second thread. */
function spareOf(): Spare & { readonly second: (share: number) => void; held: number } {
  const shares = [0, 1].map(() => new Int32Array(new SharedArrayBuffer(4)).fill(WHOLE_SHARE));
  const spare = {
    shares: shares as unknown as Spare['shares'], // array of two
    held: 0,
    hold: () => {
      spare.held += 1;
      return () => {
        spare.held -= 1;
      };
    },
    second: (share: number) => void Atomics.store(shares[1]!, 0, share * WHOLE_SHARE),
  };
  return spare;
}

const LONG = SECOND_THREAD_BACKLOG_TEXTS;

test('while processors are idle, the second thread takes half of a long backlog', async (t) => {
  const spare = spareOf();
  const { embedder, mainGate, queryGate, opened } = both(t, () => 0, spare);
  await embedder.embed(texts(LONG - 1));
  assert.equal(opened.length, 0, 'a short backlog starts no second thread');
  await embedder.embed(texts(LONG));
  assert.equal(opened.length, 1);
  await opened[0]!.load();
  const [before, beforeSecond] = [mainGate[1]!, queryGate[1]!];
  closeGate(mainGate);
  closeGate(queryGate);
  const shared = embedder.embed(texts(LONG));
  for (const [gate, count] of [
    [mainGate, before],
    [queryGate, beforeSecond],
  ] as const)
    while (Atomics.load(gate, 1) === count) await new Promise(setImmediate);
  assert.equal(spare.held, 1);
  release(mainGate);
  release(queryGate);
  const vectors = await shared;
  assert.equal(vectors.filter((vector) => vector !== undefined).length, LONG);
  const [byMain, bySecond] = [mainGate[1]! - before, queryGate[1]! - beforeSecond];
  assert.equal(byMain + bySecond, LONG, 'each text is embedded once');
  assert.ok(byMain > 0 && bySecond > 0);
  assert.equal(spare.held, 0);
});

test('the second thread helps neither beside requests nor after a question, nor after a pause of the backlog', async (t) => {
  const spare = spareOf();
  let nowMs = 0;
  const { embedder, queryGate, opened } = both(t, () => nowMs, spare);
  await embedder.embed(texts(LONG));
  await opened[0]!.load();
  const bySecond = async (): Promise<number> => {
    const before = queryGate[1]!;
    await embedder.embed(texts(LONG / 2));
    return queryGate[1]! - before;
  };
  assert.ok((await bySecond()) > 0);
  spare.second(1 / 16);
  assert.equal(await bySecond(), 0);
  spare.second(1);
  assert.ok((await bySecond()) > 0);
  await ask(embedder);
  assert.equal(await bySecond(), 0);
  nowMs += SECOND_THREAD_QUERY_MS;
  assert.ok((await bySecond()) > 0);
  nowMs += SECOND_THREAD_PAUSE_MS + 1;
  assert.equal(await bySecond(), 0);
});

test('a failure in the second thread fails the call, of which nothing goes on', async (t) => {
  const spare = spareOf();
  const { embedder, main, mainGate, opened } = both(t, () => 0, spare);
  await embedder.embed(texts(LONG));
  await opened[0]!.load();
  closeGate(mainGate);
  const failing = embedder.embed(texts(LONG).map((text, i) => (i === 40 ? 'exit' : text)));
  await assert.rejects(failing, EmbedError);
  assert.equal(opened[0]!.status.state, 'down');
  assert.deepEqual([main.backlogTexts, main.status.state, spare.held], [0, 'ready', 0]);
  release(mainGate);
  assert.equal((await embedder.embed(texts(3))).length, 3);
});
