// The built package `granary-client`: its size, both kinds of modules, its types, and every code block of docs/client.md.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildClient } from '../../scripts/build-client.ts';
import type * as Client from '../../src/client/index.ts';
import { startTestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const GZIP_BYTES_MAX = 20 * 1024;
const run = promisify(execFile);

/** An empty folder in which the package is installed. */
function installed(t: TestContext): { readonly folder: string; readonly built: string } {
  const folder = temporaryDirectory(t);
  const built = join(folder, 'node_modules', 'granary-client');
  buildClient(built);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  return { folder, built };
}

function scripts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js'))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
}

test('the package is small, runs as CommonJS and in a browser, and its page runs as written', async (t) => {
  const { folder, built } = installed(t);
  const server = await startTestServer();
  t.after(() => server.close());

  for (const kind of ['esm', 'cjs']) {
    const bytes = gzipSync(scripts(join(built, kind)).join('\n')).length;
    t.diagnostic(`${kind}: ${bytes} bytes of gzip`);
    assert.ok(bytes <= GZIP_BYTES_MAX, `${kind} has ${bytes} bytes`);
  }
  const manifest = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as Record<string, unknown>; // as built
  assert.deepEqual(
    [manifest['dependencies'], manifest['peerDependencies'], manifest['version']],
    [undefined, undefined, version()],
  );

  const required = createRequire(join(folder, 'x.js'))('granary-client') as typeof Client; // its own types
  const memory = new required.Granary({ url: server.http, apiKey: server.key }).memory('default');
  assert.equal((await memory.recall('nothing')).count, 0);
  await assert.rejects(memory.get('0'.repeat(64)), required.NotFoundError);

  const there = await browser(join(built, 'cjs'));
  const abroad = new there.Granary({ url: server.http, apiKey: server.key }).memory('default', { user: 'zoë' });
  await abroad.add({ type: 'event', content: 'from a browser' });
  assert.equal((await abroad.recall('browser')).results[0]?.userId, 'zoë');
  for await (const step of abroad.events({ since: '0' })) {
    assert.equal(step.kind, 'event');
    break;
  }

  const page = readFileSync(join(ROOT, 'docs', 'client.md'), 'utf8');
  const blocks = [...page.matchAll(/^( *)```ts\n(.*?)^ *```$/gms)].map(([, , code]) => code!);
  assert.ok(blocks.length >= 8, `${blocks.length} blocks`);
  const steps = /## Quickstart\n(.*?)\n## /s.exec(page)?.[1]?.match(/^\d+\. /gm) ?? [];
  assert.ok(steps.length >= 1 && steps.length <= 5, `${steps.length} steps`);
  const file = join(folder, 'page.ts');
  writeFileSync(file, blocks.join('\n'));
  mkdirSync(join(folder, 'node_modules', '@types'));
  cpSync(join(ROOT, 'node_modules', '@types', 'node'), join(folder, 'node_modules', '@types', 'node'), {
    recursive: true,
  });
  cpSync(join(ROOT, 'node_modules', 'undici-types'), join(folder, 'node_modules', 'undici-types'), { recursive: true });
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const words = '--ignoreConfig --noEmit --strict --target es2022 --module nodenext --types node page.ts'.split(' ');
  await run(process.execPath, [compiler, ...words], { cwd: folder }).catch((error: { readonly stdout?: string }) =>
    assert.fail(error.stdout ?? String(error)),
  );
  const env = { ...process.env, NODE_OPTIONS: '', GRANARY_URL: server.http, GRANARY_API_KEY: server.key };
  const { stdout } = await run(process.execPath, [file], { cwd: folder, env });
  assert.match(stdout, /green tea/);
  assert.match(stdout, /\nok\n/);
});

function version(): unknown {
  return (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }).version;
}

/** The package in a world that has only what browsers have. */
async function browser(folder: string): Promise<typeof Client> {
  const { fetch, AbortController, AbortSignal, TextDecoder, TextEncoder, URL, URLSearchParams, Headers, FormData } =
    globalThis;
  const { Blob, ReadableStream, crypto, setTimeout, clearTimeout } = globalThis;
  const world = createContext({
    ...{ fetch, AbortController, AbortSignal, TextDecoder, TextEncoder, URL, URLSearchParams, Headers, FormData },
    ...{ Blob, ReadableStream, crypto, setTimeout, clearTimeout, Uint8Array, Error },
  });
  const loaded = new Map<string, object>();
  const load = (path: string): object => {
    const known = loaded.get(path);
    if (known !== undefined) return known;
    const exports = {};
    loaded.set(path, exports);
    const wrapped = `(function (exports, require) {${readFileSync(path, 'utf8')}\n})`;
    const module = runInContext(wrapped, world) as (exports: object, require: (name: string) => object) => void;
    module(exports, (name) => {
      assert.match(name, /^\.\.?\//, `it requires ${name}`);
      return load(join(path, '..', name));
    });
    return exports;
  };
  return load(join(folder, 'index.js')) as typeof Client;
}
