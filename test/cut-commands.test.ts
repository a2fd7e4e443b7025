// Commands that fail or are stopped halfway: what they leave behind, and how they end.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { environment, granary, granaryJson, serve } from './support/cli.ts';
import { eventually } from './support/eventually.ts';
import { MAIN } from './support/program.ts';
import { ask } from './support/server-process.ts';
import { ON_POSTGRES } from './support/store.ts';
import { temporaryDirectory } from './support/temporary.ts';

/** Restores are for data directories. */
const NO_RESTORE = { skip: ON_POSTGRES };

/** A deployment with one grain, and a backup of it. */
async function backedUp(
  t: TestContext,
): Promise<{ readonly root: string; readonly data: string; readonly copy: string }> {
  const root = temporaryDirectory(t);
  const [data, copy] = [join(root, 'data'), join(root, 'copy')];
  const line = JSON.stringify({
    grain_type: 'belief',
    subject: 'ada',
    relation: 'likes',
    object: 'tea',
    user_id: 'ada',
  });
  await granaryJson(['import', '-', '--data-dir', data], 0, line);
  await granaryJson(['backup', copy, '--data-dir', data]);
  return { root, data, copy };
}

test(
  'a restore that is refused leaves no copy of the backup, whose keys open what was erased since',
  NO_RESTORE,
  async (t) => {
    const { data, copy } = await backedUp(t);
    truncateSync(join(data, 'control', 'data.mdb'), 8_192);
    const { code, stderr } = await granary(['restore', copy, '--data-dir', data, '--yes']);
    assert.equal(code, 1);
    assert.match(stderr, /cannot read the existing deployment/);
    assert.ok(!existsSync(join(data, 'restore.new')));
  },
);

test('a start removes the copy of a backup that a killed restore left', NO_RESTORE, async (t) => {
  const { data } = await backedUp(t);
  mkdirSync(join(data, 'restore.new', 'keys'), { recursive: true });
  writeFileSync(join(data, 'restore.new', 'keys', 'control.key'), 'key');
  await granaryJson(['stats', '--data-dir', data]);
  assert.ok(!existsSync(join(data, 'restore.new')));
  // One that has begun to move its files is completed by the command alone.
  mkdirSync(join(data, 'restore.new'));
  writeFileSync(join(data, 'restore.new', 'ready'), '');
  const { stderr } = await granary(['stats', '--data-dir', data]);
  assert.match(stderr, /a restore into .* was interrupted/);
  assert.ok(existsSync(join(data, 'restore.new', 'ready')));
});

for (const [what, option, signal] of [
  ['a restore', '--yes', 'SIGTERM'],
  ['a restore on trial', '--dry-run', 'SIGINT'],
] as const)
  test(`${what} that ${signal} stops leaves no copy of the backup`, NO_RESTORE, async (t) => {
    const { root, data, copy } = await backedUp(t);
    const [temporary, before] = [join(root, 'tmp'), readFileSync(join(data, 'keys', 'control.key'))];
    mkdirSync(temporary);
    const child = spawn(process.execPath, [MAIN, 'restore', copy, '--data-dir', data, option], {
      env: environment({ TMPDIR: temporary }),
      stdio: 'ignore',
    });
    t.after(() => child.kill('SIGKILL'));
    const copies = (): readonly string[] =>
      [temporary, data].flatMap((folder) =>
        readdirSync(folder, { recursive: true })
          .map(String)
          .filter((path) => /restore\.new.*control\.key$/.test(path)),
      );
    await eventually('the backup is being copied', () => copies().length > 0);
    child.kill(signal);
    const [code, ended] = await once(child, 'close');
    assert.deepEqual([code, ended], [null, signal]);
    assert.deepEqual(copies(), []);
    assert.deepEqual(readdirSync(temporary), []);
    assert.ok(readFileSync(join(data, 'keys', 'control.key')).equals(before));
  });

test('an import that Ctrl-C stops fails, and imports no further file', async (t) => {
  const root = temporaryDirectory(t);
  const data = join(root, 'data');
  const server = await serve(data);
  t.after(() => server.stop());
  const line = (subject: string): string =>
    `${JSON.stringify({ grain_type: 'belief', subject, relation: 'likes', object: 'tea' })}\n`;
  const second = join(root, 'second.jsonl');
  writeFileSync(second, line('carl'));
  const words = ['import', '-', second, '--data-dir', data, '--batch', '1'];
  const child = spawn(process.execPath, [MAIN, ...words], { env: environment(), stdio: ['pipe', 'ignore', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  const said = text(child.stderr);
  const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
  const grains = async (): Promise<unknown> =>
    (await ask({ http: server.http, key }, 'GET', '/memories/default/stats')).body.total_grains;
  child.stdin.write(line('ada'));
  await eventually('the first line is imported', async () => (await grains()) === 1);
  child.kill('SIGINT');
  // A busy process may read some lines before it takes the signal.
  child.stdin.on('error', () => undefined);
  let sent = 0;
  const lines = setInterval(() => child.stdin.write(line(`bob ${sent++}`)), 10);
  const [code] = await once(child, 'close');
  clearInterval(lines);
  const from = /The import stopped.*--from-line (\d+)/.exec(await said)?.[1];
  assert.ok(Number(from) > 1, `from line ${from}`);
  assert.equal(code, 1);
  assert.equal(await grains(), Number(from) - 1);
});
