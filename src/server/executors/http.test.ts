import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { HttpTools } from './http.ts';

const NEVER = new AbortController().signal;
const HERE = { privateToo: false, loopbackToo: true };
const INPUT = { tool: 'orders', arguments: { order: 17 } };

describe('a tool at a URL', () => {
  let server: Server;
  let base = '';
  const seen: { readonly key: string | undefined; readonly body: string }[] = [];
  before(async () => {
    server = createServer((request, response) => void answer(request, response));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    seen.push({ key: request.headers['idempotency-key'] as string | undefined, body });
    if (request.url === '/text') response.end('on its way');
    else if (request.url === '/away') response.writeHead(302, { location: `${base}/json` }).end();
    else if (request.url === '/down') response.writeHead(500).end('secret');
    else if (request.url === '/long') response.end('x'.repeat(300_000));
    else if (request.url === '/hang') return;
    else response.end(JSON.stringify({ state: 'shipped' }));
  };
  const call = async (path: string, tools = new HttpTools(HERE), signal = NEVER) => {
    try {
      return await tools.call({ uri: path.startsWith('http') ? path : `${base}${path}`, callKey: 'k' }, INPUT, signal);
    } finally {
      await tools.close();
    }
  };

  test('gets the call, with a key of its own', async () => {
    assert.deepEqual(await call('/json'), { ok: true, output: { state: 'shipped' } });
    assert.deepEqual(seen.at(-1), { key: 'k', body: JSON.stringify(INPUT) });
    assert.deepEqual(await call('/text'), { ok: true, output: 'on its way' });
  });

  const FAILURES: readonly (readonly [path: string, reason: RegExp])[] = [
    ['/away', /^the tool answered with status 302$/],
    ['/down', /^the tool answered with status 500$/],
    ['/long', /more than 262144 bytes/],
    ['http://169.254.169.254/latest/meta-data', /169\.254\.169\.254 has an address that tools may not reach/],
    ['http://10.0.0.1/', /may not reach/],
    ['ftp://example.com/', /not an http or https URL/],
  ];
  for (const [path, reason] of FAILURES)
    test(`${path} fails`, async () => {
      const outcome = await call(path);
      assert.match(outcome.ok ? 'ok' : outcome.reason, reason);
    });

  test('a name that leads to a private address is refused where the socket takes it', async () => {
    const tools = new HttpTools({ privateToo: false, loopbackToo: false }, (_host, done) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]),
    );
    const outcome = await call('http://tool.example/', tools);
    assert.match(outcome.ok ? 'ok' : outcome.reason, /tool\.example has an address that tools may not reach/);
  });

  test('a host that is not found fails', async () => {
    const tools = new HttpTools(HERE, (_host, done) => done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []));
    const outcome = await call('http://tool.example/', tools);
    assert.equal(outcome.ok ? 'ok' : outcome.reason, 'the connection to the tool failed');
  });

  test('a turn that ends ends the call', async () => {
    const aborting = new AbortController();
    const calling = call('/hang', new HttpTools(HERE), aborting.signal);
    aborting.abort();
    const outcome = await calling;
    assert.equal(outcome.ok ? '' : outcome.reason, 'the turn ended before the tool finished');
  });
});
