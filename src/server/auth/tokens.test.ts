import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { exportSPKI, importJWK } from 'jose';
import { eventually } from '../../../test/support/eventually.ts';
import { EngineError } from '../../engine/base/errors.ts';
import {
  ISSUER_KEYS_FRESH_MS,
  ISSUER_KEYS_STALE_MS,
  ISSUER_RETRY_MS,
  TOKEN_AGE_MAX_SECONDS,
  TOKEN_SKEW_SECONDS,
} from '../../engine/base/limits.ts';
import { makeLog } from '../log.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { AUDIENCE, type Claims, type SigningAlgorithm, signingKey, TestIssuer } from './testing/issuer.ts';
import { TokenVerifier } from './tokens.ts';

/** Seconds since 1970 at which the tests begin. */
const START = 1_750_000_000;

async function begun(t: TestContext, algorithm: SigningAlgorithm = 'ES256') {
  const key = await signingKey('one', algorithm);
  const issuer = await TestIssuer.start(t, key);
  const time = { seconds: START, monotonicMs: 0 };
  const lines: string[] = [];
  const log = makeLog('warn', { write: (line: string) => void lines.push(line) });
  const keys = new IssuerKeys({ issuer: issuer.url, log, monotonicMs: () => time.monotonicMs });
  const clock = { nowMs: () => time.seconds * 1000 };
  const verifier = new TokenVerifier({ issuer: issuer.url, audience: [AUDIENCE], keys, clock });
  const token = (claims: Claims = {}, by = key) => issuer.token(claims, by, time.seconds);
  const verdict = async (text: string): Promise<string> => {
    try {
      return (await verifier.verify(text)).principal.actor;
    } catch (error) {
      assert.ok(error instanceof EngineError, String(error));
      assert.ok(!error.message.includes(text), 'the token is not echoed');
      return error.code;
    }
  };
  return { issuer, key, keys, verifier, token, verdict, time, lines };
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

for (const algorithm of ['RS256', 'ES256', 'EdDSA'] as const)
  test(`a token signed with ${algorithm} names its principal`, async (t) => {
    const { verifier, token } = await begun(t, algorithm);
    const { principal: admitted } = await verifier.verify(await token({ scope: 'openid memory:read memory:write' }));
    const { untilMs, ...principal } = admitted;
    assert.deepEqual(principal, { actor: 'user:ann', scope: 'write' });
    assert.equal(untilMs, (START + 3600 + TOKEN_SKEW_SECONDS) * 1000);
  });

test('a token that is verified again costs no promise and no question to the issuer', async (t) => {
  const { verifier, token, issuer } = await begun(t);
  const text = await token();
  const first = await verifier.verify(text);
  const asked = issuer.asked.length;
  assert.equal(verifier.verify(text), first);
  assert.deepEqual([asked, issuer.asked.length], [2, 2]);
});

test('forged, foreign and untimely tokens are refused', async (t) => {
  const { issuer, key, token, verdict, time } = await begun(t, 'RS256');
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', iat: START, exp: START + 3600 };
  const none = `${base64url({ alg: 'none' })}.${base64url(claims)}.`;
  // The public key as the secret of an HMAC: the forgery of a verifier that trusts the header's algorithm.
  const body = `${base64url({ alg: 'HS256', kid: key.id })}.${base64url(claims)}`;
  const publicKey = await importJWK(key.published, 'RS256', { extractable: true });
  assert.ok(!(publicKey instanceof Uint8Array), 'a secret is no public key');
  const secrets = [JSON.stringify(key.published), await exportSPKI(publicKey), key.published.n ?? ''];
  const forged = secrets.map((secret) => `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`);
  const good = await token();
  const [header, payload, signature] = good.split('.') as [string, string, string];
  const other = await signingKey('one', 'RS256');
  const cases: Readonly<Record<string, string>> = {
    'alg none': none,
    ...Object.fromEntries(forged.map((text, i) => [`HS256 under the public key, form ${i + 1}`, text])),
    'another key with the same id': await token({}, other),
    'an unknown key id': await token({}, { ...key, id: 'two' }),
    'changed claims': `${header}.${base64url({ ...claims, sub: 'bob' })}.${signature}`,
    'a changed signature': `${header}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    'another issuer': await token({ iss: 'https://elsewhere.example' }),
    'another audience': await token({ aud: 'billing' }),
    'no audience': await token({ aud: undefined }),
    expired: await token({ exp: START - TOKEN_SKEW_SECONDS }),
    'no expiry': await token({ exp: undefined }),
    'not valid yet': await token({ nbf: START + TOKEN_SKEW_SECONDS + 1 }),
    'issued in the future': await token({ iat: START + TOKEN_SKEW_SECONDS + 1 }),
    'without a time of issue': await token({ iat: undefined }),
    'older than a day': await token({ iat: START - TOKEN_AGE_MAX_SECONDS - TOKEN_SKEW_SECONDS - 1, exp: START + 60 }),
    'without a subject': await token({ sub: undefined }),
    'a subject with a line break': await token({ sub: 'ann\nbob' }),
    'an empty subject': await token({ sub: '' }),
    'a megabyte of claims': await token({ filler: 'x'.repeat(1_048_576) }),
    'not a token': 'abc',
    'three empty parts': '..',
    'five parts, as if encrypted': 'a.b.c.d.e',
    'memory_scopes of the wrong form': await token({ memory_scopes: 'admin' }),
    'memory_scopes without a scope': await token({ memory_scopes: ['everything'] }),
    'memories of the wrong form': await token({ memories: 'default' }),
    'a namespace of the wrong form': await token({ memory_namespace: 7 }),
  };
  const verdicts: Record<string, string> = {};
  for (const [what, text] of Object.entries(cases)) {
    time.monotonicMs += ISSUER_RETRY_MS; // a fetch for the unknown key id is allowed
    verdicts[what] = await verdict(text);
  }
  assert.deepEqual(verdicts, Object.fromEntries(Object.keys(cases).map((what) => [what, 'AUT-E004'])));
  assert.equal(await verdict(good), 'user:ann');
});

test('the clocks may differ by a minute, and a remembered token ends with its time', async (t) => {
  const { token, verdict, time } = await begun(t);
  assert.equal(await verdict(await token({ nbf: START + TOKEN_SKEW_SECONDS })), 'user:ann');
  const short = await token({ exp: START + 100 });
  assert.equal(await verdict(short), 'user:ann');
  time.seconds = START + 100 + TOKEN_SKEW_SECONDS - 1;
  assert.equal(await verdict(short), 'user:ann');
  time.seconds += 1;
  assert.equal(await verdict(short), 'AUT-E004');
  // A step of the clock back makes it valid again, and one before its time of issue does not.
  time.seconds = START;
  assert.equal(await verdict(short), 'user:ann');
  time.seconds = START - TOKEN_SKEW_SECONDS - 1;
  assert.equal(await verdict(short), 'AUT-E004');
});

test('a token lives a day at most, whatever its expiry says', async (t) => {
  const { token, verdict, time } = await begun(t);
  const long = await token({ exp: START + 10 * TOKEN_AGE_MAX_SECONDS });
  assert.equal(await verdict(long), 'user:ann');
  time.seconds += TOKEN_AGE_MAX_SECONDS + TOKEN_SKEW_SECONDS + 1;
  assert.equal(await verdict(long), 'AUT-E004');
});

test('scopes come from memory_scopes, else from scope and scp, else they are read', async (t) => {
  const { verifier, token } = await begun(t);
  const scopes = async (claims: Claims) => {
    const { scope, readsMetrics } = (await verifier.verify(await token(claims))).principal;
    return readsMetrics === true ? `${scope} and metrics` : scope;
  };
  assert.equal(await scopes({}), 'read');
  assert.equal(await scopes({ scope: 'memory:admin' }), 'admin');
  assert.equal(await scopes({ scope: 'xmemory:admin memory:administrator' }), 'read');
  assert.equal(await scopes({ scp: ['memory:write', 'other'] }), 'write');
  assert.equal(await scopes({ scp: 'memory:write memory:metrics' }), 'write and metrics');
  assert.equal(await scopes({ scope: 'memory:metrics' }), 'metrics and metrics');
  assert.equal(await scopes({ memory_scopes: ['read'], scope: 'memory:admin' }), 'read');
});

test('claims bind a token as a key is bound', async (t) => {
  const { verifier, token, verdict } = await begun(t);
  const { principal } = await verifier.verify(
    await token({
      scope: 'memory:admin memory:metrics',
      memories: ['a', 'b', 'a'],
      memory_namespace: 'team',
      memory_user_id: 'Zoe\u0308',
      agent_id: 'bot',
    }),
  );
  const { untilMs: _, ...bound } = principal;
  assert.deepEqual(bound, {
    actor: 'user:ann',
    scope: 'admin', // and no metrics, which cover the whole process
    memoryIds: ['a', 'b'],
    namespace: 'team',
    userId: 'Zo\u00eb',
    agentId: 'bot',
  });
  assert.deepEqual((await verifier.verify(await token({ memories: [] }))).principal.memoryIds, []);
  assert.equal(await verdict(await token({ scope: 'memory:metrics', memories: ['a'] })), 'AUT-E004');
});

test('a new key is fetched when a token names it, and a removed key is forgotten after ten minutes', async (t) => {
  const { issuer, key, token, verdict, time } = await begun(t);
  const before = await token();
  assert.equal(await verdict(before), 'user:ann');
  const next = await signingKey('two');
  issuer.keys = [next];
  const after = await token({ sub: 'bob' }, next);
  assert.equal(await verdict(after), 'AUT-E004', 'the last fetch was a moment ago');
  time.monotonicMs += ISSUER_RETRY_MS;
  assert.equal(await verdict(after), 'user:bob');
  assert.equal(await verdict(before), 'AUT-E004', 'its key was removed, and the verdict is not remembered');
  issuer.keys = [next, key];
  time.monotonicMs += ISSUER_KEYS_FRESH_MS;
  assert.deepEqual([await verdict(before), await verdict(after)], ['user:ann', 'user:bob']);
});

test('forged key ids ask the issuer once in thirty seconds', async (t) => {
  const { issuer, key, token, verdict, time } = await begun(t);
  assert.equal(await verdict(await token()), 'user:ann');
  const ask = async (): Promise<void> => {
    const forged = await Promise.all(Array.from({ length: 50 }, (_, i) => token({}, { ...key, id: `forged ${i}` })));
    const verdicts = await Promise.all(forged.map(verdict));
    assert.ok(verdicts.every((code) => code === 'AUT-E004'));
  };
  await ask();
  assert.equal(issuer.asked.length, 2);
  time.monotonicMs += ISSUER_RETRY_MS;
  await ask();
  assert.equal(issuer.asked.length, 4);
});

test('known tokens outlive an issuer that is down for less than an hour', async (t) => {
  const { issuer, token, verdict, time, lines } = await begun(t);
  const [known, fresh, late] = [await token(), await token({ sub: 'bob' }), await token({ sub: 'eve' })];
  assert.equal(await verdict(known), 'user:ann');
  issuer.answering = () => ({ status: 503, body: '{}' });
  time.monotonicMs += ISSUER_KEYS_FRESH_MS;
  assert.deepEqual([await verdict(known), await verdict(fresh)], ['user:ann', 'user:bob']);
  assert.equal(lines.length, 1, 'one line a fetch, not one a token');
  time.monotonicMs = ISSUER_KEYS_STALE_MS;
  assert.deepEqual([await verdict(known), await verdict(late)], ['AUT-E008', 'AUT-E008']);
  issuer.answering = () => undefined;
  time.monotonicMs += ISSUER_RETRY_MS;
  assert.deepEqual([await verdict(known), await verdict(late)], ['user:ann', 'user:eve']);
});

test('after one failure, tokens do not wait for an issuer that hangs', async (t) => {
  const { issuer, token, verdict, time } = await begun(t);
  const known = await token();
  assert.equal(await verdict(known), 'user:ann');
  issuer.answering = () => ({ status: 500, body: '' });
  time.monotonicMs += ISSUER_KEYS_FRESH_MS;
  assert.equal(await verdict(known), 'user:ann');
  issuer.answering = () => 'nothing';
  time.monotonicMs += ISSUER_RETRY_MS;
  const { length } = issuer.asked;
  assert.equal(await verdict(known), 'user:ann');
  await eventually('a fetch in the background', () => issuer.asked.length === length + 1);
  issuer.stop();
});

test('answers that no issuer gives leave the keys unknown', async (t) => {
  const { issuer, token, verdict, time, lines } = await begun(t);
  const text = await token();
  const configuration = (members: object): string => JSON.stringify({ issuer: issuer.url, ...members });
  const bodies = [
    'not JSON',
    '[]',
    'null',
    configuration({ issuer: 'https://elsewhere.example', jwks_uri: `${issuer.url}/jwks` }),
    configuration({ jwks_uri: 'http://elsewhere.example/jwks' }),
    configuration({ jwks_uri: 'file:///etc/passwd' }),
    configuration({}),
    configuration({ jwks_uri: `${issuer.url}/jwks`, filler: 'x'.repeat(1_048_576) }),
  ];
  for (const body of bodies) {
    issuer.answering = (path) => (path.includes('openid') ? { status: 200, body } : undefined);
    assert.equal(await verdict(text), 'AUT-E008', body.slice(0, 80));
    time.monotonicMs += ISSUER_RETRY_MS;
  }
  issuer.answering = (path) => (path.includes('openid') ? undefined : { status: 200, body: '{"keys":7}' });
  assert.equal(await verdict(text), 'AUT-E008');
  time.monotonicMs += ISSUER_RETRY_MS;
  issuer.answering = () => ({ status: 302, body: '' });
  assert.equal(await verdict(text), 'AUT-E008');
  assert.equal(lines.length, bodies.length + 2);
});
