import assert from 'node:assert/strict';
import { test } from 'node:test';
import { granary as granaryProcess } from './cli.ts';
import { granary } from './command-thread.ts';

test('a command has the output and the exit code of its process, whatever ran before it', async () => {
  for (const words of [
    ['recall', '--nope', '--json'],
    ['--version'],
    ['frobnicate'],
    ['cal', '--url', '127.0.0.1:1', '--json'],
  ])
    assert.deepEqual(await granary(words), await granaryProcess(words), words.join(' '));
});

test('commands that start at once run one after the other, each with its own variables', async () => {
  const url = (port: number) => ({ env: { GRANARY_URL: `127.0.0.1:${port}`, GRANARY_API_KEY: 'gr_none' } });
  const [one, two] = await Promise.all([granary(['stats'], url(1)), granary(['stats'], url(2))]);
  assert.match(one.stderr, /no server answers at 127\.0\.0\.1:1\b/);
  assert.match(two.stderr, /no server answers at 127\.0\.0\.1:2\b/);
});
