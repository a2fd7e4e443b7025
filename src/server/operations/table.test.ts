import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { SERVICES } from '../grpc/services.ts';
import type { Operation } from './define.ts';
import { isMembers } from './names.ts';
import { fullPath, openApiDocument } from './openapi.ts';
import { RecallInput } from './recall/fields.ts';
import { OPERATIONS } from './table.ts';
import type { UnknownMember } from './unknown-members.ts';

/** The parts of an operation of the OpenAPI document that are looked at here. */
interface Described {
  readonly parameters: readonly { readonly in: string; readonly name: string }[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: object } }>>;
  };
}

/** Routes of the contract, by number. */
const SERVED: Readonly<Record<number, string>> = {
  1: 'POST M/add',
  2: 'POST M/batch-add',
  3: 'POST M/recall',
  4: 'POST M/search',
  5: 'GET M/grains',
  6: 'GET M/grains/{hash}',
  7: 'GET M/grains/{hash}/raw',
  9: 'POST M/recall-chain',
  8: 'POST M/remember',
  10: 'POST M/supersede',
  11: 'POST M/accumulate',
  12: 'POST M/forget',
  13: 'POST M/flush',
  14: 'POST M/app/exec',
  15: 'GET M/verify/latest',
  16: 'POST M/verify/run',
  17: 'GET M/compliance/metrics',
  18: 'GET M/compliance/violations',
  19: 'GET M/compliance/impact',
  20: 'GET M/compliance/export',
  21: 'POST M/detect-pii',
  23: 'GET M/retention/status',
  22: 'GET M/audit',
  24: 'POST M/retention/enforce',
  25: 'GET M/export/{user_id}',
  26: 'GET /settings/ner/status',
  31: 'GET M/provenance',
  32: 'GET M/provenance/summary',
  33: 'GET M/provenance/{recall_id}',
  27: 'POST M/consent/grant',
  28: 'POST M/consent/revoke',
  29: 'POST M/consent/grant-bulk',
  30: 'GET M/consent/status',
  34: 'GET M/sessions/{sid}/bootstrap',
  35: 'GET M/sessions/{sid}/state',
  36: 'GET M/sessions/{sid}/goals',
  37: 'GET M/sessions/{sid}/actions',
  38: 'GET M/sessions/{sid}/actions/summary',
  39: 'GET M/sessions/{sid}/actions/chain/{task}',
  40: 'GET M/sessions/{sid}/actions/failed',
  41: 'POST M/sessions/{sid}/goals/create',
  42: 'PUT M/goals/{hash}/state',
  43: 'POST M/goals/{hash}/delegate',
  44: 'GET M/sessions/{sid}/goals/tree',
  45: 'GET M/sessions/{sid}/goals/blocked',
  46: 'GET M/sessions/{sid}/context',
  47: 'POST M/sessions/{sid}/consolidate',
  48: 'POST M/states/diff',
  49: 'GET M/events',
  50: 'GET M/policy',
  51: 'PUT M/policy',
  52: 'POST M/policy/simulate',
  53: 'GET M/scope-tree',
  54: 'PUT M/scope-tree',
  55: 'DELETE M/scope-tree',
  56: 'POST M/scope-erase',
  57: 'GET M/hooks',
  58: 'POST M/hooks',
  59: 'DELETE M/hooks/{hook_id}',
  60: 'GET M/graph',
  61: 'POST M/authz/grant',
  62: 'POST M/authz/revoke',
  63: 'GET M/authz/check',
  64: 'GET /settings/llm',
  65: 'GET /settings/providers',
  66: 'GET /settings/providers/{id}/models',
  67: 'GET /models',
  68: 'GET /settings/model-assignments',
  69: 'PUT /settings/llm',
  70: 'PUT /settings/providers/{id}',
  71: 'DELETE /settings/providers/{id}',
  72: 'POST /settings/providers/{id}/test',
  73: 'PUT /settings/model-assignments',
  74: 'GET /config',
  75: 'GET /health',
  76: 'GET /auth/keys',
  77: 'POST /auth/keys',
  78: 'DELETE /auth/keys/{key_id}',
  79: 'GET /memories',
  80: 'POST /memories',
  81: 'GET M',
  82: 'DELETE M',
  83: 'GET M/stats',
  84: 'GET M/stats/history',
  85: 'GET M/tier-info',
  86: 'GET M/agents/identities',
  87: 'POST M/agents/identities',
  88: 'GET M/agents/identities/{agent_id}',
  89: 'POST M/agents/identities/{agent_id}/deactivate',
  90: 'POST M/import-document',
  94: 'POST M/chat/stream',
  95: 'GET M/chat/threads',
  96: 'POST M/chat/threads',
  97: 'GET M/chat/threads/{thread_id}',
  98: 'DELETE M/chat/threads/{thread_id}',
  99: 'PATCH M/chat/threads/{thread_id}',
  100: 'GET M/chat/threads/{thread_id}/messages',
  91: 'POST M/extract-document',
  92: 'POST M/import-file',
  93: 'GET M/export-file',
  101: 'POST M/imports',
  102: 'GET M/imports',
  103: 'GET M/imports/{job_id}',
  104: 'GET M/imports/{job_id}/stream',
  105: 'POST M/imports/{job_id}/cancel',
  106: 'GET M/agents',
  107: 'GET M/agents/{agent_id}',
  108: 'POST M/harnesses/{slug}/chat',
  109: 'POST M/harnesses/{slug}/chat/resume',
  110: 'GET M/harnesses/{slug}/chat/sessions/{session_id}',
  111: 'DELETE M/harnesses/{slug}/chat/sessions/{session_id}',
  112: 'GET M/harnesses/{slug}/conversations',
  113: 'GET M/harnesses/{slug}/conversations/{conversation_id}',
  114: 'POST M/harnesses/{slug}/bind-tool',
  115: 'GET M/harnesses/{slug}/tools',
  116: 'POST M/harnesses/{slug}/provision',
  117: 'GET M/harnesses',
  118: 'POST M/harnesses',
  119: 'GET M/harnesses/{slug}',
  120: 'PATCH M/harnesses/{slug}',
  121: 'DELETE M/harnesses/{slug}',
};

test('every rpc of the contract has one row', () => {
  const served = OPERATIONS.flatMap(({ grpc }) => (grpc === undefined ? [] : [grpc.rpc]));
  const methods = SERVICES.flatMap((service) => service.methods);
  assert.deepEqual([...served].sort(), [...methods].sort());
});

test('every route of the contract is served', () => {
  const rows = OPERATIONS.flatMap(({ http }) => http.map(({ verb, path }) => `${verb} ${path}`));
  const unnumbered = [
    ...['GET /openapi.json', 'GET /auth/whoami', 'GET /health/live', 'GET /health/ready'],
    ...['GET M/subject-requests', 'POST M/subject-requests', 'GET M/subject-requests/{request_id}'],
    ...['extend', 'erase', 'close'].map((act) => `POST M/subject-requests/{request_id}/${act}`),
    'GET M/subject-requests/{request_id}/report',
    ...['GET M/erasure-proof', 'GET /proof-keys', 'POST /proof-keys/rotate', 'GET M/graph/edges'],
  ];
  assert.deepEqual([...rows].sort(), [...Object.values(SERVED), ...unnumbered].sort());
  const numbers = Object.keys(SERVED).map(Number);
  numbers.sort((one, other) => one - other);
  assert.deepEqual(
    numbers,
    Array.from({ length: 121 }, (_, at) => at + 1),
  );
});

test('every row that a file here exports is in the table', async () => {
  const isRow = (value: unknown): value is Operation =>
    isMembers(value) && typeof value['perform'] === 'function' && Array.isArray(value['http']);
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' });
  let rows = 0;
  for (const file of files.filter((name) => /(?<!\.test)\.ts$/.test(name))) {
    const exported: Readonly<Record<string, unknown>> = await import(join(import.meta.dirname, file));
    for (const [name, row] of Object.entries(exported).filter(([, value]) => isRow(value))) {
      assert.ok(OPERATIONS.includes(row as Operation), `${file}: ${name} is not in table.ts`); // as filtered
      rows += 1;
    }
  }
  assert.ok(rows > 60, String(rows));
});

test('no two routes collide, whatever the names of their parameters', () => {
  const seen = new Set<string>();
  for (const row of OPERATIONS)
    for (const { verb, path } of row.http) {
      const shape = `${verb} ${fullPath(path).replace(/\{\w+\}/g, '{}')}`;
      assert.ok(!seen.has(shape), shape);
      seen.add(shape);
    }
});

test('names of operations and commands are unique', () => {
  const names = OPERATIONS.map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const commands = OPERATIONS.flatMap(({ exec }) => (exec === undefined ? [] : [exec.command]));
  assert.equal(new Set(commands).size, commands.length);
});

test('operations that delete, erase, restrict or govern refuse unknown members, and the rest report them', () => {
  const named = (onUnknown: string) =>
    OPERATIONS.filter((row) => row.mutates && row.onUnknown === onUnknown)
      .map(({ name }) => name)
      .sort();
  assert.deepEqual(named('warn'), [
    ...[
      'accumulate',
      'add',
      'backup',
      'batch_add',
      'bind_tool',
      'cal',
      'cancel_import',
      'change_harness',
      'change_thread',
      'chat_stream',
      'compact',
      'create_goal',
      'create_harness',
      'create_import',
      'create_thread',
    ],
    ...['delegate_goal', 'exec'],
    ...[
      'flush',
      'harness_chat',
      'harness_resume',
      'import_document',
      'import_file',
      'move_goal',
      'provision_harness',
      'rebuild_indexes',
      'register_agent',
      'remember',
      'supersede',
    ],
  ]);
  // Keys and memories are created with bindings and policies: a misspelt member would leave open what should be
  // restricted.
  assert.deepEqual(named('refuse'), [
    ...[
      'cal_switch',
      'cancel_harness_session',
      'close_subject_request',
      'create_hook',
      'create_key',
      'create_memory',
      'deactivate_agent',
      'delete_harness',
      'delete_hook',
    ],
    'delete_memory',
    'delete_provider',
    'delete_scope_tree',
    'delete_thread',
    'enforce_retention',
    ...['erase_subject_request', 'extend_subject_request'],
    ...['forget', 'forget_user', 'grant_access', 'grant_consent', 'grant_consents', 'lift_restriction'],
    'open_subject_request',
    ...[
      'restrict_processing',
      'resume_hook',
      'revoke_access',
      'revoke_consent',
      'revoke_key',
      'rotate_keys',
      'rotate_proof_key',
      'scope_erase',
      'session_consolidate',
      'set_llm_settings',
      'set_model_assignments',
      'set_policy',
      'set_provider',
      'set_scope_tree',
      'test_provider',
    ],
  ]);
});

test('every face finds a member and a parameter that its row does not know', () => {
  const hash = 'a'.repeat(64);
  const belief = { subject: 'a', relation: 'b', object: 'c' };
  // Bodies that pass the first checks of rows with a body of another shape.
  const wanted = { ...belief, fields: belief, grains: [], blob_hash: hash, question: 'q', text: 't' };
  for (const row of OPERATIONS)
    for (const face of row.http) {
      const where = `${face.verb} ${face.path}`;
      const json = face.body === 'json' ? { ...wanted, strang3r: 1 } : undefined;
      const file = face.body === 'file' ? { name: 'f', bytes: new Uint8Array(0) } : undefined;
      const unknown: UnknownMember[] = [];
      face.read({ params: {}, query: { strang3r: ['1'] }, json, file, ifNoneMatch: undefined }, unknown);
      const found = unknown.filter(({ path }) => path === 'strang3r').map(({ kind }) => kind);
      assert.deepEqual(found, face.body === 'json' ? ['parameter', 'member'] : ['parameter'], where);
      // An unread body may contain the decisive member.
      if (face.verb !== 'GET') assert.notEqual(face.body, 'none', where);
    }
});

test('a recall has the 60 fields of the contract', () => {
  const names = Object.keys(RecallInput.properties);
  assert.equal(names.length, 60);
  assert.equal(new Set(names).size, 60);
});

test('the OpenAPI document names every route, its scope and its schemas in outside names', () => {
  const document = openApiDocument(OPERATIONS);
  assert.equal(document['openapi'], '3.1.0');
  const { paths } = document;
  assert.ok(isMembers(paths));
  for (const row of OPERATIONS)
    for (const { verb, path } of row.http) {
      const item = paths[`/api${fullPath(path)}`];
      assert.ok(isMembers(item) && isMembers(item[verb.toLowerCase()]), `${verb} ${path}`);
    }
  const text = JSON.stringify(document);
  assert.match(text, /"exclude_superseded"/);
  assert.doesNotMatch(text, /"excludeSuperseded"/);
});

test('the OpenAPI document has each member where the server takes it from', () => {
  const { paths } = openApiDocument(OPERATIONS) as { readonly paths: Record<string, Record<string, Described>> };
  for (const [path, item] of Object.entries(paths))
    for (const [verb, { parameters, requestBody }] of Object.entries(item)) {
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      const { properties = {} } = requestBody?.content['application/json']?.schema ?? {};
      const twice = inPath.filter((name) => name in properties && !(name === 'id' && path.includes('/memories/{id}')));
      assert.deepEqual(twice, [], `${verb} ${path}`);
    }
  // All of it is in the path: no body is needed.
  assert.equal(paths['/api/memories/{id}/imports/{job_id}/cancel']?.['post']?.requestBody?.required, false);
  assert.equal(paths['/api/memories/{id}/sessions/{sid}/goals/create']?.['post']?.requestBody?.required, true);
  // The body is a form with the file alone.
  for (const path of ['import-document', 'imports'])
    assert.deepEqual(
      paths[`/api/memories/{id}/${path}`]?.['post']?.parameters
        .filter((one) => one.in === 'query')
        .map(({ name }) => name),
      ['namespace', 'tags', 'chunk_size', 'chunk_overlap', 'confidence', 'user_id', 'extract'],
      path,
    );
});

test('every input schema compiles, which a running server does only with the first request', () => {
  for (const { name, input } of OPERATIONS) assert.ok(Compile(input).IsAccelerated(), name);
});

test('a member that only the first answer has is optional', () => {
  const once = OPERATIONS.filter(({ shownOnce }) => shownOnce.length > 0);
  assert.deepEqual(once.map(({ name }) => name).sort(), ['create_hook', 'create_key']);
  for (const { name, output, shownOnce } of once) {
    const { required } = output as { readonly required?: readonly string[] }; // the schema of an object
    assert.ok(required !== undefined, name);
    for (const member of shownOnce) assert.ok(!required.includes(member), `${name}: ${member}`);
  }
});

test('any node answers what has no other effect than on shards, and nothing else', () => {
  const everywhere = (isChange: boolean): string[] =>
    OPERATIONS.filter(({ onAnyNode, mutates }) => onAnyNode !== false && mutates === isChange)
      .map(({ name }) => name)
      .sort();
  assert.deepEqual(everywhere(true), ['accumulate', 'add', 'batch_add', 'cal', 'supersede']);
  const reads = [
    'config',
    'get',
    'get_raw',
    'health_live',
    'history',
    'list_grains',
    'recall',
    'recall_chain',
    'search',
  ];
  assert.deepEqual(everywhere(false), reads);
});
