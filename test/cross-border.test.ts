// Grants for `cross_border`: a request to a provider outside of a memory's regions is sent only if everyone whose text it
// holds has one. Every way out, against every state of the grants.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Answer } from './support/models/script.ts';
import type { Seen } from './support/models/seen.ts';
import type { ModelServer } from './support/models/server.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const ELSEWHERE = '0.0.0.0';
const CANARY = 'quetzal';
const RULES = { residency: { regions: ['eu'], enforce: true, cross_border_consent: true } };
/** Ann's request holds a text of Bob too, or of nobody. */
type Beside = 'bob' | 'nobody' | undefined;

interface Case {
  readonly name: string;
  /** Changes of a memory's grants before it is asked. */
  readonly grants: readonly (readonly [act: 'grant' | 'revoke', user: string, more?: object])[];
  readonly beside?: Beside;
  readonly isSent: boolean;
}

const CASES: readonly Case[] = [
  { name: 'no grant', grants: [], isSent: false },
  { name: 'a grant', grants: [['grant', 'ann']], isSent: true },
  {
    name: 'a withdrawn grant',
    grants: [
      ['grant', 'ann'],
      ['revoke', 'ann'],
    ],
    isSent: false,
  },
  { name: 'one of two persons without a grant', grants: [['grant', 'ann']], beside: 'bob', isSent: false },
  {
    name: 'two persons with grants',
    grants: [
      ['grant', 'ann'],
      ['grant', 'bob'],
    ],
    beside: 'bob',
    isSent: true,
  },
  { name: 'a text of nobody', grants: [['grant', 'ann']], beside: 'nobody', isSent: false },
];

interface Place {
  readonly http: HttpClient;
  readonly M: string;
  /** The person, or nobody, whose text is in the request beside Ann's. */
  readonly beside: Beside;
}

interface Way {
  /** The members of a request that show that it is of this way. */
  readonly isOf: (seen: Seen) => boolean;
  /** Resolves to what the caller is told. */
  readonly ask: (place: Place) => Promise<string>;
  /** How it tells that nothing was sent. */
  readonly told: RegExp;
  /** Ann's request never holds a text of another person, so only her grant counts. */
  readonly leavesOutOthers?: true;
}

const owner = (beside: Beside) => (beside === 'nobody' ? {} : { user_id: beside });
/** The one person of a request that holds no more than one text. */
const only = ({ beside }: Place) => (beside === undefined ? { user_id: 'ann' } : owner(beside));
const said = (body: unknown): string => JSON.stringify(body);

async function recalled(place: Place, more: object): Promise<string> {
  const { warnings } = await place.http.post(`${place.M}/recall`, {
    // A question that was asked before needs no vector.
    query: `${CANARY} feathers of ${place.M}`,
    ...only(place),
    ...more,
  });
  return String(warnings);
}

const WAYS: Readonly<Record<string, Way>> = {
  'the question of a recall': {
    isOf: ({ endpoint, body }) => endpoint === 'embeddings' && said(body).includes('feathers of /memories'),
    ask: (place) => recalled(place, {}),
    told: /found by words alone/,
  },
  hyde: {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('short passage'),
    ask: (place) => recalled(place, { hyde: true }),
    told: /hyde was ignored/,
  },
  rerank: {
    isOf: ({ endpoint }) => endpoint === 'rerank',
    ask: (place) => recalled(place, { rerank: true }),
    told: /rerank was ignored/,
  },
  llm_rerank: {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('numbered passages'),
    ask: (place) => recalled(place, { llm_rerank: true }),
    told: /llm_rerank was ignored/,
  },
  extraction: {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('You find facts'),
    ask: async (place) => {
      const text = `I saw a ${CANARY} ${Math.random()}`;
      const json = { text, extract_mode: 'sync', ...only(place) };
      return said(await place.http.post(`${place.M}/remember`, json));
    },
    told: /rules read the text/,
  },
  consolidation: {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('pairs of statements'),
    ask: async ({ http, M, beside }) => {
      const of = (user: object, session: string) =>
        ['The customer wants a refund for the broken lamp', 'The client wants her money for that broken lamp'].map(
          (content, at) => ({
            grain_type: 'event',
            fields: { content: `${content} ${CANARY}`, session_id: session, created_at: 1_700_000_000 + at, ...user },
          }),
        );
      const grains = [...of({ user_id: 'ann' }, 's1'), ...(beside === undefined ? [] : of(owner(beside), 's1'))];
      await http.post(`${M}/batch-add`, { grains });
      return said(await http.post(`${M}/sessions/s1/consolidate`, { use_model: true, dry_run: true }));
    },
    told: /the model did not decide: POL-E007/,
  },
  'a chat': {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('You are an assistant with a memory'),
    ask: async ({ http, M, beside }) => {
      const { thread_id: thread } = await http.post(`${M}/chat/threads`, { title: 'birds', user_id: 'ann' });
      if (beside !== undefined)
        await http.post(`${M}/add`, {
          grain_type: 'event',
          fields: { content: `a ${CANARY} of another`, role: 'user', session_id: thread, ...owner(beside) },
        });
      const messages = [{ role: 'user', content: `and the ${CANARY}?` }];
      return (await http.ask('POST', `${M}/chat/stream`, { json: { thread_id: thread, messages } })).text;
    },
    told: /POL-E007/,
    leavesOutOthers: true,
  },
  'a turn of a harness': {
    isOf: ({ endpoint, body }) => endpoint === 'chat' && said(body).includes('Name birds'),
    ask: async ({ http, M, beside }) => {
      if (beside !== undefined)
        await http.post(`${M}/add`, {
          grain_type: 'belief',
          fields: { subject: 'x', relation: 'is', object: CANARY, ...owner(beside) },
        });
      const assemble_query = 'ASSEMBLE all FROM facts: (RECALL beliefs LIMIT 10) BUDGET 1000 tokens FORMAT sml';
      await http.post(`${M}/harnesses/birds/provision`, { goal: 'Name birds', assemble_query });
      const json = { conversation_id: 'c1', user_message: `which ${CANARY}?`, user_id: 'ann' };
      return (await http.ask('POST', `${M}/harnesses/birds/chat`, { json })).text;
    },
    told: /POL-E007/,
  },
};

describe('grants for cross_border', { concurrency: false }, () => {
  let models: ModelServer;
  let server: TestServer;
  let http: HttpClient;
  let next: (seen: Seen) => Answer | Promise<Answer>;
  before(async () => {
    models = await startOpenAi((seen) => next(seen), { dimensions: 8 });
    server = await startTestServer({ auth: 'none', embedder: 'none', modelHosts: ELSEWHERE });
    http = new HttpClient(server.http, '');
    const base_url = models.url.replace('127.0.0.1', ELSEWHERE);
    await http.call('PUT', '/settings/providers/far', { json: { kind: 'openai_compatible', base_url, region: 'us' } });
    const model = { provider: 'far', model: 'scripted' };
    const assignments = {
      chat: model,
      hyde: model,
      rerank: model,
      embedding: model,
      extraction: model,
      consolidation: model,
    };
    await http.call('PUT', '/settings/model-assignments', { json: { assignments } });
  });
  after(async () => {
    await server.close();
    await models.close();
  });

  let memories = 0;
  async function memoryWith({ grants }: Pick<Case, 'grants'>, partitions = 1): Promise<string> {
    const id = `m${memories++}`;
    await http.post('/memories', { id, region: 'eu', partitions });
    await http.call('PUT', `/memories/${id}/policy`, { json: { overrides: RULES } });
    for (const [act, user, more] of grants)
      await http.post(`/memories/${id}/consent/${act}`, { user_id: user, purpose: 'cross_border', ...more });
    return `/memories/${id}`;
  }

  const event = (M: string, topic: string, of: object): Promise<unknown> =>
    http.post(`${M}/add`, { grain_type: 'event', fields: { content: `a ${CANARY} with ${topic} feathers`, ...of } });

  /** Waits until a grain that another memory got now was sent: what may be sent of earlier ones was sent, too. */
  async function overtaken(round: string): Promise<void> {
    await http.post('/memories/default/add', { subject: `another memory ${round}`, relation: 'is', object: 'sent' });
    await eventually('the grain of another memory', () =>
      models.seen.some(({ body }) => said(body).includes(`another memory ${round}`)),
    );
  }

  for (const one of CASES) {
    test(`with ${one.name}, each way is ${one.isSent ? 'open' : 'closed'}`, async () => {
      next = answering;
      const { beside } = one;
      const M = await memoryWith(one, one.name === 'a grant' ? 2 : 1);
      const from = models.seen.length;
      const grainsSeen = (): string =>
        said(models.seen.slice(from).flatMap(({ endpoint, body }) => (endpoint === 'embeddings' ? [body] : [])));
      const isOpen = one.grants.length > 0 && one.grants.every(([act]) => act === 'grant');
      // Ann's last: once it was sent, those before it were, or never are.
      if (beside !== undefined) await event(M, 'beside', owner(beside));
      await event(M, 'long', only({ http, M, beside }));
      await event(M, 'ann', { user_id: 'ann' });
      if (isOpen) await eventually("Ann's grain", () => grainsSeen().includes('with ann feathers'));
      else for (const round of ['one', 'two']) await overtaken(`${M} ${round}`);
      assert.equal(grainsSeen().includes('with ann feathers'), isOpen, 'a grain of Ann');
      assert.equal(
        grainsSeen().includes('with beside feathers'),
        beside === 'bob' && one.isSent,
        'a grain of the other',
      );
      for (const [name, { isOf, ask, told, leavesOutOthers }] of Object.entries(WAYS)) {
        const before = models.seen.length;
        const answer = await ask({ http, M, beside });
        const sent = models.seen.slice(before).filter((seen) => isOf(seen) && said(seen.body).includes(CANARY));
        const isSent = leavesOutOthers === true && beside === 'bob' ? isOpen : one.isSent;
        assert.equal(sent.length > 0, isSent, `${name}: ${answer}`);
        if (!isSent) assert.match(answer, told, name);
        if (leavesOutOthers === true && beside === 'bob') assert.ok(!said(sent).includes('of another'), name);
      }
    });
  }

  test('an expired grant is none, and neither is one of a restricted person', async () => {
    next = answering;
    // Far enough away that the grant arrives before its end, on a busy machine too.
    const M = await memoryWith({ grants: [['grant', 'ann', { expires_at: Math.floor(Date.now() / 1_000) + 5 }]] });
    const json = { user_id: 'ann', messages: [{ role: 'user', content: 'birds?' }] };
    const isOpen = async (): Promise<boolean> =>
      !(await http.ask('POST', `${M}/chat/stream`, { json })).text.includes('POL-E007');
    await eventually('the end of the grant', async () => !(await isOpen()));
    await http.post(`${M}/consent/grant`, { user_id: 'ann', purpose: 'cross_border' });
    assert.ok(await isOpen());
    await http.post(`${M}/app/exec`, { command: 'restrict', args: { user_id: 'ann', reason: 'asked' } });
    assert.ok(!(await isOpen()));
  });

  test('a grant that is withdrawn between two steps of a turn ends it', async () => {
    for (const way of ['chat', 'harness'] as const) {
      const M = await memoryWith({ grants: [['grant', 'ann']] });
      await event(M, 'blue', { user_id: 'ann' });
      let asked = 0;
      next = async () => {
        if (++asked > 1) return { text: 'done' };
        await http.post(`${M}/consent/revoke`, { user_id: 'ann', purpose: 'cross_border' });
        return { calls: [{ name: 'recall', arguments: { query: CANARY } }] };
      };
      const json = { user_id: 'ann', messages: [{ role: 'user', content: 'birds?' }], tools_enabled: true };
      const tools = [
        {
          tool_name: 'recall',
          description: 'Search',
          location: 'builtin://recall',
          input_schema: { type: 'object', properties: {} },
        },
      ];
      const answer =
        way === 'chat'
          ? await http.ask('POST', `${M}/chat/stream`, { json })
          : await (async () => {
              await http.post(`${M}/harnesses/birds/provision`, { goal: 'Name birds', tools });
              return http.ask('POST', `${M}/harnesses/birds/chat`, {
                json: { conversation_id: 'c1', user_message: 'birds?', user_id: 'ann' },
              });
            })();
      assert.match(answer.text, /POL-E007/, way);
      assert.equal(asked, 1, way);
    }
  });
});

function answering({ body, endpoint }: Seen): Answer {
  if (endpoint !== 'chat') return { text: '' };
  if (said(body).includes('You find facts')) return { object: { facts: [] } };
  if (said(body).includes('pairs of statements')) return { object: { same: [] } };
  return { text: '[1]' };
}
