// Headers that came before are recognised, and their key is looked at again each time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../../test/support/server.ts';
import { StepClock } from '../../../test/support/step-clock.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { Keys } from '../control/keys.ts';
import { ControlStore } from '../control/store.ts';
import { ask, closeAll, frame, openSession, statusOf } from '../grpc/testing/front.ts';
import { GRPC_STATUS } from '../status.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { Authenticator } from './authenticate.ts';

function opened(): { readonly keys: Keys; readonly authenticator: Authenticator; readonly clock: StepClock } {
  const clock = new StepClock();
  const keys = new Keys(ControlStore.open(new MemoryLog(new MemoryLogStore()), CONTROL_KEY, clock), clock);
  return { keys, clock, authenticator: new Authenticator({ mode: 'api-key', open: false, keys, clock }) };
}

const from = (raw: string, identity: object) => ({
  authorization: `Bearer ${raw}`,
  apiKey: undefined,
  remoteAddress: '127.0.0.1',
  identity,
});

test('recognised headers have the principal of their key until it is revoked', async () => {
  const { keys, authenticator } = opened();
  const { key, raw } = await keys.create({ name: 'one', scopes: ['read'] }, 'system');
  const headers = {};
  assert.equal(authenticator.recognise(headers), undefined);
  const principal = authenticator.authenticate(from(raw, headers));
  assert.equal(authenticator.recognise(headers), principal);
  assert.equal(authenticator.recognise({}), undefined);
  await keys.revoke(key.keyId, 'system');
  assert.equal(authenticator.recognise(headers), undefined);
  assert.throws(() => authenticator.authenticate(from(raw, headers)), { code: 'AUT-E004' });
  assert.equal(authenticator.recognise(headers), undefined);
});

test('recognised headers end with the time of their key, and their use is noted', async () => {
  const { keys, authenticator, clock } = opened();
  const expiresAtMs = clock.now + 1_000;
  const { key, raw } = await keys.create({ name: 'one', scopes: ['read'], expiresAtMs }, 'system');
  const headers = {};
  authenticator.authenticate(from(raw, headers));
  clock.now += 500;
  assert.ok(authenticator.recognise(headers) !== undefined);
  assert.equal(keys.lastUsedMs(key), clock.now);
  clock.now += 500;
  assert.equal(authenticator.recognise(headers), undefined);
});

for (const grpc of ['native', 'node'])
  test(`a revoked key is refused at once on an open connection (${grpc})`, async () => {
    const server = await startTestServer({ grpc });
    try {
      const asAdmin = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
      const made = await fetch(`${server.http}/api/auth/keys`, {
        method: 'POST',
        headers: asAdmin,
        body: JSON.stringify({ name: 'short-lived', scopes: ['read'] }),
      });
      const { raw_key: key, key_id: keyId } = (await made.json()) as { raw_key: string; key_id: string }; // as documented
      const session = await openSession(server.grpcPort);
      const call = async (): Promise<number> =>
        statusOf(
          await ask(session, [frame(new Uint8Array(0))], {
            ':path': '/memory.v1.MemoryService/Stats',
            authorization: `Bearer ${key}`,
          }),
        );
      // The client's table knows the headers after the first call, and the server after the second.
      for (let made = 0; made < 5; made++) assert.equal(await call(), GRPC_STATUS.OK);
      const revoked = await fetch(`${server.http}/api/auth/keys/${keyId}`, { method: 'DELETE', headers: asAdmin });
      assert.equal(revoked.status, 200);
      assert.equal(await call(), GRPC_STATUS.UNAUTHENTICATED);
    } finally {
      closeAll();
      await server.close();
    }
  });
