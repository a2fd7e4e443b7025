import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { granary, serve } from './cli.ts';
import { temporaryDirectory } from './temporary.ts';

test('a test file sees no setting of the machine, nor do its child processes', () => {
  const program = `
    const { spawnSync } = require('node:child_process');
    const names = Object.keys(process.env).filter((name) => name.startsWith('GRANARY_'));
    const inner = spawnSync(process.execPath, ['-p', 'process.env.GRANARY_URL'], { encoding: 'utf8' }).stdout.trim();
    console.log(JSON.stringify([names, inner]));
  `;
  const preload = join(import.meta.dirname, 'hang.ts');
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', preload, '-e', program], {
    env: { ...process.env, GRANARY_URL: 'http://127.0.0.1:1', GRANARY_DATA_DIR: '/nowhere' },
    encoding: 'utf8',
  });
  assert.deepEqual(JSON.parse(stdout), [[], 'undefined'], stderr);
});

test('a command that a test runs finds no server of the working directory', async (t) => {
  const directory = temporaryDirectory(t);
  mkdirSync(join(directory, 'data'));
  const server = await serve(join(directory, 'data'));
  t.after(() => server.stop());
  const before = process.cwd();
  process.chdir(directory);
  t.after(() => process.chdir(before));
  const found = await granary(['memories'], { cwd: directory });
  assert.equal(found.code, 0, found.stderr);
  const ran = await granary(['memories']);
  assert.match(ran.stderr, /^granary: NO-SERVER: no server is running and there is no data in \.\/data/);
});
