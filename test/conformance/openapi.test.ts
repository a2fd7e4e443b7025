// The OpenAPI document: linter rules, and real answers checked against it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TAGS } from '../../src/server/operations/openapi-tags.ts';
import { faultsIn } from '../support/json-schema.ts';
import { startOpenAi } from '../support/models/openai.ts';
import type { ModelServer } from '../support/models/server.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { HttpClient, type Reply } from './http-client.ts';
import { CHECKED, DOCUMENT } from './openapi-answers.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON, looked into member by member
type Json = any;
let models: ModelServer;
const document: Json = DOCUMENT;

interface Place {
  readonly where: string;
  readonly path: string;
  readonly verb: string;
  readonly operation: Json;
}

const PLACES: readonly Place[] = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).map(([verb, operation]) => ({ where: `${verb} ${path}`, path, verb, operation })),
);

/** Every schema of the document, with its path. */
function schemasIn(node: Json, where: string, isSchema = false): { readonly where: string; readonly schema: Json }[] {
  if (node === null || typeof node !== 'object') return [];
  const own = isSchema && !Array.isArray(node) ? [{ where, schema: node }] : [];
  return [
    ...own,
    ...Object.entries<Json>(node).flatMap(([name, child]) => {
      if (name === 'schema' || name === 'items' || name === 'additionalProperties')
        return schemasIn(child, `${where}.${name}`, true);
      if (['properties', 'schemas', 'patternProperties'].includes(name))
        return Object.entries<Json>(child).flatMap(([member, one]) => schemasIn(one, `${where}.${member}`, true));
      if (name === 'anyOf') return child.flatMap((one: Json) => schemasIn(one, where, true));
      return schemasIn(child, `${where}.${name}`);
    }),
  ];
}

test('the document has contact, server and authentication', () => {
  const { info, servers, tags, components, security } = document;
  for (const member of ['title', 'version', 'description', 'contact', 'license']) assert.ok(info[member], member);
  assert.ok(servers.length > 0 && servers.every(({ url }: Json) => typeof url === 'string' && url !== ''));
  for (const { url, variables = {} } of servers)
    for (const [, name] of url.matchAll(/\{(\w+)\}/g)) assert.ok(variables[name]?.default, `variable ${name}`);
  for (const scheme of security)
    for (const name of Object.keys(scheme)) assert.ok(components.securitySchemes[name], `security ${name}`);
  const names = tags.map(({ name }: Json) => name);
  assert.equal(new Set(names).size, names.length);
  for (const { name, description } of tags) assert.ok(name !== '' && description !== '');
});

test('each operation has an id, descriptions, one declared tag, and schemas for success and failure', () => {
  const ids = PLACES.map(({ operation }) => operation.operationId);
  assert.equal(new Set(ids).size, ids.length, 'ids are unique');
  const tagged = TAGS.flatMap(({ operations }) => operations);
  assert.deepEqual(tagged.toSorted(), ids.toSorted(), 'every operation is in one group, and groups have no others');
  const declared = new Set(document.tags.map(({ name }: Json) => name));
  for (const { where, path, verb, operation } of PLACES) {
    assert.match(operation.operationId, /^[a-z][a-z_]*$/, where);
    assert.ok(operation.summary.length > 5 && operation.description.length > 5, where);
    assert.ok(operation.tags.length === 1 && declared.has(operation.tags[0]), where);
    const statuses = Object.keys(operation.responses);
    for (const group of [/^2\d\d$/, /^4\d\d$/])
      assert.ok(
        statuses.some((one) => group.test(one)),
        `${where}: ${group}`,
      );
    assert.equal(statuses.includes('401'), operation.security === undefined, `${where}: 401 if a key is required`);
    for (const [status, { description, content = {} }] of Object.entries<Json>(operation.responses)) {
      assert.ok(description.length > 3, where);
      assert.ok(status === '304' || Object.keys(content).length > 0, `${where}: ${status} has no content`);
      for (const { schema } of Object.values<Json>(content))
        assert.ok(Object.keys(schema).length > 0, `${where}: ${status}`);
    }
    if (verb === 'get') assert.equal(operation.requestBody, undefined, where);
    const inPath = operation.parameters.filter((one: Json) => one.in === 'path');
    assert.deepEqual(
      inPath.map(({ name }: Json) => name).toSorted(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted(),
      where,
    );
    for (const { name, description, required } of inPath)
      assert.ok(required === true && description !== '', `${where} ${name}`);
    const keys = operation.parameters.map((one: Json) => `${one.in} ${one.name}`);
    assert.equal(new Set(keys).size, keys.length, `${where}: parameters`);
  }
});

test('paths are distinct, without a final slash or a query', () => {
  const paths = Object.keys(document.paths);
  for (const path of paths) assert.match(path, /^(\/([a-z.-]+|\{[a-z_]+\}))+$/, path);
  const shapes = paths.map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
  assert.equal(new Set(shapes).size, shapes.length);
});

test('every schema has a description, and every component is used', () => {
  const schemas = schemasIn(document, '$');
  assert.ok(schemas.length > 500);
  for (const { where, schema } of schemas) {
    const { type, properties = {}, required = [], items } = schema;
    if (type === 'array') assert.ok(items !== undefined, `${where}: items`);
    if (Object.keys(properties).length > 0)
      for (const name of required)
        assert.ok(properties[name] !== undefined, `${where}: ${name} is required but not described`);
    if (schema.enum !== undefined) assert.equal(new Set(schema.enum).size, schema.enum.length, where);
    if (type === 'object' && schema.properties === undefined && where.includes('responses'))
      assert.notDeepEqual(schema, { type }, `${where}: an answer lists its members, or declares them open`);
  }
  const text = JSON.stringify(document);
  for (const [kind, named] of Object.entries<Json>(document.components))
    for (const name of Object.keys(named))
      assert.ok(
        kind === 'securitySchemes' || text.includes(`"#/components/${kind}/${name}"`),
        `${kind} ${name} is not used`,
      );
});

test('the checker of schemas finds what is wrong', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'integer', minimum: 1 }, b: { enum: ['x'] } },
  };
  assert.deepEqual(faultsIn({}, schema, { a: 1, b: 'x' }), []);
  for (const wrong of [{}, { a: 0 }, { a: 1.5 }, { a: 1, b: 'y' }, { a: 1, c: 1 }, [], null, 'a'])
    assert.notDeepEqual(faultsIn({}, schema, wrong), [], JSON.stringify(wrong));
  assert.notDeepEqual(faultsIn({}, { ...schema, oneOf: [] }, { a: 1 }), [], 'an unknown keyword');
});

const M = '/memories/default';
const TOOL = {
  tool_name: 'orders.find',
  description: 'Finds an order',
  input_schema: { type: 'object', properties: { id: { type: 'string' }, region: { type: 'string' } } },
  location: 'client://orders',
  locked_params: { region: 'eu' },
  examples: [{ id: '7' }],
  annotations: { read_only: true },
};

/** One valid request for each operation, in an order in which all succeed. */
const REQUESTS: readonly (readonly [operation: string, ask: (http: HttpClient, known: Known) => Promise<Reply>])[] = [
  ['health', (http) => http.ask('GET', '/health')],
  ['health_live', (http) => http.ask('GET', '/health/live')],
  ['health_ready', (http) => http.ask('GET', '/health/ready')],
  ['config', (http) => http.ask('GET', '/config')],
  ['openapi', (http) => http.ask('GET', '/openapi.json')],
  ['ner_status', (http) => http.ask('GET', '/settings/ner/status')],
  ['create_memory', (http) => http.ask('POST', '/memories', { json: { id: 'second', name: 'Second' } })],
  ['list_memories', (http) => http.ask('GET', '/memories')],
  ['get_memory', (http) => http.ask('GET', '/memories/second')],
  ['create_key', (http) => http.ask('POST', '/auth/keys', { json: { scopes: ['read'] } })],
  [
    'create_key',
    async (http) => {
      const repeated = { json: { scopes: ['read'] }, headers: { 'idempotency-key': 'one key' } };
      await http.ask('POST', '/auth/keys', repeated);
      return http.ask('POST', '/auth/keys', repeated);
    },
  ],
  ['whoami', (http) => http.ask('GET', '/auth/whoami')],
  ['list_keys', (http) => http.ask('GET', '/auth/keys')],
  ['revoke_key', (http, { key_id: id }) => http.ask('DELETE', `/auth/keys/${id}`)],
  ['add', (http) => http.ask('POST', `${M}/add`, { json: { ...BELIEF, user_id: 'u1', namespace: 'notes' } })],
  ['add', (http) => http.ask('POST', `${M}/add`, { json: { ...BELIEF, user_id: 'u1', namespace: 'notes' } })],
  ['get', (http, { blob_hash: hash }) => http.ask('GET', `${M}/grains/${hash}`)],
  ['get_raw', (http, { blob_hash: hash }) => http.ask('GET', `${M}/grains/${hash}/raw`)],
  [
    'batch_add',
    (http) =>
      http.ask('POST', `${M}/batch-add`, { json: { grains: [EVENT, EVENT, { grain_type: 'no', fields: {} }] } }),
  ],
  ['session_bootstrap', (http) => http.ask('GET', `${M}/sessions/s1/bootstrap`)],
  ['session_state', (http) => http.ask('GET', `${M}/sessions/s1/state`)],
  [
    'states_diff',
    async (http) => {
      const add = async (data: object): Promise<string> =>
        (await http.post(`${M}/add`, { grain_type: 'state', fields: { data } })).blob_hash;
      const [from, to] = [await add({ a: 1, b: { c: 1 } }), await add({ b: { c: 2 } })];
      return http.ask('POST', `${M}/states/diff`, { json: { from, to } });
    },
  ],
  [
    'create_goal',
    (http) => http.ask('POST', `${M}/sessions/s1/goals/create`, { json: { description: 'Refund', priority: 'high' } }),
  ],
  ['session_goals', (http) => http.ask('GET', `${M}/sessions/s1/goals`)],
  [
    'move_goal',
    async (http) => {
      const [{ hash }] = (await http.get(`${M}/sessions/s1/goals`)).goals;
      return http.ask('PUT', `${M}/goals/${hash}/state`, { json: { state: 'suspended', reason: 'waits' } });
    },
  ],
  [
    'delegate_goal',
    async (http) => {
      const [{ hash }] = (await http.get(`${M}/sessions/s1/goals/blocked`)).goals;
      return http.ask('POST', `${M}/goals/${hash}/delegate`, { json: { target_agent: 'billing' } });
    },
  ],
  ['session_goal_tree', (http) => http.ask('GET', `${M}/sessions/s1/goals/tree?limit=10`)],
  ['session_blocked_goals', (http) => http.ask('GET', `${M}/sessions/s1/goals/blocked`)],
  ['session_context', (http) => http.ask('GET', `${M}/sessions/s1/context?format=text&query=tea`)],
  ['session_consolidate', (http) => http.ask('POST', `${M}/sessions/s1/consolidate`, { json: { dry_run: true } })],
  ['session_actions', (http) => http.ask('GET', `${M}/sessions/s1/actions?limit=1`)],
  ['session_actions_summary', (http) => http.ask('GET', `${M}/sessions/s1/actions/summary`)],
  ['session_actions_chain', (http) => http.ask('GET', `${M}/sessions/s1/actions/chain/t1`)],
  ['session_failed_actions', (http) => http.ask('GET', `${M}/sessions/s1/actions/failed`)],
  ['list_grains', (http) => http.ask('GET', `${M}/grains?limit=1`)],
  ['graph', (http) => http.ask('GET', `${M}/graph?start=ann&direction=both`)],
  ['list_edges', (http) => http.ask('GET', `${M}/graph/edges?limit=1`)],
  [
    'recall',
    (http) =>
      http.ask('POST', `${M}/recall`, {
        json: { query: 'tea', score_breakdown: true, explanation: true, include_sources: true },
      }),
  ],
  ['get_provenance', (http, { recall_id: id }) => http.ask('GET', `${M}/provenance/${id}?explain=true`)],
  ['list_provenance', (http) => http.ask('GET', `${M}/provenance`)],
  ['provenance_summary', (http) => http.ask('GET', `${M}/provenance/summary`)],
  ['recall_chain', (http) => http.ask('POST', `${M}/recall-chain`, { json: { question: 'What does Ann drink?' } })],
  ['search', (http) => http.ask('POST', `${M}/search`, { json: { query: 'tea' } })],
  ['remember', (http) => http.ask('POST', `${M}/remember`, { json: { text: 'Ann likes tea.', extract_mode: 'sync' } })],
  [
    'remember',
    (http) => http.ask('POST', `${M}/remember`, { json: { messages: [{ role: 'user', content: 'Bob likes mate.' }] } }),
  ],
  ['add', (http) => http.ask('POST', `${M}/add`, { json: EVENT })],
  [
    'supersede',
    (http, { blob_hash: hash }) => http.ask('POST', `${M}/supersede`, { json: { blob_hash: hash, object: 'mate' } }),
  ],
  [
    'accumulate',
    (http, { new_hash: hash }) => http.ask('POST', `${M}/accumulate`, { json: { blob_hash: hash, deltas: { n: 1 } } }),
  ],
  ['flush', (http) => http.ask('POST', `${M}/flush`, { json: {} })],
  [
    'create_thread',
    (http) => http.ask('POST', `${M}/chat/threads`, { json: { title: 'Tea', metadata: { at: 'home' } } }),
  ],
  [
    'chat_stream',
    async (http) => {
      await http.call('PUT', '/settings/providers/echo', { json: { kind: 'mock' } });
      return http.ask('POST', `${M}/chat/stream`, {
        json: { messages: [{ role: 'user', content: 'Is there tea?' }], provider: 'echo', model: 'echo' },
      });
    },
  ],
  ['list_threads', (http) => http.ask('GET', `${M}/chat/threads?archived=false`)],
  ['get_thread', async (http) => http.ask('GET', `${M}/chat/threads/${await threadOf(http)}`)],
  [
    'change_thread',
    async (http) => http.ask('PATCH', `${M}/chat/threads/${await threadOf(http)}`, { json: { archived: true } }),
  ],
  [
    'list_messages',
    async (http) => {
      const thread = await threadOf(http);
      const fields = { content: 'Is there tea?', role: 'user', session_id: thread };
      await http.post(`${M}/add`, { grain_type: 'event', fields });
      return http.ask('GET', `${M}/chat/threads/${thread}/messages`);
    },
  ],
  ['delete_thread', async (http) => http.ask('DELETE', `${M}/chat/threads/${await threadOf(http)}`)],
  [
    'create_harness',
    (http) => http.ask('POST', `${M}/harnesses`, { json: { slug: 'support', name: 'Support', template: 'blank' } }),
  ],
  ['get_harness', (http) => http.ask('GET', `${M}/harnesses/support`)],
  ['set_provider', (http) => http.ask('PUT', '/settings/providers/test', { json: { kind: 'mock' } })],
  ['list_providers', (http) => http.ask('GET', '/settings/providers')],
  ['test_provider', (http) => http.ask('POST', '/settings/providers/test/test', { json: { model: 'echo' } })],
  ['provider_models', (http) => http.ask('GET', '/settings/providers/test/models')],
  ['list_models', (http) => http.ask('GET', '/models?capability=chat')],
  ['set_llm_settings', (http) => http.ask('PUT', '/settings/llm', { json: { provider: 'test', model: 'echo' } })],
  ['llm_settings', (http) => http.ask('GET', '/settings/llm')],
  ['model_assignments', (http) => http.ask('GET', '/settings/model-assignments')],
  [
    'set_model_assignments',
    (http) => http.ask('PUT', '/settings/model-assignments', { json: { assignments: { chat: null } } }),
  ],
  ['delete_provider', (http) => http.ask('DELETE', '/settings/providers/test')],
  [
    'provision_harness',
    (http) => http.ask('POST', `${M}/harnesses/support/provision`, { json: { goal: 'Help', tools: [TOOL] } }),
  ],
  [
    'bind_tool',
    (http) => http.ask('POST', `${M}/harnesses/support/bind-tool`, { json: { ...TOOL, tool_name: 'other' } }),
  ],
  ['harness_chat', async (http) => (await pausedTurn(http)).reply],
  [
    'get_harness_session',
    async (http) => http.ask('GET', `${M}/harnesses/support/chat/sessions/${(await pausedTurn(http)).session}`),
  ],
  [
    'harness_resume',
    async (http) => {
      const { session, reply } = await pausedTurn(http);
      const [{ tool_call_id: id }] = reply.json.pending_tool_calls;
      return http.ask('POST', `${M}/harnesses/support/chat/resume`, {
        json: { session_id: session, tool_outputs: [{ tool_call_id: id, output: { state: 'shipped' } }] },
      });
    },
  ],
  [
    'cancel_harness_session',
    async (http) => http.ask('DELETE', `${M}/harnesses/support/chat/sessions/${(await pausedTurn(http)).session}`),
  ],
  ['list_harness_conversations', (http) => http.ask('GET', `${M}/harnesses/support/conversations`)],
  ['get_harness_conversation', (http) => http.ask('GET', `${M}/harnesses/support/conversations/c${conversations - 1}`)],
  ['harness_tools', (http) => http.ask('GET', `${M}/harnesses/support/tools`)],
  [
    'change_harness',
    (http) => http.ask('PATCH', `${M}/harnesses/support`, { json: { system_prompt: 'Be brief.', model: 'large' } }),
  ],
  ['list_harnesses', (http) => http.ask('GET', `${M}/harnesses`)],
  ['delete_harness', (http) => http.ask('DELETE', `${M}/harnesses/support`)],
  [
    'create_hook',
    (http) => http.ask('POST', `${M}/hooks`, { json: { event_filters: ['grain_created'], generate_secret: true } }),
  ],
  ['list_hooks', (http) => http.ask('GET', `${M}/hooks`)],
  [
    'delete_hook',
    async (http) => {
      const { hooks } = await http.get(`${M}/hooks`);
      return http.ask('DELETE', `${M}/hooks/${hooks[0].hook_id}`);
    },
  ],
  ['events', (http) => http.ask('GET', `${M}/events?since=0`, { headers: { accept: 'application/json' } })],
  ['export_file', (http) => http.ask('GET', `${M}/export-file`)],
  ['import_file', (http, known) => http.ask('POST', '/memories/second/import-file', { body: formOf(known.file) })],
  [
    'import_document',
    (http) =>
      http.ask('POST', '/memories/second/import-document?chunk_size=100&extract=true', {
        body: formOf(Buffer.from('# Title\nAda lives in Oslo.'), 'notes.md'),
      }),
  ],
  [
    'create_import',
    (http) => http.ask('POST', `${M}/imports`, { body: formOf(Buffer.from('Ada lives in Oslo.'), 'a.txt') }),
  ],
  ['list_imports', (http) => http.ask('GET', `${M}/imports`)],
  ['get_import', async (http) => http.ask('GET', `${M}/imports/${await importedBy(http)}`)],
  ['stream_import', async (http) => http.ask('GET', `${M}/imports/${await importedBy(http)}/stream`)],
  ['cancel_import', async (http) => http.ask('POST', `${M}/imports/${await importedBy(http)}/cancel`, { json: {} })],
  [
    'extract_document',
    (http) => http.ask('POST', `${M}/extract-document`, { body: formOf(Buffer.from('# Title\nText.'), 'notes.md') }),
  ],
  ['grant_consent', (http) => http.ask('POST', `${M}/consent/grant`, { json: { user_id: 'u1', purpose: 'storage' } })],
  [
    'grant_consents',
    (http) =>
      http.ask('POST', `${M}/consent/grant-bulk`, { json: { consents: [{ user_id: 'u2', purpose: 'storage' }] } }),
  ],
  [
    'revoke_consent',
    (http) => http.ask('POST', `${M}/consent/revoke`, { json: { user_id: 'u2', purpose: 'storage' } }),
  ],
  ['consent_status', (http) => http.ask('GET', `${M}/consent/status?user_id=u1`)],
  ['policy', (http) => http.ask('GET', `${M}/policy`)],
  ['simulate_policy', (http) => http.ask('POST', `${M}/policy/simulate`, { json: { add_policies: ['gdpr'] } })],
  [
    'set_policy',
    (http) => http.ask('PUT', '/memories/second/policy', { json: { add_policies: ['gdpr'], reason: 'the law' } }),
  ],
  [
    'simulate_policy',
    (http) => http.ask('POST', '/memories/second/policy/simulate', { json: { remove_policies: ['gdpr'] } }),
  ],
  ['retention_status', (http) => http.ask('GET', `${M}/retention/status`)],
  ['enforce_retention', (http) => http.ask('POST', `${M}/retention/enforce`, { json: {} })],
  ['detect_pii', (http) => http.ask('POST', `${M}/detect-pii`, { json: { text: 'Mail ann@example.com' } })],
  [
    'detect_pii',
    (http) => http.ask('POST', `${M}/detect-pii`, { json: { text: 'Mail ann@example.com', detailed: true } }),
  ],
  ['grant_access', (http) => http.ask('POST', `${M}/authz/grant`, { json: TUPLE })],
  ['check_access', (http) => http.ask('GET', `${M}/authz/check?${new URLSearchParams(TUPLE)}`)],
  [
    'check_access',
    (http) => http.ask('GET', `${M}/authz/check?${new URLSearchParams({ ...TUPLE, relation: 'eraser' })}`),
  ],
  ['register_agent', (http) => http.ask('POST', `${M}/agents/identities`, { json: AGENT })],
  ['agent_identities', (http) => http.ask('GET', `${M}/agents/identities?status=active`)],
  ['agents', (http) => http.ask('GET', `${M}/agents?limit=5`)],
  ['agent', (http) => http.ask('GET', `${M}/agents/planner`)],
  ['deactivate_agent', (http) => http.ask('POST', `${M}/agents/identities/planner/deactivate`, { json: REASON })],
  ['agent_identity', (http) => http.ask('GET', `${M}/agents/identities/planner`)],
  ['revoke_access', (http) => http.ask('POST', `${M}/authz/revoke`, { json: TUPLE })],
  ['set_scope_tree', (http) => http.ask('PUT', `${M}/scope-tree`, { json: TREE })],
  ['scope_tree', (http) => http.ask('GET', `${M}/scope-tree`)],
  ['scope_erase', (http) => http.ask('POST', `${M}/scope-erase`, { json: { scope_path: 'a/b', dry_run: true } })],
  ['scope_erase', (http) => http.ask('POST', `${M}/scope-erase`, { json: { scope_path: 'a/b', reason: 'over' } })],
  ['delete_scope_tree', (http) => http.ask('DELETE', `${M}/scope-tree`)],
  ['stats', (http) => http.ask('GET', `${M}/stats`)],
  ['stats_history', (http) => http.ask('GET', `${M}/stats/history`)],
  ['tier_info', (http) => http.ask('GET', `${M}/tier-info`)],
  ['audit', (http) => http.ask('GET', `${M}/audit?verify=true`)],
  ['verify_compliance', (http) => http.ask('POST', `${M}/verify/run`, { json: {} })],
  ['verify_latest', (http) => http.ask('GET', `${M}/verify/latest`)],
  ['compliance_metrics', (http) => http.ask('GET', `${M}/compliance/metrics`)],
  ['compliance_violations', (http) => http.ask('GET', `${M}/compliance/violations`)],
  ['compliance_impact', (http) => http.ask('GET', `${M}/compliance/impact`)],
  ...['json', 'csv', 'text'].map(
    (format) =>
      ['compliance_export', (http: HttpClient) => http.ask('GET', `${M}/compliance/export?format=${format}`)] as const,
  ),
  ['export_user_file', (http) => http.ask('GET', `${M}/export/u1`)],
  ['export_user_file', (http) => http.ask('GET', `${M}/export/u1?portability=true`)],
  ['exec', (http) => http.ask('POST', `${M}/app/exec`, { json: { command: 'help' } })],
  [
    'forget',
    (http, { blob_hash: hash }) => http.ask('POST', `${M}/forget`, { json: { blob_hash: hash, dry_run: true } }),
  ],
  [
    'forget',
    (http, { blob_hash: hash }) => http.ask('POST', `${M}/forget`, { json: { blob_hash: hash, reason: 'asked' } }),
  ],
  ['forget', (http) => http.ask('POST', `${M}/forget`, { json: { user_id: 'u1', reason: 'asked' } })],
  ['open_subject_request', (http) => http.ask('POST', `${M}/subject-requests`, { json: { user_id: 'u1' } })],
  ['list_subject_requests', (http) => http.ask('GET', `${M}/subject-requests?status=open`)],
  ['get_subject_request', async (http) => http.ask('GET', await requestOf(http))],
  [
    'extend_subject_request',
    async (http) => http.ask('POST', `${await requestOf(http)}/extend`, { json: { reason: 'Many requests.' } }),
  ],
  ['report_subject_request', async (http) => http.ask('GET', `${await requestOf(http)}/report`)],
  [
    'report_subject_request',
    async (http) => http.ask('GET', `${await requestOf(http)}/report?format=html&language=de`),
  ],
  [
    'erase_subject_request',
    async (http) => http.ask('POST', `${await requestOf(http)}/erase`, { json: { confirm: 'u1' } }),
  ],
  ['report_subject_request', async (http) => http.ask('GET', `${await requestOf(http)}/report`)],
  ['close_subject_request', async (http) => http.ask('POST', `${await requestOf(http)}/close`, { json: {} })],
  ['erasure_proof', (http) => http.ask('GET', `${M}/erasure-proof?user_id=u1`)],
  ['proof_keys', (http) => http.ask('GET', '/proof-keys')],
  ['rotate_proof_key', (http) => http.ask('POST', '/proof-keys/rotate', { json: {} })],
  ['delete_memory', (http) => http.ask('DELETE', '/memories/second?dry_run=true')],
  ['delete_memory', (http) => http.ask('DELETE', '/memories/second?confirm=true')],
];

const BELIEF = { subject: 'ann', relation: 'likes', object: 'tea' };
/** The thread that the test made. */
async function threadOf(http: HttpClient): Promise<string> {
  const { threads } = await http.get(`${M}/chat/threads`);
  return threads[0].thread_id;
}

/** The path of the request that the test opened. */
async function requestOf(http: HttpClient): Promise<string> {
  const { requests } = await http.get(`${M}/subject-requests`);
  return `${M}/subject-requests/${requests[0].request_id}`;
}

let conversations = 0;

/** A turn that awaits its caller: the model asks for a tool, and answers when it has the result. */
async function pausedTurn(http: HttpClient): Promise<{ readonly reply: Reply; readonly session: string }> {
  await http.call('PUT', '/settings/providers/turns', { json: { kind: 'openai_compatible', base_url: models.url } });
  const reply = await http.ask('POST', `${M}/harnesses/support/chat`, {
    json: {
      conversation_id: `c${conversations++}`,
      user_message: 'Where is it?',
      provider: 'turns',
      model: 'scripted',
      client_tools: [{ tool_name: 'track', description: 'Tracks an order', input_schema: { type: 'object' } }],
    },
  });
  return { reply, session: reply.json.session_id };
}

const EVENT = { grain_type: 'event', fields: { content: 'Ann had tea.' } };
const TUPLE = { subject: 'user:ada', relation: 'viewer', object: 'namespace:acme' };
const AGENT = {
  agent_id: 'planner',
  name: 'Planner',
  did: 'did:web:example.com:planner',
  public_key: 'z6Mk',
  capabilities: ['plan'],
  metadata: { team: 'ops' },
};
const REASON = { reason: 'replaced' };
const TREE = { name: 'root', children: [{ name: 'a', children: [{ name: 'b' }] }] };

/** Values from earlier answers; the first of each is kept. */
type Known = Readonly<Record<string, unknown>> & { readonly file?: Uint8Array };

/** Imports a document, and gives the id of its job. */
async function importedBy(http: HttpClient): Promise<string> {
  const answer = await http.call('POST', `${M}/imports`, { body: formOf(Buffer.from('Ada lives in Oslo.'), 'a.txt') });
  return answer.job_id;
}

function formOf(file: Uint8Array | undefined, name = 'memory.mg'): FormData {
  const form = new FormData();
  form.append('file', new Blob([Uint8Array.from(file ?? [])]), name);
  return form;
}

for (const listener of ['uws', 'node'])
  describe(`answers match the document (${listener})`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ http: listener });
      models = await startOpenAi(({ body }) =>
        body.messages.at(-1).role === 'tool'
          ? { text: 'It is on its way.' }
          : { calls: [{ name: 'track', arguments: {} }] },
      );
    });
    after(async () => {
      await server.close();
      await models.close();
      assert.deepEqual(server.errors, []);
    });

    test('of every operation', async () => {
      const http = new HttpClient(server.http, server.key);
      let known: Known = {};
      CHECKED.clear();
      for (const [operation, ask] of REQUESTS) {
        const reply = await ask(http, known);
        assert.ok(reply.status < 300, `${operation}: ${reply.status} ${reply.text.slice(0, 300)}`);
        assert.ok(CHECKED.has(operation), `${operation} was called, and its answer checked`);
        known = { ...reply.json, ...(operation === 'export_file' ? { file: reply.bytes } : {}), ...known };
      }
      assert.deepEqual(
        [...CHECKED].toSorted(),
        PLACES.map(({ operation }) => operation.operationId).toSorted(),
        'every operation of the document was called',
      );
    });
  });
