// Runs the examples of docs/providers.md and docs/chat.md, and the README's way from a PDF to an answer, in their order, as a
// reader would: in a shell, with curl and granary. A scripted model server stands in for those that the documents name.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { pdfOf } from './documents/corpus.ts';
import { blocksOf, ExampleShell, hasCurl } from './support/example-shell.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { Script } from './support/models/script.ts';
import { startTestServer } from './support/server.ts';

async function begun(t: TestContext, script: Script = []) {
  const models = await startOpenAi(script, { models: ['llama3.2', 'nomic-embed-text', 'qwen3'] });
  const server = await startTestServer();
  t.after(async () => {
    await server.close();
    await models.close();
  });
  const shell = new ExampleShell(memoryFolder());
  shell.use(server);
  /** The lines with the scripted server in place of one that the document expects on a port of its own. */
  const here = (lines: string): string =>
    lines
      .replaceAll('--kind ollama', `--kind ollama --base-url ${models.url}`)
      .replaceAll('http://127.0.0.1:8000/v1', models.url);
  return { http: new HttpClient(server.http, server.key), shell, here };
}

test('docs/providers.md: each command runs', async (t) => {
  if (!hasCurl) return t.skip('curl is not installed');
  const { http, shell, here } = await begun(t, () => ({ text: 'yes' }));
  writeFileSync(join(shell.folder, 'openai.key'), 'sk-an-example-of-a-key');
  const blocks = blocksOf('docs/providers.md');
  assert.equal(blocks.length, 3);
  const [local, keyed, overHttp] = blocks.map(({ lines }) => here(lines));
  assert.match(await shell.printed(local!), /nomic-embed-text/);
  const assigned = async () => (await http.get('/settings/model-assignments')).assignments;
  assert.deepEqual(
    [(await assigned()).chat.model, (await assigned()).embedding.model],
    ['llama3.2', 'nomic-embed-text'],
  );
  assert.match(await shell.printed(keyed!), /^chat +openai +gpt-4o-mini/m);
  await shell.printed(overHttp!);
  assert.deepEqual([(await assigned()).chat.provider, (await assigned()).hyde], ['own', null]);
});

test('docs/chat.md: each command runs, and prints what stands below it', async (t) => {
  if (!hasCurl) return t.skip('curl is not installed');
  const { http, shell } = await begun(t);
  const [settings, consoleLines, stream] = blocksOf('docs/chat.md').map(({ lines }) => lines);
  await shell.printed(settings!);
  // A command ends where its output begins.
  const commands = consoleLines!.split(/^\$ /m).slice(1);
  assert.equal(commands.length, 2);
  for (const said of commands) {
    const [command = '', ...shown] = said.trimEnd().split('\n');
    const lines = (await shell.printed(command)).trimEnd().split('\n');
    assert.deepEqual(lines.map(withoutIds), shown.map(withoutIds));
  }
  const { thread_id: thread } = await http.post('/memories/default/chat/threads', {});
  const [, command = '', shown = ''] = /^\$ ([\s\S]*?)\n(event: [\s\S]*)$/.exec(stream!)!;
  const printed = await shell.printed(command.replace(/thr_\w+/, thread));
  assert.deepEqual(framesOf(printed), framesOf(shown.replaceAll(/thr_\w+/g, thread)));
});

/** A line without what each run draws anew: the id of a thread and its time. */
function withoutIds(line: string): string {
  return line.replace(/^thr_\w{24} +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'thr_ID TIME');
}

/** The frames of a stream, without addresses of grains. */
function framesOf(stream: string): string[] {
  const frames = stream.trimEnd().split('\n\n');
  return frames.map((frame) => frame.replaceAll(/[0-9a-f]{64}/g, 'HASH'));
}

test('README.md: four commands lead from a PDF to an answer with its source, and two without a model', async (t) => {
  const asked: string[] = [];
  const { shell, here } = await begun(t, ({ body }) => {
    asked.push(JSON.stringify(body.messages));
    return { text: 'Thirty days.' };
  });
  writeFileSync(join(shell.folder, 'handbook.pdf'), await pdfOf([['Leave', 'Everyone has thirty days of leave.']]));
  const block = blocksOf('README.md').find(({ lines }) => lines.includes('handbook.pdf'));
  const commands = here(block!.lines).replaceAll('npm run -s granary --', 'granary').trimEnd().split('\n');
  assert.equal(commands.length, 4);
  const [provider, model, load, ask] = commands;
  await shell.printed(load!);
  const passages = await shell.printed(ask!);
  assert.match(passages, /handbook\.pdf, page 1\n.*Everyone has thirty days of leave/);
  for (const command of [provider, model, load]) await shell.printed(command!);
  const answer = await shell.printed(ask!);
  assert.match(answer, /^Thirty days\.[\s\S]*handbook\.pdf, page 1/);
  assert.match(asked.at(-1)!, /Everyone has thirty days of leave/);
});
