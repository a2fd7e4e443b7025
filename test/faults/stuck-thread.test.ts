// A thread that is stuck in the system, such as on a disk that does not answer: no JavaScript runs in it, and nothing ends it.
// The server ends nevertheless, when it is told to.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isSettledWithin } from '../../src/engine/base/settled-within.ts';
import { eventually } from '../support/eventually.ts';
import { ask, type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'stuck-thread.mjs')).href;
const STOP_MS = 3_000;
const NO_PIPES = process.platform === 'win32' ? 'Windows has no named pipes in folders' : undefined;

/** A server whose only worker is stuck. */
async function stuck(t: TestContext, stopMs: number): Promise<ServerProcess> {
  const root = temporaryDirectory(t);
  const pipe = join(root, 'pipe');
  const server = await startServerProcess({
    directory: join(root, 'data'),
    flags: ['--shards', '1', '--workers', '1', '--stop-ms', String(stopMs)],
    preload: PRELOAD,
    env: { TEST_STUCK: pipe },
  });
  t.after(() => server.kill());
  assert.equal((await ask(server, 'GET', '/memories/default/stats')).status, 200);
  execFileSync('mkfifo', [pipe]);
  await eventually('the worker answers nothing', async () => {
    const asked = ask(server, 'GET', '/memories/default/stats').catch(() => undefined);
    return !(await isSettledWithin(asked, 500));
  });
  return server;
}

test('a server whose thread is stuck ends --stop-ms after SIGTERM, and says why', { skip: NO_PIPES }, async (t) => {
  const server = await stuck(t, STOP_MS);
  const toldMs = performance.now();
  server.child.kill('SIGTERM');
  await server.ended;
  const tookMs = performance.now() - toldMs;
  assert.ok(tookMs >= STOP_MS - 50, `it gave its parts ${STOP_MS} ms, and ended after ${tookMs}`);
  assert.deepEqual([server.child.exitCode, server.child.signalCode], [null, 'SIGKILL']);
  assert.match(
    server.output(),
    /"level":60.*the process exits now: (HTTP|shards|calls under way|requests under way) did not close/,
  );
  t.diagnostic(`it ended ${Math.round(tookMs)} ms after SIGTERM`);
});

test('a second signal ends it at once', { skip: NO_PIPES }, async (t) => {
  const server = await stuck(t, 600_000);
  server.child.kill('SIGTERM');
  await eventually('it has heard it', () => /stopping after a signal/.test(server.output()));
  server.child.kill('SIGTERM');
  await server.ended;
  assert.equal(server.child.signalCode, 'SIGKILL');
});
