// A bound caller learns nothing about data outside its binding, from reads or from writes, and neither does a caller that
// access tuples narrow to a namespace. One memory holds only the caller's grains; its twin holds the same grains among
// those of others.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { askTwins, cal, exec, get, post, put, type Question, refused, Twin } from './twins.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer({ shards: '3', calTier1: 'true' });
  http = new HttpClient(server.http, server.key);
  await http.call('PUT', '/settings/providers/test', { json: { kind: 'mock' } });
});
after(() => server.close());

const THEN = 1_700_000_000;
/** A word that occurs only in grains outside the binding. */
const STRANGE = 'quetzalcoatl';

/** Retention in days of the caller's namespaces; grains without a namespace are in `default`. */
const KEPT = { n1: 5_000, default: 5_000 };

type Binding = { readonly namespace: string } | { readonly user_id: string };

/** The caller's grains, equal in both twins. */
const OWN = [
  { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'green tea', confidence: 0.9 } },
  { grain_type: 'belief', fields: { subject: 'Ada', relation: 'likes', object: 'black coffee', confidence: 0.4 } },
  { grain_type: 'belief', fields: { subject: 'tea', relation: 'comes from', object: 'China', importance: 0.7 } },
  { grain_type: 'event', fields: { content: 'We talked about tea and the weather', session_id: 's1', role: 'user' } },
  { grain_type: 'event', fields: { content: 'The weather was fine', session_id: 's1', role: 'assistant' } },
  { grain_type: 'event', fields: { content: 'Another day, another tea', session_id: 's2', role: 'user' } },
  { grain_type: 'goal', fields: { description: 'drink more tea', goal_state: 'active', priority: 'high' } },
  { grain_type: 'goal', fields: { description: 'find a kettle', session_id: 's1' } },
  ...['a blue kettle', 'a blue kettle!'].map((object) => ({
    grain_type: 'belief',
    fields: { subject: 'Ada', relation: 'wants', object, session_id: 's1' },
  })),
  { grain_type: 'state', fields: { data: { at: 'shop' }, session_id: 's1' } },
  { grain_type: 'state', fields: { data: { title: 'About tea' }, session_id: 's1', tags: ['chat_thread'] } },
  { grain_type: 'action', fields: { tool_name: 'search', content: 'tea', session_id: 's1', parent_task_id: 't1' } },
  { grain_type: 'action', fields: { tool_name: 'buy', is_error: true, error: 'sold out', session_id: 's1' } },
] as const;

/** Acts of others in the caller's sessions. */
const STRANGE_ACTS = [
  { grain_type: 'belief', fields: { subject: 'Ada', relation: 'wants', object: 'a blue kettle.', confidence: 1 } },
  { grain_type: 'state', fields: { data: { at: STRANGE } } },
  { grain_type: 'state', fields: { data: { title: STRANGE }, tags: ['chat_thread'] } },
  { grain_type: 'goal', fields: { description: STRANGE, priority: 'critical' } },
  { grain_type: 'action', fields: { tool_name: STRANGE, is_error: true, error: STRANGE, parent_task_id: 't1' } },
  { grain_type: 'action', fields: { tool_name: 'search', content: STRANGE, tool_call_id: 't1', duration_ms: 7 } },
];

/** Grains of others: the same words, other words, the same sessions, versions, and what was removed. */
async function crowd(twin: Twin, outside: Binding): Promise<void> {
  const place = { namespace: 'n9', user_id: 'zoe', ...outside };
  const hashes: string[] = [];
  for (let i = 0; i < 25; i += 1) {
    const fields = { subject: 'Ada', relation: 'likes', object: `tea ${STRANGE} ${i}`, created_at: THEN + i, ...place };
    hashes.push((await twin.post('/add', fields)).blob_hash);
  }
  await twin.post('/batch-add', {
    grains: Array.from({ length: 10 }, (_, i) => ({
      grain_type: 'event',
      fields: { content: `weather ${STRANGE} wether ${i}`, session_id: 's1', created_at: THEN + i, ...place },
    })),
  });
  await twin.post('/batch-add', {
    grains: STRANGE_ACTS.map(({ grain_type, fields }) => ({
      grain_type,
      fields: { ...fields, session_id: 's1', created_at: THEN + 500, ...place },
    })),
  });
  await twin.post('/supersede', { blob_hash: hashes[0]!, object: `coffee ${STRANGE}` });
  await twin.post('/forget', { blob_hash: hashes[1]! });
  await twin.post('/consent/grant', { user_id: 'zoe', purpose: 'ads' });
  await twin.post('/consent/revoke', { user_id: 'yan', purpose: 'ads' });
  await twin.post('/app/exec', { command: 'restrict', args: { user_id: 'yan', reason: STRANGE } });
  await twin.post('/recall', { query: `tea ${STRANGE}`, record_provenance: true });
  await twin.post('/forget', { user_id: 'xenia' });
}

interface Pair {
  readonly partitions: number;
  readonly twins: readonly [Twin, Twin];
  /**
   * Hashes of grains outside the binding in the second twin: current, superseded, forgotten. The first twin lacks them.
   */
  readonly outside: readonly string[];
  readonly own: readonly string[];
  readonly strangeBlob: Uint8Array;
  /** Where the caller writes; a binding fills it in by itself. */
  readonly place: { readonly namespace?: string };
}

let made = 0;
async function pairOf(partitions: number, binding: Binding, outside: Binding, byTuples: boolean): Promise<Pair> {
  made += 1;
  const ids = [`lone-${made}`, `crowd-${made}`];
  const [lone, crowded] = ids.map((id) => new Twin(http, id)) as [Twin, Twin]; // one for each id
  for (const id of ids) await http.post('/memories', { id, partitions });
  await lone.put('/policy', { overrides: { retention: { by_namespace: KEPT } }, reason: 'a start' });
  await crowded.put('/policy', {
    overrides: { retention: { by_namespace: { ...KEPT, n8: 4_000, n9: 4_000 } } },
    reason: `for ${STRANGE}`,
  });
  for (const twin of [lone, crowded])
    await twin.post('/harnesses/support/provision', { goal: 'Help.', provider: 'test', model: 'echo' });
  await crowd(crowded, outside);
  for (const twin of [lone, crowded])
    await twin.post('/batch-add', {
      grains: OWN.map(({ grain_type, fields }, i) => ({
        grain_type,
        fields: { ...fields, created_at: THEN + 100 + i, ...binding },
      })),
    });
  await crowd(crowded, { ...outside, ...('namespace' in outside ? { namespace: 'n8' } : { user_id: 'will' }) });
  const foreign = (await crowded.get('/grains?limit=100&include_superseded=true')).grains as {
    blob_hash: string;
    fields: { namespace: string; user_id?: string };
  }[];
  const isOwn = ({ fields }: { fields: object }) =>
    Object.entries(binding).every(([name, value]) => Reflect.get(fields, name) === value);
  const strangers = foreign.filter((grain) => !isOwn(grain)).map(({ blob_hash }) => blob_hash);
  const trail = await crowded.get('/audit?event_type=memory.forgotten');
  const gone = trail.entries.flatMap(({ grain_hash }: { grain_hash?: string }) =>
    grain_hash === undefined ? [] : [grain_hash],
  );
  const keyOf = async (id: string): Promise<string> => {
    const asked = byTuples ? { scopes: ['read', 'write'] } : { scopes: ['admin'], ...binding };
    return (await http.post('/auth/keys', { principal: 'bound', memory_id: id, ...asked })).raw_key;
  };
  if (byTuples) for (const twin of [lone, crowded]) await requireTuples(twin);
  return {
    partitions,
    twins: [lone.as(await keyOf(lone.id)), crowded.as(await keyOf(crowded.id))],
    // A caller without a tuple is told that a grain is there that it names by its hash.
    outside: byTuples ? ['f'.repeat(64)] : [...strangers.slice(0, 3), ...gone.slice(0, 2)],
    place: byTuples ? { namespace: 'n1' } : {},
    own: foreign.filter(isOwn).map(({ blob_hash }) => blob_hash),
    strangeBlob: (await http.ask('GET', `${crowded.path}/grains/${strangers[0]}/raw`)).bytes,
  };
}

async function requireTuples(twin: Twin): Promise<void> {
  for (const relation of ['editor', 'eraser'])
    await twin.post('/authz/grant', { subject: 'user:bound', relation, object: 'namespace:n1' });
  await twin.post('/authz/grant', { subject: 'user:bound', relation: 'user', object: 'harness:support' });
  await twin.put('/policy', { overrides: { 'access.authz_required': true } });
}

const EVERYTHING = {
  explanation: true,
  score_breakdown: true,
  count_entities: true,
  include_sources: true,
  query_expansion: true,
  query_decompose: true,
  multi_hop: 2,
  session_census: true,
  exhaustive: true,
  preference_enrichment: true,
  record_provenance: true,
};

/** Questions for both twins, by operation. Every operation that must respect the binding has an entry. */
const READS: Readonly<Record<string, (pair: Pair) => readonly Question[]>> = {
  stats: () => [get('/stats')],
  tier_info: () => [get('/tier-info')],
  memory_metrics: () => ['intel', 'ops'].map((domain) => exec('metrics', { domain })),
  get_memory: () => [get('')],
  session_bootstrap: () => ['s1', 'n1', 'n9', 'default'].map((sid) => get(`/sessions/${sid}/bootstrap`)),
  session_state: () => [get('/sessions/s1/state')],
  session_actions: () => [get('/sessions/s1/actions?limit=1'), get('/sessions/s1/actions?tool_name=search')],
  session_actions_summary: () => ['s1', 'n1', 'n9'].map((sid) => get(`/sessions/${sid}/actions/summary`)),
  session_actions_chain: () => [get('/sessions/s1/actions/chain/t1'), get('/sessions/s1/actions/chain/c1')],
  states_diff: ({ outside: [strange = ''], own: [mine = ''] }) => [
    refused(post('/states/diff', { old_hash: strange, new_hash: mine })),
    refused(post('/states/diff', { old_hash: mine, new_hash: strange })),
  ],
  session_context: () => [
    get('/sessions/s1/context?query=tea'),
    get('/sessions/n9/context?format=text'),
    get('/sessions/s1/context?token_budget=80&format=text'),
  ],
  session_failed_actions: () => [get('/sessions/s1/actions/failed')],
  list_threads: () => [
    get('/chat/threads'),
    get('/chat/threads?archived=true'),
    get('/chat/threads?limit=1&order=asc'),
  ],
  list_harness_conversations: () => [get('/harnesses/support/conversations')],
  get_harness_conversation: () => [
    get('/harnesses/support/conversations/s1'),
    refused(get('/harnesses/support/conversations/s3')),
  ],
  get_harness_session: () => [refused(get('/harnesses/support/chat/sessions/ses_nothing'))],
  get_thread: () => [get('/chat/threads/s1'), ...['s2', 'n9'].map((id) => refused(get(`/chat/threads/${id}`)))],
  list_messages: () => [get('/chat/threads/s1/messages?limit=1'), get('/chat/threads/s1/messages?order=desc')],
  session_goals: () => ['s1', 'n1', 'n9'].map((sid) => get(`/sessions/${sid}/goals?state=all`)),
  session_goal_tree: () => ['s1', 'n1', 'n9'].map((sid) => get(`/sessions/${sid}/goals/tree`)),
  session_blocked_goals: () => [get('/sessions/s1/goals/blocked')],
  list_grains: () => [
    get('/grains?limit=2'),
    get('/grains?limit=50&include_superseded=true'),
    get('/grains?grain_type=belief'),
  ],
  graph: () => [get('/graph?start=ann&depth=3'), get('/graph?start=tea&direction=both&limit=3')],
  list_edges: () => [get('/graph/edges?limit=2'), get('/graph/edges?relation=likes')],
  get: ({ own, outside }) => [
    ...own.slice(0, 2).map((hash) => get(`/grains/${hash}`)),
    ...outside.map((hash) => refused(get(`/grains/${hash}`))),
  ],
  get_raw: ({ own, outside }) => [
    get(`/grains/${own[0]}/raw`),
    ...outside.map((hash) => refused(get(`/grains/${hash}/raw`))),
  ],
  history: ({ own, outside }) => [
    exec('history', { hash: own[0] }),
    ...outside.map((hash) => refused(exec('history', { hash }))),
  ],
  recall: () => [
    post('/recall', { query: 'tea weather' }),
    post('/recall', { query: `${STRANGE} tea`, ...EVERYTHING }),
    post('/recall', { query: 'what does Ada like and how was the wether?', ...EVERYTHING }),
    post('/recall', { subject: 'Ada', ...EVERYTHING, exclude_superseded: false }),
    post('/recall', { query: 'tea', namespace: 'n1', explanation: true, tags: ['none'] }),
    post('/recall', { query: 'tea', limit: 1, explanation: true }),
  ],
  search: () => [post('/search', { query: 'tea' }), post('/search', { query: STRANGE })],
  recall_chain: () => [
    post('/recall-chain', { question: `What does Ada like? How was the weather? Who is ${STRANGE}?` }),
  ],
  cal: ({ outside, own }) => [
    cal('RECALL beliefs LIKE "tea" LIMIT 5'),
    cal('RECALL beliefs LIKE "tea" WITH score_breakdown, explanation'),
    cal('RECALL beliefs | COUNT'),
    cal('RECALL beliefs | GROUP BY object'),
    cal('RECALL events ABOUT "weather" COUNT'),
    cal('RECALL beliefs CONTRADICTIONS'),
    cal('RECALL events RECENT 3'),
    cal('EXPLAIN RECALL beliefs LIKE "tea" WHERE subject = "Ada"'),
    cal('HISTORY WHERE subject = "Ada" AND relation = "likes"'),
    cal('DESCRIBE capabilities'),
    cal('DESCRIBE templates'),
    cal('ASSEMBLE FROM t: (RECALL beliefs ABOUT "Ada"), w: (RECALL events LIKE "weather") BUDGET 500 tokens'),
    ...[...own.slice(0, 1), ...outside].flatMap((hash) => [
      cal(`EXISTS sha256:${hash.slice(0, 16)}`),
      cal(`HISTORY sha256:${hash}`),
    ]),
  ],
  export_file: () => [get('/export-file')],
  policy: () => [get('/policy'), get('/policy?version=1'), refused(get('/policy?version=2'), 400)],
  policy_resolved: () => [exec('policy_resolved', {})],
  list_provenance: () => [get('/provenance?limit=2'), get('/provenance')],
  provenance_summary: () => [get('/provenance/summary')],
  get_provenance: () => [refused(get(`/provenance/${'0'.repeat(64)}`))],
  // Entries of reads are written with the next group, so their order differs.
  events: () => [
    get('/events?since=0', { accept: 'application/json' }),
    get('/events?since=0&types=grain_created,crypto_erase', { accept: 'application/json' }),
  ],
  audit: ({ partitions }) => [
    // The second of their entries decides of which partition the newest are.
    ...(partitions === 1 ? [get('/audit?event_type=memory.added&limit=2')] : []),
    get('/audit?event_type=memory.added'),
  ],
  consent_status: () => [get('/consent/status'), get('/consent/status?purpose=ads')],
  restrictions: () => [exec('restrictions', {})],
  export_user: () => [],
  export_portability: () => [],
  export_portability_command: () => [exec('export_portability', { user_id: 'ann' })],
  export_user_file: () => [get('/export/ann')],
  list_keys: () => [],
  list_memories: () => [],
};

/** In this order: later entries depend on earlier ones. */
const WRITES: Readonly<Record<string, (pair: Pair) => readonly Question[]>> = {
  flush: () => [post('/flush', {}), post('/flush', {})],
  add: ({ place }) => [
    post('/add', { subject: 'Ada', relation: 'likes', object: `tea ${STRANGE} 3`, created_at: THEN, ...place }),
    post('/add', {
      subject: 'Ada',
      relation: 'likes',
      object: 'green tea',
      confidence: 0.9,
      created_at: THEN,
      ...place,
    }),
  ],
  batch_add: ({ outside, place }) => [
    post('/batch-add', {
      grains: [
        {
          grain_type: 'event',
          fields: { content: 'new', related_to: [outside[0]], derived_from: outside[1], created_at: THEN, ...place },
        },
      ],
    }),
  ],
  remember: ({ place }) => [
    post('/remember', { text: 'Ada lives in Paris. Ada likes tea.', created_at: THEN, ...place }),
  ],
  supersede: ({ outside }) => outside.map((hash) => refused(post('/supersede', { blob_hash: hash, object: 'x' }))),
  accumulate: ({ outside }) => [
    ...outside.map((hash) => refused(post('/accumulate', { blob_hash: hash, deltas: { count: 1 } }))),
    refused(post('/accumulate', { subject: 'Ada', relation: 'likes', deltas: { count: 1 }, namespace: 'n9' })),
  ],
  create_goal: ({ outside: [strange = ''], place }) => [
    {
      ...post('/sessions/s1/goals/create', {
        description: `drink ${STRANGE}`,
        parent_goals: [strange],
        created_at: THEN,
        ...place,
      }),
      status: 201,
    },
  ],
  harness_chat: ({ place: { namespace } }) => {
    // A caller that tuples narrow says where it writes.
    const headers: Record<string, string> = namespace === undefined ? {} : { 'x-namespace': namespace };
    return [
      { ...post('/harnesses/support/chat', { conversation_id: 's1', user_message: 'hello' }), headers },
      { ...post('/harnesses/support/chat', { conversation_id: 'n9', user_message: `about ${STRANGE}` }), headers },
      get('/harnesses/support/conversations'),
    ];
  },
  harness_resume: () => [
    refused(post('/harnesses/support/chat/resume', { session_id: 'ses_nothing', tool_outputs: [] })),
  ],
  cancel_harness_session: () => [
    { ...refused(get('/harnesses/support/chat/sessions/ses_nothing')), name: 'DELETE a session', verb: 'DELETE' },
  ],
  create_thread: ({ place }) => [{ ...post('/chat/threads', { title: `about ${STRANGE}`, ...place }), status: 201 }],
  // test/conformance/chat.test.ts asks a model what it is shown.
  chat_stream: () => [],
  change_thread: () => [
    { ...post('/chat/threads/s1', { title: 'About green tea', archived: true }), name: 'PATCH s1', verb: 'PATCH' },
    { ...refused(post('/chat/threads/n9', { archived: true })), name: 'PATCH n9', verb: 'PATCH' },
  ],
  delete_thread: () => [
    { ...refused(get('/chat/threads/n9')), name: 'DELETE n9', verb: 'DELETE' },
    { ...get('/chat/threads/s1'), name: 'DELETE s1', verb: 'DELETE' },
  ],
  move_goal: ({ outside }) => outside.map((hash) => refused(put(`/goals/${hash}/state`, { state: 'failed' }))),
  delegate_goal: ({ outside }) =>
    outside.map((hash) => refused(post(`/goals/${hash}/delegate`, { target_agent: 'mole' }))),
  forget: ({ outside }) => [
    ...outside.map((hash) => refused(post('/forget', { blob_hash: hash }))),
    post('/forget', { hashes: [...outside] }),
    post('/forget', { subject: STRANGE }),
    post('/forget', { subject: 'Ada', dry_run: true }),
  ],
  extract_document: () => [{ name: 'a text', verb: 'POST', path: '/extract-document', body: () => textForm('Plain.') }],
  import_document: () => [
    // The chunk that the other twin holds outside the binding is not a duplicate here.
    { name: 'a document', verb: 'POST', path: '/import-document', body: () => textForm(`About ${STRANGE}.`) },
    { name: 'a document outside', verb: 'POST', path: '/import-document?namespace=n9', body: () => textForm('Out.') },
  ],
  // Ids and times of jobs differ: test/conformance/imports.test.ts shows what a bound caller sees of others' jobs.
  create_import: () => [],
  list_imports: () => [get('/imports')],
  get_import: () => [refused(get('/imports/job_a'))],
  stream_import: () => [refused(get('/imports/job_a/stream'))],
  cancel_import: () => [refused(post('/imports/job_a/cancel', {}))],
  import_file: ({ strangeBlob }) => [
    {
      name: 'import of a grain of others',
      verb: 'POST',
      path: '/import-file',
      body: () => {
        const form = new FormData();
        form.append('file', new Blob([Uint8Array.from(strangeBlob)]), 'f.mg');
        return form;
      },
    },
  ],
  session_consolidate: () => [
    post('/sessions/s1/consolidate', { dry_run: true }),
    post('/sessions/s1/consolidate', {}),
    post('/sessions/n9/consolidate', {}),
  ],
  create_key: () => [],
  revoke_key: () => [],
};

/** Operations whose answers concern keys and memories; test/access/reach.test.ts and principals.test.ts cover them. */
test('this test covers each operation that respects the binding', () => {
  const rows = OPERATIONS.filter(({ reach }) => reach === 'binding').map(({ name }) => name);
  const asked = new Set([...Object.keys(READS), ...Object.keys(WRITES)]);
  assert.deepEqual(
    rows.filter((name) => !asked.has(name)),
    [],
  );
});

/** Operations that need a relation to the whole memory. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  ...['audit', 'list_provenance', 'provenance_summary', 'get_provenance', 'policy', 'policy_resolved', 'get_memory'],
  // An export quotes the audit trail.
  ...['export_portability_command', 'export_user_file'],
]);

const BINDINGS: readonly (readonly [name: string, binding: Binding, outside: Binding, byTuples?: true])[] = [
  ['a namespace', { namespace: 'n1' }, { namespace: 'n9' }],
  ['a user', { user_id: 'ann' }, { user_id: 'zoe' }],
  ['a namespace by tuples', { namespace: 'n1' }, { namespace: 'n9' }, true],
];

for (const [name, binding, outside, byTuples = false] of BINDINGS)
  for (const partitions of [1, 3])
    describe(`bound to ${name}, ${partitions} partitions`, () => {
      let pair: Pair;
      before(async () => {
        pair = await pairOf(partitions, binding, outside, byTuples);
      });
      test('get_provenance of an own record', { skip: byTuples && 'needs an auditor' }, async () => {
        const records = pair.twins.map(async (twin) => {
          const asked = { query: 'tea weather', ...EVERYTHING };
          const { recall_id: id } = await twin.post('/recall', asked, { 'x-request-id': 'req_twin' });
          return twin.shownTo(get(`/provenance/${id}?explain=true`));
        });
        const [lone, crowded] = await Promise.all(records);
        assert.match(lone!, /^200 /);
        assert.equal(crowded, lone);
      });
      for (const [row, questions] of [...Object.entries(READS), ...Object.entries(WRITES)])
        test(row, async () => {
          // Audit entries have no namespace, so a caller bound to one sees none.
          const isRefused = byTuples ? OF_THE_WHOLE.has(row) : row === 'audit' && 'namespace' in binding;
          const asked = questions(pair).map((question) => (isRefused ? refused(question, 403) : question));
          await askTwins(pair.twins, asked);
        });
    });

function textForm(text: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([text]), 'notes.txt');
  return form;
}
