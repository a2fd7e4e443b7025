import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../engine/base/errors.ts';
import { DOCUMENT_LIMITS } from './limits.ts';
import { parseDocument } from './parse.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const read = (text: string | Uint8Array, name: string) =>
  parseDocument(typeof text === 'string' ? bytesOf(text) : text, name);
const refusedWith = (code: ErrorCode, words: RegExp) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code && words.test(error.message);

test('plain text keeps its lines, without what a grain may not have', async () => {
  const { kind, mimeType, text, sections } = await read('one\r\ntwo\u0007\rthree\ufeff', 'a.txt');
  assert.deepEqual([kind, mimeType, text], ['text', 'text/plain', 'one\ntwo\nthree']);
  assert.deepEqual(sections, [{ headings: [], text: 'one\ntwo\nthree' }]);
  await assert.rejects(read('', 'a.txt'), refusedWith('IMP-E004', /empty/));
  await assert.rejects(read(' \n ', 'a.txt'), refusedWith('IMP-E004', /no text/));
});

test('headings of Markdown make sections; code has none', async () => {
  const source = [
    'Before.',
    '# The *Handbook*',
    '## [Leave](http://x) ##',
    'Thirty days.',
    '```',
    '# not a heading',
    '```',
    'Travel',
    '------',
    'By train.',
    '### Deep',
    'Down.',
    '# Next',
    'End.',
  ].join('\n');
  const { kind, sections, text } = await read(source, 'handbook.md');
  assert.equal(kind, 'markdown');
  assert.deepEqual(
    sections.map(({ headings, text: own }) => [headings.join(' > '), own.trim().split('\n').at(-1)]),
    [
      ['', 'Before.'],
      ['The Handbook > Leave', '```'],
      ['The Handbook > Travel', 'By train.'],
      ['The Handbook > Travel > Deep', 'Down.'],
      ['Next', 'End.'],
    ],
  );
  assert.equal(text.replace(/\s+/g, ' '), source.replace(/\s+/g, ' '));
});

test('a page gives its content with headings, rows and lists, without menus and scripts', async () => {
  const page = `<!DOCTYPE html><html><head><title>Leave - Acme</title><style>p{}</style></head><body>
    <nav><a href="/">Home</a></nav><script>alert(1)</script>
    <h1>Leave</h1><p>Everyone has
      thirty&nbsp;days.<br>More after <b>ten</b> years.</p>
    <h2>Types</h2><ul><li>Parental<li>Sick</ul>
    <table><tr><th>Grade</th><th>Days</th></tr><tr><td>A</td><td>30</td></tr><tr><td>B</td><td></td></tr></table>
    <pre>  a
  b</pre><p hidden>secret</p><div style="display:none">secret</div><footer>Imprint</footer></body></html>`;
  const { kind, sections } = await read(page, 'page');
  assert.equal(kind, 'html');
  assert.deepEqual(
    sections.map(({ headings }) => headings.join(' > ')),
    ['Leave', 'Leave > Types'],
  );
  const [leave, types] = sections.map(({ text }) => text.trim().replace(/\n\n+/g, '\n\n'));
  assert.equal(leave, 'Leave\n\nEveryone has thirty days.\nMore after ten years.');
  assert.equal(types, 'Types\n\n- Parental\n- Sick\n\nGrade: A; Days: 30\nGrade: B\n\n  a\n  b');
});

test('cells over several columns or rows leave the other cells under their own headers', async () => {
  const table = (rows: string) => `<!doctype html><html><body><h1>T</h1><table>${rows}</table></body></html>`;
  const linesOf = async (rows: string) =>
    (await parseDocument(Buffer.from(table(rows)), 'a.html')).text
      .split('\n')
      .filter((line) => line !== '')
      .slice(1);
  const head = '<tr><th>Name</th><th>City</th><th>Year</th></tr>';
  assert.deepEqual(
    await linesOf(
      `${head}<tr><td rowspan="2">Ada</td><td>Oslo</td><td>1</td></tr><tr><td>Rome</td><td>2</td></tr><tr><td>Bob</td></tr>`,
    ),
    ['Name: Ada; City: Oslo; Year: 1', 'Name: Ada; City: Rome; Year: 2', 'Name: Bob'],
  );
  assert.deepEqual(
    await linesOf(
      `${head}<tr><td colspan="2">nobody</td><td>3</td></tr><tr><td>Lin</td><td rowspan="99">Bern</tr><tr><td>Kai`,
    ),
    ['Name: nobody; Year: 3', 'Name: Lin; City: Bern', 'Name: Kai; City: Bern'],
  );
  assert.deepEqual(
    await linesOf('<tr><th>Who</th><th colspan="2">Days</th></tr><tr><td>Ada</td><td>1</td><td>2</td></tr>'),
    ['Who: Ada; Days: 1; Days: 2'],
  );
  const wide = '<td colspan="999999">x</td>'.repeat(100);
  assert.doesNotMatch((await linesOf(`<tr>${wide}</tr>`)).join(), /undefined/);
  assert.match((await linesOf(`<tr>${wide}</tr><tr><td rowspan="-1" colspan="no">y</td></tr>`)).join(), /x.*y/);
});

test('of a page that marks its main part, only that part is read', async () => {
  const words = 'What the page is about. '.repeat(20);
  const page = `<html><title>Site</title><body><div>Cookies!</div><main><h1>Topic</h1><p>${words}</p></main><p>Ads</p></body></html>`;
  const { text, sections } = await read(page, 'page.html');
  assert.doesNotMatch(text, /Cookies|Ads/);
  assert.deepEqual(sections[0]?.headings, ['Site', 'Topic']);
  const without = await read('<html><body><div>All of it</div><main></main></body></html>', 'page.html');
  assert.equal(without.text, 'All of it');
});

test('a page that nests too deep is refused', async () => {
  const deep = '<html>'.concat('<div>'.repeat(DOCUMENT_LIMITS.depth + 1), 'x');
  await assert.rejects(read(deep, 'x.html'), refusedWith('LIM-E003', /deeper/));
});

test('formats that are not read are named', async () => {
  await assert.rejects(read(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'a.txt'), refusedWith('IMP-E001', /image/));
  await assert.rejects(read(Buffer.from([1, 2, 0, 3, 0, 0]), 'a.txt'), refusedWith('IMP-E001', /nor text/));
  await assert.rejects(read('just text', 'a.pdf'), refusedWith('IMP-E004', /\.pdf/));
});
