// Headers that came before are recognised, and their key is looked at again each time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../../../test/support/server.ts';
import { StepClock } from '../../../test/support/step-clock.ts';
import { KEY_HEADER_CHARS_MAX, KEY_HEADERS_REMEMBERED_MAX, TOKEN_SKEW_SECONDS } from '../../engine/base/limits.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { Keys } from '../control/keys.ts';
import { ControlStore } from '../control/store.ts';
import { ask, closeAll, frame, openSession, statusOf } from '../grpc/testing/front.ts';
import { makeLog } from '../log.ts';
import { GRPC_STATUS } from '../status.ts';
import { CONTROL_KEY } from '../testing/parts.ts';
import { Authenticator } from './authenticate.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { AUDIENCE, signingKey, TestIssuer } from './testing/issuer.ts';
import { TokenVerifier } from './tokens.ts';

function opened(): { readonly keys: Keys; readonly authenticator: Authenticator; readonly clock: StepClock } {
  const clock = new StepClock();
  const keys = new Keys(ControlStore.open(new MemoryLog(new MemoryLogStore()), CONTROL_KEY, clock), clock);
  return { keys, clock, authenticator: new Authenticator({ mode: 'api-key', open: false, keys, clock }) };
}

const from = (raw: string, identity: object) => ({
  authorization: `Bearer ${raw}`,
  apiKey: undefined,
  from: { remoteAddress: '127.0.0.1' },
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

test('a key that comes again in the same header costs no hash, and ends with its revocation or its time', async (t) => {
  const { keys, authenticator, clock } = opened();
  const looks = t.mock.method(keys, 'authenticate');
  const made = await keys.create({ name: 'one', scopes: ['read'] }, 'system');
  const short = await keys.create({ name: 'two', scopes: ['read'], expiresAtMs: clock.now + 1_000 }, 'system');
  const { identity: _, ...credentials } = from(made.raw, {});
  const { identity: __, ...expiring } = from(short.raw, {});
  const principal = authenticator.authenticate(credentials);
  authenticator.authenticate(expiring);
  assert.equal(authenticator.authenticate(credentials), principal);
  assert.equal(looks.mock.callCount(), 2);
  // Another key beside it is looked at.
  assert.throws(() => authenticator.authenticate({ ...credentials, apiKey: short.raw }), { code: 'VAL-E001' });
  clock.now += 1_000;
  assert.throws(() => authenticator.authenticate(expiring), { code: 'AUT-E004' });
  assert.equal(authenticator.authenticate(credentials), principal);
  await keys.revoke(made.key.keyId, 'system');
  assert.throws(() => authenticator.authenticate(credentials), { code: 'AUT-E004' });
  assert.throws(() => authenticator.authenticate(credentials), { code: 'AUT-E004' });
});

test('the number of remembered headers is bounded', async (t) => {
  const { keys, authenticator } = opened();
  const looks = t.mock.method(keys, 'authenticate');
  const { raw } = await keys.create({ name: 'one', scopes: ['read'] }, 'system');
  // Blanks make different headers of one key.
  const ask = (blanks: number) =>
    authenticator.authenticate({ ...from(raw, {}), authorization: `Bearer ${' '.repeat(blanks)}${raw}` });
  for (let blanks = 0; blanks <= KEY_HEADERS_REMEMBERED_MAX; blanks++) ask(blanks);
  const before = looks.mock.callCount();
  ask(KEY_HEADERS_REMEMBERED_MAX);
  assert.equal(looks.mock.callCount(), before, 'the newest is remembered');
  ask(0);
  assert.equal(looks.mock.callCount(), before + 1, 'the oldest is not');
});

test('a header that is far longer than a key is not remembered', async (t) => {
  const { keys, authenticator } = opened();
  const looks = t.mock.method(keys, 'authenticate');
  const { raw } = await keys.create({ name: 'one', scopes: ['read'] }, 'system');
  const { identity: _, ...credentials } = from(raw, {});
  const long = { ...credentials, authorization: `Bearer ${' '.repeat(KEY_HEADER_CHARS_MAX)}${raw}` };
  for (let times = 0; times < 2; times++)
    for (const sent of [credentials, long]) await authenticator.authenticate(sent);
  assert.equal(looks.mock.callCount(), 3, 'the short one once, the long one twice');
});

test('recognised headers of a token have its principal until its time ends', async (t) => {
  const signing = await signingKey('one');
  const issuer = await TestIssuer.start(t, signing);
  const clock = new StepClock();
  const seconds = Math.floor(clock.now / 1_000);
  const issuerKeys = new IssuerKeys({ issuer: issuer.url, log: makeLog('silent') });
  const tokens = new TokenVerifier({ issuer: issuer.url, audience: [AUDIENCE], keys: issuerKeys, clock });
  const keys = new Keys(ControlStore.open(new MemoryLog(new MemoryLogStore()), CONTROL_KEY, clock), clock);
  const authenticator = new Authenticator({ mode: 'oidc', open: false, keys, tokens, clock });
  const headers = {};
  const principal = await authenticator.authenticate(
    from(await issuer.token({ exp: seconds + 60 }, signing, seconds), headers),
  );
  assert.equal(principal.actor, 'user:ann');
  const verify = t.mock.method(tokens, 'verify');
  assert.equal(authenticator.recognise(headers), principal);
  clock.now += (60 + TOKEN_SKEW_SECONDS) * 1_000;
  assert.equal(authenticator.recognise(headers), undefined);
  assert.equal(verify.mock.callCount(), 0);
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
