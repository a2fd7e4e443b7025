// The process of a command: what other users of the machine see of it, and output that nobody reads.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { environment } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { MAIN } from './support/program.ts';
import { temporaryDirectory } from './support/temporary.ts';

const TLS = join(import.meta.dirname, 'fixtures/tls');

/** A server of the test's own; resolves to its address. */
async function answering(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on TCP
}

function started(t: TestContext, words: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess {
  const env = environment(more);
  const child = spawn(process.execPath, [MAIN, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('a key on the command line is hidden from other users', { skip: !existsSync('/proc/self/cmdline') }, async (t) => {
  let asked = 0;
  const url = await answering(t, () => {
    asked += 1;
  });
  const key = `gr_${'0'.repeat(64)}`;
  for (const given of [['--api-key', key], [`--api-key=${key}`]]) {
    const before = asked;
    const child = started(t, ['memories', '--url', url, ...given]);
    await eventually('it asks', () => asked > before);
    assert.ok(!readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').includes(key), given[0]);
    child.kill('SIGKILL');
  }
});

test('a command completes its work when nobody reads its notes', async (t) => {
  const child = started(t, ['add', 'ada', 'likes', 'tea', '--data-dir', join(temporaryDirectory(t), 'data')]);
  child.stderr?.destroy();
  const [said] = await Promise.all([text(child.stdout!), once(child, 'close')]);
  assert.match(said, /^[0-9a-f]{64}\n$/);
  assert.equal(child.exitCode, 0);
});

test('events --follow ends when nobody reads the events any more', async (t) => {
  const url = await answering(t, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let id = 0;
    const timer = setInterval(
      () => response.write(`id: ${++id}\nevent: grain_created\ndata: {"sequence":${id}}\n\n`),
      20,
    );
    response.on('close', () => clearInterval(timer));
  });
  const child = started(t, ['events', '--follow', '--json', '--url', url]);
  await once(child.stdout!, 'data');
  child.stdout!.destroy();
  await eventually('it ends', () => child.exitCode !== null || child.signalCode !== null);
  assert.equal(child.exitCode, 0);
});

test('certificates that are given are trusted beside those of the system', async (t) => {
  const file = (name: string): Buffer => readFileSync(join(TLS, name));
  const own = { cert: file('cert.pem'), key: file('key.pem') };
  const server = createTlsServer(own, (_, response) => response.end('{"memories":[]}'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const url = `https://localhost:${(server.address() as AddressInfo).port}`; // it listens on TCP
  const words = ['memories', '--json', '--url', url, '--tls-ca', join(TLS, 'rsa-cert.pem')];
  const child = started(t, words, { NODE_EXTRA_CA_CERTS: join(TLS, 'cert.pem') });
  const [said] = await Promise.all([text(child.stdout!), once(child, 'close')]);
  assert.equal(said, '{"memories":[],"total":0}\n');
});

test('an export that is stopped leaves no part of its file', async (t) => {
  const url = await answering(t, (_, response) => {
    response.writeHead(200);
    response.write(Buffer.alloc(65_536, 1));
  });
  const folder = temporaryDirectory(t);
  const child = started(t, ['export', '--out', join(folder, 'all.mg'), '--url', url]);
  await eventually('the file is begun', () => readdirSync(folder).length > 0);
  child.kill('SIGINT');
  await once(child, 'exit');
  assert.deepEqual(readdirSync(folder), []);
});

test('with --json an installation prints JSON alone', async (t) => {
  const file = join(temporaryDirectory(t), 'mcp.json');
  const words = ['mcp', 'install', 'cursor', '--url', 'http://127.0.0.1:1', '--file', file, '--dry-run', '--json'];
  const child = started(t, words);
  const [said, noted] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'close')]);
  assert.equal(said, `${JSON.stringify({ file, written: false })}\n`, noted);
  assert.match(noted, /^\+ .*granary/m);
});

test('an export tells its grains, however the bytes of its head arrive', async (t) => {
  const url = await answering(t, (_, response) => {
    response.writeHead(200);
    response.write('MG\x01\x00', 'latin1', () =>
      setTimeout(() => response.end(Buffer.from('000000020000000000000000', 'hex')), 50),
    );
  });
  const out = join(temporaryDirectory(t), 'two.mg');
  const child = started(t, ['export', '--out', out, '--json', '--url', url]);
  const [said] = await Promise.all([text(child.stdout!), once(child, 'close')]);
  assert.deepEqual(JSON.parse(said), { out, format: 'mg', bytes: 16, grains: 2 });
});
