// An issuer of tokens that does not answer, answers too much, redirects, or publishes other keys than it signs with. It
// holds up nobody else, and lets nobody in.
import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SignJWT } from 'jose';
import { ISSUER_ANSWER_BYTES_MAX } from '../src/engine/base/limits.ts';
import { AUDIENCE, type SigningKey, signingKey } from '../src/server/auth/testing/issuer.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer } from './support/server.ts';

type Answer = (response: ServerResponse, path: string) => void;

/** An issuer whose answer to every request the test gives. */
async function issuerOf(t: TestContext, answer: (url: string) => Answer) {
  const asked: string[] = [];
  let answerTo: Answer = () => undefined;
  const server = createServer((request, response) => {
    const path = request.url ?? '/';
    asked.push(path);
    answerTo(response, path);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  answerTo = answer(url);
  return { url, asked };
}

/** A server that takes API keys, and the tokens of that issuer. */
async function begun(t: TestContext, url: string) {
  const server = await startTestServer({ oidcIssuer: url, oidcAudience: AUDIENCE });
  t.after(() => server.close());
  const byKey = new HttpClient(server.http, server.key);
  const withToken = (token: string) => byKey.with(token).ask('GET', '/memories');
  return { byKey, withToken };
}

function tokenOf(key: SigningKey, issuer: string, more: { readonly kid?: string } = {}): Promise<string> {
  return new SignJWT({ scope: 'memory:read' })
    .setProtectedHeader({ alg: key.algorithm, kid: more.kid ?? key.id })
    .setIssuer(issuer)
    .setAudience(AUDIENCE)
    .setSubject('ann')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(key.secret);
}

const json = (response: ServerResponse, body: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};
/** A well-behaved configuration, then `keys`. */
const publishing =
  (keys: () => unknown) =>
  (url: string): Answer =>
  (response, path) =>
    json(response, path.includes('configuration') ? { issuer: url, jwks_uri: `${url}/jwks` } : { keys: keys() });

for (const [name, answer] of [
  ['never answers', () => () => undefined],
  [
    'sends a head and no body',
    () => (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    },
  ],
] as const)
  test(`an issuer that ${name} holds up its own tokens alone`, async (t) => {
    const { url, asked } = await issuerOf(t, answer);
    const { byKey, withToken } = await begun(t, url);
    const token = await tokenOf(await signingKey('one'), url);
    const waiting = withToken(token);
    await eventually('the issuer is asked', () => asked.length > 0);
    // Calls by key are answered while the token waits.
    assert.equal((await byKey.ask('GET', '/memories')).status, 200);
    assert.equal((await byKey.ask('GET', '/health', { key: null })).status, 200);
    const { status, json: body } = await waiting;
    assert.deepEqual([status, body.error.code], [503, 'AUT-E008']);
    const again = await withToken(token);
    assert.deepEqual(
      [again.status, again.json.error.code, asked.length],
      [503, 'AUT-E008', 1],
      'it is not asked again',
    );
  });

test('an issuer whose answer does not end is cut off', async (t) => {
  let sent = 0;
  const endless: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      if (response.destroyed) return;
      sent += 65_536;
      if (response.write(Buffer.alloc(65_536, 0x20))) setImmediate(more);
      else response.once('drain', more);
    };
    more();
  };
  const { url } = await issuerOf(t, () => endless);
  const { byKey, withToken } = await begun(t, url);
  const { status, json: body } = await withToken(await tokenOf(await signingKey('one'), url));
  assert.deepEqual([status, body.error.code], [503, 'AUT-E008']);
  // The sockets' buffers come on top.
  assert.ok(sent < ISSUER_ANSWER_BYTES_MAX + 32 * 1_048_576, `${sent} bytes`);
  assert.equal((await byKey.ask('GET', '/memories')).status, 200);
});

test('no redirect of an issuer is followed', async (t) => {
  const key = await signingKey('one');
  const other = await issuerOf(
    t,
    publishing(() => [key.published]),
  );
  const { url, asked } = await issuerOf(t, () => (response, path) => {
    response.writeHead(302, { location: `${other.url}${path}` }).end();
  });
  const { withToken } = await begun(t, url);
  const { status, json: body } = await withToken(await tokenOf(key, url));
  assert.deepEqual([status, body.error.code, asked.length, other.asked], [503, 'AUT-E008', 1, []]);
});

test('the keys are taken from the issuer that the configuration names, over a safe connection', async (t) => {
  const key = await signingKey('one');
  for (const [issuer, uri] of [
    ['https://issuer.example.com', undefined],
    [undefined, 'http://192.0.2.1/jwks'],
    [undefined, 'file:///etc/passwd'],
  ] as const) {
    const { url, asked } = await issuerOf(t, (own) => (response, path) => {
      const configuration = { issuer: issuer ?? own, jwks_uri: uri ?? `${own}/jwks` };
      json(response, path.includes('configuration') ? configuration : { keys: [key.published] });
    });
    const { withToken } = await begun(t, url);
    const { status, json: body } = await withToken(await tokenOf(key, url));
    assert.deepEqual([status, body.error.code, asked.length], [503, 'AUT-E008', 1], uri ?? issuer);
  }
});

test('a token of another key is refused, whatever id it has, and so is a secret that an issuer publishes', async (t) => {
  const [published, other] = [await signingKey('one'), await signingKey('one')];
  const secret = Buffer.alloc(32, 7);
  const keys = [
    published.published,
    { kty: 'oct', kid: 'shared', alg: 'HS256', use: 'sig', k: secret.toString('base64url') },
  ];
  const { url } = await issuerOf(
    t,
    publishing(() => keys),
  );
  const { withToken } = await begun(t, url);
  assert.equal((await withToken(await tokenOf(published, url))).status, 200);
  const shared = await new SignJWT({ scope: 'memory:admin' })
    .setProtectedHeader({ alg: 'HS256', kid: 'shared' })
    .setIssuer(url)
    .setAudience(AUDIENCE)
    .setSubject('ann')
    .setIssuedAt()
    .setExpirationTime('5m')
    .sign(secret);
  for (const token of [await tokenOf(other, url), shared]) {
    const { status, json: body } = await withToken(token);
    assert.deepEqual([status, body.error.code], [401, 'AUT-E004']);
  }
});

test('an issuer that rotates its key at every request is asked twice at most, by whatever tokens', async (t) => {
  const made: SigningKey[] = [await signingKey('key 0'), await signingKey('key 1'), await signingKey('key 2')];
  let sets = 0;
  const { url, asked } = await issuerOf(
    t,
    publishing(() => [made[Math.min(sets++, made.length - 1)]!.published]),
  );
  const { withToken } = await begun(t, url);
  assert.equal((await withToken(await tokenOf(made[0]!, url))).status, 200);
  const tokens = await Promise.all(
    Array.from({ length: 40 }, (_, at) => tokenOf(made[2]!, url, { kid: `forged ${at}` })),
  );
  const answers = await Promise.all(tokens.map(withToken));
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array(40).fill(401),
  );
  assert.ok(asked.filter((path) => path === '/jwks').length <= 2, asked.join());
});
