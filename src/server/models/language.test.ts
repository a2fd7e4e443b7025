import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { MODEL_RESPONSE_BYTES_MAX } from '../../engine/base/limits.ts';
import type { LanguageModels } from './language.ts';
import type { ModelPart, ModelRequest } from './request.ts';
import { providerServer, streamChunks, testModels, textChunks } from './testing/server.ts';

const KEY = 'sk-very-secret-0001';
const PRIVATE = 'the private question';

function asking(more: Partial<ModelRequest> = {}): ModelRequest {
  const messages = [{ role: 'user' as const, text: PRIVATE }];
  return { memory: {}, persons: new Set(), messages, signal: new AbortController().signal, ...more };
}

async function collected<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const part of parts) all.push(part);
  return all;
}

async function partsOf(models: LanguageModels, request = asking()): Promise<ModelPart[]> {
  return collected(models.stream(models.resolve('chat'), request));
}

/** Models over a provider of kind openai_compatible at `url`. */
async function modelsAt(t: TestContext, url: string) {
  const made = testModels(t);
  await made.providers.put({ id: 'local', kind: 'openai_compatible', baseUrl: `${url}/v1`, apiKey: KEY }, 'test');
  await made.providers.assign({ chat: { provider: 'local', model: 'm1' } }, 'test');
  return made;
}

/** An error of the provider that quotes nothing of the request. */
function failsWith(code: string, text: RegExp) {
  return (error: unknown): boolean => {
    const { code: found, message } = error as { code: string; message: string };
    assert.deepEqual([found, text.test(message)], [code, true], message);
    const whole = `${message} ${JSON.stringify(error)} ${String((error as Error).cause)}`;
    assert.ok(!whole.includes(KEY) && !whole.includes(PRIVATE), whole);
    return true;
  };
}

const TOOL = { name: 'recall', description: 'finds', inputSchema: { type: 'object', properties: {} } };

test('an answer is streamed, with its usage at the end', async (t) => {
  const { url, asked } = await providerServer(t, (response) => streamChunks(response, textChunks('Hel', 'lo')));
  const { models } = await modelsAt(t, url);
  const parts = await partsOf(
    models,
    asking({
      system: 'be kind',
      temperature: 0,
      maxTokens: 9,
      tools: [TOOL],
      messages: [
        { role: 'user', text: PRIVATE },
        { role: 'assistant', toolCalls: [{ id: 'c1', name: 'recall', arguments: { q: 'x' } }] },
        { role: 'tool', toolCallId: 'c1', toolName: 'recall', text: 'nothing found' },
      ],
    }),
  );
  assert.deepEqual(parts, [
    { type: 'text', delta: 'Hel' },
    { type: 'text', delta: 'lo' },
    { type: 'finish', reason: 'stop', usage: { input_tokens: 7, output_tokens: 2 } },
  ]);
  const [{ path, headers, body }] = asked as [(typeof asked)[0]];
  assert.deepEqual([path, headers.authorization], ['/v1/chat/completions', `Bearer ${KEY}`]);
  const { model, messages, temperature, max_tokens: most, tools } = body;
  assert.deepEqual([model, temperature, most, (tools as unknown[]).length], ['m1', 0, 9, 1]);
  assert.deepEqual(messages, [
    { role: 'system', content: 'be kind' },
    { role: 'user', content: PRIVATE },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'recall', arguments: '{"q":"x"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'nothing found' },
  ]);
});

test('tool calls come at the end of a whole answer, and calls that cannot be made are marked', async (t) => {
  const call = (index: number, name: string, args: string) => ({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index, id: `c${index}`, type: 'function', function: { name, arguments: args } }] },
      },
    ],
  });
  const calls = [
    call(0, 'recall', '{"q":"tea"}'),
    call(1, 'recall', '{"q":'),
    call(2, 'rm', '{}'),
    call(3, 'recall', '[1]'),
  ];
  const { url } = await providerServer(t, (response, _, number) => {
    if (number === 0)
      return streamChunks(response, [...calls, { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }]);
    streamChunks(response, calls);
  });
  const { models } = await modelsAt(t, url);
  const parts = await partsOf(models, asking({ tools: [TOOL] }));
  assert.deepEqual(
    parts.map((part) => ('reason' in part && part.type !== 'finish' ? `${part.id}: ${part.reason}` : part)),
    [
      { type: 'tool_call', id: 'c0', name: 'recall', arguments: { q: 'tea' } },
      'c1: the arguments are not JSON',
      'c2: there is no such tool',
      'c3: the arguments are not an object',
      { type: 'finish', reason: 'tool_calls', usage: undefined },
    ],
  );
  const cut: ModelPart[] = [];
  await assert.rejects(
    async () => {
      for await (const part of models.stream(models.resolve('chat'), asking({ tools: [TOOL] }))) cut.push(part);
    },
    failsWith('LLM-E002', /broke off/),
  );
  assert.deepEqual(cut, [], 'an answer without an end calls no tool');
});

test('integers of calls and schemas keep their digits, both ways', async (t) => {
  const BIG = 9007199254740993n;
  const argumentsOf = (text: string): object[] => [
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'pay', arguments: text } }] },
        },
      ],
    },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  ];
  const answers = ['{"order":[9007199254740993]}', `{"order":${'9'.repeat(40)}}`];
  const { url, asked } = await providerServer(t, (response, _, number) =>
    streamChunks(response, argumentsOf(answers[number]!)),
  );
  const { models } = await modelsAt(t, url);
  const request = asking({
    messages: [
      { role: 'user', text: 'pay' },
      { role: 'assistant', toolCalls: [{ id: 'b', name: 'pay', arguments: { order: BIG } }] },
      { role: 'tool', toolCallId: 'b', toolName: 'pay', text: 'paid' },
    ],
    tools: [
      { name: 'pay', description: 'Pays', inputSchema: { type: 'object', properties: { order: { maximum: BIG } } } },
    ],
  });
  const [call] = await partsOf(models, request);
  assert.deepEqual(call, { type: 'tool_call', id: 'c', name: 'pay', arguments: { order: [BIG] } });
  assert.ok(
    asked[0]?.text.includes('"maximum":9007199254740993') && asked[0].text.includes('\\"order\\":9007199254740993'),
  );
  const [wrong] = await partsOf(models, request);
  assert.ok(wrong?.type === 'invalid_tool_call' && /64 bits/.test(wrong.reason));
});

test('a call is tried again before the first byte, and never after it', async (t) => {
  const { url, asked } = await providerServer(t, (response, _, number) => {
    if (number === 0) return void response.writeHead(429, { 'retry-after': '7' }).end(PRIVATE);
    if (number === 1) return void response.writeHead(503).end(PRIVATE);
    if (number === 2) return streamChunks(response, textChunks('ok'));
    streamChunks(response, textChunks('half').slice(0, 1), false);
    response.socket?.destroySoon();
  });
  const { models, waits } = await modelsAt(t, url);
  assert.equal((await partsOf(models))[0]?.type, 'text');
  assert.deepEqual([asked.length, waits[0]], [3, 7_000]);
  await assert.rejects(partsOf(models), failsWith('LLM-E002', /broke off/));
  assert.equal(asked.length, 4);
});

test('a model that takes no temperature is asked without one, and one without tools says so', async (t) => {
  const { url, asked } = await providerServer(t, (response, { body }) => {
    const { temperature, tools } = body as { readonly temperature?: number; readonly tools?: readonly unknown[] };
    if (temperature !== undefined || tools !== undefined) return void response.writeHead(400).end('{}');
    streamChunks(response, textChunks('ok'));
  });
  const { models } = await modelsAt(t, url);
  assert.equal((await partsOf(models, asking({ temperature: 0.5 })))[0]?.type, 'text');
  assert.equal(asked.length, 2);
  const tools = [{ name: 'look', description: 'Looks', inputSchema: { type: 'object', properties: {} } }];
  await assert.rejects(
    partsOf(models, asking({ tools })),
    failsWith('LLM-E002', /has tools, which not every model supports/),
  );
  assert.equal(asked.length, 3, 'an answer without tools would pass for one that needed none');
});

test('a provider that fails says which one and how, without its words', async (t) => {
  let status = 500;
  const headers = { location: 'http://127.0.0.1:9/elsewhere' };
  const { url, asked } = await providerServer(
    t,
    (response) => void response.writeHead(status, headers).end(`${PRIVATE} ${KEY}`),
  );
  const { models } = await modelsAt(t, url);
  const failures: readonly [number, string, RegExp, number][] = [
    [500, 'LLM-E002', /the provider local failed \(500\)/, 3],
    [401, 'LLM-E002', /rejects the server's API key/, 1],
    [404, 'LLM-E003', /does not know this model/, 1],
    [400, 'LLM-E002', /rejects the request/, 1],
    [302, 'LLM-E002', /redirect, which is not followed/, 1],
    [429, 'LLM-E002', /allows no more requests/, 3],
  ];
  for (const [given, code, text, tries] of failures) {
    status = given;
    const before = asked.length;
    await assert.rejects(partsOf(models), failsWith(code, text));
    assert.equal(asked.length - before, tries, String(given));
  }
});

test('an answer has a bound of bytes and of time', async (t) => {
  const { url } = await providerServer(t, (response, _, number) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (number > 0) return;
    const piece = Buffer.alloc(1_048_576, 'x');
    let sent = 0;
    const write = (): void => {
      while (sent++ < MODEL_RESPONSE_BYTES_MAX / piece.length + 2)
        if (!response.write(piece)) return void response.once('drain', write);
    };
    write();
  });
  const { models } = await modelsAt(t, url);
  await assert.rejects(partsOf(models), failsWith('LLM-E002', /more than 16777216 bytes/));
  await assert.rejects(
    partsOf(models, asking({ timeoutMs: 20 })),
    failsWith('LLM-E002', /did not finish its answer within 20 ms/),
  );
});

test('a caller who goes away ends the call at the provider', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { url } = await providerServer(t, (response) => {
    streamChunks(response, textChunks('one').slice(0, 1), false);
    void once(response, 'close').then(() => closed.resolve());
  });
  const { models } = await modelsAt(t, url);
  const leaving = new AbortController();
  await assert.rejects(async () => {
    for await (const part of models.stream(models.resolve('chat'), asking({ signal: leaving.signal })))
      if (part.type === 'text') leaving.abort(new Error('gone'));
  }, /^Error: gone$/);
  await closed.promise;
});

test('a reader who stops early ends the call at the provider, too', async (t) => {
  const closed = Promise.withResolvers<void>();
  const { url } = await providerServer(t, (response) => {
    streamChunks(response, textChunks('one', 'two').slice(0, 2), false);
    void once(response, 'close').then(() => closed.resolve());
  });
  const { models } = await modelsAt(t, url);
  for await (const part of models.stream(models.resolve('chat'), asking())) {
    assert.deepEqual(part, { type: 'text', delta: 'one' });
    break;
  }
  await closed.promise;
});

test('an object fits its schema, or is an error', async (t) => {
  let content = '{"facts":["Ada drinks tea"]}';
  const { url, asked } = await providerServer(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ id: 'x', choices, usage: { prompt_tokens: 1, completion_tokens: 2 } }));
  });
  const { models } = await modelsAt(t, url);
  const schema = {
    type: 'object',
    properties: { facts: { type: 'array', items: { type: 'string' } } },
    required: ['facts'],
  };
  const made = await models.generateObject(models.resolve('chat'), { ...asking(), schema });
  assert.deepEqual(made, { object: { facts: ['Ada drinks tea'] }, usage: { input_tokens: 1, output_tokens: 2 } });
  const format = asked[0]?.body['response_format'] as {
    type: string;
    json_schema: { schema: object; strict: boolean };
  };
  assert.deepEqual([format.type, format.json_schema.schema, format.json_schema.strict], ['json_schema', schema, false]);
  for (content of ['{"facts":"tea"}', 'not json', '{}'])
    await assert.rejects(
      models.generateObject(models.resolve('chat'), { ...asking(), schema }),
      failsWith('LLM-E002', /does not fit/),
    );
});

test('an answer of nothing but marks is read in linear time', async (t) => {
  const long = ['<think>'.repeat(60_000), `\`\`\`${'\n'.repeat(100_000)}x`];
  const { url } = await providerServer(t, (response, _, number) => {
    const message = { role: 'assistant', content: long[number] };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  });
  const { models } = await modelsAt(t, url);
  const before = process.cpuUsage();
  assert.equal((await models.generateText(models.resolve('chat'), asking())).text, long[0]);
  await assert.rejects(models.generateObject(models.resolve('chat'), { ...asking(), schema: {} }), /does not fit/);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_500_000, `${user + system} µs of CPU`);
});

test('a server that knows no schemas gets the schema in words', async (t) => {
  const { url, asked } = await providerServer(t, (response, { body }) => {
    if (body['response_format'] !== undefined) return void response.writeHead(400).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    const content = '```json\n{"n":7}\n```';
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] }));
  });
  const { models } = await modelsAt(t, url);
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const { object } = await models.generateObject(models.resolve('chat'), { ...asking({ system: 'count' }), schema });
  assert.deepEqual([object, asked.length], [{ n: 7 }, 2]);
  const messages = asked[1]?.body['messages'] as { role: string; content: string }[];
  assert.match(messages[0]?.content ?? '', /JSON of this schema and nothing else: \{"type":"object"/);
  assert.deepEqual(
    messages.map(({ role }) => role),
    ['system', 'system', 'user'],
  );
});

test('a role has a model, or says that it has none', async (t) => {
  const { models, providers } = testModels(t);
  assert.throws(() => models.resolve('chat'), failsWith('LLM-E001', /no model is assigned to the role chat/));
  assert.throws(() => models.resolve('chat', { provider: 'nobody' }), failsWith('LLM-E003', /no provider "nobody"/));
  await providers.put({ id: 'test', kind: 'mock', baseUrl: '' }, 'test');
  assert.throws(() => models.resolve('chat', { provider: 'test' }), failsWith('LLM-E003', /name a `model`/));
  assert.throws(() => models.resolve('chat', { provider: 'test', model: 'x' }), failsWith('LLM-E003', /is echo$/));
  const choice = models.resolve('chat', { provider: 'test', model: 'echo' });
  assert.deepEqual([choice.kind, choice.external], ['mock', false]);
  const parts = await collected(models.stream(choice, asking({ messages: [{ role: 'user', text: 'tea for two' }] })));
  assert.deepEqual(
    parts.map((part) => (part.type === 'text' ? part.delta : part.type)),
    ['tea', ' for', ' two', 'finish'],
  );
  await providers.put({ id: 'test', kind: 'mock', baseUrl: '', enabled: false }, 'test');
  assert.throws(
    () => models.resolve('chat', { provider: 'test', model: 'echo' }),
    failsWith('LLM-E001', /switched off/),
  );
});

test('what leaves is redacted, and nothing leaves where the policy forbids it', async (t) => {
  const { url, asked } = await providerServer(t, (response) => streamChunks(response, textChunks('ok')));
  const { models } = await modelsAt(t, url);
  const outside = { ...models.resolve('chat'), external: true };
  const ask = (preset: string) =>
    collected(
      models.stream(
        outside,
        asking({
          memory: { policy: { presets: [preset], overrides: {}, sealedBy: 'test' } },
          system: 'mail ann@example.org',
          tools: [{ ...TOOL, description: 'as bob@example.org says' }],
          messages: [
            { role: 'user', text: 'I am cid@example.org' },
            { role: 'assistant', toolCalls: [{ id: 'c', name: 'recall', arguments: { who: ['dan@example.org'] } }] },
            { role: 'tool', toolCallId: 'c', toolName: 'recall', text: 'eve@example.org' },
          ],
        }),
      ),
    );
  await ask('gdpr');
  const sent = JSON.stringify(asked[0]?.body);
  assert.ok(!sent.includes('example.org'), sent);
  assert.equal(sent.match(/\[EMAIL\]/g)?.length, 5);
  await assert.rejects(ask('hipaa'), failsWith('POL-E005', /forbids sending/));
  assert.equal(asked.length, 1);
});
