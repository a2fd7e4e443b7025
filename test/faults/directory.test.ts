// A server's start on a data directory that is in use, that a killed server left, or whose files have changed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { tryLockDirectory } from '../../src/server/directory-lock.ts';
import { eventually } from '../support/eventually.ts';
import { ask, NotStarted, type ProcessOptions, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const flags = ['--shards', '1', '--workers', '1'];

/** The message of a server that fails to start with exit code 1. */
async function refusalOf(options: ProcessOptions): Promise<string> {
  try {
    const server = await startServerProcess(options);
    await server.kill();
    return assert.fail('it started');
  } catch (error) {
    if (!(error instanceof NotStarted)) throw error;
    assert.equal(error.exitCode, 1);
    return error.output;
  }
}

function start(t: TestContext, options: Omit<ProcessOptions, 'flags'>) {
  return startServerProcess({ ...options, flags }).then((server) => {
    t.after(() => server.kill());
    return server;
  });
}

test('a second server on a data directory is refused by name, and a dead one blocks nothing', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const first = await start(t, { directory });
  const refusal = await refusalOf({ directory, flags });
  assert.match(refusal, /granary: STO-E001: .* is in use by another server: process /);
  for (const word of [directory, String(first.child.pid), first.http]) assert.ok(refusal.includes(word), refusal);
  assert.ok(existsSync(join(directory, 'server.json')), 'the file of the first server still exists');
  await first.kill();
  // The killed server left this file truncated; it does not block a start.
  truncateSync(join(directory, 'server.json'), 7);
  const next = await start(t, { directory });
  assert.equal(JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')).http, next.http);
  assert.equal(await next.stop(), 0);
});

test('a start right after kill -9 is let in, also while the killed server is a zombie', async (t) => {
  if (process.platform === 'win32') return t.skip('no zombies here');
  const directory = join(temporaryDirectory(t), 'data');
  // A parent that never waits for its child.
  const zombie = await start(t, { directory, through: ['sh', '-c', '"$@" & exec sleep 600', 'sh'] });
  const { pid } = JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8'));
  assert.equal((await ask(zombie, 'GET', '/health')).status, 200);
  process.kill(pid, 'SIGKILL');
  const next = await start(t, { directory });
  assert.match(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout, /^Z/);
  assert.equal((await ask(next, 'GET', '/health')).status, 200);
  assert.equal(await next.stop(), 0);
});

test('one of two containers on one volume serves, though each numbers its processes from 1', async (t) => {
  const through = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  if (spawnSync(through[0]!, [...through.slice(1), 'true']).status !== 0)
    return t.skip('this user may not make a PID namespace');
  const directory = join(temporaryDirectory(t), 'data');
  const first = await start(t, { directory, through });
  assert.equal(JSON.parse(readFileSync(join(directory, 'server.json'), 'utf8')).pid, 1);
  assert.match(await refusalOf({ directory, flags, through }), /STO-E001: .* in use by another server: process 1, at/);
  assert.match(await refusalOf({ directory, flags }), /STO-E001: .* in use by another server: process 1, at/);
  const added = await ask(first, 'POST', '/memories/default/add', { subject: 'a', relation: 'b', object: 'c' });
  assert.equal(added.status, 200);
  await first.kill();
  // In a new container at once: process 1 of the old one is another process there.
  await eventually('the old container ends', () => {
    const lock = tryLockDirectory(directory);
    lock?.release();
    return lock !== undefined;
  });
  const next = await start(t, { directory, through });
  assert.equal((await ask(next, 'GET', `/memories/default/grains/${added.body.blob_hash}`)).status, 200);
});
