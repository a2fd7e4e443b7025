// The command line in daily use: hashes by prefix, previews of removals, and helpful usage errors.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';

const { directory, here } = servedForFile();

async function added(memory: string, ...words: string[]): Promise<string> {
  return String((await granaryJson(here('add', ...words, '-m', memory)))['hash']);
}

test('a prefix is accepted wherever a hash is', async () => {
  await granaryJson(here('memories', 'create', 'prefix', '--partitions', '2'));
  const [tea] = await Promise.all([added('prefix', 'ada', 'likes', 'tea'), added('prefix', 'bob', 'likes', 'rum')]);
  for (const digits of [8, 12, 63]) {
    const shown = await granaryJson(here('get', tea.slice(0, digits), '-m', 'prefix'));
    assert.equal(shown['hash'], tea, `${digits} digits`);
  }
  const [versions, entries] = await Promise.all([
    granaryJson(here('history', tea.slice(0, 8).toUpperCase(), '-m', 'prefix')),
    granaryJson(here('audit', '--grain', tea.slice(0, 8), '-m', 'prefix')),
  ]);
  assert.equal((versions['versions'] as { hash: string }[])[0]?.hash, tea);
  assert.ok((entries['entries'] as unknown[]).length > 0);
  const [short, unknown] = await Promise.all([
    granary(here('get', tea.slice(0, 7), '-m', 'prefix')),
    granary(here('get', tea.startsWith('00000000') ? 'ffffffff' : '00000000', '-m', 'prefix')),
  ]);
  assert.equal(short.code, 2);
  assert.match(short.stderr, /^granary: USAGE: [0-9a-f]{7} is not a hash: give 64 hex digits, or at least the first 8/);
  assert.match(unknown.stderr, /^granary: MEM-E001: no grain in prefix/);
  const gone = await granaryJson(here('forget', tea.slice(0, 10), '--yes', '-m', 'prefix'));
  assert.deepEqual(gone['hashes'], [tea]);
});

test('a removal without --yes shows what it would remove, and removes nothing', async () => {
  await granaryJson(here('memories', 'create', 'dry'));
  const hash = await added('dry', 'ada', 'likes', 'tea', '--user', 'ada', '--namespace', 'acme');
  for (const words of [
    ['forget', hash],
    ['forget', '--subject', 'ada'],
    ['forget', '--user', 'ada'],
    ['scopes', 'erase', 'acme'],
  ]) {
    const shown = await granaryJson(here(...words, '-m', 'dry'), 2);
    assert.deepEqual([shown['count'], shown['by_type']], [1, { belief: 1 }], words.join(' '));
  }
  const memory = await granary(here('memories', 'delete', 'dry'));
  assert.equal(memory.code, 2);
  assert.match(memory.stdout, /^1 grain would be removed/);
  assert.equal((await granaryJson(here('get', hash, '-m', 'dry')))['hash'], hash);
});

test('usage errors show the right form', async () => {
  const assertUsage = async (words: string[], code: number, pattern: RegExp): Promise<void> => {
    const ran = await granary(here(...words));
    assert.equal(ran.code, code, `${words.join(' ')}: ${ran.stderr}${ran.stdout}`);
    assert.match(ran.stderr, pattern, words.join(' '));
  };
  await Promise.all([
    assertUsage(['add', 'ada', 'likes'], 2, /granary add ada likes tea/),
    assertUsage(['add', 'ada', 'likes', 'green', 'tea'], 2, /three parts, not 4: .* granary add ada likes "green tea"/),
    assertUsage(['add', '--type', 'consent', 'x'], 2, /granary add --type consent --fields/),
    assertUsage(['recall', ''], 2, /the question is empty/),
    assertUsage(['recall'], 2, /nothing to recall/),
    assertUsage(
      ['policy', 'simulate', '--add', 'x'],
      1,
      /POL-E009.*unknown preset x: there are baseline, gdpr, .*retention_365d/,
    ),
  ]);
  const found = await granary(here('recall', '--subject', 'nobody'));
  assert.deepEqual([found.code, found.stdout], [0, 'Nothing was found.\n']);
});

test('recall --operators makes the operators of the words conditions', async () => {
  await granaryJson(here('memories', 'create', 'ops'));
  const tea = await added('ops', 'ada', 'likes', 'green tea');
  await added('ops', 'bob', 'likes', 'tea that is green');
  const recall = async (...more: string[]) => {
    const { results } = await granaryJson(here('recall', '"green tea"', '-m', 'ops', ...more));
    return (results as { hash: string }[]).map(({ hash }) => hash);
  };
  const question = await recall();
  assert.deepEqual([question[0], question.length], [tea, 2]);
  assert.deepEqual(await recall('--operators'), [tea]);
  assert.deepEqual(await recall('--operators', '--explain'), [tea]);
  const shown = await granary(here('recall', '"green tea"', '-m', 'ops'));
  assert.match(shown.stdout + shown.stderr, /1 of the 2 hits meet the operators/);
});

test('- is standard output, and audit alone means audit tail', async () => {
  await granaryJson(here('memories', 'create', 'out'));
  const hash = await added('out', 'ada', 'likes', 'tea');
  const [lines, trail, tail] = await Promise.all([
    granary(here('export', '--out', '-', '--format', 'jsonl', '-m', 'out')),
    granary(here('audit', '-m', 'out', '--event', 'memory.added')),
    granary(here('audit', 'tail', '-m', 'out', '--event', 'memory.added')),
  ]);
  assert.equal(JSON.parse(lines.stdout).hash, hash);
  assert.match(trail.stdout, new RegExp(`memory\\.added.*${hash.slice(0, 12)}`));
  assert.equal(trail.stdout, tail.stdout);
  const path = join(directory, 'out.jsonl');
  await granaryJson(here('export', '--out', path, '-m', 'out'));
  assert.equal(readFileSync(path, 'utf8'), lines.stdout);
});

test('a fresh install fails no check', async () => {
  await granaryJson(here('memories', 'create', 'fresh'));
  const ran = await granaryJson(here('compliance', '-m', 'fresh'));
  const failing = (ran['checks'] as { id: string; status: string }[]).filter(({ status }) => status === 'fail');
  assert.deepEqual(failing, []);
});
