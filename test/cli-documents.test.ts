// `granary import` of documents and `granary ask`.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { startOpenAi } from './support/models/openai.ts';
import { temporaryDirectory } from './support/temporary.ts';

const { server, here } = servedForFile();

function folderOf(t: TestContext): string {
  const folder = temporaryDirectory(t);
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'handbook.md'), '# Handbook\n\n## Leave\n\nEveryone has thirty days of leave.\n');
  writeFileSync(join(folder, 'deep', 'travel.txt'), 'Take the train whenever you can.');
  writeFileSync(join(folder, 'deep', 'photo.png'), Buffer.from('\x89PNG\r\n', 'latin1'));
  writeFileSync(join(folder, '.hidden.txt'), 'Not this one.');
  return folder;
}

test('a folder is imported by jobs, and again without doubles', async (t) => {
  const folder = folderOf(t);
  const { code, stdout, stderr } = await granary(here('import', folder, '--memory', 'handbook', '--tag', 'hr'));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /handbook\.md +imported +1 +1 +0 +0/);
  assert.match(stdout, /travel\.txt +imported/);
  assert.match(stdout, /2 of 2 files were imported\./);
  const again = await granaryJson(
    here('import', join(folder, '**', '*.{md,txt}'), '--memory', 'handbook', '--tag', 'hr'),
  );
  const files = again['files'] as { status: string; grains_created: number; duplicates: number }[];
  assert.deepEqual(
    files.map(({ status, grains_created: added, duplicates }) => [status, added, duplicates]),
    [
      ['completed', 0, 1],
      ['completed', 0, 1],
    ],
  );
});

test('a document that cannot be read fails alone, and a missing file fails at once', async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'broken.pdf'), '%PDF-1.7 and no more');
  const errors = join(folder, 'errors.jsonl');
  const { code, stdout, stderr } = await granary(here('import', folder, '--memory', 'broken', '--errors', errors));
  assert.equal(code, 1);
  const { file, code: reason } = JSON.parse(readFileSync(errors, 'utf8')) as { file: string; code: string }; // one line
  assert.deepEqual([file, reason], [join(folder, 'broken.pdf'), 'IMP-E004']);
  assert.match(stdout, /broken\.pdf +failed/);
  assert.match(stdout, /2 of 3 files were imported\./);
  assert.match(stderr, /broken\.pdf: IMP-E004: /);
  const photo = await granary(here('import', join(folder, 'deep', 'photo.png')));
  assert.deepEqual([photo.code, photo.stdout], [1, '']);
  assert.match(photo.stderr, /FILE: cannot import .*photo\.png: it is neither a document that the server reads/);
  const none = await granary(here('import', join(folder, 'none.pdf')));
  assert.equal(none.code, 1);
  assert.match(none.stderr, /FILE: cannot read .*none\.pdf/);
});

test('ask prints the passages with their sources, and a model answers from them', async (t) => {
  const folder = folderOf(t);
  await granaryJson(here('import', join(folder, 'handbook.md'), '--memory', 'asked'));
  const without = await granary(here('ask', 'How many days of leave?', '--memory', 'asked'));
  assert.equal(without.code, 0, without.stderr);
  assert.match(without.stderr, /No chat model is assigned/);
  assert.match(without.stdout, /^\[1\] handbook\.md, Handbook > Leave\n {4}.*thirty days of leave\./m);
  const models = await startOpenAi([{ answer: { text: 'Thirty days [1].' } }], { owner: t });
  await configured('/settings/providers/own', { kind: 'openai_compatible', base_url: models.url });
  await configured('/settings/model-assignments', { assignments: { chat: { provider: 'own', model: 'scripted' } } });
  const asked = await granary(here('ask', 'How many days of leave?', '--memory', 'asked'));
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(asked.stdout, 'Thirty days [1].\n\n[1] handbook.md, Handbook > Leave\n');
  const told = JSON.stringify(models.chats[0]?.body.messages);
  assert.match(told, /<passage-([0-9a-f]{16})>.*thirty days of leave.*<\/passage-\1>/);
  const nothing = await granary(here('ask', 'anything', '--memory', 'default'));
  assert.match(nothing.stdout, /holds nothing about this/);
  const goal = JSON.stringify({ description: 'find the keys', subject: 'Ada' });
  await granaryJson(here('add', '--type', 'goal', '--fields', goal, '--memory', 'asked'));
  const passages = await granaryJson(here('ask', 'find the keys', '--memory', 'asked', '--passages'));
  const sources = passages['sources'] as readonly { readonly text: string }[];
  assert.ok(
    sources.some(({ text }) => text === 'find the keys'),
    'a grain is its sentence',
  );
  const empty = await granary(here('ask', ' '));
  assert.deepEqual([empty.code, empty.stderr], [2, 'granary: USAGE: the question is empty\n']);
});

async function configured(path: string, json: object): Promise<void> {
  const data = here().at(-1) ?? '';
  const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
  const answer = await fetch(`${server().http}/api${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  assert.ok(answer.ok, await answer.text());
}
