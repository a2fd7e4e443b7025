// Grains that a model wrote from the grains of persons, in a turn of no person: they are erased with each of these
// persons, and hidden from callers who may not see them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from '../conformance/http-client.ts';
import { eventually } from '../support/eventually.ts';
import { memoryFolder } from '../support/memory-files.ts';
import { startOpenAi } from '../support/models/openai.ts';
import type { Answer } from '../support/models/script.ts';
import type { Seen } from '../support/models/seen.ts';
import type { ModelServer } from '../support/models/server.ts';
import { foundInFiles, hashNeedles } from '../support/scan-files.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const CANARY = 'quetzalcoatl';

describe('answers of turns without a person', { concurrency: false }, () => {
  const dataDir = memoryFolder();
  let models: ModelServer;
  let server: TestServer;
  let http: HttpClient;
  let asked: Seen[] = [];
  /** Asks a tool, keeps what it saw, then quotes it. */
  const quoting = (seen: Seen): Answer => {
    asked.push(seen);
    switch (asked.length) {
      case 1:
        return { calls: [{ name: 'recall', arguments: { query: 'what she told' } }] };
      case 2:
        return { calls: [{ name: 'add', arguments: { subject: 'the bird', relation: 'is', object: `a ${CANARY}` } }] };
      default:
        return { text: `She told of a ${CANARY}.` };
    }
  };
  let next: (seen: Seen) => Answer = quoting;
  before(async () => {
    models = await startOpenAi((seen) => next(seen));
    server = await startTestServer({ dataDir, auth: 'none', embedder: 'none' });
    http = new HttpClient(server.http, '');
    await http.call('PUT', '/settings/providers/own', { json: { kind: 'openai_compatible', base_url: models.url } });
    const chat = { provider: 'own', model: 'scripted' };
    await http.call('PUT', '/settings/model-assignments', { json: { assignments: { chat } } });
  });
  after(async () => {
    await server.close();
    await models.close();
  });

  interface Told {
    readonly M: string;
    readonly thread: string;
    /** Where the messages of the turn can be read. */
    readonly paths: readonly string[];
  }

  const chat = async (M: string, thread: string): Promise<string> => {
    const json = { thread_id: thread, messages: [{ role: 'user', content: 'what did she tell of?' }] };
    return (await http.ask('POST', `${M}/chat/stream`, { json })).text;
  };

  /** A memory with a secret of Ann and one of Bob, which a chat and a harness without a person have quoted. */
  async function told(id: string, partitions: number): Promise<Told> {
    const M = `/memories/${id}`;
    await http.post('/memories', { id, partitions });
    for (const user of ['ann', 'bob'])
      await http.post(`${M}/add`, { grain_type: 'event', fields: { content: `told of a ${CANARY}`, user_id: user } });
    const { thread_id: thread } = await http.post(`${M}/chat/threads`, { title: 'birds' });
    asked = [];
    next = quoting;
    assert.match(await chat(M, thread), /event: done/);
    asked = [];
    const tools = ['recall', 'add'].map((name) => ({
      tool_name: name,
      description: name,
      location: `builtin://${name}`,
      input_schema: { type: 'object', properties: {} },
    }));
    await http.post(`${M}/harnesses/birds/provision`, { goal: 'Name birds', tools });
    const turn = await http.post(`${M}/harnesses/birds/chat`, {
      conversation_id: 'c1',
      user_message: 'what did she tell of?',
    });
    assert.equal(turn.status, 'completed');
    const paths = [
      `/chat/threads/${thread}/messages`,
      '/harnesses/birds/conversations/c1',
      `/harnesses/birds/chat/sessions/${turn.session_id}`,
      '/sessions/c1/actions',
      '/grains?limit=100',
    ];
    return { M, thread, paths };
  }

  const read = async ({ M, paths }: Told): Promise<string> => {
    const texts = await Promise.all(paths.map(async (path) => JSON.stringify(await http.get(`${M}${path}`))));
    const { results } = await http.post(`${M}/recall`, { query: CANARY, limit: 100 });
    const exported = await http.ask('GET', `${M}/export-file`);
    return [...texts, JSON.stringify(results), Buffer.from(exported.bytes).toString('latin1')].join('\n');
  };

  for (const partitions of [1, 2])
    test(`what quotes a person goes with the person, ${partitions} partitions`, async () => {
      const place = await told(`m${partitions}`, partitions);
      const { M } = place;
      const { grains } = await http.get(`${M}/grains?limit=100`);
      const written = grains.filter(({ fields }: { fields: { source_users?: string[] } }) => fields.source_users);
      // An answer and two actions of each turn, and the belief that the first one stored.
      assert.equal(written.length, 7);
      for (const { fields, user_id: user } of written) {
        assert.deepEqual(fields.source_users, ['ann', 'bob']);
        assert.equal(user, undefined);
      }
      assert.ok((await read(place)).includes(CANARY));
      await http.post(`${M}/flush`, {});
      await http.post(`${M}/forget`, { user_id: 'ann' });
      const left = (await http.get(`${M}/grains?limit=100`)).grains.filter(({ fields }: { fields: object }) =>
        JSON.stringify(fields).includes(CANARY),
      );
      assert.deepEqual(
        left.map(({ user_id: user }: { user_id: string }) => user),
        ['bob'],
        'the grain of Bob alone still says it',
      );
      await http.post(`${M}/forget`, { user_id: 'bob' });
      assert.deepEqual(
        (await read(place)).split('\n').filter((text) => text.includes(CANARY)),
        [],
        'nothing says it any more',
      );
      await eventually('the purge', async () => (await http.get(`${M}/stats`)).purge_pending === 0);
      await http.post(`${M}/flush`, {});
      const needles = written.flatMap(({ hash }: { hash: string }, at: number) => hashNeedles(`answer ${at}`, hash));
      assert.deepEqual(foundInFiles(dataDir, new Map([...needles, ['the canary', Buffer.from(CANARY)]])), []);
    });

  test('it is shown to no other person, and to nobody while a source is restricted', async () => {
    const { M, thread } = await told('shown', 1);
    const shownTo = async (more: object): Promise<string> => {
      asked = [];
      next = (seen) => {
        asked.push(seen);
        return { text: 'ok' };
      };
      const json = { messages: [{ role: 'user', content: `the bird, a ${CANARY}?` }], tools_enabled: false, ...more };
      await http.ask('POST', `${M}/chat/stream`, { json });
      return JSON.stringify(asked.map(({ body }) => body));
    };
    assert.ok((await shownTo({})).includes('She told of'), 'to a turn without a person');
    assert.ok(!(await shownTo({ user_id: 'cem' })).includes('She told of'), 'to a turn of another person');
    assert.ok(!(await shownTo({})).includes('source_users'), 'a model learns no ids of persons');
    const exec = (command: string) =>
      http.post(`${M}/app/exec`, { command, args: { user_id: 'ann', reason: 'asked' } });
    const visible = async (): Promise<number> =>
      (await http.get(`${M}/chat/threads/${thread}/messages`)).messages.filter(
        ({ role }: { role: string }) => role === 'assistant',
      ).length;
    assert.equal(await visible(), 1);
    const { messages } = await http.get(`${M}/chat/threads/${thread}/messages`);
    await exec('restrict');
    assert.equal(await visible(), 0);
    const { grain_hash: answer } = messages.find(({ role }: { role: string }) => role === 'assistant');
    assert.equal((await http.ask('GET', `${M}/grains/${answer}`)).status, 403);
    await exec('unrestrict');
    assert.equal(await visible(), 1);
  });
});
