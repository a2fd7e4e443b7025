// Tests the real encoder, with WebAssembly.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type BuiltinEmbedder, openBuiltinEmbedder } from './builtin.ts';

const REFERENCE = join(import.meta.dirname, '../../../../shared/data/encoder_reference.jsonl');
const cacheFolder = mkdtempSync(join(tmpdir(), 'granary-encoder-'));
let embedder: BuiltinEmbedder;

before(() => {
  embedder = openBuiltinEmbedder({ cacheFolder, runtime: 'wasm', precision: 'fp32' });
});
after(async () => {
  await embedder.close();
  rmSync(cacheFolder, { recursive: true, force: true });
});

const cosine = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

test('two short texts get the vectors of the original graph', async () => {
  const [peanuts, short] = await embedder.embed(['The user is allergic to peanuts', 'Short']);
  assert.deepEqual(
    [...peanuts!.slice(0, 6)].map((value) => value.toFixed(5)),
    ['0.03368', '0.03167', '-0.00474', '-0.02205', '-0.02314', '0.04483'],
  );
  assert.deepEqual(
    [...short!.slice(0, 6)].map((value) => value.toFixed(5)),
    ['-0.01914', '-0.02980', '0.04601', '-0.03701', '-0.04780', '-0.04123'],
  );
  assert.equal(peanuts!.length, embedder.dimensions);
  assert.ok(Math.abs(cosine(peanuts!, peanuts!) - 1) < 1e-6);
});

test('all reference texts get the vectors of the original graph', {
  skip: existsSync(REFERENCE) ? false : 'the reference vectors are not here',
}, async () => {
  const lines = readFileSync(REFERENCE, 'utf8').trim().split('\n');
  const reference = lines.map((line) => JSON.parse(line) as { text: string; vector: number[] });
  const vectors = await embedder.embed(reference.map(({ text }) => text));
  const differences = reference.map(({ vector }, i) =>
    Math.max(...vector.map((value, j) => Math.abs(value - vectors[i]![j]!))),
  );
  assert.equal(differences.length, 32);
  assert.ok(Math.max(...differences) <= 1e-5, `the greatest difference is ${Math.max(...differences)}`);
});

test('in bytes the reference texts get almost the vectors of the original graph', {
  skip: existsSync(REFERENCE) ? false : 'the reference vectors are not here',
}, async (t) => {
  const bytes = openBuiltinEmbedder({ cacheFolder, runtime: 'wasm', precision: 'int8' });
  t.after(() => bytes.close());
  const lines = readFileSync(REFERENCE, 'utf8').trim().split('\n');
  const reference = lines.map((line) => JSON.parse(line) as { text: string; vector: number[] });
  const vectors = await bytes.embed(reference.map(({ text }) => text));
  const cosines = reference.map(({ vector }, i) => cosine(Float32Array.from(vector), vectors[i]!));
  assert.equal(cosines.length, 32);
  assert.ok(Math.min(...cosines) >= 0.98, `the least cosine is ${Math.min(...cosines)}`);
  assert.ok(cosines.reduce((sum, each) => sum + each) / cosines.length >= 0.99);
  assert.notDeepEqual(vectors, await embedder.embed(reference.map(({ text }) => text)));
  assert.notEqual(bytes.name, embedder.name);
});

test('a vector does not depend on what else the encoder takes', async (t) => {
  const bytes = openBuiltinEmbedder({ cacheFolder, runtime: 'wasm', precision: 'int8' });
  t.after(() => bytes.close());
  // Several of each length, which share runs, and a long one.
  const words = ['train', 'boat', 'bike', 'car', 'plane', 'lorry'];
  const texts = words.flatMap((word) => [
    `I like my ${word}`,
    `She sold the old ${word} to a friend of hers last year`,
  ]);
  texts.push(`${words.join(' and ')}. `.repeat(6));
  for (const encoder of [embedder, bytes]) {
    const together = await encoder.embed(texts);
    for (const [i, text] of texts.entries()) {
      const [alone] = await encoder.embed([text]);
      const furthest = Math.max(...alone!.map((value, j) => Math.abs(value - together[i]![j]!)));
      assert.ok(furthest <= 1e-6, `${encoder.name}: ${furthest} of ${JSON.stringify(text)}`);
    }
  }
});

test('texts of similar meaning are closer than others', async () => {
  const [ask, same, other] = await embedder.embed([
    'The meeting was moved to Thursday',
    'They rescheduled the appointment for later in the week',
    'The kitchen was painted blue',
  ]);
  assert.ok(cosine(ask!, same!) > cosine(ask!, other!));
});

test('texts in capitals are read as lower case', async () => {
  const [capitals, small] = await embedder.embed(['I AM ALLERGIC TO NUTS', 'i am allergic to nuts'], {
    priority: 'query',
  });
  assert.deepEqual(capitals, small);
});

test('texts without known words have no vector, and long texts are read from the start', async () => {
  const long = 'I prefer window seats on flights. '.repeat(7_400);
  const texts = ['', ' \n ', '😀😀', '...', 'שלום עולם', 'ok 😀', long, long.slice(0, 3_000), '\ud800'];
  const vectors = await embedder.embed(texts);
  assert.deepEqual(
    vectors.map((vector) => vector === undefined),
    [true, true, true, true, true, false, false, false, true],
  );
  assert.deepEqual(vectors[6], vectors[7]);
});
