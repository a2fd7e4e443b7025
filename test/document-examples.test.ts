// Runs the examples of docs/documents.md, and that of docs/remember.md with a model, in their order, as a reader would: in a
// shell, with curl and granary.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { pdfOf } from './documents/corpus.ts';
import { type Block, blocksOf, ExampleShell, hasCurl } from './support/example-shell.ts';
import { memoryFolder } from './support/memory-files.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { ModelServer } from './support/models/server.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const isCommand = ({ kind, lines }: Block): boolean => kind === '' && /^(?:curl|granary) /.test(lines);

/** The names of the members of a JSON object, and of those in it. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

describe('the examples of documents and of facts by a model', { concurrency: false }, () => {
  const folder = memoryFolder();
  const shell = new ExampleShell(folder);
  const { variables } = shell;
  let models: ModelServer;
  let server: TestServer;
  let http: HttpClient;
  before(async () => {
    const fact = {
      text: 1,
      quote: 'Je vis à Lyon',
      subject: 'speaker',
      relation: 'lives_in',
      object: 'Lyon',
      when: '',
    };
    models = await startOpenAi(() => ({ object: { facts: [fact] } }));
    server = await startTestServer();
    http = new HttpClient(server.http, server.key);
    await http.call('PUT', '/settings/providers/local', {
      json: { kind: 'openai_compatible', base_url: models.url },
    });
    await http.post('/memories', { id: 'work' });
    for (const name of ['reports', 'minutes']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'handbook.md'), '# Handbook\n\n## Leave\n\nEveryone has thirty days of leave.\n');
    writeFileSync(join(folder, 'reports', 'may.txt'), 'May was a good month.');
    writeFileSync(join(folder, 'minutes', 'one.pdf'), await pdfOf([['Minutes of May']]));
    shell.use(server);
  });
  after(async () => {
    await server.close();
    await models.close();
  });

  test('docs/documents.md: each command runs, and prints what stands below it', async (t) => {
    if (!hasCurl) return t.skip('curl is not installed');
    const blocks = blocksOf('docs/documents.md');
    const commands = blocks.filter(isCommand);
    assert.equal(commands.length, 6);
    for (const [at, block] of blocks.entries()) {
      if (!isCommand(block)) continue;
      const stdout = await shell.printed(block.lines);
      const shown = blocks[at + 1];
      if (shown === undefined || isCommand(shown)) continue;
      if (shown.kind === 'json') {
        const names = namesIn(JSON.parse(shown.lines));
        assert.ok(names.length >= 2);
        for (const name of names) assert.ok(stdout.includes(`"${name}"`), `${name}: ${stdout}`);
        const job = /"job_id":"(job_\w+)"/.exec(stdout)?.[1];
        if (job !== undefined) variables['JOB'] = job;
      } else for (const line of shown.lines.trim().split('\n')) checkLine(stdout, line);
    }
  });

  /** Of an event only the names: a short job reports other numbers. */
  function checkLine(stdout: string, line: string): void {
    if (line.startsWith('event: ')) assert.match(stdout, /^event: (?:progress|completed)$/m);
    else if (line.startsWith('data: '))
      for (const name of namesIn(JSON.parse(line.slice(6))))
        assert.ok(stdout.includes(`"${name}"`), `${name}: ${stdout}`);
    else assert.ok(stdout.includes(line.trim()), `${line}: ${stdout}`);
  }

  test('docs/remember.md: a model finds the fact of a text', async (t) => {
    if (!hasCurl) return t.skip('curl is not installed');
    const [block] = blocksOf('docs/remember.md').filter(isCommand);
    assert.ok(block !== undefined);
    await shell.printed(block.lines);
    const { grains } = await http.get('/memories/default/grains?grain_type=belief');
    const [{ fields }] = grains;
    assert.deepEqual([fields.subject, fields.relation, fields.object], ['ada', 'lives_in', 'Lyon']);
    assert.equal(fields.extractor, 'local/llama3.2');
  });
});
