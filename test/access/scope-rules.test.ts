// With a scope tree, no write stores a grain in a namespace that begins with a known top-level name and is no node. Every
// call that writes grains, and every operation that does, has an entry here: a new one fails or does not compile without.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inspect } from 'node:util';
import { EngineError } from '../../src/engine/base/errors.ts';
import type { MemoryCalls } from '../../src/engine/calls/calls.ts';
import type { CallContext } from '../../src/engine/calls/context.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import type { Input, MethodsWith } from '../../src/shards/protocol.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { memoryFolder } from '../support/memory-files.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { contextOf, openShard, settingsOf } from '../support/shard.ts';

const LOST = 'acme/lost';
const ROOT = { name: 'org', children: [{ name: 'acme', children: [{ name: 'prod' }] }] };
const FIELDS = { subject: 'ada', relation: 'likes', object: 'tea', session_id: 's1' };

/** Grains from before the tree: in a namespace that it lacks, and in one of its nodes. */
interface Before {
  readonly lost: string;
  readonly known: string;
  /** A goal in the namespace that the tree lacks. */
  readonly goal: string;
  readonly blob: Uint8Array;
}

type Writer = Extract<MethodsWith<'access', 'editor'>, keyof MemoryCalls>;
interface Try<M extends Writer> {
  readonly input: Input<M>;
  /** Members of the caller's context. */
  readonly as?: Partial<CallContext>;
}
type Tries = { readonly [M in Writer]: (grains: Before) => readonly Try<M>[] };

const WRITES: Tries = {
  add: () => [{ input: { grainType: 'belief', fields: { ...FIELDS, namespace: LOST }, sync: false } }],
  addBatch: () => [{ input: { items: [{ grainType: 'belief', fields: { ...FIELDS, namespace: LOST } }] } }],
  checkAdd: () => [{ input: { grainType: 'belief', fields: { ...FIELDS, namespace: LOST } } }],
  importBlobs: ({ blob }) => [{ input: { blobs: [blob], manifest: [] } }],
  supersede: ({ lost, known }) => [
    { input: { oldHash: lost, fields: { object: 'coffee' } } },
    { input: { oldHash: known, fields: { namespace: LOST } } },
  ],
  changeGoal: ({ goal }) => [
    { input: { hash: goal, change: { to: 'failed' } } },
    { input: { hash: goal, change: { delegateTo: 'mole' } } },
  ],
  beginTurn: () => [
    {
      input: {
        turn: { sessionId: 'ses_a', slug: 'a', conversationId: 'c', namespace: LOST, server: '0'.repeat(16) },
        message: { content: 'hello', namespace: LOST, session_id: 'c' },
      },
    },
  ],
  mergeGrains: ({ lost }) => [{ input: { canonical: lost, duplicates: [] } }],
  accumulate: ({ lost }) => [{ input: { target: { hash: lost }, deltas: { success_count: 1 }, set: {} } }],
  consent: () => [
    { input: { items: [{ userId: 'ada', purpose: 'storage', granted: true }] }, as: { namespace: LOST } },
    { input: { items: [{ userId: 'ada', purpose: 'storage', granted: false }] }, as: { namespace: LOST } },
  ],
};

describe('every call that writes grains', () => {
  const root = memoryFolder();
  const context = contextOf(1);
  let engine: Engine;
  let grains: Before;
  const put = async (namespace: string): Promise<string> =>
    (await engine.write('add', context, { grainType: 'belief', fields: { ...FIELDS, namespace }, sync: false })).hash;
  before(async () => {
    engine = await openShard(join(root, 'data'));
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
    const [lost, known] = [await put(LOST), await put('acme/prod')];
    const fields = { description: 'leave', namespace: LOST };
    const { hash: goal } = await engine.write('add', context, { grainType: 'goal', fields, sync: false });
    grains = { lost, known, goal, blob: engine.read('getRaw', context, { hash: lost }).blob };
    await engine.write('attachMemory', context, {
      settings: { ...settingsOf(1), scopes: { root: ROOT, updatedAtMs: 1 } },
    });
  });
  after(async () => {
    await engine.close();
    rmSync(root, { recursive: true, force: true });
  });

  for (const [method, triesOf] of Object.entries(WRITES))
    test(`${method} is refused`, async () => {
      for (const { input, as } of triesOf(grains) as readonly Try<Writer>[]) {
        // The keys of the table are methods with their own inputs.
        const told = await engine.write(method as 'add', { ...context, ...as }, input as Input<'add'>).then(
          (answer) => inspect(answer, { depth: 6 }),
          (error: unknown) => (error instanceof EngineError ? error.code : inspect(error)),
        );
        assert.match(told, /SCP-E001/, `${method} ${inspect(input)}`);
      }
    });
});

/** Requests that would store a grain in the lost namespace; or why the operation stores none of the caller's choosing. */
type Request = {
  readonly verb?: 'PUT' | 'PATCH';
  readonly path: string;
  readonly json?: object;
  /** The blob of the lost grain, or a text. */
  readonly file?: true | 'text';
  readonly headers?: Record<string, string>;
};
const cal = (query: string): Request => ({ path: '/app/exec', json: { command: 'cal', args: { query } } });
/** The thread of a chat is in the lost namespace too. */
type Stored = Omit<Before, 'blob'> & { readonly thread: string };
const OPERATION_WRITES: Readonly<Record<string, string | ((stored: Stored) => readonly Request[])>> = {
  add: () => [{ path: '/add', json: { ...FIELDS, namespace: LOST } }],
  batch_add: () => [
    { path: '/batch-add', json: { grains: [{ grain_type: 'belief', fields: { ...FIELDS, namespace: LOST } }] } },
  ],
  remember: () => [{ path: '/remember', json: { text: 'Ada lives in Paris.', namespace: LOST } }],
  supersede: ({ lost, known }) => [
    { path: '/supersede', json: { old_hash: lost, object: 'x' } },
    { path: '/supersede', json: { old_hash: known, namespace: LOST } },
  ],
  accumulate: ({ lost }) => [{ path: '/accumulate', json: { blob_hash: lost, deltas: { count: 1 } } }],
  import_file: () => [{ path: '/import-file', file: true }],
  import_document: () => [{ path: `/import-document?namespace=${LOST}`, file: 'text' }],
  create_import: 'its job stores chunks by the calls above, and fails with their code',
  cancel_import: 'ends a job',
  session_consolidate: () => [{ path: '/sessions/s1/consolidate', json: { threshold: 0.1 } }],
  create_goal: () => [
    { path: '/sessions/s1/goals/create', json: { description: 'get out' }, headers: { 'x-namespace': LOST } },
  ],
  move_goal: ({ goal }) => [{ verb: 'PUT', path: `/goals/${goal}/state`, json: { state: 'failed', reason: 'lost' } }],
  delegate_goal: ({ goal }) => [{ path: `/goals/${goal}/delegate`, json: { target_agent: 'mole' } }],
  cal: ({ lost }) => [
    cal(`SUPERSEDE sha256:${lost} SET object = "x" REASON "r"`),
    {
      ...cal('ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "r"'),
      headers: { 'x-namespace': LOST },
    },
  ],
  create_thread: () => [{ path: '/chat/threads', json: { title: 'lost', namespace: LOST } }],
  change_thread: ({ thread }) => [{ verb: 'PATCH', path: `/chat/threads/${thread}`, json: { title: 'found' } }],
  chat_stream: 'its messages and its tools are writes by the calls above',
  delete_thread: 'removes grains',
  forget: 'removes grains',
  flush: 'stores none',
  grant_consent: 'a caller that reaches a person is bound to no namespace; the call is tried above',
  revoke_consent: 'the same',
  grant_consents: 'the same',
  create_harness: 'its namespace belongs to the harness',
  provision_harness: 'the same',
  change_harness: 'the same',
  bind_tool: 'the same',
  harness_chat: 'a caller in a scope that the tree lacks is refused; the call is tried above',
  harness_resume: 'goes on with a turn, which was begun in a scope of the tree',
  cancel_harness_session: 'the same',
  register_agent: 'stores an identity, no grain',
  deactivate_agent: 'the same',
  exec: 'its commands are operations',
};

describe('every operation that writes grains', () => {
  let server: TestServer;
  let http: HttpClient;
  before(async () => {
    server = await startTestServer({ shards: '4', workers: '1', calTier1: 'true' });
    http = new HttpClient(server.http, server.key);
  });
  after(() => server.close());

  test('has an entry here', () => {
    const writers = OPERATIONS.filter(({ mutates, on, needs }) => mutates && on === 'memory' && needs !== 'admin');
    assert.deepEqual(
      writers.map(({ name }) => name).filter((name) => OPERATION_WRITES[name] === undefined),
      [],
    );
  });

  for (const partitions of [1, 4])
    test(`is refused over HTTP, ${partitions} partitions`, async () => {
      const M = `/memories/scopes-${partitions}`;
      await http.post('/memories', { id: `scopes-${partitions}`, partitions });
      const lost = (await http.post(`${M}/add`, { ...FIELDS, namespace: LOST })).blob_hash;
      await http.post(`${M}/add`, { ...FIELDS, object: 'tea!', namespace: LOST });
      const known = (await http.post(`${M}/add`, { ...FIELDS, object: 'rice', namespace: 'acme/prod' })).blob_hash;
      const sent = { grain_type: 'goal', fields: { description: 'leave', session_id: 's1', namespace: LOST } };
      const goal = (await http.post(`${M}/add`, sent)).blob_hash;
      const blob = (await http.ask('GET', `${M}/grains/${lost}/raw`)).bytes;
      const { thread_id: thread } = await http.post(`${M}/chat/threads`, { title: 'before', namespace: LOST });
      await http.call('PUT', `${M}/scope-tree`, { json: ROOT });
      for (const [name, requests] of Object.entries(OPERATION_WRITES)) {
        if (typeof requests === 'string') continue;
        for (const { verb = 'POST', path, json, file, headers = {} } of requests({ lost, known, goal, thread })) {
          const body = new FormData();
          if (file !== undefined)
            body.append('file', new Blob([file === true ? Uint8Array.from(blob) : 'A text.']), 'f.mg');
          const { text } = await http.ask(verb, `${M}${path}`, {
            ...(file === undefined ? { json } : { body }),
            headers,
          });
          assert.match(text, /SCP-E001/, `${name} ${JSON.stringify(json)}: ${text}`);
        }
      }
      const { total_grains: total } = await http.get(`${M}/stats`);
      assert.equal(total, 5, 'nothing was stored');
      await http.post(`${M}/add`, { ...FIELDS, namespace: 'acme/prod', object: 'a node' });
      await http.post(`${M}/add`, { ...FIELDS, namespace: 'globex/any', object: 'another top-level name' });
    });
});
