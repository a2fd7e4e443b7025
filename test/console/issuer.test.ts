// Signing in to the console at an issuer of tokens, with its own pages.
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { exportJWK, generateKeyPair } from 'jose';
import Provider from 'oidc-provider';
import { WAIT_MS_MAX } from '../support/eventually.ts';
import { click, fill, isAt, settled, startBrowser, startConsole } from './browser.ts';

const AUDIENCE = 'urn:granary';

test('a person signs in at the issuer, and comes back to where they were', async (t) => {
  const browser = await startBrowser(t);
  if (browser === undefined) return;
  let listener: RequestListener = () => undefined;
  const issuer = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => {
    issuer.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    issuer.closeAllConnections();
    issuer.close();
  });
  const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`; // it listens on a port
  const server = await startConsole({
    oidcIssuer: url,
    oidcAudience: AUDIENCE,
    oidcClient: 'console',
    oidcScopes: 'memory:admin',
  });
  t.after(() => server.close());
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  listener = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: 'console',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
        redirect_uris: [`${server.http}/console/`],
        id_token_signed_response_alg: 'ES256',
      },
    ],
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'memory:admin',
          accessTokenFormat: 'jwt',
          audience: AUDIENCE,
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    cookies: { keys: ['a secret of thirty-two characters'] },
  }).callback();

  const page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS_MAX);
  await page.goto(`${server.http}/console/m/default/grains?type=goal`);
  await click(page, 'button.issuer');
  await fill(page, 'input[name=login]', 'ada');
  await fill(page, 'input[name=password]', 'any');
  await click(page, 'button[type=submit]');
  // The page after it, which asks for consent.
  await click(page, 'form:not(:has(input[name=login])) button[type=submit]');
  await page.waitForSelector('main#page h1');
  await settled(page, 'No grain fits');
  await isAt(page, '/console/m/default/grains?type=goal');

  // A code that this tab did not ask for signs nobody in.
  await page.goto(`${server.http}/console/?code=stolen&state=stolen`);
  await page.waitForSelector('button.issuer');
  await isAt(page, '/console/');
  const refused = await fetch(`${server.http}/console/sign-in`, {
    method: 'POST',
    body: JSON.stringify({ code: 'none', code_verifier: 'x'.repeat(43), redirect_uri: `${server.http}/console/` }),
  });
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { error: { code: string } }).error.code],
    [401, 'AUT-E004'],
  );
  const malformed = await fetch(`${server.http}/console/sign-in`, { method: 'POST', body: '[' });
  assert.equal(((await malformed.json()) as { error: { code: string } }).error.code, 'VAL-E002');
});
