import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Resolve } from '../outgoing/addresses.ts';
import { providerServer, testModels } from './testing/server.ts';

/** Asks `url`, whose name leads to `address`; returns the error's text, or the status. */
async function asked(t: TestContext, url: string, address: string, modelHosts = ''): Promise<string> {
  const resolve: Resolve = (_, found) => found(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  const { outgoing } = testModels(t, { flags: modelHosts === '' ? {} : { modelHosts }, resolve });
  const request = { provider: 'p', url, method: 'GET', headers: {}, signal: new AbortController().signal } as const;
  return outgoing.ask({ ...request, bytesMax: 100 }).then(
    async (answer) => `${answer.status} ${await answer.text()}`,
    (error: Error) => error.message,
  );
}

test('a name that leads to this machine or a private network is reached only where the operator allows it', async (t) => {
  const server = await providerServer(t, (response) => void response.end('yes'));
  const { port } = new URL(server.url);
  const named = `http://models.example:${port}/v1`;
  const refused = /is not called: models\.example has an address that requests to models may not reach$/;
  assert.match(await asked(t, named, '127.0.0.1'), refused);
  for (const address of ['10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1'])
    assert.match(await asked(t, named, address), refused, address);
  assert.equal(server.asked.length, 0, 'a name that moved between check and connection is not reached');
  assert.equal(await asked(t, named, '127.0.0.1', 'models.example'), '200 yes');
  assert.equal(await asked(t, named, '127.0.0.1', '127.0.0.0/8'), '200 yes');
  assert.match(await asked(t, named, '127.0.0.1', 'other.example,10.0.0.0/8'), refused);
  // An address of this machine needs no permission; others do.
  assert.equal(await asked(t, server.url, ''), '200 yes');
  assert.match(await asked(t, `http://0.0.0.0:${port}/`, ''), /0\.0\.0\.0 has an address/);
  assert.equal(await asked(t, `http://0.0.0.0:${port}/`, '', '0.0.0.0'), '200 yes');
});

test('an allowed network is an address with a prefix, and everything else is an error of the option', (t) => {
  for (const modelHosts of ['10.0.0.0/33', '10.0.0.0/x', 'llm internal', 'http://llm', '::/129', 'llm/8'])
    assert.throws(
      () => testModels(t, { flags: { modelHosts } }),
      /--model-hosts: ".*" is not a host, an address or a network/,
    );
});

test('an answer that another encoding would blow up is not unpacked', async (t) => {
  const { url, asked: requests } = await providerServer(t, (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all');
  });
  assert.equal(await asked(t, url, ''), '200 not gzip at all');
  assert.equal(requests[0]?.headers['accept-encoding'], 'identity');
});
