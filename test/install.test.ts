// The packed package, installed by npm into an empty folder without any install script: it serves at full speed.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from '../scripts/build.ts';
import { BUILT } from './support/program.ts';

const ROOT = join(import.meta.dirname, '..');
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'granary-install-'));
after(() => rmSync(directory, { recursive: true, force: true }));

/** Without the settings of the npm that runs the tests: `npm exec` would run its command again. */
const OWN_ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_OPTIONS$/i.test(name)));
/** A package that holds binaries for every platform once brought 590 MB. 190 of these are Node with its headers. */
const INSTALLED_BYTES_MAX = 400e6;
/** Npm takes longer than this only if a connection hangs. */
const NPM_MS_MAX = 180_000;
/** Errors of npm that say that it reaches no registry. */
const UNREACHABLE =
  /npm error code (ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)/;
/** Binaries that packages compile at installation where they bring none: each loads, and is no slow stand-in. */
const NATIVE = `
import assert from 'node:assert/strict';
import { open } from 'lmdb';
import { isNativeAccelerationEnabled } from 'msgpackr';
import usearch from 'usearch';
import '@napi-rs/nice';
assert.equal(typeof open, 'function');
assert.equal(isNativeAccelerationEnabled, true);
const index = new usearch.Index({ metric: 'cos', dimensions: 2 });
index.add(1n, new Float32Array([1, 0]));
assert.equal(index.size(), 1);
`;

async function packed(): Promise<string> {
  const folder = join(directory, 'package');
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: readonly string[] }; // ours
  mkdirSync(folder);
  if (BUILT === undefined) await build(join(folder, 'dist'));
  else cpSync(join(BUILT, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const file of ['package.json', ...files.filter((name) => name !== 'dist')])
    cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json'], { cwd: folder, env: OWN_ENV });
  const answer = JSON.parse(stdout) as unknown; // of npm: a list, and in newer versions an object by name
  const [first] = Object.values(answer as object) as readonly { readonly filename: string }[];
  return join(folder, first?.filename ?? '');
}

test('an installation without scripts uses every native library, the fast listener included', async (t) => {
  const folder = join(directory, 'empty');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const flags = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=0'];
  try {
    await run('npm', ['install', ...flags, await packed()], { cwd: folder, env: OWN_ENV, timeout: NPM_MS_MAX });
  } catch (error) {
    if (UNREACHABLE.test(String(error))) return t.skip('no registry can be reached');
    throw error;
  }
  const bytes = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  t.diagnostic(`${Math.round(bytes / 1e6)} MB are installed`);
  assert.ok(bytes <= INSTALLED_BYTES_MAX, `${bytes} bytes`);
  const bin = join(folder, 'node_modules', '.bin');
  const env = { ...OWN_ENV, PATH: [bin, process.env['PATH']].join(delimiter) };
  writeFileSync(join(folder, 'native.js'), NATIVE);
  await run('node', ['native.js'], { cwd: folder, env });
  const command = [
    'exec',
    '--',
    'granary',
    'serve',
    '--http',
    'uws',
    '--http-port',
    '0',
    '--grpc-port',
    '0',
    '--shards',
    '1',
  ];
  const server = spawn('npm', command, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  // npm has children of its own.
  t.after(() => server.exitCode === null && process.kill(-server.pid!, 'SIGKILL')); // it started
  const exited = once(server, 'exit');
  const [line] = (await Promise.race([
    once(createInterface({ input: server.stdout }), 'line'),
    exited.then(() => assert.fail(`it ended with ${server.exitCode}`)),
  ])) as [string];
  const { http, pid } = JSON.parse(line) as { http: string; pid: number }; // the ready line
  const config = (await (await fetch(`${http}/api/config`)).json()) as { features: Record<string, unknown> };
  assert.equal(config.features['http_listener'], 'uws');
  process.kill(pid, 'SIGTERM');
  await exited;
  assert.equal(server.exitCode, 0);
});
