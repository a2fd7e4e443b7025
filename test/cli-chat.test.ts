// `granary chat` against a scripted model, with its input in a process of its own.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { granary as granaryProcess, servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Script } from './support/models/script.ts';

const { server, here } = servedForFile();

async function assigned(t: TestContext, script: Script) {
  const models = await startOpenAi(script, { owner: t });
  const data = here().at(-1)!;
  const key = readFileSync(join(data, 'keys', 'bootstrap.key'), 'utf8').trim();
  const put = async (path: string, json: object): Promise<void> => {
    const answer = await fetch(`${server().http}/api${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    assert.ok(answer.ok, await answer.text());
  };
  await put('/settings/providers/own', { kind: 'openai_compatible', base_url: models.url });
  await put('/settings/model-assignments', { assignments: { chat: { provider: 'own', model: 'scripted' } } });
  return models;
}

test('without a model the command says so and fails', async () => {
  const { code, stderr } = await granary(here('chat', 'hello'));
  assert.notEqual(code, 0);
  assert.match(stderr, /LLM-E001/);
});

test('a message is answered; tools are told of on the side', async (t) => {
  const models = await assigned(t, [
    { answer: { calls: [{ name: 'recall', arguments: { query: 'tea' } }] } },
    { answer: { text: ['Ada drinks\n', '\u001b[31mtea.'] } },
    { answer: { text: 'Green.', usage: { input: 1, output: 2 } } },
  ]);
  const { code, stdout, stderr } = await granary(here('chat', 'What does', 'Ada drink?', '--user', 'ada'));
  assert.equal(code, 0, stderr);
  assert.ok(!stdout.includes('\u001b'));
  assert.match(stdout, /^Ada drinks\n.*tea\.\n$/);
  assert.match(stderr, /\[recall \{"query":"tea"\}\]/);
  assert.equal(models.chats[0]!.body.messages.at(-1).content, 'What does Ada drink?');
  const json = await granaryJson(here('chat', 'Which?', '--no-tools', '--temporary'));
  assert.deepEqual([json['answer'], json['finish_reason'], json['thread_id']], ['Green.', 'stop', undefined]);
  assert.equal(models.chats[2]!.body.tools, undefined);
});

test('a pipe is answered line by line in one thread, and commands work', async (t) => {
  const models = await assigned(t, [
    { answer: { text: 'One.' } },
    {
      expect: ({ body }) =>
        assert.deepEqual(
          body.messages.slice(1).map(({ content }: { content: string }) => content),
          ['first', 'One.', 'second'],
        ),
      answer: { text: 'Two.' },
    },
    {
      expect: ({ body }) => assert.equal(body.messages.length, 2),
      answer: { text: 'Three.' },
    },
  ]);
  const input = 'first\n\nsecond\n/new Another\nthird\n/threads\n/help\n/nothing\n/quit\nnever\n';
  const { code, stdout, stderr } = await granaryProcess(here('chat', '--memory', 'default'), { input });
  assert.equal(code, 0, stderr);
  const [one, two, three, ...rest] = stdout.split('\n');
  assert.deepEqual([one, two, three], ['One.', 'Two.', 'Three.']);
  assert.match(rest[0]!, /^thr_[a-z2-7]{24} {2}.* 2 {2}Another$/);
  assert.match(rest[1]!, /^thr_[a-z2-7]{24} {2}.* 4 {2}first$/);
  assert.match(stderr, /Unknown command \/nothing\./);
  assert.equal(models.chats.length, 3);

  const id = /^thr_\w+/.exec(rest[1]!)![0];
  const again = await startAgain(t, id);
  assert.match(again, /Four\./);
});

test('a thread is renamed, archived and brought back', async (t) => {
  await assigned(t, [{ answer: { text: 'One.' } }, { answer: { text: 'Two.' } }]);
  const first = '/archive\n/title Tea orders\nfirst\n/threads\n/title\n/title Orders of tea\n/threads\n';
  const input = `${first}/archive\n/threads\n/archive now\nsecond\n/archive undo\n/threads\n`;
  const { code, stdout, stderr } = await granaryProcess(here('chat', '--user', 'renamer'), { input });
  assert.equal(code, 0, stderr);
  const titles = stdout.split('\n').flatMap((line) => /Tea orders|Orders of tea|^One\.|^Two\./.exec(line)?.[0] ?? []);
  assert.deepEqual(titles, ['One.', 'Tea orders', 'Orders of tea', 'Two.', 'Orders of tea']);
  assert.match(stderr, /not begun yet/);
  assert.match(stderr, /Give a title: \/title TITLE/);
  assert.match(stderr, /\/archive or \/archive undo/);
});

async function startAgain(t: TestContext, id: string): Promise<string> {
  await assigned(t, [
    {
      expect: ({ body }) => assert.match(JSON.stringify(body.messages), /second/),
      answer: { text: 'Four.' },
    },
  ]);
  const { stdout, stderr, code } = await granary(here('chat', '--thread', id, 'fourth'));
  assert.equal(code, 0, stderr);
  return stdout;
}

test('a failure inside of an answer fails the command after what was said', async (t) => {
  await assigned(t, [{ answer: { text: ['Well ', { error: 'overloaded' }] } }]);
  const { code, stdout, stderr } = await granary(here('chat', 'hello', '--temporary'));
  assert.notEqual(code, 0);
  assert.match(stdout, /^Well/);
  assert.match(stderr, /^granary: LLM-E002: the provider own broke off its answer$/m);
});
