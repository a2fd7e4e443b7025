import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { anyText } from '../engine/base/testing/any-text.ts';
import { EmbedError } from './embedder.ts';
import { ngramVector, openNgramEmbedder } from './ngram.ts';

const cosine = (a: string, b: string): number => {
  const [x, y] = [ngramVector(a)!, ngramVector(b)!];
  return x.reduce((sum, value, i) => sum + value * y[i]!, 0);
};

test('vectors match what the name states', () => {
  const vector = ngramVector('Anna lives in Berlin')!;
  const places = [...vector.entries()].filter(([, value]) => Math.abs(value) > 0.2);
  assert.deepEqual(
    places.map(([place, value]) => [place, value.toFixed(4)]),
    [
      [141, '-0.4746'],
      [242, '0.3559'],
      [464, '0.4587'],
    ],
  );
});

test('words of similar spelling are close', () => {
  assert.ok(cosine('allergic to peanuts', 'an allergy: peanut') > cosine('allergic to peanuts', 'a window seat'));
  assert.ok(cosine('Müller', 'MÜLLER') > 0.999);
  assert.ok(cosine('東京に住んでいます', '東京に住む') > 5 * cosine('東京に住んでいます', '猫が好きです'));
});

test('every text with a letter or digit has a unit vector, other texts have none', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 60 }), (text) => {
      const vector = ngramVector(text);
      if (vector === undefined) return assert.doesNotMatch(text.normalize('NFKC').toLowerCase(), /[\p{L}\p{N}]/u);
      assert.equal(vector.length, 512);
      assert.ok(Math.abs(vector.reduce((sum, value) => sum + value * value, 0) - 1) < 1e-5);
      assert.ok(Buffer.from(ngramVector(text)!.buffer).equals(Buffer.from(vector.buffer)));
    }),
    { numRuns: runs(100) },
  );
  for (const text of ['', ' ', '😀', '...']) assert.equal(ngramVector(text), undefined);
  assert.ok(ngramVector('word '.repeat(50_000)));
});

test('the embedder keeps order, respects signals and closes', async () => {
  const embedder = openNgramEmbedder();
  const texts = Array.from({ length: 30 }, (_, i) => (i === 3 ? '' : `text ${i}`));
  assert.deepEqual(await embedder.embed(texts), texts.map(ngramVector));
  await assert.rejects(embedder.embed(texts, { signal: AbortSignal.abort(new Error('given up')) }), /given up/);
  await embedder.close();
  await assert.rejects(embedder.embed(texts), EmbedError);
});
