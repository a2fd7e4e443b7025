import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MODEL_CALLS_MAX, MODEL_PASSAGE_CHARS_MAX } from '../../engine/base/limits.ts';
import { recallModels } from './models.ts';
import { ModelError } from './service.ts';

interface Asked {
  readonly url: string;
  readonly authorization: string | null;
  readonly body: Record<string, unknown>;
}

const CONFIG = {
  modelUrl: 'https://models.example/v1/',
  model: 'chatty',
  modelKey: 'secret',
  rerankUrl: undefined,
  rerankModel: 'orderly',
  rerankKey: undefined,
};

/**
 * Models over a service that answers every request with `answer` (text is sent as it is), and the recorded requests.
 */
function modelsOver(answer: unknown, config: Partial<typeof CONFIG> | { rerankUrl: string } = {}, status = 200) {
  const asked: Asked[] = [];
  const service = ((url: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    asked.push({ url, authorization: headers.get('authorization'), body: JSON.parse(String(init.body)) });
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return Promise.resolve(new Response(text, { status, headers: { 'content-type': 'application/json' } }));
  }) as typeof fetch; // as far as it is used
  return { models: recallModels({ ...CONFIG, ...config }, service), asked };
}

const says = (content: unknown) => ({ choices: [{ message: { role: 'assistant', content } }] });
const PASSAGES = ['tea', 'coffee', 'milk'];

test('a reranker gets question and passages and returns their order', async () => {
  const results = [
    { index: 2, relevance_score: 0.1 },
    { index: 1, relevance_score: 0.9 },
  ];
  const { models, asked } = modelsOver({ results });
  assert.deepEqual(await models.rerank!('what to drink', PASSAGES, 1_000), [1, 2, 0]);
  assert.deepEqual(asked, [
    {
      url: 'https://models.example/v1/rerank',
      authorization: 'Bearer secret',
      body: { model: 'orderly', query: 'what to drink', documents: PASSAGES, top_n: 3 },
    },
  ]);
});

test('a separate reranker has its own address, and never gets another service’s key', async () => {
  const { models, asked } = modelsOver({ results: [] }, { rerankUrl: 'https://other.example/v2' });
  assert.deepEqual(await models.rerank!('q', PASSAGES, 1_000), [0, 1, 2]);
  assert.deepEqual([asked[0]?.url, asked[0]?.authorization], ['https://other.example/v2/rerank', null]);
});

test('a language model writes a hypothetical answer, without its thinking', async () => {
  const { models, asked } = modelsOver(says('<think>hm</think> Ada drinks tea. '));
  assert.equal(await models.imagine!('what does Ada drink?', 1_000), 'Ada drinks tea.');
  const { url, body } = asked[0]!;
  assert.equal(url, 'https://models.example/v1/chat/completions');
  assert.equal(body['model'], 'chatty');
  assert.equal((body['messages'] as { content: string }[])[1]!.content, 'what does Ada drink?');
});

test('a language model orders passages by number; omitted or invented numbers do no harm', async () => {
  for (const [content, order] of [
    ['[3, 1, 2]', [2, 0, 1]],
    ['The order is [2].', [1, 0, 2]],
    ['[3,3,0,99,1]', [2, 0, 1]],
  ] as const)
    assert.deepEqual(await modelsOver(says(content)).models.orderListwise!('q', PASSAGES, 1_000), order, content);
});

test('an invalid answer gives a reason that quotes nothing', async () => {
  const nonsense: readonly [unknown, number?][] = [
    ['{'],
    ['null'],
    [{}],
    [says('')],
    [says(7)],
    [says('no')],
    ['', 500],
  ];
  for (const [answer, status] of nonsense)
    for (const ask of ['imagine', 'orderListwise', 'rerank'] as const) {
      if (ask === 'imagine' && JSON.stringify(answer).includes('"no"')) continue;
      const { models } = modelsOver(answer, {}, status);
      const call = ask === 'imagine' ? models.imagine!('private', 1_000) : models[ask]!('private', PASSAGES, 1_000);
      await assert.rejects(call, (error) => {
        assert.ok(error instanceof ModelError, String(error));
        assert.ok(!/private|tea/.test(error.message), error.message);
        return true;
      });
    }
  const wrong = { results: [{ index: 0 }] };
  await assert.rejects(modelsOver(wrong).models.rerank!('q', PASSAGES, 1_000), /without index and score/);
});

test('long texts are truncated, and half a surrogate pair is replaced', async () => {
  const { models, asked } = modelsOver({ results: [] });
  await models.rerank!('\ud83d', [`${'x'.repeat(MODEL_PASSAGE_CHARS_MAX - 1)}😀`], 1_000);
  const { query, documents } = asked[0]!.body as { query: string; documents: string[] };
  assert.equal(query, '\ufffd');
  assert.equal(documents[0]!.length, MODEL_PASSAGE_CHARS_MAX);
  assert.ok(documents[0]!.isWellFormed());
});

test('concurrent calls are bounded, and none starts without time', async () => {
  const never = (() => new Promise(() => undefined)) as unknown as typeof fetch; // the result is not read
  const models = recallModels(CONFIG, never);
  await assert.rejects(models.imagine!('q', 0), /no time is left/);
  for (let call = 0; call < MODEL_CALLS_MAX; call++) void models.imagine!('q', 50).catch(() => undefined);
  await assert.rejects(models.imagine!('q', 50), /too many requests waiting/);
});

test('a deployment has the models of its configuration', () => {
  const none = { modelUrl: undefined, model: undefined, rerankModel: undefined };
  const has = (config: Parameters<typeof recallModels>[0]) =>
    Object.values(recallModels(config)).map((ask) => ask !== undefined);
  assert.deepEqual(has({ ...CONFIG, ...none }), [false, false, false]);
  assert.deepEqual(has({ ...CONFIG, model: undefined }), [false, false, true]);
  assert.deepEqual(has({ ...CONFIG, rerankModel: undefined }), [true, true, false]);
  assert.deepEqual(has({ ...CONFIG, ...none, rerankUrl: 'http://127.0.0.1:9', rerankModel: 'r' }), [
    false,
    false,
    true,
  ]);
});
