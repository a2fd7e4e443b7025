import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../../../test/support/server.ts';

interface Whoami {
  readonly actor: string;
  readonly scopes: readonly string[];
  readonly key_id?: string;
  readonly key_name?: string;
  readonly memory_ids?: readonly string[];
  readonly namespace?: string;
  readonly user_id?: string;
  readonly expires_at?: number;
  readonly operations: readonly string[];
}

test('a caller is told who it is, how it is bound, and what its scopes and bindings allow', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const ask = async (key: string, path: string, body?: object, headers = {}): Promise<Response> =>
    fetch(`${server.http}/api${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const whoami = async (key: string, headers = {}): Promise<Whoami> =>
    (await (await ask(key, '/auth/whoami', undefined, headers)).json()) as Whoami; // the operation's answer
  const admin = await whoami(server.key);
  assert.deepEqual(admin.scopes, ['read', 'write', 'admin', 'metrics']);
  assert.equal(admin.memory_ids, undefined);
  assert.equal(admin.key_name, 'bootstrap');
  for (const name of ['whoami', 'openapi', 'list_keys', 'delete_memory', 'recall', 'exec', 'forget_user'])
    assert.ok(admin.operations.includes(name), name);

  const expiresAt = Math.floor(Date.now() / 1000) + 3600;
  const made = await ask(server.key, '/auth/keys', {
    name: 'reading room',
    principal: 'reader',
    scopes: ['read'],
    memory_id: 'default',
    namespace: 'home',
    expires_at: expiresAt,
  });
  const { raw_key: key } = (await made.json()) as { readonly raw_key: string }; // the secret, shown once
  const reader = await whoami(key);
  assert.deepEqual(
    [
      reader.actor,
      reader.key_name,
      reader.scopes,
      reader.memory_ids,
      reader.namespace,
      reader.user_id,
      reader.expires_at,
    ],
    ['reader', 'reading room', ['read'], ['default'], 'home', undefined, expiresAt],
  );
  // It may recall, but neither write, nor read what is about the whole memory or the deployment.
  for (const name of ['recall', 'list_grains', 'whoami']) assert.ok(reader.operations.includes(name), name);
  for (const name of ['add', 'list_keys', 'delete_memory', 'backup'])
    assert.ok(!reader.operations.includes(name), name);

  // A request that narrows itself is told so.
  const narrowed = await whoami(server.key, { 'x-user-id': 'ada' });
  assert.equal(narrowed.user_id, 'ada');
  assert.ok(!narrowed.operations.includes('backup'));

  const refused = await ask('gr_'.padEnd(67, '0'), '/auth/whoami');
  assert.equal(refused.status, 401);
});
