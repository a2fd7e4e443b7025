import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Embedder } from '../embedder.ts';
import { unitVector } from '../unit-vector.ts';
import { readModelFolder } from './model-folder.ts';
import { openOnnxEmbedder } from './onnx.ts';
import { OnnxReranker } from './reranker.ts';
import { OnnxSentenceEncoder } from './sentence-encoder.ts';
import {
  TINY_DIMENSIONS,
  type TinyModel,
  tinyMean,
  tinyValue,
  tokenizerFixtures,
  writeTinyModel,
  writeTinyReranker,
} from './testing/tiny-model.ts';
import { TextTokens } from './text-tokens.ts';

const root = mkdtempSync(join(tmpdir(), 'granary-onnx-'));
after(() => rmSync(root, { recursive: true }));
let made = 0;

function folderOf(model: TinyModel = {}): string {
  made += 1;
  const folder = join(root, `tiny-${made}`);
  writeTinyModel(folder, model);
  return folder;
}

function load(folder: string): Promise<OnnxSentenceEncoder> {
  return OnnxSentenceEncoder.load({ folder, runtime: 'wasm' });
}

/** The unit vector of rows of the table. */
function rows(ids: readonly number[]): readonly number[] {
  const sums = Array.from({ length: TINY_DIMENSIONS }, (_, column) =>
    ids.reduce((sum, id) => sum + Math.fround(tinyValue(id, column)), 0),
  );
  return [...unitVector(sums)!];
}

function near(vector: Float32Array | undefined, wanted: readonly number[]): void {
  assert.ok(vector !== undefined && vector.length === wanted.length);
  const difference = Math.max(...wanted.map((value, at) => Math.abs(value - vector[at]!)));
  assert.ok(difference < 1e-6, `differs by ${difference}`);
}

const { texts, kinds } = tokenizerFixtures();

for (const kind of ['wordpiece', 'unigram', 'bpe'] as const)
  test(`${kind}: tokens are those of the original, and an encoder takes their mean`, async () => {
    const folder = folderOf({ kind });
    const tokens = new TextTokens(readModelFolder(folder));
    const encoder = await load(folder);
    for (const [at, text] of texts.entries()) {
      const ids = kinds[kind].ids[at]!;
      assert.deepEqual(tokens.of(text).ids, ids, JSON.stringify(text));
      const vector = await encoder.encode(text, 'backlog');
      if (text.trim() === '') assert.equal(vector, undefined);
      else if (tokens.of(text).hasWord) near(vector, rows(ids));
    }
    assert.equal(encoder.dimensions, TINY_DIMENSIONS);
  });

test('a text without a known word has no vector', async () => {
  const encoder = await load(folderOf());
  assert.equal(await encoder.encode('😀', 'query'), undefined);
  assert.equal(await encoder.encode(' \n ', 'query'), undefined);
});

test('pooling, prompts, case and length follow the configuration of sentence-transformers', async () => {
  const modules = (...kinds: string[]) =>
    kinds.map((kind, idx) => ({
      idx,
      path: kind === 'Pooling' ? '1_Pooling' : '',
      type: `sentence_transformers.models.${kind}`,
    }));
  const [text = ''] = texts;
  const ids = kinds.wordpiece.ids[0]!;
  const cls = await load(
    folderOf({
      files: {
        'modules.json': modules('Transformer', 'Pooling', 'Normalize'),
        '1_Pooling/config.json': {
          word_embedding_dimension: 8,
          pooling_mode_cls_token: true,
          pooling_mode_mean_tokens: false,
        },
      },
    }),
  );
  near(await cls.encode(text, 'query'), rows(ids.slice(0, 1)));
  const last = await load(folderOf({ files: { 'granary-model.json': { pooling: 'last' } } }));
  near(await last.encode(text, 'query'), rows(ids.slice(-1)));
  const prompted = readModelFolder(
    folderOf({
      files: {
        'config_sentence_transformers.json': { prompts: { query: 'query: ', document: 'passage: ' } },
        'sentence_bert_config.json': { max_seq_length: 9, do_lower_case: true },
        'tokenizer_config.json': { model_max_length: 1e30 },
      },
    }),
  );
  const { queryPrefix, passagePrefix, tokensMax, lowersCase, pooling } = prompted;
  assert.deepEqual(
    [queryPrefix, passagePrefix, tokensMax, lowersCase, pooling],
    ['query: ', 'passage: ', 9, true, 'mean'],
  );
  const long = new TextTokens(prompted).of(`${text} ${text}`).ids;
  assert.deepEqual([long.length, long[0], long.at(-1)], [9, ids[0], ids.at(-1)], 'the end of every text stays');
});

test('questions and passages get their prefixes', async () => {
  const encoder = await load(
    folderOf({ files: { 'granary-model.json': { query_prefix: 'river ', passage_prefix: 'bridge ' } } }),
  );
  const plain = await load(folderOf());
  assert.deepEqual(await encoder.encode('granite', 'query'), await plain.encode('river granite', 'query'));
  assert.deepEqual(await encoder.encode('granite', 'backlog'), await plain.encode('bridge granite', 'backlog'));
  assert.notEqual(encoder.name.split('/')[1], plain.name.split('/')[1], 'other vectors, other name');
});

test('a graph with every known input is served; one with others is refused', async () => {
  const encoder = await load(folderOf({ inputs: ['input_ids', 'attention_mask', 'token_type_ids', 'position_ids'] }));
  near(await encoder.encode(texts[0]!, 'query'), rows(kinds.wordpiece.ids[0]!));
  await assert.rejects(
    load(folderOf({ inputs: ['input_ids', 'past_key_values'] })),
    /it needs the inputs past_key_values; this server provides/,
  );
});

test('what a folder lacks, and what is not supported, is named', async () => {
  const refused = async (
    files: Readonly<Record<string, unknown>>,
    pattern: RegExp,
    spoil?: (folder: string) => void,
  ) => {
    const folder = folderOf({ files });
    spoil?.(folder);
    await assert.rejects(load(folder), pattern);
  };
  await assert.rejects(load(join(root, 'nowhere')), /nowhere cannot be used: the folder does not exist/);
  await refused({}, /there is no model\.onnx/, (folder) => rmSync(join(folder, 'model.onnx')));
  await refused({}, /there is no tokenizer\.json/, (folder) => rmSync(join(folder, 'tokenizer.json')));
  await refused({}, /runtime cannot load it/, (folder) => writeFileSync(join(folder, 'model.onnx'), 'no graph'));
  await refused({}, /its tokenizer cannot be read/, (folder) => writeFileSync(join(folder, 'tokenizer.json'), '{}'));
  await refused({}, /config\.json is not JSON/, (folder) => writeFileSync(join(folder, 'config.json'), '{'));
  await refused(
    { 'granary-model.json': { file: 'other.onnx' } },
    /there is no other\.onnx, which granary-model\.json names/,
  );
  await refused({}, /several models \(a\.onnx, b\.onnx\): name one as "file"/, (folder) => {
    rmSync(join(folder, 'model.onnx'));
    for (const name of ['a.onnx', 'b.onnx']) writeFileSync(join(folder, name), '');
  });
  await refused(
    { '1_Pooling/config.json': { pooling_mode_max_tokens: true } },
    /its pooling is pooling_mode_max_tokens; this server supports mean, cls, last/,
  );
  await refused(
    { 'modules.json': [{ type: 'sentence_transformers.models.Dense', path: '2_Dense' }] },
    /names a module after pooling: export the graph with sentence_embedding/,
  );
});

test('an embedder encodes in its thread, names its vectors by model, and reports why it cannot load', async (t) => {
  const folder = folderOf();
  const embedder = await openOnnxEmbedder(folder, { runtime: 'wasm' });
  t.after(() => embedder.close());
  assert.match(embedder.name, /^onnx:tiny-\d+\/[0-9a-f]{12}$/);
  assert.equal(embedder.dimensions, TINY_DIMENSIONS);
  const [first, none] = await embedder.embed([texts[0]!, '']);
  near(first, rows(kinds.wordpiece.ids[0]!));
  assert.equal(none, undefined);
  rmSync(join(folder, 'tokenizer.json'));
  await assert.rejects(openOnnxEmbedder(folder), { name: 'EmbedError', retryable: false });
});

test('a cross-encoder scores pairs, and says which were not scored in time', async (t) => {
  const folder = join(root, 'pairs');
  writeTinyReranker(folder);
  const reranker = new OnnxReranker(folder, { runtime: 'wasm' });
  t.after(() => reranker.close());
  const [first = '', second = ''] = texts;
  const ids = kinds.wordpiece.pair.ids;
  const scores = await reranker.score(first, [second, `${second}\u001e`], 60_000);
  const wanted = ids.reduce((sum, id) => sum + tinyMean(id), 0) / ids.length;
  assert.ok(Math.abs(scores[0]! - wanted) < 1e-5, `${scores[0]}, ${wanted}`);
  assert.equal(scores[1], scores[0], 'a separator in a text is a space');
  const late = await reranker.score(
    first,
    Array.from({ length: 3_000 }, () => second),
    1,
  );
  assert.equal(late.length, 3_000);
  assert.ok(late.some((score) => score === undefined));
  const noReranker = new OnnxReranker(folderOf());
  t.after(() => noReranker.close());
  await assert.rejects(noReranker.score('a', ['b'], 60_000), /it has no output logits: it is not a cross-encoder/);
});

test('a pair that is too long loses the end of its second text', () => {
  const folder = folderOf({ files: { 'granary-model.json': { max_tokens: 12 } } });
  const { pair } = kinds.wordpiece;
  const { ids, types } = new TextTokens(readModelFolder(folder)).ofPair(texts[0]!, texts[1]!);
  assert.deepEqual(ids, [...pair.ids.slice(0, 11), pair.ids.at(-1)]);
  assert.deepEqual(types, [...pair.types.slice(0, 11), 1]);
});

/** Vectors of real models, as the Python packages tokenizers and onnxruntime give them. */
const REAL = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/sentence-models.json', import.meta.url), 'utf8'),
) as {
  readonly texts: readonly string[];
  readonly models: Readonly<Record<string, readonly (readonly number[])[]>>;
};
const MODELS = process.env['GRANARY_TEST_MODELS'] ?? '';

for (const [name, wanted] of Object.entries(REAL.models)) {
  const folder = join(MODELS, name);
  const isHere = MODELS !== '' && existsSync(folder);
  test(`${name} gives the vectors of its own Python code`, {
    skip: isHere ? false : 'GRANARY_TEST_MODELS names no folder with it',
  }, async (t) => {
    const embedder: Embedder = await openOnnxEmbedder(folder);
    t.after(() => embedder.close());
    const vectors = await embedder.embed(REAL.texts);
    const cosines = vectors.map((vector, at) => wanted[at]!.reduce((sum, value, i) => sum + value * vector![i]!, 0));
    assert.ok(Math.min(...cosines) >= 0.9999, `${Math.min(...cosines)}`);
  });
}
