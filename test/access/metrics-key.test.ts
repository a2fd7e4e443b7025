// A key with the scope `metrics` reads the process's counters, as a monitor does, and nothing else. Also: keys that do
// not exist.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OPERATIONS } from '../../src/server/operations/table.ts';
import { Refusal } from '../conformance/contract.ts';
import { GrpcClient } from '../conformance/grpc-client.ts';
import { HttpClient } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer();
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

const keyWith = async (more: object): Promise<string> => (await http.post('/auth/keys', more)).raw_key;
const metricsWith = async (key: string): Promise<number> =>
  (await fetch(`${server.http}/metrics`, { headers: { authorization: `Bearer ${key}` } })).status;

async function codeOf(asking: Promise<unknown>): Promise<string> {
  try {
    await asking;
    return 'ok';
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

test('the scope metrics opens /metrics, as only admin does otherwise', async () => {
  const statuses: number[] = [];
  for (const scopes of [['metrics'], ['read', 'metrics'], ['read'], ['write'], ['admin']])
    statuses.push(await metricsWith(await keyWith({ scopes })));
  assert.deepEqual(statuses, [200, 200, 403, 403, 200]);
  const both = http.with(await keyWith({ scopes: ['read', 'metrics'] }));
  assert.equal(await codeOf(both.get('/memories/default')), 'ok');
});

test('it allows no other operation, on any transport', async () => {
  const key = await keyWith({ scopes: ['metrics'] });
  const monitor = http.with(key);
  const grpc = GrpcClient.open(server.grpc, key);
  let asked = 0;
  for (const row of OPERATIONS) {
    if (row.needs === 'public') continue;
    for (const { verb, path, body } of row.http) {
      const filled = path.replace(/^M/, '/memories/default').replace(/\{\w+\}/g, '0'.repeat(64));
      const asking = body === 'json' ? { json: {} } : body === 'file' ? { body: new FormData() } : {};
      assert.equal(await codeOf(monitor.call(verb, filled, asking)), 'AUT-E001', `${verb} ${path}`);
      asked += 1;
    }
    if (row.grpc !== undefined) {
      assert.equal(await codeOf(grpc.call(row.grpc.rpc, {})), 'AUT-E001', row.grpc.rpc);
      asked += 1;
    }
  }
  assert.ok(asked > 80, String(asked));
  const reflection = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
  assert.equal(await codeOf(grpc.askBytes(reflection, Buffer.from([0x3a, 0x00]))), 'AUT-E001');
  grpc.close();
});

test('only a caller that has it may grant it, and only to unbound keys', async () => {
  const writer = http.with(await keyWith({ scopes: ['write'] }));
  assert.equal(await codeOf(writer.post('/auth/keys', { scopes: ['metrics'] })), 'AUT-E001');
  for (const bound of [{ memory_id: 'default' }, { namespace: 'n1' }, { user_id: 'ann' }])
    assert.equal(await codeOf(http.post('/auth/keys', { scopes: ['metrics'], ...bound })), 'VAL-E001');
  const admin = await http.post('/auth/keys', {});
  assert.deepEqual(admin.scopes, ['read', 'write', 'admin'], 'the scope is granted only on request');
  const listed = await http.get('/auth/keys');
  assert.ok(listed.keys.some(({ scopes }: { scopes: string[] }) => scopes.join() === 'metrics'));
});

test('a missing key, or one outside the binding, is AUT-E007', async () => {
  const other = await http.post('/auth/keys', { scopes: ['read'] });
  const bound = http.with(await keyWith({ scopes: ['admin'], namespace: 'n1' }));
  assert.equal(await codeOf(http.call('DELETE', '/auth/keys/key_nowhere')), 'AUT-E007');
  assert.equal(await codeOf(bound.call('DELETE', `/auth/keys/${other.key_id}`)), 'AUT-E007');
  assert.equal((await http.call('DELETE', `/auth/keys/${other.key_id}`)).revoked, true);
});
