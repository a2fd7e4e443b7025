// Every list of the service takes limit, cursor and offset in the same way, and answers with total and next_cursor. The
// test walks the table of operations. A list with a row here is read page by page; of another one, the bad pages are asked for.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import type { ParsedJson } from './driver.ts';
import type { HttpClient, Reply } from './http-client.ts';
import { serveSuite } from './http-suite.ts';

interface List {
  /** Path, or the command of app/exec. */
  readonly at: string | { readonly command: string };
  readonly member: string;
  readonly idOf: (item: ParsedJson) => string;
  /** The time that orders it, in seconds; absent for a list with an order of its own. */
  readonly timeOf?: (item: ParsedJson) => number;
  /** Makes further items of a memory that has fewer than five. */
  readonly fill?: (http: HttpClient, path: string) => Promise<unknown>;
}

const FIVE = ['a', 'b', 'c', 'd', 'e'];
const SID = 'paged';

const each = (work: (name: string, at: number) => Promise<unknown>) => async (): Promise<void> => {
  for (const [at, name] of FIVE.entries()) await work(name, at);
};

const LISTS: Readonly<Record<string, List>> = {
  list_grains: { at: 'M/grains', member: 'grains', idOf: ({ hash }) => hash, timeOf: ({ created_at }) => created_at },
  session_actions: {
    at: `M/sessions/${SID}/actions`,
    member: 'actions',
    idOf: ({ hash }) => hash,
    timeOf: ({ created_at }) => created_at,
    // Those of a namespace lie in several partitions.
    fill: (http, path) =>
      each((name, at) =>
        http.post(`${path}/add`, {
          grain_type: 'action',
          fields: {
            tool_name: name,
            input: { name },
            is_error: true,
            namespace: SID,
            created_at: 1_700_000_000 + (at % 3),
          },
        }),
      )(),
  },
  session_failed_actions: {
    at: `M/sessions/${SID}/actions/failed`,
    member: 'actions',
    idOf: ({ hash }) => hash,
    timeOf: ({ created_at }) => created_at,
  },
  session_goals: {
    at: `M/sessions/${SID}/goals`,
    member: 'goals',
    idOf: ({ hash }) => hash,
    fill: (http, path) =>
      each(async (name, at) => {
        const fields = { description: name, namespace: SID, user_id: name, priority: ['high', 'low'][at % 2] };
        await http.post(`${path}/add`, { grain_type: 'goal', fields });
        const blocked = { ...fields, description: `${name}, blocked`, goal_state: 'suspended' };
        await http.post(`${path}/add`, { grain_type: 'goal', fields: blocked });
      })(),
  },
  session_blocked_goals: { at: `M/sessions/${SID}/goals/blocked`, member: 'goals', idOf: ({ hash }) => hash },
  consent_status: {
    at: 'M/consent/status',
    member: 'users',
    idOf: ({ user_id }) => user_id,
    fill: (http, path) => each((user_id) => http.post(`${path}/consent/grant`, { user_id, purpose: 'storage' }))(),
  },
  restrictions: {
    at: { command: 'restrictions' },
    member: 'restrictions',
    idOf: ({ user_id }) => user_id,
    timeOf: ({ restricted_at }) => restricted_at,
    fill: (http, path) =>
      each((name) =>
        http.post(`${path}/app/exec`, {
          command: 'restrict',
          args: { user_id: `restricted ${name}`, reason: 'asked' },
        }),
      )(),
  },
  retention_status: {
    at: 'M/retention/status',
    member: 'namespaces',
    idOf: ({ namespace }) => namespace,
    fill: (http, path) =>
      each((namespace) =>
        http.post(`${path}/add`, { subject: namespace, relation: 'is', object: 'here', namespace }),
      )(),
  },
  list_access: {
    at: { command: 'authz_list' },
    member: 'tuples',
    idOf: ({ subject }) => subject,
    fill: (http, path) =>
      each((name) =>
        http.post(`${path}/authz/grant`, {
          subject: `user:${name}`,
          relation: 'viewer',
          object: 'namespace:facts',
        }),
      )(),
  },
  agent_identities: {
    at: 'M/agents/identities',
    member: 'identities',
    idOf: ({ agent_id }) => agent_id,
    timeOf: ({ created_at }) => created_at,
    fill: (http, path) => each((agent_id) => http.post(`${path}/agents/identities`, { agent_id }))(),
  },
  agents: { at: 'M/agents', member: 'agents', idOf: ({ agent_id }) => agent_id },
  list_harnesses: {
    at: 'M/harnesses',
    member: 'harnesses',
    idOf: ({ slug }) => slug,
    fill: (http, path) => each((name) => http.post(`${path}/harnesses`, { slug: `harness-${name}`, name }))(),
  },
  harness_tools: {
    at: 'M/harnesses/harness-a/tools',
    member: 'tools',
    idOf: ({ tool_name }) => tool_name,
    fill: (http, path) =>
      each((name) =>
        http.post(`${path}/harnesses/harness-a/bind-tool`, {
          tool_name: `tool.${name}`,
          description: 'Finds something.',
          input_schema: { type: 'object', properties: {} },
          location: 'client://here',
        }),
      )(),
  },
  list_keys: {
    at: '/auth/keys',
    member: 'keys',
    idOf: ({ key_id }) => key_id,
    timeOf: ({ created_at }) => created_at,
    fill: (http) => each((name) => http.post('/auth/keys', { name }))(),
  },
  list_memories: {
    at: '/memories',
    member: 'memories',
    idOf: ({ id }) => id,
    timeOf: ({ created_at }) => created_at,
    fill: (http) => each((name) => http.post('/memories', { name }))(),
  },
  list_hooks: {
    at: 'M/hooks',
    member: 'hooks',
    idOf: ({ hook_id }) => hook_id,
    timeOf: ({ created_at }) => created_at,
    fill: (http, path) => each((name) => http.post(`${path}/hooks`, { name }))(),
  },
  list_threads: {
    at: 'M/chat/threads',
    member: 'threads',
    idOf: ({ thread_id }) => thread_id,
    timeOf: ({ created_at }) => created_at,
    fill: (http, path) => each((title) => http.post(`${path}/chat/threads`, { title }))(),
  },
  // Oldest first, unless asked otherwise.
  list_messages: {
    at: `M/chat/threads/${SID}/messages`,
    member: 'messages',
    idOf: ({ id }) => id,
    fill: async (http, path) => {
      const state = { data: { title: SID }, session_id: SID, tags: ['chat_thread'] };
      await http.post(`${path}/add`, { grain_type: 'state', fields: state });
      await each((content) =>
        http.post(`${path}/add`, { grain_type: 'event', fields: { content, role: 'user', namespace: SID } }),
      )();
    },
  },
  audit: {
    // A call that reads the trail adds to it unless it asks for an older part.
    at: 'M/audit?event_type=memory.added',
    member: 'entries',
    idOf: ({ hash }) => hash,
    timeOf: ({ timestamp }) => timestamp,
  },
  list_provenance: {
    at: 'M/provenance',
    member: 'records',
    idOf: ({ recall_id }) => recall_id,
    timeOf: ({ timestamp }) => timestamp,
    fill: (http, path) => each((query) => http.post(`${path}/recall`, { query }))(),
  },
  compliance_violations: {
    at: 'M/compliance/violations',
    member: 'violations',
    idOf: ({ id }) => id,
    fill: (http, path) =>
      http.call('PUT', `${path}/policy`, {
        json: { add_policies: ['gdpr', 'hipaa', 'soc2', 'eu_ai_act'], reason: 'test' },
      }),
  },
};

const BAD_PAGES = [{ limit: 0 }, { offset: -1 }, { offset: 10_001 }, { cursor: 'no cursor' }, { limit: 'x' }];

/** Answers with a total that are no lists: the number of their rows is fixed. */
const FIXED: readonly string[] = ['compliance_metrics', 'memory_metrics', 'verify_compliance', 'verify_latest'];

/** Lists that do not count their items. */
const UNCOUNTED: readonly string[] = ['list_edges'];

const lists = OPERATIONS.filter(({ output, name }) => 'total' in membersOf(output) && !FIXED.includes(name));

function membersOf(schema: unknown): Readonly<Record<string, unknown>> {
  return (schema as { readonly properties?: Record<string, unknown> }).properties ?? {}; // an object schema
}

test('every list takes the members of a page and answers with a total and a cursor', () => {
  for (const { name, input, output, paged } of lists) {
    const missing = ['limit', 'cursor', 'offset'].filter((member) => !(member in membersOf(input)));
    assert.deepEqual([missing, 'nextCursor' in membersOf(output), paged], [[], true, true], name);
    if (LISTS[name]?.timeOf !== undefined) assert.ok('order' in membersOf(input), `${name} has an order`);
  }
  const known = new Set(lists.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(LISTS).filter((name) => !known.has(name)),
    [],
  );
});

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`lists, ${listener}, ${partitions} partitions`, () => {
    const { http, memory } = serveSuite(listener, partitions);
    let path: string;
    before(async () => {
      path = await memory();
      for (const { fill } of Object.values(LISTS)) await fill?.(http, path);
      await http.post(`${path}/verify/run`, {});
    });

    const ask = ({ at }: List, page: Readonly<Record<string, string | number>>): Promise<Reply> => {
      if (typeof at !== 'string') return http.ask('POST', `${path}/app/exec`, { json: { ...at, args: page } });
      const query = new URLSearchParams(
        Object.entries(page).map(([name, value]): [string, string] => [name, `${value}`]),
      );
      return http.ask('GET', `${at.replace(/^M/, path)}${at.includes('?') ? '&' : '?'}${query}`);
    };
    const page = async (list: List, asked: Readonly<Record<string, string | number>>): Promise<ParsedJson> => {
      const { status, json } = await ask(list, asked);
      assert.equal(status, 200, JSON.stringify(json));
      return typeof list.at === 'string' ? json : json.result;
    };
    const codeOf = async (list: List, asked: Readonly<Record<string, string | number>>): Promise<unknown> => {
      const { status, json } = await ask(list, asked);
      return [status, json.error?.code];
    };
    const ids = (list: List, json: ParsedJson): string[] => json[list.member].map(list.idOf);

    for (const { name, http: faces = [] } of lists) {
      const [face] = faces;
      if (name in LISTS || face === undefined || face.path.replace('M', '').includes('{')) continue;
      const list: List = { at: face.path, member: '', idOf: () => '' };
      test(`${name}, bad pages`, async () => {
        for (const bad of BAD_PAGES) assert.deepEqual(await codeOf(list, bad), [400, 'VAL-E004'], JSON.stringify(bad));
        const { total, next_cursor } = await page(list, { offset: 10_000 });
        const expected = UNCOUNTED.includes(name) ? null : 'number';
        assert.deepEqual([total === null ? null : typeof total, next_cursor], [expected, null]);
      });
    }

    for (const [name, list] of Object.entries(LISTS))
      test(name, async () => {
        const whole = await page(list, { limit: 500 });
        const all = ids(list, whole);
        assert.ok(all.length >= 3, `${all.length} items`);
        assert.equal(new Set(all).size, all.length);
        assert.deepEqual([whole.total, whole.next_cursor], [all.length, null]);

        const paged: string[] = [];
        const cursors: string[] = [];
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const { total, next_cursor, ...rest } = await page(list, {
            limit: 2,
            ...(cursor === undefined ? {} : { cursor }),
          });
          assert.equal(total, all.length);
          paged.push(...ids(list, rest));
          if (next_cursor !== null) cursors.push(next_cursor);
          cursor = next_cursor;
          assert.ok(paged.length <= all.length);
        }
        assert.deepEqual(paged, all, 'page by page');

        assert.deepEqual(ids(list, await page(list, { limit: 2, offset: 1 })), all.slice(1, 3), 'an offset');
        assert.deepEqual(ids(list, await page(list, { limit: 500, offset: 3 })), all.slice(3), 'an offset to the end');
        const beyond = await page(list, { offset: 10_000 });
        assert.deepEqual([ids(list, beyond), beyond.total, beyond.next_cursor], [[], all.length, null]);
        const second = await page(list, { limit: 1, offset: 1, cursor: cursors[0]! });
        assert.deepEqual(ids(list, second), all.slice(3, 4), 'an offset after a cursor');

        for (const bad of BAD_PAGES) assert.deepEqual(await codeOf(list, bad), [400, 'VAL-E004'], JSON.stringify(bad));
        const other = name === 'list_grains' ? LISTS['list_keys']! : LISTS['list_grains']!;
        const { next_cursor: foreign } = await page(other, { limit: 1 });
        assert.deepEqual(await codeOf(list, { cursor: foreign }), [400, 'VAL-E004'], 'a cursor of another list');

        const { timeOf } = list;
        if (timeOf === undefined) return;
        const times = (json: ParsedJson): number[] => json[list.member].map(timeOf);
        assert.deepEqual(
          times(whole),
          times(whole).toSorted((a, b) => b - a),
          'newest first',
        );
        const rising = await page(list, { limit: 500, order: 'asc' });
        assert.deepEqual(
          times(rising),
          times(rising).toSorted((a, b) => a - b),
          'oldest first',
        );
        assert.deepEqual(ids(list, rising).sort(), [...all].sort());
        assert.deepEqual(
          ids(list, await page(list, { limit: 2, offset: 1, order: 'asc' })),
          ids(list, rising).slice(1, 3),
        );
        const { next_cursor: cursor } = await page(list, { limit: 2, order: 'asc' });
        const rest = await page(list, { limit: 500, order: 'asc', cursor });
        assert.deepEqual(ids(list, rest), ids(list, rising).slice(2));
      });
  });
