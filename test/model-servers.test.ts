// The basic behaviours of a model server, asked of the scripted ones and, where GRANARY_TEST_OLLAMA names one, of a real one.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { EventClient, type Frame } from './support/event-stream.ts';
import { eventually } from './support/eventually.ts';
import { startAnthropic } from './support/models/anthropic.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Script } from './support/models/script.ts';
import { startTestServer } from './support/server.ts';

interface Source {
  readonly name: string;
  /** Why it is not asked. */
  readonly skip?: string;
  /** Settings of the provider; `script` is for a scripted server alone. */
  readonly provider: (t: TestContext, script: Script) => Promise<{ readonly kind: string; readonly base_url: string }>;
  readonly model: string | undefined;
}

const { GRANARY_TEST_OLLAMA: OLLAMA, GRANARY_TEST_OLLAMA_MODEL: OLLAMA_MODEL } = process.env;

const SOURCES: readonly Source[] = [
  {
    name: 'a scripted server with OpenAI’s interface',
    provider: async (t, script) => ({
      kind: 'openai_compatible',
      base_url: (await startOpenAi(script, { owner: t })).url,
    }),
    model: 'scripted',
  },
  {
    name: 'a scripted server with Anthropic’s interface',
    provider: async (t, script) => ({ kind: 'anthropic', base_url: (await startAnthropic(script, { owner: t })).url }),
    model: 'scripted',
  },
  {
    name: 'Ollama',
    ...(OLLAMA === undefined ? { skip: 'GRANARY_TEST_OLLAMA names no server' } : {}),
    provider: () => Promise.resolve({ kind: 'ollama', base_url: `${String(OLLAMA).replace(/\/+$/, '')}/v1` }),
    model: OLLAMA_MODEL,
  },
];

const textOf = (frames: readonly Frame[]): string =>
  frames.flatMap(({ event, data }) => (event === 'text' ? [data.delta] : [])).join('');

for (const { name, skip, provider, model } of SOURCES)
  describe(name, { skip: skip ?? false }, () => {
    const opened = async (t: TestContext, script: Script) => {
      const server = await startTestServer();
      t.after(() => server.close());
      const http = new HttpClient(server.http, server.key);
      await http.call('PUT', '/settings/providers/own', { json: { api_key: 'k', ...(await provider(t, script)) } });
      const { models } = await http.get('/settings/providers/own/models');
      const chat =
        model ?? models.find(({ capabilities }: { capabilities: string[] }) => capabilities.includes('chat')).id;
      await http.call('PUT', '/settings/model-assignments', {
        json: { assignments: { chat: { provider: 'own', model: chat } } },
      });
      const { thread_id: thread } = await http.post('/memories/default/chat/threads', {});
      const say = (content: string, more: object = {}): Promise<EventClient> =>
        EventClient.open(
          `${server.http}/api/memories/default/chat/stream`,
          { authorization: `Bearer ${server.key}` },
          { thread_id: thread, messages: [{ role: 'user', content }], max_tokens: 64, temperature: 0, ...more },
        );
      return { http, models, chat, say, thread };
    };

    test('its models are listed', async (t) => {
      const { models, chat } = await opened(t, []);
      assert.ok(models.some(({ id }: { id: string }) => id === chat));
    });

    test('its answers are streamed and kept, and it gets the history', async (t) => {
      const { say, http, thread } = await opened(t, [
        { answer: { text: 'A dog.' } },
        { expect: ({ body }) => assert.match(JSON.stringify(body), /A dog\./), answer: { text: 'Yes.' } },
      ]);
      for (const question of ['Name an animal in two words.', 'Is that one an animal? Say yes or no.']) {
        const client = await say(question, { tools_enabled: false });
        const last = await client.ended();
        assert.equal(last?.event, 'done', JSON.stringify(last));
        assert.ok(textOf(client.frames).trim() !== '');
        assert.ok(last.data.usage.output_tokens > 0);
      }
      const { messages } = await http.get(`/memories/default/chat/threads/${thread}/messages`);
      assert.deepEqual(
        messages.map(({ role }: { role: string }) => role),
        ['user', 'assistant', 'user', 'assistant'],
      );
    });

    test('a turn with tools comes to an end', async (t) => {
      const { say, http } = await opened(t, [
        { answer: { calls: [{ name: 'recall', arguments: { query: 'tea' } }] } },
        { answer: { text: 'Green tea.' } },
      ]);
      await http.post('/memories/default/add', { subject: 'Ada', relation: 'drinks', object: 'green tea' });
      const last = await (await say('Use the tool recall to look up what Ada drinks.')).ended();
      // A model without tools refuses the request; that is an answer too.
      assert.ok(last?.event === 'done' || last?.data.code === 'LLM-E002', JSON.stringify(last));
    });

    test('it is stopped when the client goes away', async (t) => {
      const { say, http } = await opened(t, [{ answer: { text: ['Once', { hold: new Promise(() => undefined) }] } }]);
      const client = await say('Write a very long story.', { tools_enabled: false, max_tokens: 4_000 });
      await client.until('the first word', ({ frames }) => textOf(frames) !== '');
      await client.close();
      await eventually('the end of the turn', async () => {
        const { entries } = await http.get('/memories/default/audit?event_type=chat.turn');
        return entries[0]?.details.ended === 'gone';
      });
    });
  });
