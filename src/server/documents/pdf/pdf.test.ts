// The direct reader of PDF gives the same words as PDF.js, and leaves to it what it does not understand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HANDBOOK_PAGES, pagesPdf, pdfOf, pdfOfObjects } from '../../../../test/documents/corpus.ts';
import { runs } from '../../../../test/support/runs.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { DOCUMENT_LIMITS } from '../limits.ts';
import { readDirectly } from './direct.ts';
import type { PdfText } from './page-lines.ts';
import { readByPdfJs } from './pdfjs.ts';
import { Unusual } from './syntax.ts';

const wordsOf = ({ pages }: PdfText): string[] =>
  pages.map((lines) =>
    lines
      .map(({ text }) => text)
      .join(' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );

const PAGE = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources 5 0 R >>';

/** A PDF of one page with this content, these fonts, and further objects from number 6. */
function pageOf(content: string, fonts: string, more: Parameters<typeof pdfOfObjects>[0] = [], root = ''): Uint8Array {
  return pdfOfObjects([
    `<< /Type /Catalog /Pages 2 0 R ${root} >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    PAGE,
    { dictionary: '', bytes: Buffer.from(content, 'latin1') },
    `<< /Font << ${fonts} >> /XObject << /X1 6 0 R >> >>`,
    ...more,
  ]);
}

const HELVETICA = '/F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';
const CMAP =
  '1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0001> <65e5> endbfchar ' +
  '2 beginbfrange <0002> <0003> <672c> <0010> <0011> [<0041> <00660069>] endbfrange';
const COMPOSITE =
  '/F1 << /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 7 0 R ' +
  '/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 1000 /CIDSystemInfo ' +
  '<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>';
/** A font as TeX embeds it, whose encoding is in its program. */
const TEX = `/F1 << /Type /Font /Subtype /Type1 /BaseFont /CMR10 /FirstChar 0 /LastChar 127 /Widths [${'500 '.repeat(128)}] /FontDescriptor << /Type /FontDescriptor /FontName /CMR10 /Flags 4 /FontFile 8 0 R >> >>`;
const LETTERS = Array.from('adeinrst', (letter) => `dup ${letter.charCodeAt(0)} /${letter} put`).join('\n');
const PROGRAM = `%!PS-AdobeFont-1.1: CMR10
/FontName /CMR10 def
/Encoding 256 array
0 1 255 {1 index exch /.notdef put} for
dup 12 /fi put
dup 123 /endash put
${LETTERS}
readonly def
currentfile eexec
dup 97 /b put`;
const FORM = { dictionary: '/Type /XObject /Subtype /Form /BBox [0 0 99 99]', bytes: Buffer.from('') };

const USUAL: readonly (readonly [what: string, content: string, fonts: string, text: string])[] = [
  ['strings on one line', 'BT /F1 10 Tf 50 700 Td (Hel) Tj (lo) Tj 40 0 Td (world) Tj ET', HELVETICA, 'Hello world'],
  ['kerning and gaps', 'BT /F1 10 Tf 50 700 Td [(W) 80 (ord) -300 (next)] TJ ET', HELVETICA, 'Word next'],
  ['escapes', 'BT /F1 10 Tf 50 700 Td (a \\(b\\) \\101 \\\\ caf\\351) Tj ET', HELVETICA, 'a (b) A \\ café'],
  ['lines', "BT /F1 10 Tf 12 TL 50 700 Td (one) Tj T* (two) Tj (three) ' ET", HELVETICA, 'one two three'],
  ['hexadecimal', 'BT /F1 10 Tf 50 700 Td <48 65 6c6C6f> Tj ET', HELVETICA, 'Hello'],
  [
    'names of glyphs',
    'BT /F1 10 Tf 50 700 Td (ABC) Tj ET',
    HELVETICA.replace(
      '/WinAnsiEncoding',
      '<< /BaseEncoding /WinAnsiEncoding /Differences [65 /eacute /fi /uni20AC] >>',
    ),
    'éfi€',
  ],
  ['two bytes a code', 'BT /F1 10 Tf 50 700 Td <0001000200030010> Tj ET', COMPOSITE, '日本\u672dA'],
  ['an encoding inside a font', 'BT /F1 10 Tf 50 700 Td [(\\014nd) -400 ({) -400 (red)] TJ ET', TEX, 'find – red'],
  [
    'names of glyphs beside an encoding inside a font',
    'BT /F1 10 Tf 50 700 Td (\\014x) Tj ET',
    TEX.replace('/FirstChar', '/Encoding << /Differences [120 /eacute] >> /FirstChar'),
    'fié',
  ],
  ['an image within', 'BI /W 1 /H 1 ID \x01(x\x02 EI BT /F1 10 Tf 50 700 Td (after) Tj ET', HELVETICA, 'after'],
];

for (const [what, content, fonts, text] of USUAL)
  test(`the direct reader understands ${what}`, () => {
    const stream = (text: string) => ({ dictionary: '', bytes: Buffer.from(text) });
    const bytes = pageOf(content, fonts, [FORM, stream(CMAP), stream(PROGRAM)]);
    assert.deepEqual(wordsOf(readDirectly(bytes, DOCUMENT_LIMITS)), [text]);
  });

test('both readers give the same words of files that a library writes', async () => {
  for (const bytes of [await pdfOf(HANDBOOK_PAGES), pagesPdf(3)]) {
    const direct = readDirectly(bytes, DOCUMENT_LIMITS);
    assert.deepEqual(wordsOf(direct), wordsOf(await readByPdfJs(new Uint8Array(bytes), DOCUMENT_LIMITS)));
  }
});

test('text from right to left, which a page shows piece by piece from its left end, is read in its order', async () => {
  const map =
    '1 begincodespacerange <0000> <ffff> endcodespacerange ' +
    '6 beginbfchar <0001> <05d0> <0002> <05d1> <0003> <05d2> <0004> <0028> <0005> <0029> <0006> <fef9> endbfchar';
  // A bracketed word, a blank and another word, then a number: the first word of the line is at its right end.
  const content =
    'BT /F2 10 Tf 50 700 Td (25) Tj ET BT /F1 10 Tf 80 700 Td <0004> Tj 10 0 Td <00020001> Tj 20 0 Td <0005> Tj ' +
    '40 0 Td <00010003> Tj 40 0 Td <0006> Tj ET';
  const fonts = `${COMPOSITE} ${HELVETICA.replace('/F1', '/F2')}`;
  const bytes = pageOf(content, fonts, [FORM, { dictionary: '', bytes: Buffer.from(map) }]);
  assert.deepEqual(wordsOf(await readByPdfJs(new Uint8Array(bytes), DOCUMENT_LIMITS)), ['\u0644\u0625 גא (אב) 25']);
});

test('both readers give the outline', async () => {
  const more = [
    FORM,
    '<< /First 8 0 R /Last 8 0 R /Count 1 >>',
    '<< /Title (Part one) /Parent 7 0 R /Dest [3 0 R /Fit] /First 9 0 R /Last 9 0 R >>',
    '<< /Title <feff00c4> /Parent 8 0 R /A << /S /GoTo /D (there) >> >>',
    '<< /Names [(there) [3 0 R /Fit]] >>',
  ];
  const bytes = pageOf('BT /F1 10 Tf (x) Tj ET', HELVETICA, more, '/Outlines 7 0 R /Names << /Dests 10 0 R >>');
  const wanted = [
    { title: 'Part one', level: 1, page: 1 },
    { title: 'Ä', level: 2, page: 1 },
  ];
  assert.deepEqual(readDirectly(bytes, DOCUMENT_LIMITS).outline, wanted);
  assert.deepEqual((await readByPdfJs(new Uint8Array(bytes), DOCUMENT_LIMITS)).outline, wanted);
});

const UNUSUAL: readonly (readonly [what: string, bytes: Uint8Array])[] = [
  ['no tables', Buffer.from('%PDF-1.7\n1 0 obj << >> endobj')],
  ['a font without an encoding', pageOf('BT /F1 9 Tf (x) Tj ET', '/F1 << /Subtype /Type1 /BaseFont /CMR10 >>')],
  [
    'text from right to left',
    pageOf('BT /F1 9 Tf <0001> Tj ET', COMPOSITE, [
      FORM,
      { dictionary: '', bytes: Buffer.from('1 beginbfchar <0001> <05d0> endbfchar') },
    ]),
  ],
  ['a font of drawings', pageOf('BT /F1 9 Tf (x) Tj ET', '/F1 << /Subtype /Type3 >>')],
  ['encryption', pdfOfObjects(['<< /Type /Catalog >>'], '/Encrypt << /Filter /Standard >> ')],
  [
    'a circle of pages',
    pdfOfObjects(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>']),
  ],
];

for (const [what, bytes] of UNUSUAL)
  test(`the direct reader leaves ${what} to PDF.js`, () => {
    assert.throws(() => readDirectly(bytes, DOCUMENT_LIMITS), Unusual);
  });

test('a file with changed bytes is read, refused or left to PDF.js, and never takes long', async () => {
  const bytes = await pdfOf(HANDBOOK_PAGES);
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 20 }), (changes) => {
      const changed = Uint8Array.from(bytes);
      for (const [at, byte] of changes) changed[at] = byte;
      try {
        readDirectly(changed, DOCUMENT_LIMITS);
      } catch (error) {
        assert.ok(error instanceof Unusual || error instanceof EngineError, String(error));
      }
    }),
    { numRuns: runs(200) },
  );
});
