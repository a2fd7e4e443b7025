import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { MODEL_CALLS_MAX, MODEL_PASSAGE_CHARS_MAX } from '../../engine/base/limits.ts';
import type { Governed } from './egress.ts';
import { ModelError, RecallModels } from './models.ts';
import { type Asked, providerServer, testModels } from './testing/server.ts';

const PASSAGES = ['tea', 'coffee', 'milk'];
const MAIL = 'ann@example.org';
/** Another machine, as far as the policy is concerned. */
const OUTSIDE = 'models.example';

const says = (content: unknown) => ({ choices: [{ message: { role: 'assistant', content } }] });
const governedBy = (egress: 'allow' | 'redact' | 'block'): Governed => ({
  governing: { presets: [], guardrailPatterns: [], guardrailMode: 'exact', egress, regions: [] },
});

/** Models over a service on another machine that answers every request with `answer` (text is sent as it is). */
async function modelsOver(t: TestContext, answer: unknown, flags: Readonly<Record<string, string>> = {}, status = 200) {
  const { url, asked } = await providerServer(t, (response: ServerResponse) => {
    if (answer === NEVER) return;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  const outside = url.replace('127.0.0.1', OUTSIDE);
  const parts = testModels(t, {
    flags: { modelUrl: outside, model: 'chatty', rerankModel: 'orderly', ...flags },
    resolve: (_, found) => found(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  return { models: new RecallModels(parts), asked };
}

const NEVER = Symbol('never');
const ordering = (question: string, passages: readonly string[] = PASSAGES, waitMs = 1_000) => ({
  question,
  passages,
  persons: new Set<undefined>(),
  waitMs,
});

test('a reranker gets question and passages and returns their order', async (t) => {
  const results = [
    { index: 2, relevance_score: 0.1 },
    { index: 1, relevance_score: 0.9 },
  ];
  const { models, asked } = await modelsOver(t, { results });
  assert.deepEqual(await models.reranker?.order({}, ordering('what to drink')), [1, 2, 0]);
  assert.deepEqual(
    asked.map(({ path, body }) => [path, body]),
    [['/v1/rerank', { model: 'orderly', query: 'what to drink', documents: PASSAGES, top_n: 3 }]],
  );
});

test('a separate reranker has its own address, and never gets another service’s key', async (t) => {
  const other = await providerServer(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
  });
  const { models } = await modelsOver(t, {}, { rerankUrl: `${other.url}/v2` });
  assert.deepEqual(await models.reranker?.order({}, ordering('q')), [0, 1, 2]);
  const [{ path, headers }] = other.asked as [Asked];
  assert.deepEqual([path, headers.authorization], ['/v2/rerank', undefined]);
});

test('a language model writes a hypothetical answer, without its thinking', async (t) => {
  const { models, asked } = await modelsOver(t, says('<think>hm</think> Ada drinks tea. '));
  assert.equal(await models.imagine({}, ordering('what does Ada drink?', [], 1_000)), 'Ada drinks tea.');
  const [{ path, body }] = asked as [Asked];
  assert.equal(path, '/v1/chat/completions');
  assert.deepEqual([body['model'], body['temperature']], ['chatty', 0]);
  assert.equal((body['messages'] as { content: string }[])[1]!.content, 'what does Ada drink?');
});

test('a language model orders passages by number; omitted or invented numbers do no harm', async (t) => {
  for (const [content, order] of [
    ['[3, 1, 2]', [2, 0, 1]],
    ['The order is [2].', [1, 0, 2]],
    ['[3,3,0,99,1]', [2, 0, 1]],
  ] as const) {
    const { models } = await modelsOver(t, says(content));
    assert.deepEqual(await models.listwise?.order({}, ordering('q')), order, content);
  }
});

test('an invalid answer gives a reason that quotes nothing, after one try', async (t) => {
  const nonsense: readonly [unknown, number?][] = [
    ['{'],
    ['null'],
    [{}],
    [says('')],
    [says(7)],
    [says('no')],
    ['', 500],
    [{ results: [{ index: 0 }] }],
  ];
  for (const [answer, status] of nonsense) {
    const { models, asked } = await modelsOver(t, answer, {}, status);
    const calls = [
      JSON.stringify(answer).includes('"no"') ? undefined : () => models.imagine({}, ordering('private', [], 1_000)),
      () => models.listwise!.order({}, ordering('private')),
      () => models.reranker!.order({}, ordering('private')),
    ].flatMap((call) => (call === undefined ? [] : [call]));
    for (const call of calls)
      await assert.rejects(call(), (error) => {
        assert.ok(error instanceof ModelError, String(error));
        assert.ok(!/private|tea|LLM-/.test(error.message), error.message);
        return true;
      });
    assert.equal(asked.length, calls.length);
  }
});

test('models receive the question and the passages whole, redacted, or not at all', async (t) => {
  const passages = [`from ${MAIL}`, 'plain'];
  for (const [egress, mail] of [
    ['allow', MAIL],
    ['redact', '[EMAIL]'],
    ['block', undefined],
  ] as const) {
    const { models, asked } = await modelsOver(t, { results: [], ...says('[2, 1]') });
    const memory = governedBy(egress);
    const question = `what did ${MAIL} say`;
    const calls = [
      () => models.reranker!.order(memory, ordering(question, passages)),
      () => models.listwise!.order(memory, ordering(question, passages)),
      () => models.imagine(memory, ordering(question, [], 1_000)),
    ];
    if (mail === undefined) {
      for (const call of calls) await assert.rejects(call(), /forbids sending its texts to external services$/);
      assert.equal(asked.length, 0);
      continue;
    }
    for (const call of calls) await call();
    const [reranked = {}, listed = {}, imagined = {}] = asked.map(({ body }) => body);
    assert.deepEqual(
      [reranked?.['query'], reranked?.['documents']],
      [`what did ${mail} say`, [`from ${mail}`, 'plain']],
    );
    const said = (body: Asked['body']) => (body['messages'] as { content: string }[])[1]?.content;
    assert.equal(said(listed), `Question: what did ${mail} say\n\n[1] from ${mail}\n[2] plain`);
    assert.equal(said(imagined), `what did ${mail} say`);
  }
});

test('a long passage is cut between words, because a part of an address might not be recognised', async (t) => {
  const { models, asked } = await modelsOver(t, { results: [] });
  const filling = 'word '.repeat(MODEL_PASSAGE_CHARS_MAX / 5 - 1);
  await models.reranker?.order(governedBy('redact'), ordering('\ud83d', [`${filling}${MAIL}`, '字'.repeat(9_000)]));
  const { query, documents } = asked[0]!.body as { query: string; documents: string[] };
  assert.equal(query, '\ufffd');
  assert.equal(documents[0], filling.trimEnd());
  assert.equal(documents[1]?.length, MODEL_PASSAGE_CHARS_MAX);
});

test('concurrent calls are bounded, and none starts without time', async (t) => {
  const { models } = await modelsOver(t, NEVER);
  await assert.rejects(models.imagine({}, ordering('q', [], 0)), /has no time left/);
  const calls = Array.from({ length: MODEL_CALLS_MAX }, () => models.imagine({}, ordering('q', [], 50)));
  await assert.rejects(models.imagine({}, ordering('q', [], 50)), /too many requests wait for the model/);
  for (const { status } of await Promise.allSettled(calls)) assert.equal(status, 'rejected');
});

test('a deployment has the models of its roles, of the start or of its administrator', async (t) => {
  const has = (parts: ReturnType<typeof testModels>) => {
    const made = new RecallModels(parts);
    return [made.hasAny, made.canImagine, made.listwise !== undefined, made.reranker !== undefined];
  };
  const url = 'https://models.example';
  assert.deepEqual(has(testModels(t)), [false, false, false, false]);
  assert.deepEqual(has(testModels(t, { flags: { modelUrl: url, rerankModel: 'r' } })), [true, false, false, true]);
  assert.deepEqual(has(testModels(t, { flags: { modelUrl: url, model: 'm' } })), [true, true, true, false]);
  const set = testModels(t, { flags: { modelUrl: url, model: 'm' } });
  await set.providers.put({ id: 'test', kind: 'mock', baseUrl: '' }, 'test');
  await set.providers.assign({ chat: null, hyde: null }, 'test');
  assert.deepEqual(has(set), [false, false, false, false]);
  // A language model in the role of the reranker orders for both.
  await set.providers.assign({ rerank: { provider: 'test', model: 'echo' } }, 'test');
  assert.deepEqual(has(set), [true, false, true, true]);
  await set.providers.put({ id: 'test', kind: 'mock', baseUrl: '', enabled: false }, 'test');
  assert.deepEqual(has(set), [false, false, false, false]);
});
