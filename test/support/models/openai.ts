// A scripted model server with OpenAI's interface: chat completions (streamed or not, tools, structured output),
// embeddings, reranking as Cohere and Jina have it, and the list of models.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Answer, Script, Speech } from './script.ts';
import type { Endpoint, Seen } from './seen.ts';
import {
  FILLER,
  type Interface,
  type ModelServer,
  type ModelServerOptions,
  type Sink,
  startModelServer,
  writeFilled,
} from './server.ts';
import { type Output, outputOf, play, wholeText } from './speech.ts';

export function startOpenAi(script: Script = [], options: ModelServerOptions = {}): Promise<ModelServer> {
  return startModelServer(OPENAI, script, options);
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'POST /v1/chat/completions': 'chat',
  'POST /v1/embeddings': 'embeddings',
  'POST /v1/rerank': 'rerank',
  'GET /v1/models': 'models',
};

const OPENAI: Interface = {
  base: '/v1',
  endpointOf: (verb, path) => ENDPOINTS[`${verb} ${path}`],
  keyOf: ({ authorization }) => authorization?.replace(/^Bearer /, ''),
  check: (request) => CHECKS[request.endpoint](request),
  own: ownAnswer,
  send,
  refusal: (status, message) => ({ error: { message, type: `status_${status}`, code: null } }),
};

const CHECKS: Readonly<Record<Endpoint, (request: Seen) => void>> = {
  chat: ({ body }) => {
    assert.equal(typeof body.model, 'string');
    assert.ok(Array.isArray(body.messages) && body.messages.length > 0, 'messages must not be empty');
    checkMessages(body.messages);
    for (const { type, function: tool } of body.tools ?? []) {
      assert.equal(type, 'function');
      assert.match(tool.name, /^[a-zA-Z0-9_-]{1,64}$/);
      assert.equal(tool.parameters.type, 'object');
    }
    if (body.temperature !== undefined) assert.ok(body.temperature >= 0 && body.temperature <= 2, 'temperature');
  },
  embeddings: ({ body }) => {
    assert.equal(typeof body.model, 'string');
    const input = Array.isArray(body.input) ? body.input : [body.input];
    assert.ok(input.length > 0 && input.every((text: unknown) => typeof text === 'string' && text !== ''), 'input');
  },
  rerank: ({ body }) => {
    assert.equal(typeof body.query, 'string');
    assert.ok(Array.isArray(body.documents) && body.documents.length > 0, 'documents must not be empty');
  },
  models: () => undefined,
};

/** Roles, and that the results of tools follow the calls that they answer, each exactly once. */
// biome-ignore lint/suspicious/noExplicitAny: messages of the request, checked here
function checkMessages(messages: readonly any[]): void {
  const open = new Set<string>();
  for (const { role, content, tool_calls: calls, tool_call_id: answered } of messages) {
    assert.ok(['system', 'developer', 'user', 'assistant', 'tool'].includes(role), `role ${role}`);
    if (role === 'tool') {
      assert.ok(open.delete(answered), `a result answers ${answered}, which no call before it has`);
      continue;
    }
    assert.equal(open.size, 0, `calls without results: ${[...open].join(', ')}`);
    if (role !== 'assistant')
      assert.ok(content !== undefined && content !== null, `a message of ${role} has no content`);
    for (const { id, function: called } of calls ?? []) {
      open.add(id);
      JSON.parse(called.arguments);
    }
  }
  assert.equal(open.size, 0, `calls without results: ${[...open].join(', ')}`);
}

const MODELS = ['scripted', 'scripted-embedding'];

function ownAnswer(request: Seen, { dimensions = 8, models = MODELS }: ModelServerOptions): Answer {
  if (request.endpoint === 'embeddings') {
    const input: string[] = Array.isArray(request.body.input) ? request.body.input : [request.body.input];
    return { vectors: input.map((text) => vectorOf(text, request.body.dimensions ?? dimensions)) };
  }
  if (request.endpoint === 'rerank') {
    const asked = new Set(lettersOf(request.body.query));
    // biome-ignore lint/suspicious/noExplicitAny: a document is a text or has one
    const texts: string[] = request.body.documents.map((document: any) => document.text ?? document);
    return { scores: texts.map((text) => lettersOf(text).filter((word) => asked.has(word)).length / 10) };
  }
  const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'tests' }));
  return { body: JSON.stringify({ object: 'list', data }) };
}

const lettersOf = (text: string): string[] => text.toLowerCase().match(/\p{L}+/gu) ?? [];

/** Texts that share words are near to each other. */
function vectorOf(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0.01);
  for (const word of lettersOf(text)) {
    const at = createHash('sha256').update(word).digest().readUInt32BE() % dimensions;
    vector[at] = (vector[at] ?? 0) + 1;
  }
  return vector;
}

async function send(answer: Answer, request: Seen, sink: Sink): Promise<void> {
  const { body } = request;
  if (request.endpoint !== 'chat') return await sendList(answer, request, sink);
  const forced = typeof body.tool_choice === 'object' ? body.tool_choice.function?.name : undefined;
  const output = outputOf(answer as Speech, forced);
  if (body.stream === true) await sendStream(output, body, sink);
  else await sendWhole(output, body, sink);
}

const usageOf = ({ usage }: Output) => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
});

// biome-ignore lint/suspicious/noExplicitAny: the body of the request
async function sendStream(output: Output, body: any, sink: Sink): Promise<void> {
  sink.head(200, { 'content-type': 'text/event-stream' });
  const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model: body.model };
  const put = (choice: object, rest: object = {}): Promise<void> =>
    sink.write(
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, finish_reason: null, ...choice }], ...rest })}\n\n`,
    );
  const fail = (message: string): Promise<void> =>
    sink.write(`data: ${JSON.stringify({ error: { message, type: 'server_error', code: null } })}\n\n`);
  await put({ delta: { role: 'assistant', content: '' } });
  if (!(await play(output.pieces, sink, (content) => put({ delta: { content } }), fail))) return;
  for (const [index, { id, name }] of output.calls.entries())
    await put({ delta: { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] } });
  // The arguments of parallel calls come in turns, as the interface allows.
  for (let at = 0; output.calls.some(({ text }) => at < text.length); at += 5)
    for (const [index, { text }] of output.calls.entries())
      if (at < text.length)
        await put({ delta: { tool_calls: [{ index, function: { arguments: text.slice(at, at + 5) } }] } });
  await put({ delta: {}, finish_reason: output.finish });
  if (body.stream_options?.include_usage === true)
    await sink.write(`data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(output) })}\n\n`);
  await sink.write('data: [DONE]\n\n');
}

// biome-ignore lint/suspicious/noExplicitAny: the body of the request
async function sendWhole(output: Output, body: any, sink: Sink): Promise<void> {
  sink.head(200, { 'content-type': 'application/json' });
  const content = await wholeText(output.pieces, sink);
  if (content === undefined) return;
  const calls = output.calls.map(({ id, name, text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }));
  const message = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  await sink.write(
    JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 0,
      model: body.model,
      choices: [{ index: 0, message, finish_reason: output.finish }],
      usage: usageOf(output),
    }),
  );
}

async function sendList(answer: Answer, { body, endpoint }: Seen, sink: Sink): Promise<void> {
  sink.head(200, { 'content-type': 'application/json' });
  if ('vectors' in answer) {
    const isBase64 = body.encoding_format === 'base64';
    const data = answer.vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector,
    }));
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    await sink.write(JSON.stringify({ object: 'list', data, model: body.model, usage }));
  } else if ('scores' in answer) {
    const results = answer.scores.map((score, index) => ({ index, relevance_score: score }));
    results.sort((a, b) => b.relevance_score - a.relevance_score);
    await sink.write(JSON.stringify({ model: body.model, results: results.slice(0, body.top_n ?? results.length) }));
  } else if ('bytes' in answer) await writeFilled(sink, JSON.stringify({ object: FILLER, data: [] }), answer.bytes);
  else assert.fail(`the script has no answer for ${endpoint}`);
}
