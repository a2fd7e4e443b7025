// A scripted model server with Anthropic's interface: messages (streamed or not, tools) and the list of models.
import assert from 'node:assert/strict';
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

export function startAnthropic(script: Script = [], options: ModelServerOptions = {}): Promise<ModelServer> {
  return startModelServer(ANTHROPIC, script, options);
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'POST /v1/messages': 'chat',
  'GET /v1/models': 'models',
};

const ANTHROPIC: Interface = {
  base: '/v1',
  endpointOf: (verb, path) => ENDPOINTS[`${verb} ${path}`],
  keyOf: (headers) => headers['x-api-key']?.toString(),
  check: (request) => {
    assert.match(String(request.headers['anthropic-version']), /^\d{4}-\d\d-\d\d$/);
    if (request.endpoint === 'chat') checkChat(request.body);
  },
  own: (_request, { models = ['scripted'] }) => {
    const data = models.map((id) => ({ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' }));
    return { body: JSON.stringify({ data, has_more: false, first_id: models[0], last_id: models.at(-1) }) };
  },
  send,
  refusal: (status, message) => ({ type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } }),
};

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** Turns, beginning with the user's; a result of a tool stands first in the turn after its call. */
// biome-ignore lint/suspicious/noExplicitAny: the body of the request, checked here
function checkChat(body: any): void {
  assert.equal(typeof body.model, 'string');
  assert.ok(Number.isInteger(body.max_tokens) && body.max_tokens > 0, 'max_tokens is required');
  assert.ok(Array.isArray(body.messages) && body.messages[0]?.role === 'user', 'the first message must be the user’s');
  let open: readonly string[] = [];
  let before = '';
  for (const { role, content } of body.messages) {
    assert.ok(role === 'user' || role === 'assistant', `role ${role}`);
    assert.notEqual(role, before, 'roles must alternate');
    before = role;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    assert.ok(blocks.length > 0, 'a message must not be empty');
    for (const { type, text } of blocks)
      if (type === 'text') assert.notEqual(text.trim(), '', 'a text must not be empty');
    const answered = blocks.flatMap((block: { type: string; tool_use_id: string }) =>
      block.type === 'tool_result' ? [block.tool_use_id] : [],
    );
    assert.deepEqual(answered.toSorted(), [...open].sort(), 'results must answer the calls of the turn before');
    open = blocks.flatMap((block: { type: string; id: string }) => (block.type === 'tool_use' ? [block.id] : []));
  }
  assert.deepEqual(open, [], 'calls without results');
  for (const tool of body.tools ?? []) {
    assert.match(tool.name, /^[a-zA-Z0-9_-]{1,128}$/);
    assert.equal(tool.input_schema.type, 'object');
  }
  if (body.temperature !== undefined) assert.ok(body.temperature >= 0 && body.temperature <= 1, 'temperature');
}

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use', content_filter: 'refusal' };

async function send(answer: Answer, request: Seen, sink: Sink): Promise<void> {
  const { body } = request;
  if (request.endpoint === 'models') {
    assert.ok('bytes' in answer, 'the script has no answer for the list of models');
    sink.head(200, { 'content-type': 'application/json' });
    await writeFilled(sink, JSON.stringify({ object: FILLER, data: [] }), answer.bytes);
    return;
  }
  const output = outputOf(answer as Speech, body.tool_choice?.type === 'tool' ? body.tool_choice.name : undefined);
  if (body.stream === true) await sendStream(output, body, sink);
  else await sendWhole(output, body, sink);
}

const messageOf = (model: string, content: readonly object[], output: Output) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: content.length === 0 ? null : STOP_REASONS[output.finish],
  stop_sequence: null,
  usage: { input_tokens: output.usage.input, output_tokens: content.length === 0 ? 1 : output.usage.output },
});

// biome-ignore lint/suspicious/noExplicitAny: the body of the request
async function sendStream(output: Output, body: any, sink: Sink): Promise<void> {
  sink.head(200, { 'content-type': 'text/event-stream' });
  const put = (type: string, rest: object = {}): Promise<void> =>
    sink.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  const fail = (message: string): Promise<void> => put('error', { error: { type: 'overloaded_error', message } });
  await put('message_start', { message: messageOf(body.model, [], output) });
  let index = 0;
  const block = async (content_block: object, deltas: () => Promise<boolean>): Promise<boolean> => {
    await put('content_block_start', { index, content_block });
    if (!(await deltas())) return false;
    await put('content_block_stop', { index });
    index += 1;
    return true;
  };
  if (output.pieces.length > 0) {
    const say = (text: string): Promise<void> =>
      put('content_block_delta', { index, delta: { type: 'text_delta', text } });
    if (!(await block({ type: 'text', text: '' }, () => play(output.pieces, sink, say, fail)))) return;
  }
  for (const { id, name, text } of output.calls)
    await block({ type: 'tool_use', id, name, input: {} }, async () => {
      for (let at = 0; at < text.length; at += 5)
        await put('content_block_delta', {
          index,
          delta: { type: 'input_json_delta', partial_json: text.slice(at, at + 5) },
        });
      return true;
    });
  await put('message_delta', {
    delta: { stop_reason: STOP_REASONS[output.finish], stop_sequence: null },
    usage: { output_tokens: output.usage.output },
  });
  await put('message_stop');
}

// biome-ignore lint/suspicious/noExplicitAny: the body of the request
async function sendWhole(output: Output, body: any, sink: Sink): Promise<void> {
  sink.head(200, { 'content-type': 'application/json' });
  const text = await wholeText(output.pieces, sink);
  if (text === undefined) return;
  const calls = output.calls.map(({ id, name, text: input }) => ({
    type: 'tool_use',
    id,
    name,
    input: JSON.parse(input),
  }));
  const content = [...(text === '' ? [] : [{ type: 'text', text }]), ...calls];
  await sink.write(JSON.stringify(messageOf(body.model, content, output)));
}
