// A signal before the server is ready ends it in good order, also where it is the first process of a container, which the
// system sends no signals that it has no handler for.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { environment, granaryJson } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { MAIN } from './support/program.ts';
import { ON_POSTGRES } from './support/store.ts';
import { temporaryDirectory } from './support/temporary.ts';

/** A server process, and how to send it a signal as soon as `when` holds; resolves to its output. */
function starting(t: TestContext, directory: string, flags: readonly string[], env: Record<string, string> = {}) {
  const ports = ['--http-port', '0', '--grpc-port', '0', '--embedder', 'none'];
  const child = spawn(process.execPath, [MAIN, 'serve', '--data-dir', directory, ...ports, ...flags], {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  return {
    output: () => output,
    /** Without a signal the process sends itself one. */
    async end(signal: NodeJS.Signals | undefined, when: () => boolean): Promise<string> {
      await eventually('the start has come so far', () => when() || child.exitCode !== null);
      if (signal !== undefined) child.kill(signal);
      await ended;
      assert.deepEqual([child.exitCode, child.signalCode], [0, null], output);
      assert.equal(existsSync(join(directory, 'server.json')), false);
      return output;
    },
  };
}

test('a server that waits for its store ends at a signal', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const flags = ['--store', 'postgres://granary@127.0.0.1:1/granary?sslmode=disable', '--store-start-ms', '3600000'];
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const server = starting(t, directory, flags, { GRANARY_MASTER_KEY: 'a'.repeat(64) });
    const output = await server.end(signal, () => server.output().includes('waiting for the store'));
    assert.match(output, new RegExp(`"signal":"${signal}"`));
  }
});

/** Sends the process SIGTERM when it first opens a file or folder of this name. */
const STOPPED_AT = `data:text/javascript,${encodeURIComponent(`
  import fs from 'node:fs';
  import { syncBuiltinESMExports } from 'node:module';
  let isSent = false;
  for (const name of ['openSync', 'readFileSync', 'readdirSync', 'mkdirSync']) {
    const original = fs[name];
    fs[name] = (path, ...rest) => {
      if (!isSent && String(path).endsWith(process.env.STOPPED_AT)) {
        isSent = true;
        process.kill(process.pid, 'SIGTERM');
      }
      return original(path, ...rest);
    };
  }
  syncBuiltinESMExports();
`)}`;

test('a signal during a start leaves a directory that opens again', { skip: ON_POSTGRES }, async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const line = JSON.stringify({ grain_type: 'belief', subject: 'ada', relation: 'likes', object: 'tea' });
  await granaryJson(['import', '-', '--data-dir', directory], 0, line);
  for (const [name, of] of [
    ['new', 'directory.lock'],
    ['new', 'master.key'],
    ['data', 'layout.json'],
    ['data', 'control.key'],
    ['data', 'segments'],
  ] as const) {
    const server = starting(t, join(directory, '..', name), [], {
      STOPPED_AT: of,
      NODE_OPTIONS: `--import ${STOPPED_AT}`,
    });
    const output = await server.end(undefined, () => true);
    assert.doesNotMatch(output, /"ready":true/, of);
    assert.match(output, /"signal":"SIGTERM"/, of);
  }
  const { results } = await granaryJson(['recall', 'tea', '--data-dir', directory]);
  assert.equal((results as readonly unknown[]).length, 1);
});
