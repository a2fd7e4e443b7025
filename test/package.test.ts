// The published package: built, laid out as an install lays it out, and started.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { build } from '../scripts/build.ts';
import { productionPackages } from '../scripts/lay-out.ts';
import type { HealthResponse } from '../src/server/gen/memory/v1/memory.ts';
import { MemoryServiceClient } from '../src/server/gen/memory/v1/services.ts';
import { BUILT } from './support/program.ts';
import { temporaryDirectory } from './support/temporary.ts';

const ROOT = join(import.meta.dirname, '..');
const PRELOAD = join(import.meta.dirname, 'support', 'loaded-modules.ts');

// The package is started as its users start it, without the tests' own options of Node.
delete process.env['NODE_OPTIONS'];

interface Manifest {
  readonly version: string;
  readonly bin: { readonly granary: string };
  readonly files: readonly string[];
  readonly scripts: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest; // our own package.json

test('the built package serves, and has every file that it names', async (t) => {
  const directory = temporaryDirectory(t);
  const folder = join(directory, 'package');
  // A run of many files has built it from the same sources.
  if (BUILT === undefined) await build(join(folder, 'dist'));
  else cpSync(join(BUILT, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const file of ['package.json', ...manifest.files.filter((name) => name !== 'dist')])
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await imported(directory, folder);
  const scripts = [...(manifest.scripts['postinstall'] ?? '').matchAll(/node (\S+)/g)].map(([, script = '']) => script);
  assert.equal(scripts.length, 1);
  for (const script of scripts) assert.ok(existsSync(join(folder, script)), `the package contains ${script}`);

  // Threads are started by file names that no import contains.
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.includes('test'),
  );
  const threads = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, 'src', file), 'utf8').matchAll(/threadEntry\('([\w./-]+)'/g)].map(([, name]) =>
      join(dirname(file), `${name}.js`),
    ),
  );
  assert.ok(threads.length >= 4, threads.join());
  for (const file of threads) assert.ok(existsSync(join(folder, 'dist', file)), `${file} is not built`);

  // So are modules that are loaded on first use.
  const late = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, 'src', file), 'utf8').matchAll(/\(import\.meta\.url, '(\.[^']+)'\)/g)].map(([, name]) =>
      join(dirname(file), `${name}.js`),
    ),
  );
  assert.ok(late.length >= 3, late.join());
  for (const file of late) assert.ok(existsSync(join(folder, 'dist', file)), `${file} is not built`);

  const loaded = join(directory, 'loaded');
  mkdirSync(loaded);
  const program = [join(folder, manifest.bin.granary), 'serve', '--data-dir', join(directory, 'data'), '--shards', '1'];
  const server = spawn(process.execPath, ['--import', PRELOAD, ...program], {
    env: {
      ...{ ...process.env, GRANARY_HTTP_PORT: '0', GRANARY_GRPC_PORT: '0', GRANARY_LOG_LEVEL: 'error' },
      LOADED_MODULES: loaded,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(server, 'exit');
  try {
    const [line] = await Promise.race([
      once(createInterface({ input: server.stdout }), 'line'),
      exited.then(([code]) => assert.fail(`it ended with ${code}`)),
    ]);
    const ready = JSON.parse(String(line)) as { http: string; grpc: string }; // the ready line of the design
    const health = (await (await fetch(`${ready.http}/api/health`)).json()) as { status: string; version: string };
    assert.deepEqual([health.status, health.version], ['ok', manifest.version]);
    const key = readFileSync(join(directory, 'data', 'keys', 'bootstrap.key'), 'utf8').trim();
    const added = await fetch(`${ready.http}/api/memories/default/add`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ subject: 'ann', relation: 'likes', object: 'tea' }),
    });
    assert.equal(added.status, 200, await added.text());
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${key}`);
    const client = new MemoryServiceClient(ready.grpc, credentials.createInsecure());
    const reply = await new Promise<HealthResponse>((resolve, reject) => {
      client.health({}, metadata, (error: ServiceError | null, value) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    client.close();
    assert.equal(reply.version, manifest.version);
    server.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);
    checkLoaded(loaded);
  } finally {
    server.kill('SIGKILL');
  }
});

/** Each thread loads few modules of packages, and none of a package that an install leaves out. */
function checkLoaded(folder: string): void {
  const installed = productionPackages();
  const threads = readdirSync(folder);
  assert.ok(threads.length >= 2, threads.join());
  for (const thread of threads) {
    const urls = [...new Set(readFileSync(join(folder, thread), 'utf8').trimEnd().split('\n'))];
    const foreign = urls.flatMap((url) => /\/(node_modules\/.+)$/.exec(url)?.[1] ?? []);
    const left = foreign.filter((path) => !installed.some((name) => path.startsWith(`${name}/`)));
    assert.deepEqual(left, [], `thread ${thread}`);
    assert.ok(foreign.length <= 100, `thread ${thread} loads ${foreign.length} modules of packages`);
  }
}

const PROGRAM = `import { type Server, startServer } from 'granary';
const server: Server = await startServer({ dataDir: 'served', httpPort: 0, grpcPort: 0, shards: 1, embedder: 'none', logLevel: 'error' });
const health: unknown = await (await fetch(server.http + '/api/health/live')).json();
await server.close();
const wrong = await startServer({ dataDirectory: 'elsewhere' }).catch((error: Error) => error.message);
console.log(JSON.stringify({ health, firstKey: server.firstKey?.slice(0, 3), wrong }));
`;

/** A program with the package as a dependency compiles with its types, and runs a server. */
async function imported(directory: string, folder: string): Promise<void> {
  const own = join(directory, 'program');
  mkdirSync(join(own, 'node_modules'), { recursive: true });
  symlinkSync(folder, join(own, 'node_modules', 'granary'), 'junction');
  writeFileSync(join(own, 'package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(join(own, 'program.ts'), PROGRAM);
  const run = promisify(execFile);
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = '--ignoreConfig --strict --target es2024 --module nodenext --types node --typeRoots'.split(' ');
  const types = join(ROOT, 'node_modules', '@types');
  await run(process.execPath, [compiler, 'program.ts', ...flags, types], { cwd: own });
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: own });
  assert.deepEqual(JSON.parse(stdout), {
    health: { status: 'ok', version: manifest.version },
    firstKey: 'gr_',
    wrong: 'VAL-E001: there is no option `dataDirectory`',
  });
}
