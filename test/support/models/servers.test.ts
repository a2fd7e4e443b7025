// The scripted model servers, asked by the clients that the server itself uses.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { startAnthropic } from './anthropic.ts';
import { startOpenAi } from './openai.ts';
import { gate, type Script } from './script.ts';
import type { ModelServer, ModelServerOptions } from './server.ts';

type Client = ReturnType<ReturnType<typeof createAnthropic>>;
type Options = Parameters<Client['doStream']>[0];
type Part = Awaited<ReturnType<Client['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

interface Face {
  readonly start: (script?: Script, options?: ModelServerOptions) => Promise<ModelServer>;
  readonly model: (url: string) => Client;
}

const FACES: Readonly<Record<string, Face>> = {
  openai: {
    start: startOpenAi,
    model: (url) =>
      createOpenAICompatible({ name: 'scripted', baseURL: url, apiKey: 'k', includeUsage: true })('scripted'),
  },
  anthropic: {
    start: startAnthropic,
    model: (baseURL) => createAnthropic({ baseURL, apiKey: 'k' })('scripted'),
  },
};

const SUM: NonNullable<Options['tools']>[number] = {
  type: 'function',
  name: 'sum',
  description: 'Adds two numbers.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};
const CITY = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const;

const HELLO: Options = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }], maxOutputTokens: 100 };

for (const [name, { start, model }] of Object.entries(FACES))
  describe(name, () => {
    const ask = async (url: string, see: (part: Part) => void = () => undefined, rest: Partial<Options> = {}) => {
      const { stream } = await model(url).doStream({ ...HELLO, ...rest });
      return await gathered(stream, see);
    };
    const textsOf = (parts: readonly Part[]): string[] =>
      parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []));
    const textOf = async (url: string): Promise<string> => {
      const { content } = await model(url).doGenerate(HELLO);
      return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    };

    test('a text is streamed word by word, with its usage', async (t) => {
      const { url, chats } = await start([{ answer: { text: 'Ada drinks tea.', usage: { input: 3, output: 4 } } }], {
        owner: t,
        key: 'k',
      });
      const { parts } = await ask(url);
      assert.deepEqual(textsOf(parts), ['Ada', ' drinks', ' tea.']);
      const last = parts.at(-1);
      assert.ok(last?.type === 'finish');
      const { finishReason, usage } = last;
      assert.deepEqual(
        [finishReason.unified, usage.inputTokens.total, usage.outputTokens.total, chats.length],
        ['stop', 3, 4, 1],
      );
      assert.equal(chats[0]!.ended, 'whole');
    });

    test('the first token comes when the test releases it', async (t) => {
      const first = gate();
      const { url, chat } = await start([{ answer: { text: [{ hold: first.opened }, 'late'] } }], { owner: t });
      const asked = ask(url);
      assert.equal((await chat(1)).ended, undefined);
      first.open();
      assert.deepEqual(textsOf((await asked).parts), ['late']);
    });

    test('parallel calls arrive whole, an invalid one as it was sent', async (t) => {
      const calls = [
        { id: 'one', name: 'sum', arguments: { a: 1, b: 2 } },
        { id: 'two', name: 'sum', arguments: '{"a": 1,' },
        { id: 'three', name: 'unknown', arguments: {} },
      ];
      const { url } = await start([{ answer: { text: 'wait', calls } }], { owner: t });
      const { parts } = await ask(url, undefined, { tools: [SUM] });
      const got = parts.flatMap((part) =>
        part.type === 'tool-call' ? [[part.toolCallId, part.toolName, part.input]] : [],
      );
      assert.deepEqual(got, [
        ['one', 'sum', '{"a":1,"b":2}'],
        ['two', 'sum', '{"a": 1,'],
        ['three', 'unknown', '{}'],
      ]);
      const last = parts.at(-1);
      assert.equal(last?.type === 'finish' && last.finishReason.unified, 'tool-calls');
    });

    test('a structured answer is JSON', async (t) => {
      const { url } = await start([{ answer: { object: { city: 'Oslo' } } }], { owner: t });
      const responseFormat = { type: 'json', schema: CITY } as const;
      const { content } = await model(url).doGenerate({ ...HELLO, responseFormat });
      const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      assert.deepEqual(JSON.parse(text), { city: 'Oslo' });
    });

    test('an answer without a stream has the same text', async (t) => {
      const { url } = await start([{ answer: { text: 'Ada drinks tea.' } }], { owner: t });
      assert.equal(await textOf(url), 'Ada drinks tea.');
    });

    for (const [what, piece] of [
      ['a cut connection', { cut: true }],
      ['an error event', { error: 'overloaded' }],
      ['bytes that are no event', { raw: 'data: {"choices"\n\nevent: x\ndata: {\n\n' }],
    ] as const)
      test(`${what} inside a stream fails it after the text that came`, async (t) => {
        const begun = gate();
        const { url } = await start([{ answer: { text: ['begun', { hold: begun.opened }, piece] } }], { owner: t });
        const { parts, error } = await ask(url, (part) => {
          if (part.type === 'text-delta' && part.delta === 'begun') begun.open();
        });
        assert.deepEqual(textsOf(parts), ['begun']);
        assert.ok(error !== undefined || parts.some(({ type }) => type === 'error'));
      });

    test('refusals have their status and the time to wait', async (t) => {
      const { url } = await start(
        [{ answer: { status: 429, retryAfter: '7' } }, { answer: { status: 500, message: 'broken', bytes: 1_000 } }],
        { owner: t },
      );
      for (const [status, wait] of [
        [429, '7'],
        [500, undefined],
      ])
        await assert.rejects(textOf(url), (error) => {
          const { statusCode, responseHeaders } = error as Error & Record<'statusCode' | 'responseHeaders', unknown>;
          assert.equal(statusCode, status);
          assert.equal((responseHeaders as Record<string, string>)['retry-after'], wait);
          return true;
        });
    });

    test('an endless answer stops when its reader goes away', async (t) => {
      const { url, chat } = await start([{ answer: { bytes: 100_000_000 } }], { owner: t });
      const abort = new AbortController();
      const { error } = await ask(url, ({ type }) => type === 'text-delta' && abort.abort(), {
        abortSignal: abort.signal,
      });
      assert.ok(error !== undefined);
      const request = await chat(1);
      await request.gone;
      assert.ok(request.sentBytes < 100_000_000, String(request.sentBytes));
    });

    test('a wrong key and an unknown route are refused', async (t) => {
      const { url } = await start([], { owner: t, key: 'other' });
      await assert.rejects(textOf(url), { statusCode: 401 });
      assert.equal((await fetch(`${url}/nothing`)).status, 404);
    });

    test('the list of models has the ids of the options', async (t) => {
      const { url } = await start([], { owner: t, models: ['a', 'b'] });
      const answer = await fetch(`${url}/models`, { headers: { 'anthropic-version': '2023-06-01' } });
      const { data } = (await answer.json()) as { data: { id: string }[] };
      assert.deepEqual(
        data.map(({ id }) => id),
        ['a', 'b'],
      );
    });

    test('a failed expectation, a step too many and an unplayed step fail the owner', async () => {
      const wrong = await start([{ expect: () => assert.fail('not this'), answer: { text: 'x' } }]);
      await assert.rejects(textOf(wrong.url), { statusCode: 400 });
      await assert.rejects(wrong.close(), /not this/);
      const short = await start([]);
      await assert.rejects(textOf(short.url));
      await assert.rejects(short.close(), /request 1 .* has no step/);
      await assert.rejects((await start([{ answer: { text: 'x' } }])).close(), /1 steps, 0 were played/);
    });
  });

/** The parts of a stream, and what ended it if it failed. */
async function gathered<T>(stream: AsyncIterable<T>, see: (part: T) => void = () => undefined) {
  const parts: T[] = [];
  try {
    for await (const part of stream) {
      parts.push(part);
      see(part);
    }
    return { parts };
  } catch (error) {
    return { parts, error };
  }
}

const post = async (url: string, body: object) => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  // biome-ignore lint/suspicious/noExplicitAny: members are asserted one by one where they are used
  return { status: answer.status, json: (await answer.json()) as any };
};

test('requests that a real service would refuse fail the owner', async () => {
  const user = { role: 'user', content: 'x' };
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const block = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const openAi = (messages: readonly object[]) => ({ model: 'm', messages });
  const anthropic = (messages: readonly object[]) => ({ model: 'm', max_tokens: 9, messages });
  for (const [start, route, body, reason] of [
    [startOpenAi, '/chat/completions', openAi([]), /must not be empty/],
    [startOpenAi, '/chat/completions', openAi([{ role: 'robot', content: 'x' }]), /role robot/],
    [startOpenAi, '/chat/completions', openAi([user, { role: 'assistant', tool_calls: [call] }]), /without results/],
    [startOpenAi, '/chat/completions', openAi([{ role: 'tool', tool_call_id: 'c', content: '' }]), /no call before/],
    [startAnthropic, '/messages', { model: 'm', messages: [user] }, /max_tokens/],
    [startAnthropic, '/messages', anthropic([user, user]), /alternate/],
    [startAnthropic, '/messages', anthropic([{ role: 'user', content: [] }]), /must not be empty/],
    [startAnthropic, '/messages', anthropic([user, { role: 'assistant', content: [block] }]), /without results/],
  ] as const) {
    const server = await start();
    assert.equal((await post(`${server.url}${route}`, body)).status, 400);
    await assert.rejects(server.close(), reason);
  }
});

test('embeddings and a reranker answer by themselves or by a script', async (t) => {
  const { url } = await startOpenAi([], { owner: t, dimensions: 16 });
  const { json } = await post(`${url}/embeddings`, { model: 'm', input: ['green tea', 'tea', 'a car'] });
  const [green, tea, car] = json.data.map(({ embedding }: { embedding: number[] }) => embedding);
  const near = (a: number[], b: number[]): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  assert.equal(green.length, 16);
  assert.ok(near(green, tea) > near(car, tea));
  const ranked = await post(`${url}/rerank`, { query: 'tea', documents: ['a car', 'tea'], top_n: 1 });
  assert.deepEqual(ranked.json.results, [{ index: 1, relevance_score: 0.1 }]);

  const wrong = await startOpenAi([], {
    owner: t,
    embeddings: [{ answer: { vectors: [[1]] } }],
    rerank: [{ answer: { scores: [] } }],
    list: [{ answer: { bytes: 1_000_000 } }],
  });
  assert.deepEqual((await post(`${wrong.url}/embeddings`, { model: 'm', input: 'x' })).json.data[0].embedding, [1]);
  assert.deepEqual((await post(`${wrong.url}/rerank`, { query: 'x', documents: ['y'] })).json.results, []);
  assert.ok((await (await fetch(`${wrong.url}/models`)).text()).length > 1_000_000);
});
