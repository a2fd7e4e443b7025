import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { readConfig } from '../config.ts';
import { IssuerSignIn } from './issuer-sign-in.ts';

/** An issuer that counts what it is asked; `tokenStatus` is the status of its answer to a code. */
async function setUp(t: TestContext, tokenStatus: number) {
  const asked: string[] = [];
  let url = '';
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    asked.push(request.url ?? '');
    const isToken = request.url === '/token';
    response.writeHead(isToken ? tokenStatus : 200, { 'content-type': 'application/json' });
    const configuration = { issuer: url, authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
    response.end(JSON.stringify(isToken ? { access_token: 'a token' } : configuration));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const warnings: unknown[] = [];
  const config = readConfig({ auth: 'oidc', oidcIssuer: url, oidcAudience: 'granary', oidcClient: 'console' }, {});
  const signIn = IssuerSignIn.of(config, { warn: (...said: unknown[]) => void warnings.push(said[0]) });
  return { signIn: signIn ?? assert.fail('there is a client id'), asked, warnings };
}

const CODE = { code: 'c', code_verifier: 'v', redirect_uri: 'http://127.0.0.1/console/' };

test('many sign-ins ask the issuer for its configuration once', async (t) => {
  const { signIn, asked } = await setUp(t, 200);
  for (let i = 0; i < 3; i++) await signIn.start();
  assert.deepEqual(await signIn.token(CODE), { access_token: 'a token' });
  assert.deepEqual(asked, ['/.well-known/openid-configuration', '/token']);
});

test('the log says why a sign-in failed, and the caller is told to try again', async (t) => {
  const { signIn, warnings } = await setUp(t, 500);
  await assert.rejects(signIn.token(CODE), { code: 'AUT-E008' });
  assert.match(JSON.stringify(warnings), /\/token answered 500/);
});
