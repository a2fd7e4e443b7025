// Tests the owner of the encoder's thread against a thread without an encoder.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import {
  ENCODER_BACKLOG_BATCHES_OUT_MAX,
  ENCODER_BATCH_TEXTS_MAX,
  ENCODER_QUERY_TEXTS_MAX,
  ENCODER_SILENCE_MS,
  RESTART_DELAY_MAX_MS,
  RESTART_DELAY_MIN_MS,
} from '../../engine/base/limits.ts';
import { EmbedError } from '../embedder.ts';
import { type BuiltinEmbedder, openBuiltinEmbedder } from './builtin.ts';

interface Timer {
  readonly run: () => void;
  readonly ms: number;
  cancelled: boolean;
}

interface Fake {
  readonly embedder: BuiltinEmbedder;
  readonly gate: Int32Array;
  /** Pending timers of the embedder. Only the test fires them. */
  readonly timers: Timer[];
  readonly log: { readonly fields: object; readonly message: string }[];
}

const retryable = (error: unknown): boolean => error instanceof EmbedError && error.retryable;
const final = (error: unknown): boolean => error instanceof EmbedError && !error.retryable;

function open(t: TestContext, { begun = 1_000_000, failing = '' } = {}): Fake {
  const gate = new Int32Array(new SharedArrayBuffer(12));
  gate[0] = begun;
  const timers: Timer[] = [];
  const log: Fake['log'] = [];
  const embedder = openBuiltinEmbedder({
    thread: new URL('./testing/fake-thread.ts', import.meta.url),
    threadData: { gate, failing },
    log: { warn: (fields, message) => log.push({ fields, message }) },
    delay: (run, ms) => {
      const timer = { run, ms, cancelled: false };
      timers.push(timer);
      return () => {
        timer.cancelled = true;
      };
    },
  });
  t.after(() => embedder.close());
  return { embedder, gate, timers, log };
}

/** Resolves when the thread has reached text number `count`. */
async function cameTo(gate: Int32Array, count: number): Promise<void> {
  for (let seen = Atomics.load(gate, 1); seen < count; seen = Atomics.load(gate, 1))
    await Atomics.waitAsync(gate, 1, seen).value;
}

function openGate(gate: Int32Array, until = 1_000_000): void {
  Atomics.store(gate, 0, until);
  Atomics.notify(gate, 0);
}

const numbers = (vectors: readonly (Float32Array | undefined)[]): (number | undefined)[] =>
  vectors.map((vector) => vector?.[0]);

const restartOf = ({ timers }: Fake): Timer =>
  timers.findLast(({ ms, cancelled }) => ms !== ENCODER_SILENCE_MS && !cancelled)!;

test('returns one vector per text, in order, each in its own buffer, and undefined for a text without words', async (t) => {
  const { embedder, log } = open(t);
  assert.equal(embedder.status.state, 'cold');
  assert.deepEqual(await embedder.embed([]), []);
  assert.equal(embedder.status.state, 'cold');
  const texts = Array.from({ length: 40 }, (_, i) => (i === 7 ? '' : `text ${i}`));
  const vectors = await embedder.embed(texts);
  assert.deepEqual(
    numbers(vectors),
    texts.map((text, i) => (text === '' ? undefined : i < 7 ? i : i - 1)),
  );
  assert.ok(vectors.every((vector) => vector === undefined || vector.buffer.byteLength === vector.byteLength));
  const { reason, ...status } = embedder.status;
  assert.equal(reason, undefined);
  assert.deepEqual(status, { state: 'ready', runtime: 'wasm', restarts: 0, waitingTexts: 0 });
  assert.deepEqual(
    log.map(({ message }) => message),
    ['a notice'],
  );
});

test('a query waits for at most one text of the backlog', async (t) => {
  const { embedder, gate } = open(t, { begun: 0 });
  const backlog = embedder.embed(Array.from({ length: 100 }, (_, i) => `backlog ${i}`));
  await cameTo(gate, 1);
  const queries = [embedder.embed(['q'], { priority: 'query' }), embedder.embed(['q', 'r'], { priority: 'query' })];
  openGate(gate);
  assert.deepEqual((await Promise.all(queries)).map(numbers), [[1], [2, 3]]);
  assert.deepEqual(numbers(await backlog), [0, ...Array.from({ length: 99 }, (_, i) => i + 4)]);
});

test('a short backlog call runs before the rest of a long one', async (t) => {
  const { embedder, gate } = open(t, { begun: 0 });
  const long = embedder.embed(Array.from({ length: 200 }, (_, i) => `long ${i}`));
  await cameTo(gate, 1);
  const short = embedder.embed(['a note']);
  openGate(gate);
  const [place] = numbers(await short);
  // It follows the batches that the thread had already received.
  assert.equal(place, ENCODER_BATCH_TEXTS_MAX * ENCODER_BACKLOG_BATCHES_OUT_MAX);
  assert.equal((await long).length, 200);
});

test('a cancelled call rejects with its reason, and its pending texts are not embedded', async (t) => {
  const { embedder, gate } = open(t, { begun: 0 });
  await embedder.load();
  const controller = new AbortController();
  const reason = new Error('no longer wanted');
  const given = embedder.embed(
    Array.from({ length: 50 }, () => 'x'),
    { signal: controller.signal },
  );
  const kept = embedder.embed(['kept']);
  await cameTo(gate, 1);
  controller.abort(reason);
  await assert.rejects(given, reason);
  assert.equal(embedder.status.waitingTexts, 1);
  openGate(gate);
  assert.deepEqual(numbers(await kept), [1]);
  await assert.rejects(embedder.embed(['x'], { signal: controller.signal }), reason);
});

for (const order of ['exit', 'throw']) {
  test(`a thread that dies (${order}) rejects its current texts, keeps the waiting ones, and restarts`, async (t) => {
    const fake = open(t, { begun: 0 });
    const { embedder, gate, timers } = fake;
    const query = embedder.embed(['q'], { priority: 'query' });
    await cameTo(gate, 1);
    const dying = embedder.embed([order, ...Array.from({ length: 40 }, () => 'x')]);
    const waiting = embedder.embed(['waits']);
    openGate(gate);
    assert.deepEqual(numbers(await query), [0]);
    await assert.rejects(dying, retryable);
    assert.equal(embedder.status.state, 'down');
    assert.match(embedder.status.reason!, order === 'throw' ? /died: thrown by the encoder/ : /died/);
    await assert.rejects(embedder.embed(['q'], { priority: 'query' }), retryable);
    await assert.rejects(embedder.load(), retryable);
    const restart = restartOf(fake);
    assert.equal(restart.ms, RESTART_DELAY_MIN_MS);
    restart.run();
    assert.deepEqual(numbers(await waiting), [0]);
    assert.equal(embedder.status.state, 'ready');
    assert.equal(embedder.status.restarts, 1);
    assert.equal(embedder.status.reason, undefined);
    assert.ok(timers.every(({ ms, cancelled }) => ms !== ENCODER_SILENCE_MS || cancelled));
  });
}

test('repeated deaths lengthen the restart delay, up to a limit', async (t) => {
  const fake = open(t, { failing: 'crash' });
  const delays: number[] = [];
  for (let death = 0; death < 10; death++) {
    await assert.rejects(fake.embedder.load(), /crashed while loading/);
    const restart = restartOf(fake);
    delays.push(restart.ms);
    restart.cancelled = true;
    restart.run();
  }
  assert.deepEqual(
    delays,
    delays.map((_, i) => Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_MIN_MS * 2 ** i)),
  );
});

test('a silent thread is terminated', async (t) => {
  const fake = open(t);
  const { embedder, timers, gate } = fake;
  await embedder.load();
  const hanging = embedder.embed(['hang'], { priority: 'query' });
  await cameTo(gate, 1);
  const [watch, ...others] = timers.filter(({ ms, cancelled }) => ms === ENCODER_SILENCE_MS && !cancelled);
  assert.deepEqual(others, []);
  watch!.run();
  await assert.rejects(hanging, /did not answer for 60 seconds/);
  restartOf(fake).run();
  assert.deepEqual(numbers(await embedder.embed(['x'], { priority: 'query' })), [0]);
});

test('an encoder that cannot load rejects every call permanently', async (t) => {
  const { embedder, log } = open(t, { failing: 'load' });
  await assert.rejects(embedder.embed(['x']), final);
  await assert.rejects(embedder.embed(['x'], { priority: 'query' }), /nothing to load/);
  await assert.rejects(embedder.load(), final);
  assert.equal(embedder.status.state, 'failed');
  assert.equal(embedder.status.reason, 'nothing to load');
  assert.equal(log.length, 1);
});

test('the queue of waiting texts is bounded', async (t) => {
  const { embedder, gate } = open(t, { begun: 0 });
  const full = embedder.embed(
    Array.from({ length: ENCODER_QUERY_TEXTS_MAX }, () => ''),
    { priority: 'query' },
  );
  await assert.rejects(embedder.embed(['x'], { priority: 'query' }), retryable);
  const other = embedder.embed(['x']);
  openGate(gate);
  assert.equal((await full).length, ENCODER_QUERY_TEXTS_MAX);
  assert.deepEqual(numbers(await other), [0]);
  assert.deepEqual(numbers(await embedder.embed(['x'], { priority: 'query' })), [1]);
});

test('close rejects running and later calls', async (t) => {
  const { embedder, gate } = open(t, { begun: 0 });
  const calls = [
    embedder.embed(['x']),
    embedder.embed(['x'], { priority: 'query' }),
    embedder.embed(Array.from({ length: 200 }, () => 'x')),
  ];
  const refused = Promise.all(calls.map((call) => assert.rejects(call, final)));
  await cameTo(gate, 1);
  await embedder.close();
  await refused;
  await assert.rejects(embedder.embed(['x']), final);
  await assert.rejects(embedder.load(), final);
  assert.equal(embedder.status.state, 'closed');
  await embedder.close();
});

test('on Linux only the encoder thread has a lower priority', { skip: process.platform !== 'linux' }, async (t) => {
  const niceOf = (task: string): number[] => {
    try {
      const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
      return [Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])];
    } catch {
      return []; // the thread ended after it was listed
    }
  };
  const nices = (): number[] => readdirSync('/proc/self/task').flatMap(niceOf);
  const before = Math.max(...nices());
  if (before >= constants.priority.PRIORITY_LOW) return t.skip('no priority is lower than that of these tests');
  await open(t).embedder.load();
  const lower = nices().filter((nice) => nice > before);
  assert.equal(lower.length, 1);
});

test('whatever calls come together, each settles and nothing is left behind', async (t) => {
  const { embedder, gate, timers } = open(t);
  const call = fc.record({
    texts: fc.array(fc.constantFrom('a', '', 'b'), { minLength: 1, maxLength: 60 }),
    priority: fc.constantFrom('query' as const, 'backlog' as const),
    /** Event-loop turns before the call is cancelled; 0: never. */
    givenUpAfter: fc.integer({ min: 0, max: 4 }),
  });
  const restart = (): void => {
    for (const timer of timers.filter(({ ms, cancelled }) => ms !== ENCODER_SILENCE_MS && !cancelled)) {
      timer.cancelled = true;
      timer.run();
    }
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 0, max: 12 }),
      async (calls, crashing) => {
        const settled = calls.map(async ({ texts, priority, givenUpAfter }, i) => {
          const controller = new AbortController();
          const all = i === crashing ? [...texts, 'throw'] : texts;
          const result = embedder.embed(all, { priority, signal: controller.signal });
          const outcome = result.then(
            (vectors) =>
              assert.deepEqual(
                vectors.map((vector) => vector === undefined),
                all.map((text) => text === ''),
              ),
            (error: unknown) => assert.ok(retryable(error) || error === controller.signal.reason),
          );
          for (let turn = 0; turn < givenUpAfter; turn++) await new Promise(setImmediate);
          // A call whose text crashes the thread is awaited, so that the crash does not hit a later round.
          if (givenUpAfter > 0 && i !== crashing) controller.abort(new Error('given up'));
          await outcome;
        });
        let open = true;
        const all = Promise.all(settled).finally(() => {
          open = false;
        });
        while (open) {
          restart();
          await new Promise(setImmediate);
        }
        await all;
        restart();
        assert.equal(embedder.status.waitingTexts, 0);
        assert.deepEqual(numbers(await embedder.embed([''], { priority: 'backlog' })), [undefined]);
      },
    ),
    { numRuns: runs(8) },
  );
  assert.ok(gate[1]! > 0);
});
