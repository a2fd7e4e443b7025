import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../test/support/eventually.ts';
import { openBuiltinEmbedder } from '../../embed/builtin/builtin.ts';
import { type Embedder, EmbedError } from '../../embed/embedder.ts';
import {
  EMBED_CALL_WINDOWS_MAX,
  ENCODER_SILENCE_MS,
  FOLLOW_FRESH_ROUNDS_MAX,
  FOLLOW_RETRY_MIN_MS,
  FOLLOW_TRIES_ALONE,
} from '../../engine/base/limits.ts';
import { makeLog } from '../log.ts';
import type { Backlog, BacklogPage, EmbeddedPage, StampOf } from './backlog.ts';
import { Follower, type FollowerOptions } from './follower.ts';

/** A fake shard with texts by memory, embedded up to a sequence. */
class TextShard implements Backlog {
  readonly kept: EmbeddedPage[] = [];
  readonly #texts: readonly string[];
  readonly #backend: string;
  refusals = 0;
  reached = 0;

  constructor(texts: readonly string[], backend = '') {
    this.#texts = texts;
    this.#backend = backend;
  }

  pages(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]> {
    if (stampOf(this.#backend) === undefined || this.reached >= this.#texts.length) return Promise.resolve([]);
    const upTo = Math.min(this.reached + Math.min(grainsMax, 2), this.#texts.length);
    const grains = this.#texts
      .slice(this.reached, upTo)
      .map((text, i) => ({ ordinal: this.reached + i + 1, text }))
      .filter(({ text }) => text !== '');
    return Promise.resolve([{ memory: 1, backend: this.#backend, after: this.reached, upTo, grains }]);
  }

  store(page: EmbeddedPage): Promise<void> {
    if (this.refusals-- > 0) return Promise.reject(new Error('no room'));
    assert.equal(page.after, this.reached, 'pages are consecutive');
    this.reached = page.upTo;
    this.kept.push(page);
    return Promise.resolve();
  }
}

/** A unit vector that encodes a text's length. */
const vectorOf = (text: string): Float32Array => Float32Array.of(Math.cos(text.length), Math.sin(text.length));

interface Fake extends Embedder {
  /** The texts of each call. */
  readonly calls: (readonly string[])[];
}

/** Gives each text its vector; `fails` selects failing calls, by texts and number (from 1). */
function embedder(name: string, fails: (texts: readonly string[], call: number) => boolean = () => false): Fake {
  const calls: (readonly string[])[] = [];
  return {
    name,
    dimensions: 2,
    calls,
    embed(texts) {
      calls.push(texts);
      if (fails(texts, calls.length)) return Promise.reject(new EmbedError('gone', { retryable: true }));
      return Promise.resolve(texts.map((text) => (text === '…' ? undefined : vectorOf(text))));
    },
    close: () => Promise.resolve(),
  };
}

/** A fake clock that advances when nothing else is to do: a rest ends at once, and the clock moves by its length. */
function clock() {
  let ms = 0;
  const after = (wait: number, run: () => void): (() => void) => {
    const soon = setImmediate(() => {
      ms += wait;
      run();
    });
    return () => clearImmediate(soon);
  };
  return { nowMs: () => ms, after };
}

const log = { warn: () => undefined, info: () => undefined };

function follow(backlogs: readonly Backlog[], embedder: Embedder, more: Partial<FollowerOptions> = {}): Follower {
  const follower = new Follower({ backlogs, backends: () => [''], embedder: () => embedder, log, ...clock(), ...more });
  follower.start();
  return follower;
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !condition(); turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(condition(), 'it came true in time');
}

const ordinalsOf = (shard: TextShard): number[] =>
  shard.kept.flatMap(({ grains }) => grains.map(({ ordinal }) => ordinal));

test('every shard is followed to its end, grains without words included, and later writes follow', async () => {
  const texts = ['one', '', 'a much longer text', '…', 'five'];
  const shards = [new TextShard(texts), new TextShard(['x']), new TextShard([])];
  const follower = follow(shards, embedder('e'));
  await until(() => shards[0]!.reached === 5 && shards[1]!.reached === 1);
  await follower.close();
  const kept = shards[0]!.kept.flatMap(({ grains }) => grains.map(({ ordinal, vectors }) => [ordinal, [...vectors]]));
  assert.deepEqual(kept, [
    [1, [vectorOf('one')]],
    [3, [vectorOf('a much longer text')]],
    [5, [vectorOf('five')]],
  ]);
  assert.deepEqual(shards[0]!.kept[0]!.embedder, { name: 'e', dimensions: 2 });
  assert.equal(follower.embedded, 4);
  assert.equal(follower.passedOver, 0);
});

test('idle shards are not polled again after every page of another shard', async () => {
  const busy = new TextShard(Array.from({ length: 40 }, (_, i) => `text ${i}`));
  const asked = { idle: 0 };
  const idle: Backlog = {
    pages: () => {
      asked.idle += 1;
      return Promise.resolve([]);
    },
    store: () => assert.fail('nothing is stored there'),
  };
  const follower = follow([busy, idle], embedder('e'), { nowMs: () => 0 });
  await until(() => busy.reached === 40);
  assert.equal(asked.idle, 1);
  await until(() => asked.idle > 1);
  await follower.close();
});

test('a shard that cannot be read is logged once, until it was read again', async (t) => {
  const lines: string[] = [];
  const logger = makeLog('warn', { write: (line: string) => void lines.push(line) });
  let reads = 0;
  const broken: Backlog = {
    pages: () => (++reads % 10 === 0 ? Promise.resolve([]) : Promise.reject(new Error('away'))),
    store: () => assert.fail('nothing is stored there'),
  };
  const follower = follow([broken], embedder('e'), { log: logger });
  t.after(() => follower.close());
  await until(() => reads >= 9);
  assert.equal(lines.length, 1);
  await until(() => reads >= 15);
  assert.equal(lines.length, 2);
});

test('an embedder that fails for every text pauses with doubling waits, and nothing is lost', async () => {
  const broken = embedder('broken', (_texts, call) => call <= 6);
  const shard = new TextShard(['a', 'b']);
  const time = clock();
  const follower = follow([shard], broken, time);
  await until(() => follower.isOut);
  assert.equal(shard.reached, 0);
  let mostBehindMs = 0;
  await until(() => {
    mostBehindMs = Math.max(mostBehindMs, follower.behindMs);
    return shard.reached === 2;
  });
  assert.ok(mostBehindMs >= FOLLOW_RETRY_MIN_MS, `behind by ${mostBehindMs} ms`);
  // The texts waited through the outages; the next round sees that none is left.
  await until(() => follower.behindMs === 0);
  await follower.close();
  assert.ok(time.nowMs() >= FOLLOW_RETRY_MIN_MS * (1 + 2 + 4), `waited ${time.nowMs()} ms`);
  assert.equal(follower.isOut, false);
  assert.equal(follower.passedOver, 0);
  assert.deepEqual(ordinalsOf(shard), [1, 2]);
});

test('a failing text is skipped and reported once without its words, and the others continue', async () => {
  const lines: string[] = [];
  const logger = makeLog('warn', { write: (line: string) => void lines.push(line) });
  const made = embedder('e', (texts) => texts.includes('poison'));
  const shard = new TextShard(['a', 'poison', 'b', 'c', 'poison']);
  const follower = follow([shard], made, { log: logger });
  await until(() => shard.reached === 5);
  await follower.close();
  assert.deepEqual(ordinalsOf(shard), [1, 3, 4]);
  assert.equal(follower.passedOver, 2);
  assert.equal(made.calls.filter((texts) => texts.length === 1 && texts[0] === 'poison').length, 2 * 3 + 1);
  assert.deepEqual(
    lines.map((line) => /"memory":1,"ordinal":(\d)/.exec(line)?.[1]),
    ['2', '5'],
  );
  assert.ok(!lines.join().includes('poison'));
});

test('a text that crashes its service every time is identified over several outages', async () => {
  let downFor = 0;
  const fragile = embedder('fragile', (texts) => {
    if (downFor > 0) {
      downFor -= 1;
      return true;
    }
    if (texts.includes('poison')) downFor = 3;
    return texts.includes('poison');
  });
  const shard = new TextShard(['a', 'poison', 'b', 'c']);
  const follower = follow([shard], fragile);
  await until(() => shard.reached === 4);
  await follower.close();
  assert.deepEqual(ordinalsOf(shard), [1, 3, 4]);
  assert.equal(follower.passedOver, 1);
});

test('invalid vectors are the embedder’s fault, not a text’s, and never reach a shard', async () => {
  for (const vector of [
    Float32Array.of(1, 0, 0),
    Float32Array.of(Number.NaN, 0),
    Float32Array.of(Number.POSITIVE_INFINITY, 0),
    Float32Array.of(3, 4),
    new Float32Array(2),
  ]) {
    const shard = new TextShard(['a', 'b']);
    const follower = follow([shard], { ...embedder('e'), embed: async (texts) => texts.map(() => vector) });
    await until(() => follower.isOut);
    await follower.close();
    assert.equal(shard.kept.length, 0);
    assert.equal(follower.passedOver, 0);
  }
  const shard = new TextShard(['a', 'odd', 'b']);
  const odd = embedder('e');
  const follower = follow([shard], {
    ...odd,
    embed: async (texts) => texts.map((text) => (text === 'odd' ? Float32Array.of(Number.NaN, 1) : vectorOf(text))),
  });
  await until(() => shard.reached === 3);
  await follower.close();
  assert.deepEqual(ordinalsOf(shard), [1, 3]);
});

test('vectors that could not be stored are computed again, and a page of another backend waits', async () => {
  const shards = [new TextShard(['a', 'b', 'c']), new TextShard(['never'], 'nobody')];
  shards[0]!.refusals = 2;
  const made = embedder('e');
  const follower = follow(shards, made);
  await until(() => shards[0]!.reached === 3);
  await follower.close();
  assert.equal(made.calls.length, 4);
  assert.equal(shards[1]!.reached, 0);
});

test('closing cancels the running call, and a shard that failed is asked again', async () => {
  let asked = 0;
  const hanging: Embedder = {
    name: 'slow',
    dimensions: 2,
    embed: (_texts, options) =>
      new Promise((_, reject) => {
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason));
      }),
    close: () => Promise.resolve(),
  };
  const shard = new TextShard(['a']);
  const shaky: Backlog = {
    pages: (stampOf, grainsMax) =>
      asked++ === 0 ? Promise.reject(new Error('away')) : shard.pages(stampOf, grainsMax),
    store: (page) => shard.store(page),
  };
  const follower = follow([shaky], hanging);
  await until(() => asked >= 2);
  await follower.close();
  assert.equal(shard.reached, 0);
  assert.equal(follower.isOut, false, 'cancelling is not a failure');
});

test("a text that crashes the encoder's thread affects only itself", async (t) => {
  const gate = new Int32Array(new SharedArrayBuffer(12)).fill(1_000_000);
  const encoder = openBuiltinEmbedder({
    thread: new URL('../../embed/builtin/testing/fake-thread.ts', import.meta.url),
    threadData: { gate },
    // The thread restarts at once and never counts as silent.
    delay: (run, ms) => {
      const soon = setImmediate(ms === ENCODER_SILENCE_MS ? () => undefined : run);
      return () => clearImmediate(soon);
    },
  });
  t.after(() => encoder.close());
  const shard = new TextShard(['a', 'exit', 'b', 'throw', 'c', 'd']);
  const follower = follow([shard], {
    ...embedder(encoder.name),
    embed: async (texts, options) =>
      (await encoder.embed(texts, options)).map((vector, i) => (vector === undefined ? vector : vectorOf(texts[i]!))),
  });
  await eventually('every text was tried', () => shard.reached === 6);
  await follower.close();
  assert.deepEqual(ordinalsOf(shard), [1, 3, 5, 6]);
  assert.equal(follower.passedOver, 2);
  assert.equal(encoder.status.restarts, 2 * (1 + FOLLOW_TRIES_ALONE));
});

/** A backlog of long texts of one memory, one text per page, and notes of another memory that go ahead. */
class NoteShard implements Backlog {
  readonly #texts: readonly string[];
  notes: string[] = [];
  reached = 0;
  readonly kept: string[] = [];

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  pages(): Promise<readonly BacklogPage[]> {
    const text = this.#texts[this.reached];
    if (text === undefined) return Promise.resolve([]);
    const [after, upTo] = [this.reached, this.reached + 1];
    return Promise.resolve([{ memory: 1, backend: '', after, upTo, grains: [{ ordinal: upTo, text }] }]);
  }

  fresh(): Promise<readonly BacklogPage[]> {
    const [text] = this.notes.splice(0, 1);
    if (text === undefined) return Promise.resolve([]);
    return Promise.resolve([{ memory: 2, backend: '', after: 0, upTo: 1, aheadOf: 0, grains: [{ ordinal: 1, text }] }]);
  }

  store({ memory, upTo }: EmbeddedPage): Promise<void> {
    if (memory === 1) this.reached = upTo;
    this.kept.push(`${memory}`);
    return Promise.resolve();
  }
}

/** More windows than five calls have. */
const LONG = 'some words that fill a window '.repeat((EMBED_CALL_WINDOWS_MAX * 5 * 100) / 6);

test('a note waits for at most one more call of another memory’s backlog, in any shard', async () => {
  const busy = new NoteShard([LONG, LONG]);
  const quiet = new NoteShard([]);
  const order: string[] = [];
  const made = embedder('e');
  const noting: Embedder = {
    ...made,
    embed(texts, options) {
      order.push(texts[0] === 'a note' ? 'note' : 'backlog');
      if (order.length === 2) quiet.notes.push('a note');
      return made.embed(texts, options);
    },
  };
  const follower = follow([busy, quiet], noting);
  await until(() => busy.reached === 2);
  await follower.close();
  assert.ok(order.filter((who) => who === 'backlog').length >= 10, order.join());
  assert.ok(order.indexOf('note') <= 3, order.join());
});

test('a backlog advances however many notes arrive', async () => {
  const shard = new NoteShard(['a', 'b', 'c'].map((text) => text.repeat(4)));
  let calls = 0;
  const made = embedder('e');
  const endless: Embedder = {
    ...made,
    embed(texts, options) {
      calls += 1;
      shard.notes.push('another note');
      return made.embed(texts, options);
    },
  };
  shard.notes.push('a note');
  const follower = follow([shard], endless);
  await until(() => shard.reached === 3);
  await follower.close();
  // Up to the last page of the backlog.
  const before = shard.kept.slice(0, shard.kept.lastIndexOf('1'));
  const notes = before.filter((memory) => memory === '2').length;
  assert.ok(notes >= 3 && notes <= FOLLOW_FRESH_ROUNDS_MAX * 3, `${notes} notes in ${calls} calls`);
});
