// `granary harnesses chat` and `conversations` against a scripted model, with input in a process of its own.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { granary as granaryProcess, servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Script } from './support/models/script.ts';

const { server, here } = servedForFile();

async function provisioned(t: TestContext, script: Script) {
  const models = await startOpenAi(script, { owner: t });
  const key = readFileSync(join(here().at(-1)!, 'keys', 'bootstrap.key'), 'utf8').trim();
  const answer = await fetch(`${server().http}/api/settings/providers/own`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'openai_compatible', base_url: models.url }),
  });
  assert.ok(answer.ok, await answer.text());
  const file = join(memoryFolder(), 'support.json');
  writeFileSync(
    file,
    JSON.stringify({
      goal: 'Help.',
      provider: 'own',
      model: 'scripted',
      tools: [
        {
          tool_name: 'orders.find',
          description: 'Finds an order',
          input_schema: { type: 'object', properties: { order: { type: 'integer' } } },
          location: 'client://orders',
        },
      ],
    }),
  );
  const { code, stderr } = await granary(here('harnesses', 'provision', 'support', file));
  assert.equal(code, 0, stderr);
}

test('a message is answered, and a tool of the caller is the person’s', async (t) => {
  await provisioned(t, [
    { answer: { calls: [{ name: 'orders__find', arguments: { order: 17 } }] } },
    {
      expect: ({ body }) => assert.match(body.messages.at(-1).content, /\{"state":"shipped"\}/),
      answer: { text: 'It is\u001b[31m on its way.' },
    },
    { answer: { calls: [{ name: 'orders__find', arguments: { order: 18 } }] } },
    {
      expect: ({ body }) => assert.match(body.messages.at(-1).content, /the person could not run the tool/),
      answer: { text: 'Sorry.' },
    },
  ]);
  const talk = ['--conversation', 'c1', '--user', 'ann'];
  const first = await granaryProcess(here('harnesses', 'chat', 'support', 'Where is', 'order 17?', ...talk), {
    input: '{"state":"shipped"}\n',
  });
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^It is.* on its way\.\n$/);
  assert.ok(!first.stdout.includes('\u001b'));
  assert.match(first.stderr, /The agent asks you to run orders\.find with \{"order":17\}/);
  const second = await granaryProcess(here('harnesses', 'chat', 'support', ...talk), {
    input: 'And 18?\n\n/nothing\n/quit\nnever\n',
  });
  assert.equal(second.code, 0, second.stderr);
  assert.equal(second.stdout, 'Sorry.\n');
  assert.match(second.stderr, /Unknown command \/nothing/);

  const list = await granary(here('harnesses', 'conversations', 'support'));
  assert.match(list.stdout, /c1 +2 .*Where is order 17\?/);
  const { conversations } = await granaryJson(here('harnesses', 'conversations', 'support'));
  assert.deepEqual(
    (conversations as { conversation_id: string }[]).map(({ conversation_id: id }) => id),
    ['c1'],
  );
  const shown = await granary(here('harnesses', 'conversations', 'support', 'c1'));
  assert.deepEqual(
    shown.stdout
      .trim()
      .split('\n')
      .map((line) => line.replace(/^\S+ \S+ +/, '')),
    [
      'user: Where is order 17?',
      shown.stdout.split('\n')[1]!.replace(/^\S+ \S+ +/, ''),
      'user: And 18?',
      'assistant: Sorry.',
    ],
  );
});

test('a conversation that is not there is an error', async () => {
  const { code, stderr } = await granary(here('harnesses', 'conversations', 'support', 'nothing'));
  assert.notEqual(code, 0);
  assert.match(stderr, /HRN-E00[24]/);
});
