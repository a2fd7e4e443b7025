// Every format, from files that other programs' libraries write.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  HANDBOOK_PAGES,
  handbookDocx,
  MACRO_TYPE,
  MAIL,
  pdfOf,
  peopleXlsx,
  rawDocx,
  sheetXlsx,
  slidesPptx,
  wordParagraph,
} from '../../../test/documents/corpus.ts';
import type { ParsedDocument } from './document.ts';
import { parseDocument } from './parse.ts';

const linesOf = ({ sections }: Pick<ParsedDocument, 'sections'>): string[] =>
  sections.map(({ headings, page, slide, sheet, text }) => {
    const place = [page ?? slide, sheet].filter((part) => part !== undefined).join();
    return `${place === '' ? '' : `${place} `}[${headings.join(' > ')}] ${text.trim().replace(/\s*\n\s*/g, ' / ')}`;
  });

test('DOCX gives headings by style, tables as lines, and every script', async () => {
  const document = await parseDocument(await handbookDocx(), 'handbook.docx');
  assert.equal(document.kind, 'docx');
  assert.deepEqual(linesOf(document), [
    '[Handbook > Leave] Handbook / Leave / Everyone has thirty days of leave.',
    '[Handbook > Leave > Sick leave] Sick leave / Call before nine. שלום עולם. 病気の時は電話してください。 / ' +
      'Grade: A; Days: 30 / Grade: B; Days: 35',
    '[Handbook > Travel] Travel / Take the train.',
  ]);
});

test('cells of a DOCX over several columns or rows leave the others under their own headers', async () => {
  const cell = (text: string, properties = '') =>
    `<w:tc><w:tcPr>${properties}</w:tcPr>${text === '' ? '<w:p/>' : wordParagraph(text)}</w:tc>`;
  const row = (...cells: readonly string[]) => `<w:tr>${cells.join('')}</w:tr>`;
  const [restart, more] = ['<w:vMerge w:val="restart"/>', '<w:vMerge/>'];
  const rows = [
    row(cell('Name'), cell('City'), cell('Year')),
    row(cell('Ada', restart), cell('Oslo'), cell('1')),
    row(cell('', more), cell('Rome'), cell('2')),
    row(cell('nobody', '<w:gridSpan w:val="2"/>'), cell('3')),
    row(cell('Bob'), cell('Bern', '<w:gridSpan w:val="99999999"/>')),
  ];
  const { text } = await parseDocument(rawDocx(`<w:tbl>${rows.join('')}</w:tbl>`), 'a.docx');
  assert.deepEqual(text.split('\n'), [
    'Name: Ada; City: Oslo; Year: 1',
    'Name: Ada; City: Rome; Year: 2',
    'Name: nobody; Year: 3',
    'Name: Bob; City: Bern',
  ]);
});

test('PPTX gives slides under their titles, with tables and notes', async () => {
  const document = await parseDocument(await slidesPptx(), 'deck.pptx');
  assert.deepEqual([document.kind, document.pages], ['pptx', 2]);
  assert.deepEqual(linesOf(document), [
    '1 [Quarterly results] Quarterly results / Revenue grew by twelve percent. / Notes: Thank the team in Oslo.',
    '2 [Outlook] Outlook / Region: North; Target: 40',
  ]);
});

test('XLSX gives sheets with a line a row, and dates as dates', async () => {
  const document = await parseDocument(await peopleXlsx(), 'people.xlsx');
  assert.deepEqual([document.kind, document.pages], ['xlsx', 2]);
  assert.deepEqual(linesOf(document), [
    'People [People] Name | City | Born | Share / Name: Ada; City: London; Born: 1815-12-10; Share: 0.3 / ' +
      'Name: Grace; Born: 1906-12-09; Share: 2',
    'Places [Places] Place | Country / Place: Oslo; Country: Norway',
  ]);
});

test('a sheet may have a title, several tables, and space within one', async () => {
  const rows = [
    ['Prices of the year'],
    [],
    [null, 'Item', 'Price'],
    [null, 'Kettle', 20],
    [],
    [null, 'Lamp', 'on request'],
    [],
    ['City', 'Hotel', 'Stars'],
    ['Oslo', 'Grand', 4],
    ['Rome', 'Bella', 3],
  ];
  const { sections } = await parseDocument(await sheetXlsx(rows), 'prices.xlsx');
  assert.deepEqual(linesOf({ sections }), [
    'Sheet [Sheet] Prices of the year / Item | Price / Item: Kettle; Price: 20 / Item: Lamp; Price: on request / ' +
      'City | Hotel | Stars / City: Oslo; Hotel: Grand; Stars: 4 / City: Rome; Hotel: Bella; Stars: 3',
  ]);
  const bare = await parseDocument(await sheetXlsx([['Total'], ['Ada', 'Oslo'], [1, 2]]), 'bare.xlsx');
  assert.equal(bare.text, 'Total\nAda | Oslo\nAda: 1; Oslo: 2');
});

test('PDF gives pages, headings of a larger size, and whole words', async () => {
  const document = await parseDocument(await pdfOf(HANDBOOK_PAGES), 'handbook.pdf');
  assert.deepEqual([document.kind, document.pages], ['pdf', 2]);
  assert.deepEqual(linesOf(document), [
    '1 [Leave] Leave / Everyone has thirty days of leave, and nobody loses / what is left of them in the new year.',
    '2 [Travel] Travel / Take the train whenever you can. Flights need the approval of two people.',
  ]);
});

test('CSV gives a line a row, whatever separates and quotes its fields', async () => {
  const rows = 'Name;Note\nAda;"likes ""tea""; and\nmilk"\nGrace;\n\nLin;x';
  const document = await parseDocument(Buffer.from(rows), 'a.csv');
  assert.deepEqual(linesOf(document), [
    '[] Name | Note / Name: Ada; Note: likes "tea"; and milk / Name: Grace / Name: Lin; Note: x',
  ]);
  const bare = await parseDocument(Buffer.from('1,2\n3,4\n'), 'a.csv');
  assert.equal(bare.text, '1 | 2\n3 | 4');
});

test('JSON gives a line an object, under the names that lead to it', async () => {
  const value = {
    title: 'Team',
    people: [
      { name: 'Ada', tags: ['a', 'b'] },
      { name: 'Lin', city: null },
    ],
    n: [[1], []],
  };
  const document = await parseDocument(Buffer.from(JSON.stringify(value)), 'team.json');
  assert.deepEqual(
    [document.kind, document.text],
    ['json', 'title: Team\npeople: name: Ada\npeople.tags: a, b\npeople: name: Lin\nn: 1'],
  );
  const lines = await parseDocument(Buffer.from('{"a":1}\n\n{"a":2}\n'), 'log.jsonl');
  assert.equal(lines.text, 'a: 1\na: 2');
  await assert.rejects(parseDocument(Buffer.from('{"a":1}\n{"a":'), 'log.jsonl'), { code: 'IMP-E004' });
});

test('an e-mail gives its headers, its body and the documents attached', async () => {
  const document = await parseDocument(Buffer.from(MAIL), 'mail.eml');
  assert.equal(document.kind, 'eml');
  assert.deepEqual(linesOf(document), [
    '[Résumé] Subject: Résumé / From: Ada <ada@example.org> / To: Grace <grace@example.org> / ' +
      'Date: 2026-03-02T10:00:00.000Z / The café opens at nine. / Attachment: plan.md',
    '[Résumé > plan.md > Plan] # Plan / Buy coffee.',
    '[Résumé] Attachment: logo.png',
  ]);
});

test('content tells the kind, whatever the name says', async () => {
  const cases: readonly (readonly [Uint8Array, string, string])[] = [
    [await handbookDocx(), 'report.pdf', 'docx'],
    [await pdfOf(HANDBOOK_PAGES), 'report.txt', 'pdf'],
    [await slidesPptx(), 'report', 'pptx'],
    [Buffer.from('<!doctype html><p>words</p>'), 'report.txt', 'html'],
    [Buffer.from(MAIL), 'report.txt', 'eml'],
    [Buffer.from('{"a": [1]}'), 'report', 'json'],
    [
      rawDocx(wordParagraph('Macros never run.'), { 'word/vbaProject.bin': Buffer.from('x') }, MACRO_TYPE),
      'a.docm',
      'docx',
    ],
  ];
  for (const [bytes, name, kind] of cases) assert.equal((await parseDocument(bytes, name)).kind, kind, name);
});

test('text of a DOCX that is deleted or doubled is left out', async () => {
  const body =
    '<w:p><w:r><w:t>Kept</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>' +
    '<mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></mc:Choice>' +
    '<mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>';
  const { text } = await parseDocument(rawDocx(body), 'a.docx');
  assert.equal(text.replace(/\s+/g, ' '), 'box Kept');
});
