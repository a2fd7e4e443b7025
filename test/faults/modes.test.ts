// File modes: only the server's own user may read stored data, whatever the umask is or an earlier version left.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { MAIN } from '../support/program.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

/** Without an explicit mode, new files are open to everyone. */
const OPEN_UMASK = ['sh', '-c', 'umask 0; exec "$@"', 'sh'];
const skip = process.platform === 'win32' && 'modes are of Unix';

/** Paths that others can read or enter, as `path mode`. */
function open(root: string): string[] {
  const wrong: string[] = [];
  const look = (path: string): void => {
    const stat = statSync(path, { throwIfNoEntry: false });
    // Deleted since its folder was read.
    if (stat === undefined) return;
    const wanted = stat.isDirectory() ? 0o700 : 0o600;
    if ((stat.mode & 0o777) !== wanted) wrong.push(`${path} ${(stat.mode & 0o777).toString(8)}`);
    if (stat.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(root);
  return wrong;
}

test('files are 0600 and folders 0700 under any umask: data, keys, indexes, vectors, backups and restored files', {
  skip,
}, async (t) => {
  const root = temporaryDirectory(t);
  const directory = join(root, 'data');
  const flags = ['--shards', '2', '--workers', '1', '--embedder', 'ngram'];
  const server = await startServerProcess({ directory, flags, through: OPEN_UMASK });
  t.after(() => server.kill());
  const M = '/memories/default';
  for (let i = 0; i < 5; i++)
    await ask(server, 'POST', `${M}/add`, { subject: `s${i}`, relation: 'likes', object: 'tea', user_id: `u${i}` });
  assert.equal((await ask(server, 'POST', `${M}/flush`)).status, 200);
  await eventually('vectors are made', async () => {
    const { body } = await ask(server, 'GET', `${M}/stats`);
    return body.vectors >= 5;
  });
  assert.equal((await ask(server, 'POST', `${M}/forget`, { user_id: 'u1' })).status, 200);
  assert.deepEqual(open(directory), []);
  const backup = join(root, 'backup');
  const copied = await ask(server, 'POST', `${M}/app/exec`, { command: 'backup', args: { path: backup } });
  assert.equal(copied.status, 200, JSON.stringify(copied.body));
  assert.deepEqual(open(backup), []);
  assert.equal((await ask(server, 'POST', `${M}/app/exec`, { command: 'rebuild_indexes', args: {} })).status, 200);
  assert.equal(await server.stop(), 0);
  // Closing sealed the remaining grains.
  assert.deepEqual(open(directory), []);
  const names = [directory, backup].flatMap((path) => readdirSync(path, { recursive: true, encoding: 'utf8' }));
  for (const kind of [/\.keys$/, /segments.*\/.+/, /vectors\/.+/, /data\.mdb$/, /lock\.mdb$/, /directory\.lock$/])
    assert.ok(
      names.some((name) => kind.test(name)),
      `${kind} was looked at`,
    );

  const restored = join(root, 'restored');
  const [shell, ...before] = [...OPEN_UMASK, process.execPath, MAIN, 'restore', backup, '--data-dir', restored];
  const ran = spawnSync(shell!, before, { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stderr);
  assert.deepEqual(open(restored), []);
});

test('the next start closes folders that an earlier version left open', { skip }, async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const flags = ['--shards', '1', '--workers', '1'];
  const first = await startServerProcess({ directory, flags });
  await first.stop();
  const inner = ['control', 'keys', 'keys/shard-0', 'shard-0', 'shard-0/log', 'shard-0/segments', 'shard-0/vectors'];
  for (const name of inner)
    if (statSync(join(directory, name), { throwIfNoEntry: false })) chmodSync(join(directory, name), 0o755);
  const next = await startServerProcess({ directory, flags });
  t.after(() => next.kill());
  assert.deepEqual(open(directory), []);
});
