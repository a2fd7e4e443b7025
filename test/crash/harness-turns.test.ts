// kill -9 of a server while turns are between any two of their steps. After the restart the callers repeat their requests:
// nothing is lost or said twice, and no tool runs twice unless it is annotated as idempotent.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startOpenAi } from '../support/models/openai.ts';
import type { Answer } from '../support/models/script.ts';
import { ask, type HttpAnswer, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { armPlaces, isArmed } from './places.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

/** Begin, answered, two tools of the server, paused: before and after each. */
const CHAT_PLACES = 10;
/** Resumed, completed. */
const RESUME_PLACES = 4;
const conversationsOf = (what: string, places: number): string[] =>
  Array.from({ length: places }, (_, place) => `${what}-${place}-`);
const SCHEMA = { type: 'object', properties: { conversation: { type: 'string' } }, required: ['conversation'] };

/** Tools at a URL, which count their calls by conversation. */
async function toolServer(t: TestContext): Promise<{ readonly url: string; readonly calls: Map<string, number> }> {
  const calls = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const { tool, arguments: args } = JSON.parse(body);
      const name = `${tool} ${args.conversation}`;
      calls.set(name, (calls.get(name) ?? 0) + 1);
      response.end(JSON.stringify({ did: tool }));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

/** Asks for three tools at once; answers when it has what they came to. */
function reaction({ body }: { readonly body: Json }): Answer {
  const last = body.messages.at(-1);
  if (last.role === 'tool') {
    const results = body.messages.filter(({ role }: Json) => role === 'tool');
    return { text: `Done with ${results.length} results.` };
  }
  const conversation = String(last.content).replace('go ', '');
  return {
    text: 'I will.',
    calls: ['once', 'again', 'ask'].map((name) => ({ id: name, name, arguments: { conversation } })),
  };
}

const OUTPUTS = [{ tool_call_id: 'ask', output: { yes: true } }];

for (const { partitions, workers, listener } of [
  { partitions: 1, workers: '1', listener: 'node' },
  { partitions: 4, workers: '2', listener: 'uws' },
])
  test(`a turn survives kill -9 between any two steps: ${partitions} partitions, ${listener}`, async (t) => {
    const directory = temporaryDirectory(t);
    const cuts = temporaryDirectory(t);
    const models = await startOpenAi(reaction);
    t.after(() => models.close());
    const tools = await toolServer(t);
    const start = (): Promise<ServerProcess> =>
      startServerProcess({
        directory,
        flags: ['--shards', '4', '--workers', workers, '--http', listener, '--model-url', models.url, '--model', 'm'],
        preload: resolve(import.meta.dirname, 'turn-cut.ts'),
        env: { TURN_CUTS: cuts },
      });
    let server = await start();
    t.after(() => server.kill());
    const post = (path: string, json: unknown, key: string): Promise<HttpAnswer> =>
      ask(server, 'POST', `/memories/m/harnesses/h${path}`, json, { 'idempotency-key': key });
    const chat = (conversation: string): Promise<HttpAnswer> => {
      const message = { conversation_id: conversation, user_message: `go ${conversation}` };
      return post('/chat', message, `chat ${conversation}`);
    };
    const resume = (conversation: string, session: string): Promise<HttpAnswer> =>
      post('/chat/resume', { session_id: session, tool_outputs: OUTPUTS }, `resume ${conversation}`);
    /** Makes the requests of conversations, each of which is cut at its place, and starts another server. */
    const cutAll = async (
      conversations: readonly string[],
      request: (conversation: string) => Promise<HttpAnswer>,
    ): Promise<void> => {
      armPlaces(cuts, Object.fromEntries(conversations.map((conversation, place) => [conversation, place])));
      const answers = conversations.map((conversation) => request(conversation).catch(() => undefined));
      assert.equal((await Promise.race(answers))?.body, undefined, 'no request is answered');
      await server.ended;
      assert.ok(!isArmed(cuts), 'all were cut at their places');
      server = await start();
    };
    const get = async (path: string): Promise<Json> => {
      const { status, body } = await ask(server, 'GET', `/memories/m${path}`);
      assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
      return body;
    };
    assert.equal((await ask(server, 'POST', '/memories', { id: 'm', partitions })).status, 201);
    const tool = (name: string, location: string, annotations = {}) => ({
      ...{ tool_name: name, description: `Does ${name}`, input_schema: SCHEMA, location, annotations },
    });
    const provisioned = await ask(server, 'POST', '/memories/m/harnesses/h/provision', {
      goal: 'Act.',
      tools: [
        tool('once', `${tools.url}/once`),
        tool('again', `${tools.url}/again`, { idempotent: true }),
        tool('ask', 'client://ask'),
      ],
    });
    assert.equal(provisioned.status, 200, JSON.stringify(provisioned.body));

    /** Chats until the tool of the caller is asked for; resolves to the session. */
    const pause = async (conversation: string): Promise<string> => {
      const { status, body } = await chat(conversation);
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual([body.status, body.pending_tool_calls.length], ['requires_action', 1], conversation);
      return body.session_id;
    };

    const chats = conversationsOf('chat', CHAT_PLACES);
    const resumes = conversationsOf('resume', RESUME_PLACES);
    const sessions = new Map<string, string>();
    for (const conversation of resumes) sessions.set(conversation, await pause(conversation));
    await cutAll(chats, chat);
    await cutAll(resumes, (conversation) => resume(conversation, sessions.get(conversation) ?? ''));

    for (const conversation of [...chats, ...resumes]) {
      const session = sessions.get(conversation) ?? (await pause(conversation));
      const done = await resume(conversation, session);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      assert.deepEqual([done.body.status, done.body.text], ['completed', 'Done with 3 results.'], conversation);
      assert.equal((await get(`/harnesses/h/chat/sessions/${session}`)).status, 'completed');

      const { messages } = await get(`/harnesses/h/conversations/${conversation}`);
      assert.deepEqual(
        messages.map(({ role, content }: Json) => [role, content]),
        [
          ['user', `go ${conversation}`],
          ['assistant', 'I will.'],
          ['assistant', 'Done with 3 results.'],
        ],
      );
      const { actions } = await get(`/sessions/${conversation}/actions`);
      const states = Object.fromEntries(actions.map(({ fields }: Json) => [fields.tool_name, fields.status]));
      const ran = tools.calls.get(`once ${conversation}`) ?? 0;
      assert.ok(ran <= 1, `${conversation}: a tool that must not run twice ran ${ran} times`);
      // A call that may have run counts as failed, and says so.
      const lost = actions.find(({ fields }: Json) => fields.tool_name === 'once' && fields.status === 'failed');
      if (lost !== undefined) assert.match(lost.fields.error, /the server stopped while the tool ran/);
      else assert.equal(ran, 1);
      assert.equal(states['again'], 'completed');
      assert.ok((tools.calls.get(`again ${conversation}`) ?? 0) <= 2);
      assert.equal(states['ask'], 'completed');
    }
    const { conversations } = await get('/harnesses/h/conversations?limit=100');
    assert.deepEqual(
      new Set(conversations.map(({ conversation_id: id }: Json) => id)),
      new Set([...chats, ...resumes]),
      'every conversation is listed once',
    );
    assert.equal(conversations.length, CHAT_PLACES + RESUME_PLACES);
    const { valid } = (await ask(server, 'POST', '/memories/m/app/exec', { command: 'verify_audit_chain' })).body
      .result;
    assert.ok(valid, 'the audit chain is whole');
    assert.equal(await server.stop(), 0);
  });
