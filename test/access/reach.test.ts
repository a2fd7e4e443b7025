// Every operation against bound callers: calls that reach beyond the binding are rejected on every transport.
// Operations whose reach depends on their input have an entry here, and those without stored data are listed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Principal } from '../../src/server/auth/principal.ts';
import { type Reach, requireReach } from '../../src/server/auth/reach.ts';
import type { HttpRow } from '../../src/server/operations/http-face.ts';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const BINDINGS = {
  namespace: { namespace: 'n1' },
  user: { user_id: 'ann' },
  memory: { memory_id: 'default' },
} as const;
type Bound = keyof typeof BINDINGS;

let server: TestServer;
let http: HttpClient;
let grpc: GrpcClient;
before(async () => {
  server = await startTestServer();
  http = new HttpClient(server.http, server.key);
  grpc = GrpcClient.open(server.grpc, '');
});
after(async () => {
  grpc.close();
  await server.close();
});

/** A new key each time: an erasure revokes the person's keys. */
async function keyOf(bound: Bound): Promise<string> {
  const made = { scopes: ['admin'], principal: `${bound} admin`, ...BINDINGS[bound] };
  return (await http.post('/auth/keys', made)).raw_key;
}

/** The code of a refusal; 'ok' for an answer. */
async function codeOf(asking: Promise<unknown>): Promise<string> {
  try {
    await asking;
    return 'ok';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

const fill = (path: string): string =>
  path
    .replace(/^M/, '/memories/default')
    .replace('{user_id}', 'bob')
    .replace(/\{\w+\}/g, '0'.repeat(64));

async function askHttp(row: HttpRow, bound: Bound): Promise<string> {
  const asking = row.body === 'json' ? { json: {} } : row.body === 'file' ? { body: new FormData(), headers: {} } : {};
  return codeOf(http.with(await keyOf(bound)).call(row.verb, fill(row.path), asking));
}

async function exec(bound: Bound, command: string, args: object): Promise<string> {
  return codeOf(http.with(await keyOf(bound)).post('/memories/default/app/exec', { command, args }));
}

for (const reach of ['memory', 'deployment'] as const)
  for (const row of OPERATIONS.filter((one) => one.reach === reach))
    test(`${row.name} is rejected for callers that cover less than the ${reach}`, async () => {
      const bounds: readonly Bound[] = reach === 'memory' ? ['namespace', 'user'] : ['namespace', 'user', 'memory'];
      let asked = 0;
      for (const bound of bounds) {
        for (const face of row.http) assert.equal(await askHttp(face, bound), 'AUT-E001', `${bound}, HTTP`);
        if (row.grpc !== undefined) {
          const call = grpc.call(row.grpc.rpc, {}, { authorization: `Bearer ${await keyOf(bound)}` });
          assert.equal(await codeOf(call), 'AUT-E001', `${bound}, gRPC`);
        }
        if (row.exec !== undefined) assert.equal(await exec(bound, row.exec.command, {}), 'AUT-E001', `${bound}, exec`);
        asked += row.http.length + (row.grpc === undefined ? 0 : 1) + (row.exec === undefined ? 0 : 1);
      }
      assert.ok(asked >= bounds.length, 'each operation has a face');
      // A narrowed request covers only its own part.
      for (const header of ['x-namespace', 'x-user-id'])
        for (const face of row.http) {
          const json = face.body === 'json' ? { json: {} } : {};
          const asking = { ...json, headers: { [header]: 'n1' } };
          assert.equal(await codeOf(http.call(face.verb, fill(face.path), asking)), 'AUT-E001', header);
        }
    });

test('metrics of the process are only for unbound callers', async () => {
  const ask = async (key: string, headers: Record<string, string> = {}) =>
    (await fetch(`${server.http}/metrics`, { headers: { authorization: `Bearer ${key}`, ...headers } })).status;
  for (const bound of Object.keys(BINDINGS) as Bound[]) assert.equal(await ask(await keyOf(bound)), 403, bound);
  assert.equal(await ask(server.key, { 'x-namespace': 'n1' }), 403);
  assert.equal(await ask(server.key), 200);
});

interface Case {
  readonly verb: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly json?: object;
  /** Callers to reject; the others are accepted. */
  readonly refuses: readonly Bound[];
}
const post = (path: string, json: object, ...refuses: Bound[]): Case => ({ verb: 'POST', path, json, refuses });
const get = (path: string, ...refuses: Bound[]): Case => ({ verb: 'GET', path, refuses });
const command = (name: string, args: object, ...refuses: Bound[]): Case =>
  post('M/app/exec', { command: name, args }, ...refuses);
const consent = (user: string) => ({ user_id: user, purpose: 'ads' });

/** By operation, for each kind of input that makes a difference. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  grant_consent: [
    post('M/consent/grant', consent('bob'), 'namespace', 'user'),
    post('M/consent/grant', consent('ann'), 'namespace'),
  ],
  revoke_consent: [
    post('M/consent/revoke', consent('bob'), 'namespace', 'user'),
    post('M/consent/revoke', consent('ann'), 'namespace'),
  ],
  grant_consents: [
    post('M/consent/grant-bulk', { user_ids: ['ann', 'bob'], purpose: 'ads' }, 'namespace', 'user'),
    post('M/consent/grant-bulk', { consents: [consent('bob')] }, 'namespace', 'user'),
    post('M/consent/grant-bulk', { consents: [consent('ann')] }, 'namespace'),
  ],
  consent_status: [
    get('M/consent/status'),
    get('M/consent/status?user_id=bob', 'user'),
    get('M/consent/status?user_id=ann'),
  ],
  restrict_processing: [
    command('restrict', { user_id: 'bob' }, 'namespace', 'user'),
    command('restrict', { user_id: 'ann' }, 'namespace'),
  ],
  lift_restriction: [
    command('unrestrict', { user_id: 'bob' }, 'namespace', 'user'),
    command('unrestrict', { user_id: 'ann' }, 'namespace'),
  ],
  restrictions: [
    command('restrictions', {}),
    command('restrictions', { user_id: 'bob' }, 'user'),
    command('restrictions', { user_id: 'ann' }),
  ],
  export_user: [],
  export_portability: [],
  export_portability_command: [
    command('export_portability', { user_id: 'bob' }, 'user'),
    command('export_portability', { user_id: 'ann' }),
  ],
  export_user_file: [get('M/export/bob', 'user'), get('M/export/ann')],
  audit: [get('M/audit?verify=true', 'namespace', 'user')],
  rotate_keys: [
    command('rotate_keys', { scope: 'kek' }, 'namespace', 'user', 'memory'),
    command('rotate_keys', { scope: 'memory' }, 'namespace', 'user'),
  ],
  forget: [
    post('M/forget', { user_id: 'bob', dry_run: true }, 'namespace', 'user'),
    post('M/forget', { user_id: 'ann', dry_run: true }, 'namespace'),
    post('M/forget', { hashes: ['0'.repeat(64)] }),
  ],
  forget_user: [
    command('forget_user', { user_id: 'bob', dry_run: true }, 'namespace', 'user'),
    command('forget_user', { user_id: 'ann', dry_run: true }, 'namespace'),
  ],
};

test('each operation whose reach depends on its input has an entry', () => {
  const rows = OPERATIONS.filter(({ reach }) => reach === 'input').map(({ name }) => name);
  assert.deepEqual(rows.sort(), Object.keys(CASES).sort());
});

for (const [name, cases] of Object.entries(CASES))
  test(`${name} is rejected for callers that do not cover the person`, async () => {
    for (const { verb, path, json, refuses } of cases)
      for (const bound of Object.keys(BINDINGS) as Bound[]) {
        const asking = json === undefined ? {} : { json };
        const code = await codeOf(http.with(await keyOf(bound)).call(verb, fill(path), asking));
        const where = `${bound}: ${verb} ${path} ${JSON.stringify(json)} is ${code}`;
        if (refuses.includes(bound)) assert.equal(code, 'AUT-E001', where);
        else assert.notEqual(code, 'AUT-E001', where);
      }
  });

test('the same over gRPC', async () => {
  const codes = async (rpc: string, userId: string) => {
    const found: string[] = [];
    for (const bound of ['namespace', 'user', 'memory'] as const) {
      const request = { user_id: userId, ...(rpc.endsWith('Consent') ? { purpose: 'ads' } : {}) };
      found.push(await codeOf(grpc.call(rpc, request, { authorization: `Bearer ${await keyOf(bound)}` })));
    }
    return found;
  };
  for (const rpc of ['GrantConsent', 'RevokeConsent', 'RestrictProcessing', 'LiftRestriction', 'ForgetUser']) {
    assert.deepEqual(await codes(rpc, 'bob'), ['AUT-E001', 'AUT-E001', 'ok'], rpc);
    assert.deepEqual(await codes(rpc, 'ann'), ['AUT-E001', 'ok', 'ok'], rpc);
  }
  for (const rpc of ['ExportUser', 'ExportPortability'])
    assert.deepEqual(await codes(rpc, 'bob'), ['ok', 'AUT-E001', 'ok'], rpc);
});

/** Operations without stored data: every caller gets the same answer. */
const ABOUT_NOTHING = [
  ...[
    'config',
    'detect_pii',
    'detect_pii_detailed',
    'exec',
    'extract_document',
    'harness_templates',
    'health',
    'health_live',
    'health_ready',
    'health_rpc',
    'list_models',
    'llm_settings',
    'model_assignments',
    'ner_status',
    'openapi',
    'proof_keys',
    'provider_models',
    'whoami',
  ],
];

test('the operations without stored data are these', () => {
  const rows = OPERATIONS.filter(({ reach }) => reach === 'nothing').map(({ name }) => name);
  assert.deepEqual(rows.sort(), ABOUT_NOTHING);
});

test('a caller covers what lies within its binding', () => {
  const covers = (binding: Partial<Principal>, reach: Reach): boolean => {
    try {
      requireReach({ actor: 'key:a', scope: 'admin', ...binding }, reach);
      return true;
    } catch {
      return false;
    }
  };
  const ofPeople: Reach = { persons: ['ann', 'Zoe\u0308'] };
  const inNamespace: Reach = { persons: ['ann'], namespaced: true };
  const reaches: readonly Reach[] = ['nothing', 'binding', 'memory', 'deployment', ofPeople, inNamespace];
  const table = (binding: Partial<Principal>) => reaches.map((reach) => covers(binding, reach));
  assert.deepEqual(table({}), [true, true, true, true, true, true]);
  assert.deepEqual(table({ memoryIds: ['m'] }), [true, true, true, false, true, true]);
  assert.deepEqual(table({ namespace: 'n' }), [true, true, false, false, false, true]);
  assert.deepEqual(table({ userId: 'ann' }), [true, true, false, false, false, true]);
  assert.deepEqual(table({ userId: 'bob' }), [true, true, false, false, false, false]);
  assert.deepEqual(table({ userId: 'ann', namespace: 'n' }), [true, true, false, false, false, true]);
  assert.ok(covers({ userId: 'Zo\u00eb' }, { persons: ['Zoe\u0308'] }), 'names are compared in NFC');
});
