// The bootstrap key has admin rights: the command line sends it only to the server of its own data directory, whatever
// an option, the environment, a stale file or an answer names.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { lockDirectory } from '../src/server/directory-lock.ts';
import { granary, servedForFile } from './support/cli.ts';
import { startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const { directory, server, here } = servedForFile();

interface Stranger {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** The headers of every request. */
  readonly received: IncomingHttpHeaders[];
}

/** A foreign HTTP server that records what it receives. */
async function httpStranger(t: TestContext, answer: RequestListener, port = 0): Promise<Stranger> {
  const received: IncomingHttpHeaders[] = [];
  const listener = createHttp((request, response) => {
    received.push(request.headers);
    answer(request, response);
  });
  listener.on('connect', (request, socket) => {
    received.push(request.headers);
    socket.destroy();
  });
  await new Promise<void>((done) => listener.listen(port, '127.0.0.1', done));
  t.after(() => listener.close());
  return { address: `127.0.0.1:${(listener.address() as AddressInfo).port}`, received };
}

/** The same over HTTP/2, as gRPC uses it. */
async function grpcStranger(t: TestContext): Promise<Stranger> {
  const received: IncomingHttpHeaders[] = [];
  const listener = createHttp2();
  listener.on('stream', (stream, headers) => {
    received.push(headers);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
  });
  await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
  t.after(() => listener.close());
  return { address: `127.0.0.1:${(listener.address() as AddressInfo).port}`, received };
}

const refuse: RequestListener = (_, response) => {
  response.writeHead(401, { 'content-type': 'application/json' });
  response.end('{"error":{"code":"AUT-E005","message":"AUT-E005: credentials missing"}}');
};

function assertNoKey({ received }: Stranger): void {
  assert.ok(received.length > 0, 'the foreign server received a request');
  for (const headers of received) assert.doesNotMatch(JSON.stringify(headers), /g[rp]_[0-9a-f]/);
}

test('a server from --url or the environment gets no bootstrap key, and the error names the option to set', async (t) => {
  const [http, grpc] = await Promise.all([httpStranger(t, refuse), grpcStranger(t)]);
  const env = { GRANARY_BOOTSTRAP_KEY: `gr_${'7'.repeat(64)}` };
  const runs = await Promise.all([
    granary(here('memories', '--url', `http://${http.address}`)),
    granary(here('memories', '--url', `http://${http.address}`), { env }),
    granary(here('health'), { env: { ...env, GRANARY_URL: `http://${http.address}` } }),
    granary(here('health', '--url', grpc.address)),
    granary(here('recall', 'tea', '--url', grpc.address), { env }),
  ]);
  for (const { code, stderr } of runs) assert.equal(code, 1, stderr);
  assert.match(
    runs[0].stderr,
    /^granary: AUT-E005: .*give --api-key or GRANARY_API_KEY\. The key in keys\/bootstrap\.key/,
  );
  assertNoKey(http);
  assertNoKey(grpc);
});

test('the local server gets the key, under either of its addresses', async () => {
  for (const words of [
    here('memories'),
    here('health'),
    here('memories', '--url', server().http),
    here('health', '--url', server().grpc),
    here('health', '--url', `${server().http}/`),
  ]) {
    const { code, stderr } = await granary(words);
    assert.equal(code, 0, stderr);
  }
});

test('a server that did not write server.json gets no key, even at an address in it', async (t) => {
  const [http, grpc] = await Promise.all([httpStranger(t, refuse), grpcStranger(t)]);
  const data = join(temporaryDirectory(t), 'data');
  mkdirSync(join(data, 'keys'), { recursive: true });
  copyFileSync(join(directory, 'data/keys/bootstrap.key'), join(data, 'keys/bootstrap.key'));
  const true_ = JSON.parse(readFileSync(join(directory, 'data/server.json'), 'utf8'));
  const run = (file: object, ...words: string[]) => {
    writeFileSync(join(data, 'server.json'), JSON.stringify({ ...true_, ...file }));
    return granary([...words, '--data-dir', data]);
  };
  // A process holds the directory, so its file counts so far.
  const lock = lockDirectory(data);
  const byHttp = await run({ http: `http://${http.address}` }, 'memories');
  assert.equal(byHttp.code, 1);
  assert.match(byHttp.stderr, /^granary: NO-SERVER: .* no key was sent: a different server answers at http:/);
  assertNoKey(http);
  const byGrpc = await run({ grpc: grpc.address }, 'recall', 'tea');
  assert.match(
    byGrpc.stderr,
    /^granary: NO-SERVER: the server at 127.0.0.1:\d+ is not the one that has the data directory open/,
  );
  assertNoKey(grpc);
  // The secret of an earlier start.
  const stale = await run({ secret: '0'.repeat(64) }, 'memories');
  assert.match(stale.stderr, /no key was sent: a different server answers/);
  lock.release();
  // No process holds the directory: the file does not count, also when --url agrees with it.
  const named = await run({ http: `http://${http.address}` }, 'memories', '--url', `http://${http.address}`);
  assert.match(named.stderr, /^granary: AUT-E005: /);
  assertNoKey(http);
});

test('a process on a killed server’s port receives nothing, and the command opens the directory itself', async (t) => {
  const data = join(temporaryDirectory(t), 'data');
  const killed = await startServerProcess({ directory: data, flags: ['--shards', '2', '--workers', '1'] });
  await killed.kill();
  assert.equal(JSON.parse(readFileSync(join(data, 'server.json'), 'utf8')).http, killed.http);
  const stranger = await httpStranger(t, refuse, Number(new URL(killed.http).port));
  const { code, stdout, stderr } = await granary(['memories', '--data-dir', data, '--json']);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /"default"/);
  assert.deepEqual(stranger.received, []);
});

test('proxies of the environment are not used, and redirects are not followed', async (t) => {
  const proxy = await httpStranger(t, refuse);
  const env = Object.fromEntries(
    ['http_proxy', 'https_proxy', 'grpc_proxy', 'all_proxy'].flatMap((name) => [
      [name, `http://${proxy.address}`],
      [name.toUpperCase(), `http://${proxy.address}`],
    ]),
  );
  for (const words of [here('health'), here('memories')]) {
    const { code, stderr } = await granary(words, { env: { ...env, NODE_USE_ENV_PROXY: '1' } });
    assert.equal(code, 0, stderr);
  }
  assert.deepEqual(proxy.received, []);
  const other = await httpStranger(t, refuse);
  const redirecting = await httpStranger(t, (request, response) => {
    response.writeHead(307, { location: `http://${other.address}${request.url}` });
    response.end();
  });
  const key = { GRANARY_API_KEY: `gr_${'6'.repeat(64)}` };
  const { code } = await granary(here('memories', '--url', `http://${redirecting.address}`), { env: key });
  assert.equal(code, 1);
  // The named server got the key given for it; the redirect's target got nothing.
  assert.match(String(redirecting.received[0]?.authorization), /gr_666/);
  assert.deepEqual(other.received, []);
});
