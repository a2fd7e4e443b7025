// Every way out of the server to a model: what a provider elsewhere gets of a memory's texts under each policy. The
// provider is on this machine, under an address that the server takes for another one.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { ModelServer } from './support/models/server.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const MAIL = 'ann@example.org';
const ELSEWHERE = '0.0.0.0';

/** The ways out, by the endpoint of the provider that they use, and how often at least. */
const WAYS: readonly (readonly [name: string, ask: (http: HttpClient, memory: string) => Promise<unknown>])[] = [
  ['a question and its hits', (http, memory) => recall(http, memory, {})],
  ['rerank', (http, memory) => recall(http, memory, { rerank: true })],
  ['llm_rerank', (http, memory) => recall(http, memory, { llm_rerank: true })],
  ['hyde', (http, memory) => recall(http, memory, { hyde: true })],
  [
    'a chat',
    (http, memory) =>
      http.ask('POST', `/memories/${memory}/chat/stream`, {
        json: { messages: [{ role: 'user', content: `what did ${MAIL} write` }] },
      }),
  ],
];

function recall(http: HttpClient, memory: string, more: object): Promise<unknown> {
  return http.post(`/memories/${memory}/recall`, { query: `letters of ${MAIL}`, ...more });
}

describe('what leaves', { concurrency: false }, () => {
  let models: ModelServer;
  let server: TestServer;
  let http: HttpClient;
  before(async () => {
    models = await startOpenAi(() => ({ text: '[1]' }), { dimensions: 8 });
    server = await startTestServer({ auth: 'none', embedder: 'none', modelHosts: ELSEWHERE });
    http = new HttpClient(server.http, '');
    const url = models.url.replace('127.0.0.1', ELSEWHERE);
    await http.call('PUT', '/settings/providers/far', {
      json: { kind: 'openai_compatible', base_url: url, region: 'us' },
    });
    const model = { provider: 'far', model: 'scripted' };
    await http.call('PUT', '/settings/model-assignments', {
      json: { assignments: { chat: model, hyde: model, rerank: model, embedding: model, extraction: model } },
    });
  });
  after(async () => {
    await server.close();
    await models.close();
  });

  const since = (from: number): string =>
    models.seen
      .slice(from)
      .map(({ body }) => JSON.stringify(body))
      .filter((body) => !body.includes('another memory'))
      .join('\n');

  /** Waits until a grain that another memory got now was sent: what may be sent of earlier ones was sent, too. */
  async function overtaken(round: string): Promise<void> {
    await http.post('/memories/default/add', { subject: `another memory ${round}`, relation: 'is', object: 'sent' });
    await eventually('the grain of another memory', () =>
      models.seen.some(({ body }) => JSON.stringify(body).includes(`another memory ${round}`)),
    );
  }

  /** Adds letters to a memory, asks for them by every way, and returns what the provider saw, by way. */
  async function seenOf(memory: string, isSent: boolean): Promise<ReadonlyMap<string, string>> {
    const seen = new Map<string, string>();
    let from = models.seen.length;
    for (const topic of ['tea', 'rain'])
      await http.post(`/memories/${memory}/add`, {
        grain_type: 'event',
        fields: { content: `a letter of ${MAIL} about ${topic}` },
      });
    if (isSent)
      await eventually('the letters', () => since(from).includes('about tea') && since(from).includes('about rain'));
    else for (const round of ['one', 'two']) await overtaken(`${memory} ${round}`);
    seen.set('grains', since(from));
    for (const [name, ask] of WAYS) {
      from = models.seen.length;
      await ask(http, memory);
      seen.set(name, since(from));
    }
    return seen;
  }

  test('without a policy, all of it: each way is one that a policy could close', async () => {
    await http.post('/memories', { id: 'open' });
    const seen = await seenOf('open', true);
    for (const [way, text] of seen) assert.ok(text.includes(MAIL), `${way}: ${text}`);
    assert.equal(seen.size, WAYS.length + 1);
  });

  test('under a policy that redacts, no personal data', async () => {
    await http.post('/memories', { id: 'redacted', policies: ['gdpr'] });
    const seen = await seenOf('redacted', true);
    for (const [way, text] of seen) {
      assert.ok(!text.includes(MAIL), `${way}: ${text}`);
      assert.ok(text.includes('[EMAIL]'), `${way}: ${text}`);
    }
  });

  test('under a policy that blocks, or that keeps texts in other regions, nothing', async () => {
    for (const [id, overrides] of [
      ['blocked', { pii: { egress_action: 'block' } }],
      ['regional', { residency: { regions: ['eu'], enforce: true } }],
    ] as const) {
      await http.post('/memories', { id, region: 'eu' });
      await http.call('PUT', `/memories/${id}/policy`, { json: { overrides } });
    }
    for (const memory of ['blocked', 'regional'])
      for (const [way, text] of await seenOf(memory, false)) assert.equal(text, '', `${memory}, ${way}`);
  });
});
