import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Embedder } from '../../embed/embedder.ts';
import { windowsOf } from '../../embed/windows.ts';
import { EMBED_CALL_WINDOWS_MAX } from '../../engine/base/limits.ts';
import { embedGrains } from './embed-grains.ts';

const SENTENCE = 'The meeting about the new office was moved to Thursday at noon. ';
const FOREVER = new AbortController().signal;

/** Records its texts and encodes each position as an angle; later calls finish before earlier ones. */
function embedder(): Embedder & { readonly texts: string[]; callsMax: number; windowsMax: number; underWay: number } {
  const texts: string[] = [];
  const made = {
    name: 'e',
    dimensions: 2,
    texts,
    underWay: 0,
    callsMax: 0,
    windowsMax: 0,
    async embed(asked: readonly string[]) {
      const vectors = asked.map((text) => {
        const place = texts.push(text);
        return Float32Array.of(Math.cos(place), Math.sin(place));
      });
      made.windowsMax = Math.max(made.windowsMax, asked.length);
      made.callsMax = Math.max(made.callsMax, ++made.underWay);
      for (let turns = made.underWay === 1 ? 4 : 1; turns > 0; turns--) await new Promise(setImmediate);
      made.underWay -= 1;
      return vectors;
    },
    close: () => Promise.resolve(),
  };
  return made;
}

test('windows of all texts go in calls of bounded size, two at a time, and return in order', async () => {
  const made = embedder();
  const texts = [SENTENCE.repeat(2_000), 'short', '', SENTENCE.repeat(900)];
  const vectors: (readonly Float32Array[])[] = [];
  await embedGrains(made, texts, FOREVER, (own) => vectors.push(own));
  assert.equal(vectors.length, texts.length);
  assert.deepEqual(
    made.texts,
    texts.flatMap((text) => windowsOf(text)),
  );
  assert.equal(made.windowsMax, EMBED_CALL_WINDOWS_MAX);
  assert.equal(made.callsMax, 2);
  let place = 0;
  for (const [i, text] of texts.entries())
    assert.deepEqual(
      vectors[i],
      windowsOf(text).map(() => Float32Array.of(Math.cos(++place), Math.sin(place))),
    );
});

test('other work gets its turn while long texts are split', async () => {
  const long = SENTENCE.repeat(4_000);
  let turns = 0;
  let done = false;
  const count = (): void => {
    turns += 1;
    if (!done) setImmediate(count);
  };
  setImmediate(count);
  const instant: Embedder = { ...embedder(), embed: async (asked) => asked.map(() => undefined) };
  await embedGrains(instant, Array<string>(20).fill(long), FOREVER, () => undefined);
  done = true;
  assert.ok(turns >= 3, `${turns} turns`);
});

test('a failed call ends the other, and nothing runs afterwards', async () => {
  const made = embedder();
  let calls = 0;
  let given: AbortSignal | undefined;
  const failing: Embedder = {
    ...made,
    embed: (asked, options) => {
      calls += 1;
      if (calls === 1) return new Promise((_, reject) => setImmediate(() => reject(new Error('gone'))));
      given = options?.signal;
      return made.embed(asked, options);
    },
  };
  const done: unknown[] = [];
  await assert.rejects(
    embedGrains(failing, [SENTENCE.repeat(2_000)], FOREVER, (own) => done.push(own)),
    /gone/,
  );
  assert.deepEqual(done, []);
  assert.equal(given?.aborted, true);
  assert.equal(made.underWay, 0);
  assert.equal(calls, 2);
  const controller = new AbortController();
  controller.abort(new Error('given up'));
  const listening: Embedder = {
    ...made,
    embed: (_asked, options) =>
      options?.signal?.aborted ? Promise.reject(options.signal.reason) : Promise.resolve([]),
  };
  await assert.rejects(
    embedGrains(listening, ['a'], controller.signal, () => undefined),
    /given up/,
  );
  await assert.rejects(
    embedGrains(listening, ['a'], FOREVER, () => undefined),
    /0 vectors for 1 texts/,
  );
});
