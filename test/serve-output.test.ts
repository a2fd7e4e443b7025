// The output of `granary serve`, on a terminal and in a file.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const TERMINAL = 'data:text/javascript,process.stderr.isTTY=true';
const MASTER_KEY = /a master key was created in/g;

/** The output of a new server until it ends, and its first key. */
async function firstStart(
  directory: string,
  options: { readonly preload?: string; readonly level?: string; readonly flags?: readonly string[] },
): Promise<{ readonly output: string; readonly key: string }> {
  const { preload, level, flags = [] } = options;
  const server = await startServerProcess({
    directory,
    flags: ['--shards', '1', '--workers', '1', ...(level === undefined ? [] : ['--log-level', level]), ...flags],
    ...(preload === undefined ? {} : { preload }),
  });
  assert.equal(await server.stop(), 0);
  return { output: server.output(), key: readFileSync(join(directory, 'keys/bootstrap.key'), 'utf8').trim() };
}

test('the first key is shown on a terminal alone, and the warning of the master key once, wherever the output goes', async (t) => {
  const root = temporaryDirectory(t);
  for (const [name, options, isShown] of [
    ['kept', {}, false],
    ['kept, of errors alone', { level: 'error' }, false],
    ['terminal', { preload: TERMINAL }, true],
    ['terminal, of errors alone', { preload: TERMINAL, level: 'error' }, true],
  ] as const) {
    const { output, key } = await firstStart(join(root, name), options);
    assert.match(key, /^gr_[0-9a-f]{64}$/);
    assert.equal(output.includes(key), isShown, name);
    assert.equal(/gr_[0-9a-f]{4}/.test(output), isShown, name);
    assert.ok(output.includes(join(root, name, 'keys/bootstrap.key')), output);
    assert.equal([...output.matchAll(MASTER_KEY)].length, 1, `${name}: ${output}`);
  }
});

test('a start that finds its keys does not mention them', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  await firstStart(directory, {});
  const { output } = await firstStart(directory, { preload: TERMINAL });
  assert.doesNotMatch(output, /master key|bootstrap\.key|API key/);
});

test('a start says how much of --opened-cache-mb it cannot give', async (t) => {
  const root = temporaryDirectory(t);
  const outputWith = async (mebibytes: string): Promise<string> => {
    const flags = ['--index-heap-mb', '64', '--opened-cache-mb', mebibytes];
    return (await firstStart(join(root, mebibytes), { flags })).output;
  };
  assert.match(
    await outputWith('33'),
    /--opened-cache-mb 33 is more than half of --index-heap-mb 64: opened grains get 32 MiB/,
  );
  assert.doesNotMatch(await outputWith('32'), /opened grains get/);
});
