import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs, { existsSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { CatalogueModel } from './catalogue.ts';
import { download } from './download.ts';

const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 31) & 255));
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

const model: CatalogueModel = {
  name: 'tiny',
  role: 'embedding',
  about: '',
  languages: 'English',
  licence: 'MIT',
  dimensions: 8,
  repository: 'someone/tiny',
  revision: 'abc',
  files: [
    { name: 'model.onnx', path: 'onnx/model.onnx', bytes: BYTES.length, sha256: SHA256 },
    { name: 'tokenizer.json', path: 'tokenizer.json', bytes: BYTES.length, sha256: SHA256 },
  ],
  settings: { pooling: 'cls', max_tokens: 64 },
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A hub that answers with `answer`; what it was asked for is in `seen`. */
async function hubOf(t: TestContext, answer: Answer) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers.range ?? 'whole'}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'granary-pull-')));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'models', 'tiny');
  let done = 0;
  const pull = (hub = `http://127.0.0.1:${(server.address() as AddressInfo).port}`) =>
    download({ model, hub, folder, arrived: (_, bytes) => (done = bytes) });
  return { root, seen, folder, partial: join(root, 'models', '.partial-tiny'), pull, done: () => done };
}

const serve: Answer = ({ headers }, response) => {
  const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  response.writeHead(from === 0 ? 200 : 206).end(BYTES.subarray(from));
};

test('the files come from their revision, and the folder appears when all are there', async (t) => {
  const { seen, folder, partial, pull, done } = await hubOf(t, serve);
  await pull();
  assert.deepEqual(seen, [
    '/someone/tiny/resolve/abc/onnx/model.onnx whole',
    '/someone/tiny/resolve/abc/tokenizer.json whole',
  ]);
  assert.ok(readFileSync(join(folder, 'model.onnx')).equals(BYTES));
  assert.deepEqual(JSON.parse(readFileSync(join(folder, 'granary-model.json'), 'utf8')), model.settings);
  assert.equal(existsSync(partial), false);
  assert.equal(done(), 2 * BYTES.length);
});

test('a download that was cut off goes on where it ended', async (t) => {
  let isCut = true;
  const { seen, folder, partial, pull } = await hubOf(t, (request, response) => {
    if (!isCut) return serve(request, response);
    response.writeHead(200, { 'content-length': BYTES.length });
    response.write(BYTES.subarray(0, 100_000), () => response.socket?.destroySoon());
  });
  await assert.rejects(pull(), { code: 'NETWORK', retryable: true });
  assert.equal(existsSync(folder), false);
  // How much of it arrived depends on the moment; from here on there is a beginning.
  assert.ok(existsSync(join(partial, 'model.onnx')));
  writeFileSync(join(partial, 'model.onnx'), BYTES.subarray(0, 70_000));
  isCut = false;
  await pull();
  assert.deepEqual(
    seen.map((one) => one.split(' ')[1]),
    ['whole', 'bytes=70000-', 'whole'],
  );
  assert.ok(readFileSync(join(folder, 'model.onnx')).equals(BYTES));
});

test('a hub that ignores ranges, or redirects, is served', async (t) => {
  const { partial, folder, pull } = await hubOf(t, (request, response) => {
    if (request.url!.startsWith('/cdn')) response.writeHead(200).end(BYTES);
    else response.writeHead(302, { location: `/cdn${request.url}` }).end();
  });
  await assert.rejects(pull('http://127.0.0.1:1'), { code: 'NETWORK' });
  writeFileSync(join(partial, 'model.onnx'), 'a beginning that is not the file’s');
  await pull();
  assert.ok(readFileSync(join(folder, 'model.onnx')).equals(BYTES));
});

test('other bytes than the catalogue’s are refused and removed', async (t) => {
  let body = Buffer.alloc(BYTES.length);
  const { partial, folder, pull } = await hubOf(t, (_, response) => void response.writeHead(200).end(body));
  await assert.rejects(pull(), {
    code: 'FILE',
    message: /is not the file of the catalogue: its SHA-256 is [0-9a-f]{64}, not /,
  });
  body = Buffer.concat([BYTES, Buffer.from('more')]);
  await assert.rejects(pull(), { code: 'FILE', message: /more than the 300000 bytes/ });
  assert.equal(existsSync(join(partial, 'model.onnx')), false);
  assert.equal(existsSync(folder), false);
});

test('a refusal of the hub is named', async (t) => {
  const { pull } = await hubOf(t, (_, response) => void response.writeHead(404).end('no'));
  await assert.rejects(pull(), {
    code: 'NETWORK',
    message: /tiny\/resolve\/abc\/onnx\/model\.onnx: the hub answered 404/,
  });
});

/** The paths that are synced from now on, in order. */
async function syncedPaths(t: TestContext): Promise<readonly string[]> {
  const synced: string[] = [];
  const note = (descriptor: number): void => void synced.push(readlinkSync(`/proc/self/fd/${descriptor}`));
  const { fsyncSync } = fs;
  t.mock.method(fs, 'fsyncSync', (descriptor: number) => {
    note(descriptor);
    fsyncSync(descriptor);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const file = await open(import.meta.filename);
  await file.close();
  const handle = Object.getPrototypeOf(file) as typeof file;
  const { sync } = handle;
  t.mock.method(handle, 'sync', function (this: typeof file) {
    note(this.fd);
    return sync.call(this);
  });
  return synced;
}

test('every file is synced before the folder gets its name, and then its name is', async (t) => {
  if (process.platform !== 'linux') return t.skip('the paths of open files are read from /proc');
  const { root, pull } = await hubOf(t, serve);
  const synced = await syncedPaths(t);
  await pull();
  assert.deepEqual(
    synced.map((path) => relative(root, path)),
    [
      '',
      'models',
      ...['model.onnx', 'tokenizer.json', 'granary-model.json.tmp'].map((name) =>
        join('models', '.partial-tiny', name),
      ),
      join('models', '.partial-tiny'),
      'models',
    ],
  );
});
