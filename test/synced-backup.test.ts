// A backup survives a loss of power once the command has ended: older ones may be removed then.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { environment, granaryJson } from './support/cli.ts';
import { MAIN } from './support/program.ts';
import { ON_POSTGRES } from './support/store.ts';
import { temporaryDirectory } from './support/temporary.ts';

/** The next owner makes these again where they are damaged. */
const DERIVED = /\/(segments|vectors)[^/]*(\/|$)/;

test('every file of a backup is synced before its description, and every folder', { skip: ON_POSTGRES }, async (t) => {
  const root = realpathSync(temporaryDirectory(t));
  const [data, copy, trace] = [join(root, 'data'), join(root, 'copy'), join(root, 'trace')];
  const line = JSON.stringify({ grain_type: 'belief', subject: 'ada', relation: 'likes', object: 'tea' });
  await granaryJson(['import', '-', '--data-dir', data], 0, line);
  const node = [process.execPath, MAIN, 'backup', copy, '--data-dir', data];
  const ran = spawnSync('strace', ['-f', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync', ...node], {
    env: environment(),
    encoding: 'utf8',
  });
  if (ran.error !== undefined || /ptrace/i.test(ran.stderr)) return t.skip('strace is missing or not permitted');
  assert.equal(ran.status, 0, ran.stderr);
  // A file is synced under a name of its own before it gets its name.
  const synced = [...readFileSync(trace, 'utf8').matchAll(/f(?:data)?sync\(\d+<([^>]*?)(?:\.tmp)?>/g)].map(
    ([, path = '']) => path,
  );
  const made = [copy, ...readdirSync(copy, { recursive: true }).map((name) => join(copy, String(name)))];
  const missing = made.filter((path) => !DERIVED.test(path) && !synced.includes(path));
  assert.deepEqual(
    missing.map((path) => relative(root, path)),
    [],
  );
  const inOrder = synced.filter((path) => path.startsWith(copy));
  assert.deepEqual(inOrder.slice(-2), [join(copy, 'backup.json'), copy]);
});
