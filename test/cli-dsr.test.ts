// `granary dsr` against a server: the commands of docs/subject-requests.md as a reader runs them, and what a report may hold.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { granary as granaryProcess, servedForFile } from './support/cli.ts';
import { granary, granaryJson } from './support/command-thread.ts';
import { formsIn } from './support/encoded-forms.ts';
import { blocksOf, ExampleShell } from './support/example-shell.ts';
import { pdfPages } from './support/pdf-text.ts';

const CANARIES = [
  'quetzalcoatl',
  'wombatting',
  'xylophonist',
  'brobdingnag',
  'kerfuffle',
  'jabberwocky',
  'zanzibarian',
];
const [SUBJECT, RELATION, OBJECT, NAMESPACE, TAG, CONTENT, PURPOSE] = CANARIES as [
  ...[string, string, string, string, string, string, string],
];
const SCRIPT = '"><script>alert(1)</script>';

const { directory, here, server } = servedForFile({
  prepare: async ({ here }) => {
    const lines = ['ada', 'bob', `עדה ${SCRIPT}`].flatMap((user_id) => [
      {
        grain_type: 'belief',
        fields: { subject: SUBJECT, relation: RELATION, object: OBJECT, user_id, namespace: NAMESPACE, tags: [TAG] },
      },
      { grain_type: 'event', fields: { content: CONTENT, user_id, role: 'user' } },
    ]);
    writeFileSync(join(directory, 'grains.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    await granaryJson(here('import', join(directory, 'grains.jsonl')));
    for (const user of ['ada', `עדה ${SCRIPT}`]) await granaryJson(here('consent', 'grant', user, PURPOSE));
  },
});
const path = (name: string): string => join(directory, name);

async function pdfText(file: string): Promise<{ readonly text: string; readonly pages: number }> {
  const pages = await pdfPages(readFileSync(file));
  return { text: pages.join('\n'), pages: pages.length };
}

const readerShell = { folder: '' };
before(() => {
  readerShell.folder = directory;
});

test('docs/subject-requests.md: each command runs, and a finished report is there at the end', async () => {
  const shell = new ExampleShell(readerShell.folder);
  shell.use({ http: server().http, key: readFileSync(path('data/keys/bootstrap.key'), 'utf8').trim() });
  const written = readFileSync(new URL('../docs/subject-requests.md', import.meta.url), 'utf8');
  // Those in the numbered list are indented.
  const inList = [...written.matchAll(/^ {3}```sh\n([\s\S]*?)^ {3}```$/gm)].map(([, lines = '']) => lines);
  const blocks = [...inList, ...blocksOf('docs/subject-requests.md').map(({ lines }) => lines)];
  assert.ok(blocks.length >= 6, String(blocks.length));
  const printed: string[] = [];
  // Each command's start loads the sources, so they run one by one only where one needs the other.
  for (const lines of blocks) printed.push(await shell.printed(lines));
  assert.match(printed[0] ?? '', /days used +\d+ of 30/);
  assert.match(printed.join('\n'), /audit chain of the server has the erasure/);
  assert.match(printed[4] ?? '', /\(no longer named\)[\s\S]*dsr_/);

  const html = readFileSync(path('report.html'), 'utf8');
  assert.match(html, /<html lang="de">[\s\S]*Bericht zum Antrag[\s\S]*3 Einträge, in allen Fassungen/);
  assert.ok(html.includes('Ada Byron, by letter'));
  const { text, pages } = await pdfText(path('report.pdf'));
  assert.match(text, /Report on the request of a data subject[\s\S]*3 entries, in all versions/);
  assert.match(text, new RegExp(`Page ${pages} of ${pages}`));
  const files = ['report.html', 'report.pdf', 'proof.json'].map((name) => readFileSync(path(name)));
  for (const word of CANARIES) {
    for (const bytes of files) assert.deepEqual(formsIn(bytes, word), [], word);
    assert.deepEqual(formsIn(Buffer.from(text), word), [], word);
  }
  const { grains } = JSON.parse(readFileSync(path('bob.json'), 'utf8')) as { grains: object[] };
  assert.equal(grains.length, 2);
});

test('a script and letters from right to left in every field do no harm, in HTML and in PDF', async () => {
  const user = `עדה ${SCRIPT}`;
  const about = ['--user', user];
  await granaryJson(
    here('dsr', 'open', ...about, '--kind', 'access', '--requester', SCRIPT, '--note', `${SCRIPT}\n中`),
  );
  await granaryJson(here('consent', 'grant', user, SCRIPT));
  await granaryJson(here('restrict', 'user', user, '--reason', SCRIPT));
  for (const language of ['en', 'de']) {
    const out = path(`odd-${language}`);
    await granaryJson(here('dsr', 'report', ...about, '--language', language, '--out', `${out}.html`));
    const html = readFileSync(`${out}.html`, 'utf8');
    assert.doesNotMatch(html, /<script/i);
    assert.ok(html.split('&#60;script&#62;alert(1)').length > 5, 'it is shown as text');
    assert.match(html, /<bdi>עדה/);
    await granaryJson(here('dsr', 'report', ...about, '--language', language, '--out', `${out}.pdf`));
    const { text } = await pdfText(`${out}.pdf`);
    assert.ok(text.includes('<script>alert(1)</script>'));
    assert.match(text, /\[U\+4E2D\]/);
  }
});

test('what cannot be done is said, with the exit code of its kind', async () => {
  const ran = async (...words: string[]) => granary(here('dsr', ...words));
  const nobody = await ran('report', '--user', 'nobody');
  assert.deepEqual([nobody.code, /DSR-E001: there is no request about nobody/.test(nobody.stderr)], [1, true]);
  const format = await ran('report', '--user', 'bob', '--out', 'bob.docx');
  assert.deepEqual([format.code, /must end in \.html, \.pdf or \.json/.test(format.stderr)], [2, true]);
  const date = await ran('open', '--user', 'bob', '--received', 'yesterday');
  assert.deepEqual([date.code, /It must be a day such as/.test(date.stderr)], [2, true]);
  const future = await ran('open', '--user', 'bob', '--received', '2200-01-01');
  assert.deepEqual([future.code, /VAL-E001: received_at is in the future/.test(future.stderr)], [1, true]);
  for (const kind of ['objection', 'rectification'])
    await granaryJson(here('dsr', 'open', '--user', 'eve', '--kind', kind));
  const several = await ran('report', '--user', 'eve');
  assert.match(several.stderr, /AMBIGUOUS: eve has 2 open requests: give --request with one of dsr_/);
  const refusal = await ran('close', '--user', 'eve', '--request', 'dsr_none', '--outcome', 'refused');
  assert.match(refusal.stderr, /DSR-E001/);
  // Without pdfkit the answer says what to install, and no file is left.
  const hook = path('no-pdfkit.cjs');
  writeFileSync(
    hook,
    `const { Module } = require('node:module'); const find = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  if (name === 'pdfkit') throw Object.assign(new Error('no ' + name), { code: 'MODULE_NOT_FOUND' });
  return find.call(this, name, ...rest);
};`,
  );
  const words = here('dsr', 'report', '--user', 'bob', '--out', path('none.pdf'));
  const bare = await granaryProcess(words, { env: { NODE_OPTIONS: `--require ${hook}` } });
  assert.deepEqual(
    [bare.code, /NO-PDFKIT: a PDF needs the package pdfkit: npm install pdfkit/.test(bare.stderr)],
    [1, true],
  );
  assert.ok(!existsSync(path('none.pdf')));
  // Without its fonts, letters beyond Latin ones have their code.
  writeFileSync(hook, readFileSync(hook, 'utf8').replace("name === 'pdfkit'", "name.startsWith('dejavu')"));
  const user = `עדה ${SCRIPT}`;
  const plain = here('dsr', 'report', '--user', user, '--language', 'de', '--out', path('plain.pdf'));
  const latin = await granaryProcess(plain, { env: { NODE_OPTIONS: `--require ${hook}` } });
  assert.equal(latin.code, 0, latin.stderr);
  const { text } = await pdfText(path('plain.pdf'));
  assert.match(text, /\[U\+05E2\]\[U\+05D3\]\[U\+05D4\] "><script>/);
  assert.match(text, /Eingeschränkt|eingeschränkt/);
});
