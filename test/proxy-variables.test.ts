// The variables of a proxy (HTTP_PROXY and its like) in the environment of a server do not divert what it sends: a webhook
// is posted to the address that was checked, and an issuer's keys come from the issuer.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SignJWT } from 'jose';
import { AUDIENCE, signingKey, TestIssuer } from '../src/server/auth/testing/issuer.ts';
import { eventually } from './support/eventually.ts';
import { ask, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

async function listening(t: TestContext, seen: string[]): Promise<string> {
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.end());
  });
  server.on('connect', (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
}

for (const [name, env] of [
  ['proxy variables', {}],
  ['NODE_USE_ENV_PROXY, for webhooks', { NODE_USE_ENV_PROXY: '1' }],
] as const)
  test(`a server with ${name} sends past the proxy`, async (t) => {
    const [proxied, delivered]: [string[], string[]] = [[], []];
    const [proxy, receiver] = [await listening(t, proxied), await listening(t, delivered)];
    const key = await signingKey('one');
    const issuer = await TestIssuer.start(t, key);
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const server = await startServerProcess({
      directory: temporaryDirectory(t),
      flags: ['--shards', '2', '--workers', '1', '--oidc-issuer', issuer.url, '--oidc-audience', AUDIENCE],
      env: { ...Object.fromEntries(names.map((one) => [one, proxy])), NO_PROXY: '', no_proxy: '', ...env },
    });
    t.after(() => server.stop());
    const hook = await ask(server, 'POST', '/memories/default/hooks', { url: `${receiver}/in` });
    assert.equal(hook.status, 201);
    const belief = { subject: 'ann', relation: 'likes', object: 'tea' };
    assert.equal((await ask(server, 'POST', '/memories/default/add', belief)).status, 200);
    await eventually('the event is delivered', () => delivered.includes('POST /in'));
    if ('NODE_USE_ENV_PROXY' in env) {
      // An operator who asks Node for it diverts the calls that Node makes, but no webhook.
      assert.deepEqual(
        proxied.filter((line) => line.includes(new URL(receiver).host)),
        [],
      );
      return;
    }
    const token = await new SignJWT({ scope: 'memory:read' })
      .setProtectedHeader({ alg: key.algorithm, kid: key.id })
      .setIssuer(issuer.url)
      .setAudience(AUDIENCE)
      .setSubject('ann')
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(key.secret);
    assert.equal((await ask({ ...server, key: token }, 'GET', '/memories')).status, 200);
    assert.deepEqual(proxied, []);
  });
