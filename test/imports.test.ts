// The modules that each entry of the program loads. A module costs every thread that loads it about a tenth of a
// millisecond and its memory, so a thread should load a package or a part of the program only if it uses it. `npm run
// bench -- start` has the times.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { granary } from './support/cli.ts';
import { startOpenAi } from './support/models/openai.ts';
import { SOURCES_MAIN } from './support/program.ts';
import { type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const PRELOAD = resolve(import.meta.dirname, 'support', 'loaded-modules.ts');

const manifest: unknown = JSON.parse(readFileSync(resolve(import.meta.dirname, '..', 'package.json'), 'utf8'));
/** Dependencies of packages are not checked, and differ between platforms. */
const { dependencies, devDependencies } = manifest as Record<'dependencies' | 'devDependencies', object>; // our own package.json
/** Packages of the build are development packages. */
const DEPENDENCIES = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);

/** The modules of one thread. */
interface Loaded {
  /** The project's files, below src. */
  readonly own: readonly string[];
  /** The packages that package.json names. */
  readonly packages: readonly string[];
  /** How many modules of packages. */
  readonly foreign: number;
}

/** The modules of the thread that loaded our file `entry`. */
function loadedIn(folder: string, entry: string): Loaded {
  for (const name of readdirSync(folder)) {
    const urls = new Set(readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'));
    const own = [...urls].flatMap((url) => /^(?!.*\/node_modules\/).*\/src\/(.+)$/.exec(url)?.[1] ?? []);
    if (!own.includes(entry)) continue;
    const names = [...urls].map((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? '');
    const packages = [...new Set(names)].filter((one) => DEPENDENCIES.has(one)).sort();
    return { own, packages, foreign: urls.size - own.length };
  }
  assert.fail(`no thread loaded ${entry}`);
}

/** Runs a command; returns the modules that its main thread loaded. */
async function ran(t: TestContext, words: readonly string[]): Promise<Loaded> {
  const folder = temporaryDirectory(t);
  const env = { LOADED_MODULES: folder, NODE_OPTIONS: `--import ${JSON.stringify(PRELOAD)}` };
  const { code, stderr } = await granary(words, { env, main: SOURCES_MAIN });
  assert.equal(code, 0, stderr);
  return loadedIn(folder, 'cli/main.ts');
}

/** A small server of the sources that notes its modules in the folder. It ends with the test. */
async function started(t: TestContext, folder: string, flags: readonly string[] = []): Promise<ServerProcess> {
  const server = await startServerProcess({
    directory: temporaryDirectory(t),
    flags: ['--shards', '1', '--workers', '1', ...flags],
    preload: PRELOAD,
    ofSources: true,
    env: { LOADED_MODULES: folder },
  });
  t.after(() => server.kill());
  return server;
}

/** The files below one of these paths, each of which must exist. */
function below(own: readonly string[], ...folders: string[]): string[] {
  for (const folder of folders) assert.ok(existsSync(resolve(import.meta.dirname, '..', 'src', folder)), folder);
  return own.filter((file) => folders.some((folder) => file.startsWith(folder)));
}

test('the version is printed without the commands', async (t) => {
  const { own, packages } = await ran(t, ['--version']);
  assert.deepEqual(packages, ['commander']);
  assert.deepEqual([...own].sort(), [
    'cli/exit-codes.ts',
    'cli/failure.ts',
    'cli/main.ts',
    'cli/program.ts',
    'server/version.ts',
  ]);
});

test('help for a command loads that command, and nothing that it would run', async (t) => {
  const { own, packages } = await ran(t, ['stats', '--help']);
  assert.deepEqual(packages, ['cli-table3', 'commander']);
  assert.deepEqual(below(own, 'server', 'shards'), ['server/version.ts']);
  assert.ok(own.length <= 20, own.join());
});

test('a command that opens the data itself loads the packages of the server, of the engine and its own', async (t) => {
  const data = join(temporaryDirectory(t), 'data');
  await ran(t, ['add', 'ann', 'likes', 'tea', '--data-dir', data]);
  const { own, packages } = await ran(t, ['stats', '--data-dir', data]);
  assert.deepEqual(
    packages,
    ['@bufbuild/protobuf', '@grpc/grpc-js', '@opentelemetry/api', 'busboy', 'cborg', 'cli-table3', 'commander'].concat(
      'flexsearch',
      'lmdb',
      'msgpackr',
      'pino',
      'piscina',
      'prom-client',
      'typebox',
      'wink-porter2-stemmer',
    ),
  );
  assert.deepEqual(below(own, 'engine/text/pii/rules', 'server/grpc/descriptor.ts'), []);
});

test('the server and its workers load only what they use, and nothing of PostgreSQL without a store', async (t) => {
  const folder = temporaryDirectory(t);
  const server = await started(t, folder);
  await server.stop();

  const main = loadedIn(folder, 'server/main.ts');
  assert.deepEqual(
    main.packages,
    ['@bufbuild/protobuf', '@opentelemetry/api', 'busboy', 'cborg', 'commander', 'lmdb', 'msgpackr'].concat(
      'pino',
      'piscina',
      'prom-client',
    ),
  );
  assert.deepEqual(below(main.own, 'engine/text/pii/rules', 'server/grpc/descriptor.ts'), []);
  assert.deepEqual(below(main.own, 'engine/cal/run/query.ts', 'engine/cal/parser', 'engine/cal/output/formats'), []);
  const turns = ['chat/turn.ts', 'harness/turns/run-turn.ts', 'harness/templates', 'imports/run-job.ts', 'tools'];
  assert.deepEqual(below(main.own, ...turns.map((path) => `server/${path}`)), []);
  // Compliance checks, reports on persons, tools of MCP and calls of several partitions load with the first request.
  assert.deepEqual(below(main.own, 'server/nodes', 'shards/nodes', 'engine/log/postgres'), []);
  const rare = ['server/compliance/checks', 'server/subject-requests/report-data.ts', 'mcp/session.ts'];
  assert.deepEqual(below(main.own, ...rare, 'shards/gather/gather.ts', 'engine/recall/recall.ts'), []);
  assert.ok(main.foreign <= 215, `${main.foreign} modules of packages`);
  // Each operation adds one or two.
  assert.ok(main.own.length <= 706, `${main.own.length} modules`);

  const worker = loadedIn(folder, 'server/shard-worker.ts');
  assert.deepEqual(
    worker.packages,
    ['@bufbuild/protobuf', 'cborg', 'flexsearch', 'lmdb', 'msgpackr', 'piscina'].concat('wink-porter2-stemmer'),
  );
  assert.deepEqual(below(worker.own, 'engine/cal/run', 'engine/cal/parser', 'engine/text/pii/rules', 'cli'), []);
  assert.ok(worker.foreign <= 90, `${worker.foreign} modules of packages`);
  // The built program has them in a few files.
  assert.ok(worker.own.length <= 577, `${worker.own.length} modules`);

  for (const [entry, { own, packages }] of Object.entries({ main, worker })) {
    assert.ok(!packages.includes('postgres'), entry);
    assert.deepEqual(below(own, 'engine/log/postgres', 'server/store', 'server/start/store.ts'), [], entry);
    assert.ok(!own.includes('engine/keys/staged-buckets.ts'), entry);
  }
});

test('the clients of models load with the first call of a model, not with a provider', async (t) => {
  const CLIENTS = ['@ai-sdk/anthropic', '@ai-sdk/openai-compatible', 'undici'];
  const folder = temporaryDirectory(t);
  const models = await startOpenAi([{ answer: { text: 'ok' } }]);
  t.after(() => models.close());
  const server = await started(t, folder, ['--model-url', models.url, '--model', 'scripted']);
  const loaded = (): string[] =>
    loadedIn(folder, 'server/main.ts').packages.filter((name) => CLIENTS.includes(name) || name === 'ai');
  const http = new HttpClient(server.http, server.key);
  await http.get('/settings/providers');
  assert.deepEqual(loaded(), []);
  assert.equal((await http.post('/settings/providers/start-model/test', { model: 'scripted' })).ok, true);
  assert.deepEqual(loaded(), CLIENTS);
  await server.stop();
});
