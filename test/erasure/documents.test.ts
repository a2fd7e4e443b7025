// A person whose documents of every format were imported, searched, quoted by a model and extracted from. After the erasure
// no file, backup, log or answer holds a word of them in any of its forms.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pdfOf, rawDocx, wordParagraph } from '../documents/corpus.ts';
import { formsIn } from '../support/encoded-forms.ts';
import { eventually } from '../support/eventually.ts';
import { startOpenAi } from '../support/models/openai.ts';
import { filesUnder } from '../support/scan-files.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

// biome-ignore lint/suspicious/noExplicitAny: members are asserted where they are used
type Json = any;

const PERSON = 'zqpersönwordhkp';
const FILE = 'zqdateiñamewordhkp';
const TAG = 'zqmarkéwordhkp';
/** A word of the text and one of the heading for each format. */
const wordsOf = (kind: string) => ({ text: `Zqtéxtwordhkp${kind}`, heading: `Zqtïtlewordhkp${kind}` });

const MAKERS: Readonly<
  Record<string, (words: ReturnType<typeof wordsOf>) => Promise<Uint8Array> | Uint8Array | string>
> = {
  pdf: ({ text, heading }) => pdfOf([[`# ${heading}`, `Ada lives in ${text}.`]]),
  docx: ({ text, heading }) => rawDocx(wordParagraph(heading) + wordParagraph(`Ada lives in ${text}.`)),
  html: ({ text, heading }) => `<html><body><h1>${heading}</h1><p>Ada lives in ${text}.</p></body></html>`,
  md: ({ text, heading }) => `# ${heading}\n\nAda lives in ${text}.\n`,
  csv: ({ text, heading }) => `${heading},city\nAda,${text}\n`,
  txt: ({ text, heading }) => `${heading}\n\nAda lives in ${text}.\n`,
  eml: ({ text, heading }) =>
    `From: ada@example.org\r\nSubject: ${heading}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nAda lives in ${text}.\r\n`,
};

for (const partitions of [1, 4])
  test(`no form of a word of an erased person's documents is left: ${partitions} partitions`, async (t) => {
    const root = temporaryDirectory(t);
    const directory = join(root, 'data');
    const models = await startOpenAi(({ body }) => ({
      text: `You asked: ${String((body as Json).messages.at(-1).content)}`,
    }));
    t.after(() => models.close());
    const flags = [
      '--shards',
      '4',
      '--workers',
      '1',
      '--log-level',
      'debug',
      '--model-url',
      models.url,
      '--model',
      'm',
    ];
    const server = await startServerProcess({ directory, flags });
    t.after(() => server.kill());
    const M = '/memories/m';
    const call = async (verb: string, path: string, json?: unknown): Promise<Json> => {
      const { status, body } = await ask(server, verb, path, json);
      assert.ok(status < 300, `${verb} ${path}: ${JSON.stringify(body)}`);
      return body;
    };
    const exec = (command: string, args: object = {}) => call('POST', `${M}/app/exec`, { command, args });
    const words = [PERSON, FILE, TAG];
    await call('POST', '/memories', { id: 'm', partitions });
    for (const [number, [kind, make]] of Object.entries(MAKERS).entries()) {
      const own = wordsOf(kind);
      words.push(own.text, own.heading);
      const form = new FormData();
      const bytes = await make(own);
      form.append('file', new Blob([typeof bytes === 'string' ? bytes : Uint8Array.from(bytes)]), `${FILE}.${kind}`);
      const query = `user_id=${encodeURIComponent(PERSON)}&tags=${encodeURIComponent(TAG)}&extract=true`;
      const route = number % 2 === 0 ? 'imports' : 'import-document';
      const answer = await fetch(`${server.http}/api${M}/${route}?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.key}`, 'idempotency-key': `import ${kind}` },
        body: form,
      });
      assert.ok(answer.status < 300, await answer.text());
    }
    await eventually('the imports end', async () =>
      (await call('GET', `${M}/imports`)).jobs.every(({ status }: Json) => status === 'completed'),
    );
    await call('POST', `${M}/flush`, {});
    const text = words[3] ?? '';
    const { results } = await call('POST', `${M}/recall`, { query: text, user_id: PERSON });
    assert.ok(formsIn(Buffer.from(JSON.stringify(results)), text).includes('utf-8'), 'the word is found before');
    await exec('cal', { query: `RECALL events LIKE "${text}"` });
    const { thread_id: thread } = await call('POST', `${M}/chat/threads`, { title: 'cities' });
    const asked = { thread_id: thread, user_id: PERSON, messages: [{ role: 'user', content: `Where is ${text}?` }] };
    assert.match(await call('POST', `${M}/chat/stream`, asked), /event: done/);
    const surfaces = async (): Promise<string> => {
      const paths = [
        '/grains?limit=100&include_superseded=true',
        '/imports',
        '/audit?limit=1000',
        '/provenance',
        '/stats',
      ];
      const reads = [...paths, `/chat/threads/${thread}/messages`, '/agents', '/sessions/m/bootstrap'];
      const answers = await Promise.all(reads.map(async (path) => (await ask(server, 'GET', `${M}${path}`)).body));
      return JSON.stringify(answers);
    };
    assert.ok(formsIn(Buffer.from(await surfaces()), text).length > 0);

    await exec('forget_user', { user_id: PERSON, reason: 'asked' });
    await eventually('the purge ends', async () => (await call('GET', `${M}/stats`)).purge_pending === 0);
    await exec('compact');
    await exec('backup', { path: join(root, 'backup') });
    const told = Buffer.from(await surfaces());
    assert.deepEqual(
      words.flatMap((word) => formsIn(told, word).map((form) => `${word} as ${form}`)),
      [],
      'no answer holds a word',
    );
    assert.equal(await server.stop(), 0);
    const found = [directory, join(root, 'backup')].flatMap(filesUnder).flatMap((file) => {
      const bytes = Buffer.concat([Buffer.from(`${file}\n`), readFileSync(file)]);
      return words.flatMap((word) => formsIn(bytes, word).map((form) => `${word} as ${form} in ${file}`));
    });
    assert.deepEqual(found, []);
    const log = Buffer.from(server.output());
    assert.deepEqual(
      words.flatMap((word) => formsIn(log, word).map((form) => `${word} as ${form}`)),
      [],
      'the log holds no word',
    );
  });
