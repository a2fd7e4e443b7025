// Documents that are damaged, locked, or meant to harm: each is refused with a code of the contract, and the next one is
// read.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { zipSync } from 'fflate';
import {
  bombDocx,
  bombPdf,
  encryptedPdf,
  HANDBOOK_PAGES,
  handbookDocx,
  lyingBomb,
  nestedBomb,
  pagesPdf,
  pdfOf,
  rawDocx,
  scannedPdf,
  wordParagraph,
} from '../../../test/documents/corpus.ts';
import type { ErrorCode } from '../../engine/base/errors.ts';
import { Documents } from './documents.ts';
import { DOCUMENT_LIMITS, type DocumentLimits } from './limits.ts';
import { parseDocument } from './parse.ts';

const refusedWith = (code: ErrorCode, words: RegExp) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code && words.test(error.message);
const SMALL: DocumentLimits = { ...DOCUMENT_LIMITS, inflatedBytes: 4 * 1_048_576, entries: 100 };
const refuses = (bytes: Uint8Array, name: string, code: ErrorCode, words: RegExp, limits = DOCUMENT_LIMITS) =>
  assert.rejects(parseDocument(bytes, name, limits), refusedWith(code, words));

test('a file that was cut off is refused', async () => {
  const docx = await handbookDocx();
  const pdf = await pdfOf(HANDBOOK_PAGES);
  for (const part of [0.2, 0.5, 0.9])
    await refuses(docx.subarray(0, docx.length * part), 'a.docx', 'IMP-E004', /cut off/);
  await refuses(pdf.subarray(0, 200), 'a.pdf', 'IMP-E004', /damaged|no text/);
  await refuses(Buffer.from('%PDF-1.7\nnothing'), 'a.pdf', 'IMP-E004', /damaged/);
});

test('an encrypted file says so, and a scanned one says that it needs text recognition', async () => {
  await refuses(await encryptedPdf(), 'a.pdf', 'IMP-E004', /encrypted/);
  await refuses(await scannedPdf(), 'a.pdf', 'IMP-E004', /OCR/);
  const locked = Buffer.concat([
    Buffer.from('d0cf11e0a1b11ae1', 'hex'),
    Buffer.alloc(500),
    Buffer.from('EncryptedPackage', 'utf16le'),
  ]);
  await refuses(locked, 'a.docx', 'IMP-E004', /encrypted/);
  await refuses(locked.subarray(0, 400), 'a.doc', 'IMP-E001', /Office 97/);
});

test('an archive that expands too far is refused, whatever sizes it declares', async () => {
  assert.ok(bombDocx(8).length < 100_000);
  await refuses(bombDocx(8), 'a.docx', 'LIM-E003', /expands/, SMALL);
  await refuses(lyingBomb(8), 'a.docx', 'LIM-E003', /expands/, SMALL);
  await refuses(nestedBomb(8), 'a.zip', 'IMP-E001', /archive/, SMALL);
  // Nothing opens what lies in an office file without being a part of it.
  const inner = Buffer.from(nestedBomb(8));
  const { text } = await parseDocument(rawDocx(wordParagraph('Fine.'), { 'word/x.zip': inner }), 'a.docx', SMALL);
  assert.equal(text, 'Fine.');
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`e${at}`, Buffer.from('x')]));
  await refuses(zipSync(many), 'a.docx', 'LIM-E003', /entries/, SMALL);
});

const LAUGHS = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join('');

test('a document type in an office file is refused: no entity is declared, fetched or expanded', async () => {
  const external = '<!DOCTYPE x [<!ENTITY file SYSTEM "file:///etc/passwd">]>';
  const laughs = `<!DOCTYPE x [<!ENTITY l0 "lol">${LAUGHS}]>`;
  await refuses(rawDocx(wordParagraph('&file;'), {}, undefined, external), 'a.docx', 'IMP-E004', /document type/);
  await refuses(rawDocx(wordParagraph('&l9;'), {}, undefined, laughs), 'a.docx', 'IMP-E004', /document type/);
  const page = `${laughs}<html><p>&l9; &amp; &file;</p></html>`;
  const { text } = await parseDocument(Buffer.from(page), 'a.html');
  assert.ok(text.endsWith('&l9; & &file;') && text.length < page.length, text);
});

test('elements and values that nest too deep are refused', async () => {
  const { depth } = DOCUMENT_LIMITS;
  await refuses(rawDocx('<w:tbl>'.repeat(depth + 1)), 'a.docx', 'LIM-E003', /deeper/);
  await refuses(Buffer.from('['.repeat(depth + 2).concat(']'.repeat(depth + 2))), 'a.json', 'LIM-E003', /deeper/);
});

test('a PDF of ten thousand pages is refused, and one of a thousand is read', async () => {
  await refuses(pagesPdf(10_000), 'a.pdf', 'LIM-E003', /pages/);
  const { pages, text } = await parseDocument(pagesPdf(1_000), 'a.pdf');
  assert.deepEqual([pages, text.match(/One of many pages/g)?.length], [1_000, 1_000]);
});

test('text beyond the limit is refused, before it fills the memory', async () => {
  const limits = { ...DOCUMENT_LIMITS, textChars: 1_000 };
  await refuses(Buffer.from('x'.repeat(1_001)), 'a.txt', 'LIM-E003', /characters/, limits);
  await refuses(Buffer.from(`<html><p>${'x'.repeat(1_001)}</p>`), 'a.html', 'LIM-E003', /characters/, limits);
  await refuses(rawDocx(wordParagraph('x'.repeat(1_001))), 'a.docx', 'LIM-E003', /characters/, limits);
});

const opened: Documents[] = [];
after(async () => {
  for (const each of opened) await each.close();
});

test('a PDF that expands beyond all bounds is refused or ends its thread, and the next document is read', async () => {
  const documents = new Documents({
    threads: 1,
    memoryBytes: 200 * 1_048_576,
    limits: { inflatedBytes: 50 * 1_048_576 },
  });
  opened.push(documents);
  const bomb = bombPdf(300);
  assert.ok(bomb.length < 1_048_576);
  // The direct reader counts what comes out. A file that it leaves to PDF.js is stopped by its memory.
  await assert.rejects(documents.text(bomb, 'a.pdf'), refusedWith('LIM-E003', /expands/));
  const unusual = Buffer.from(bomb);
  unusual.write('startxrex', unusual.lastIndexOf('startxref'), 'latin1');
  await assert.rejects(documents.text(unusual, 'a.pdf'), refusedWith('IMP-E004', /memory/));
  const { json } = await documents.text(Buffer.from('next'), 'a.txt');
  assert.equal(Buffer.from(json).toString(), '"next"');
});

test('runs that a pattern could read in very many ways cost linear time', async () => {
  const blanks = ' '.repeat(100_000);
  const files: Readonly<Record<string, string>> = {
    'comments.html': `${'<!-- a line -->\n'.repeat(200)}<p>Text</p>`,
    'comments.txt': `${'<!-- a line -->\n'.repeat(200)}Text`,
    'pre.html': `<html><pre>a${blanks}b</pre>`,
    'heading.md': `# a${blanks}b\n# ${blanks}\u2028\n# ${'['.repeat(100_000)}\ntext`,
  };
  for (const [name, text] of Object.entries(files)) {
    const before = process.cpuUsage();
    await parseDocument(Buffer.from(text), name);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 2_000_000, `${name}: ${user + system} µs of CPU`);
  }
});
