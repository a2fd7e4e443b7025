// The address of a caller is looked for only where it counts, and before the caller can disconnect.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StepClock } from '../../../test/support/step-clock.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { AUTH_FAILURES_PER_MINUTE } from '../../engine/base/limits.ts';
import { MemoryLog, MemoryLogStore } from '../../engine/log/memory.ts';
import { Admission } from '../admission.ts';
import { Keys } from '../control/keys.ts';
import { ControlStore } from '../control/store.ts';
import { makeLog } from '../log.ts';
import { networkOf } from '../networks.ts';
import { get } from '../operations/grains/get.ts';
import { ADMIN, CONTROL_KEY, makeParts } from '../testing/parts.ts';
import { Authenticator } from './authenticate.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { RateLimiter } from './rate-limit.ts';
import { AUDIENCE } from './testing/issuer.ts';
import { TokenVerifier } from './tokens.ts';

test('the address is looked for when a caller without key is counted or a key is wrong, and not otherwise', async (t) => {
  const parts = await makeParts({ flags: { auth: 'none' } });
  t.after(() => parts.close());
  const { authenticator, clock, services } = parts;
  const limiter = new RateLimiter({ perMinute: 60, burst: 60, clock });
  const admission = new Admission(authenticator, limiter, services.memories);
  let looks = 0;
  const admit = (key: string | undefined): unknown =>
    admission.admit(
      {
        operation: get,
        face: 'http',
        memoryId: undefined,
        requestId: undefined,
        header: (name) => (name === 'authorization' && key !== undefined ? `Bearer ${key}` : undefined),
        get remoteAddress() {
          looks += 1;
          return '10.0.0.1';
        },
      },
      {},
    );
  for (let times = 0; times < 2; times++) admit(ADMIN);
  assert.equal(looks, 0);
  admit(undefined);
  assert.equal(looks, 1);
  assert.throws(() => admit(`gr_${'1'.repeat(64)}`), { code: 'AUT-E004' });
  assert.equal(looks, 2);
});

test('failures and calls without a key are counted by the network of an IPv6 address', async (t) => {
  const parts = await makeParts({ flags: { auth: 'none' } });
  t.after(() => parts.close());
  const { authenticator, clock, services } = parts;
  const limiter = new RateLimiter({ perMinute: 60, burst: 2, clock });
  const admission = new Admission(authenticator, limiter, services.memories);
  const admit = (remoteAddress: string, key?: string): string | undefined => {
    const header = (name: string) => (name === 'authorization' && key !== undefined ? `Bearer ${key}` : undefined);
    try {
      admission.admit(
        { operation: get, face: 'http', memoryId: undefined, requestId: undefined, header, remoteAddress },
        {},
      );
      return undefined;
    } catch (error) {
      assert.ok(error instanceof EngineError);
      return error.code;
    }
  };
  const wrong = `gr_${'1'.repeat(64)}`;
  for (let i = 0; i < AUTH_FAILURES_PER_MINUTE; i++) assert.equal(admit(`2001:db8:0:1::${i + 1}`, wrong), 'AUT-E004');
  assert.equal(admit('2001:db8:0:1:ffff::1', wrong), 'LIM-E001');
  assert.equal(admit('2001:db8:0:2::1', wrong), 'AUT-E004');
  const codes = ['2001:db8:0:3::1', '2001:db8:0:3::2', '2001:db8:0:3::3', '2001:db8:0:4::1'].map((from) => admit(from));
  assert.deepEqual(codes, [undefined, undefined, 'LIM-E001', undefined]);
});

test('the network of an address', () => {
  const cases = [
    ['10.0.0.1', '10.0.0.1'],
    ['', ''],
    ['::1', '::1'],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.1'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0db8:0000:0000:0000:0000:0000:0002', '2001:db8:0:0::/64'],
    ['2001:DB8:a:b:c:d:e:f', '2001:db8:a:b::/64'],
    ['2001:db8:1::', '2001:db8:1:0::/64'],
    ['::1:2:3:4:5:6', '0:0:1:2::/64'],
    ['64:ff9b::10.0.0.1', '64:ff9b::10.0.0.1'],
    ['64:ff9b::a00:1', '64:ff9b::a00:1'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ];
  for (const [address, network] of cases) assert.equal(networkOf(address!), network, address);
});

test('a wrong token counts against the address of a caller that disconnects while it is verified', async (t) => {
  const clock = new StepClock();
  const issuer = 'http://127.0.0.1:9';
  const keys = new Keys(ControlStore.open(new MemoryLog(new MemoryLogStore()), CONTROL_KEY, clock), clock);
  const issuerKeys = new IssuerKeys({ issuer, log: makeLog('silent') });
  const tokens = new TokenVerifier({ issuer, audience: [AUDIENCE], keys: issuerKeys, clock });
  t.mock.method(tokens, 'verify', async () => {
    await Promise.resolve();
    throw new EngineError('AUT-E004', 'wrong');
  });
  const authenticator = new Authenticator({ mode: 'oidc', open: false, keys, tokens, clock });
  for (let times = 0; times <= AUTH_FAILURES_PER_MINUTE; times++) {
    const from = { remoteAddress: '10.0.0.1' };
    const answer = authenticator.authenticate({ authorization: 'Bearer x', apiKey: undefined, from });
    from.remoteAddress = '';
    const code = times < AUTH_FAILURES_PER_MINUTE ? 'AUT-E004' : 'LIM-E001';
    await assert.rejects(async () => answer, { code });
  }
  const elsewhere = { authorization: 'Bearer x', apiKey: undefined, from: { remoteAddress: '' } };
  await assert.rejects(async () => authenticator.authenticate(elsewhere), { code: 'AUT-E004' });
});
