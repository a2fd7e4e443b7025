// The documents that the tests read, written by the libraries that other programs use, or byte by byte where no library
// writes what is wrong.
import { deflateRawSync } from 'node:zlib';
import { Document, HeadingLevel, Packer, Paragraph, Table, TableCell, TableRow, TextRun } from 'docx';
import { type Zippable, zipSync } from 'fflate';
import { PDFDocument, type PDFFont, StandardFonts } from 'pdf-lib';
import PptxGenJS from 'pptxgenjs';
import writeExcelFile from 'write-excel-file/node';

const paragraph = (text: string) => new Paragraph({ children: [new TextRun(text)] });
const heading = (text: string, level: (typeof HeadingLevel)[keyof typeof HeadingLevel]) =>
  new Paragraph({ text, heading: level });

export async function handbookDocx(): Promise<Uint8Array> {
  const row = (cells: readonly string[]) =>
    new TableRow({ children: cells.map((text) => new TableCell({ children: [paragraph(text)] })) });
  const document = new Document({
    sections: [
      {
        children: [
          heading('Handbook', HeadingLevel.TITLE),
          heading('Leave', HeadingLevel.HEADING_1),
          paragraph('Everyone has thirty days of leave.'),
          heading('Sick leave', HeadingLevel.HEADING_2),
          paragraph('Call before nine. שלום עולם. 病気の時は電話してください。'),
          new Table({ rows: [row(['Grade', 'Days']), row(['A', '30']), row(['B', '35'])] }),
          heading('Travel', HeadingLevel.HEADING_1),
          paragraph('Take the train.'),
        ],
      },
    ],
  });
  return new Uint8Array(await Packer.toBuffer(document));
}

export async function slidesPptx(): Promise<Uint8Array> {
  // Its types describe a module of another kind.
  const deck = new (PptxGenJS as unknown as typeof PptxGenJS.default)();
  deck.defineSlideMaster({
    title: 'TITLED',
    objects: [{ placeholder: { options: { name: 'title', type: 'title', x: 0, y: 0, w: 9, h: 1 }, text: '' } }],
  });
  const first = deck.addSlide({ masterName: 'TITLED' });
  first.addText('Quarterly results', { placeholder: 'title' });
  first.addText('Revenue grew by twelve percent.', { x: 1, y: 2, w: 8, h: 1 });
  first.addNotes('Thank the team in Oslo.');
  const second = deck.addSlide({ masterName: 'TITLED' });
  second.addText('Outlook', { placeholder: 'title' });
  second.addTable(
    [
      [{ text: 'Region' }, { text: 'Target' }],
      [{ text: 'North' }, { text: '40' }],
    ],
    { x: 1, y: 2 },
  );
  return new Uint8Array((await deck.write({ outputType: 'uint8array' })) as Uint8Array); // what was asked for
}

export async function peopleXlsx(): Promise<Uint8Array> {
  const people = [
    [{ value: 'Name' }, { value: 'City' }, { value: 'Born' }, { value: 'Share' }],
    [
      { value: 'Ada' },
      { value: 'London' },
      { value: new Date(Date.UTC(1815, 11, 10)), type: Date, format: 'yyyy-mm-dd' },
      { value: 0.30000000000000004 },
    ],
    [
      { value: 'Grace' },
      null,
      { value: new Date(Date.UTC(1906, 11, 9)), type: Date, format: 'yyyy-mm-dd' },
      { value: 2 },
    ],
  ];
  const places = [
    [{ value: 'Place' }, { value: 'Country' }],
    [{ value: 'Oslo' }, { value: 'Norway' }],
  ];
  return await workbookOf([
    { data: people, sheet: 'People' },
    { data: places, sheet: 'Places' },
  ]);
}

/** A workbook of one sheet with these values; null is an empty cell, and a row without values an empty row. */
export function sheetXlsx(rows: readonly (readonly (string | number | null)[])[]): Promise<Uint8Array> {
  const data = rows.map((row) => row.map((value) => (value === null ? null : { value })));
  return workbookOf([{ data, sheet: 'Sheet' }]);
}

async function workbookOf(sheets: readonly { readonly data: unknown; readonly sheet: string }[]): Promise<Uint8Array> {
  const written = writeExcelFile(sheets as Parameters<typeof writeExcelFile>[0]);
  return new Uint8Array(await (written as unknown as { toBuffer(): Promise<Buffer> }).toBuffer());
}

/** Pages of lines; a line that begins with `# ` is written large. */
export async function pdfOf(pages: readonly (readonly string[])[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (const lines of pages) drawPage(document, font, lines);
  return document.save();
}

function drawPage(document: PDFDocument, font: PDFFont, lines: readonly string[]): void {
  const page = document.addPage([595, 842]);
  let y = 800;
  for (const line of lines) {
    const isHeading = line.startsWith('# ');
    page.drawText(isHeading ? line.slice(2) : line, { x: 50, y, size: isHeading ? 20 : 10, font });
    y -= isHeading ? 30 : 12;
  }
}

export const HANDBOOK_PAGES: readonly (readonly string[])[] = [
  ['# Leave', 'Everyone has thirty days of leave, and nobody loses', 'what is left of them in the new year.'],
  ['# Travel', 'Take the train whenever you can. Flights need the ap-', 'proval of two people.'],
];

/** A PDF of pages without any text, as a scanner makes them. */
export async function scannedPdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  document.addPage([595, 842]).drawRectangle({ x: 10, y: 10, width: 500, height: 700 });
  return document.save();
}

/** A PDF that says that it is encrypted with a password. */
export async function encryptedPdf(): Promise<Uint8Array> {
  const plain = await PDFDocument.create();
  plain.addPage([595, 842]);
  const text = Buffer.from(await plain.save({ useObjectStreams: false })).toString('latin1');
  const owner = `<${'41'.repeat(32)}>`;
  const encrypt = `/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O ${owner} /U ${owner} >> /ID [${owner} ${owner}]`;
  return Buffer.from(
    text.replace(/trailer\s*<</, (head) => `${head} ${encrypt} `),
    'latin1',
  );
}

const CONTENT_TYPES = (main: string, type: string): string =>
  `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
  `<Override PartName="/${main}" ContentType="${type}"/></Types>`;
const DOCX_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
export const MACRO_TYPE = 'application/vnd.ms-word.document.macroEnabled.main+xml';

/** A DOCX of this body, with further entries. */
export function rawDocx(body: string, more: Zippable = {}, type = DOCX_TYPE, prolog = ''): Uint8Array {
  const text = (content: string): Uint8Array => Buffer.from(content);
  return zipSync({
    '[Content_Types].xml': text(CONTENT_TYPES('word/document.xml', type)),
    'word/document.xml': text(
      `<?xml version="1.0"?>${prolog}<w:document xmlns:w="w"><w:body>${body}</w:body></w:document>`,
    ),
    ...more,
  });
}

export const wordParagraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A DOCX whose text is `megabytes` of zeros when it is inflated. */
export function bombDocx(megabytes: number): Uint8Array {
  return rawDocx(wordParagraph('0'.repeat(megabytes * 1_048_576)));
}

/** The same file with sizes in its headers that tell nothing of it. */
export function lyingBomb(megabytes: number): Uint8Array {
  const bytes = Buffer.from(bombDocx(megabytes));
  for (let at = 0; at < bytes.length - 30; at++) {
    const signature = bytes.readUInt32LE(at);
    // The uncompressed size in a local header, and in the directory.
    if (signature === 0x04034b50) bytes.writeUInt32LE(10, at + 22);
    else if (signature === 0x02014b50) bytes.writeUInt32LE(10, at + 24);
  }
  return bytes;
}

/** An archive in an archive, neither of them an office file. */
export function nestedBomb(megabytes: number): Uint8Array {
  const inner = zipSync({ 'zeros.txt': Buffer.alloc(megabytes * 1_048_576, 0x30) });
  return zipSync({ 'inner.zip': inner, 'word/embeddings/inner.zip': inner });
}

/** A PDF whose only page is `megabytes` of blanks when it is inflated. */
export function bombPdf(megabytes: number): Uint8Array {
  const content = deflateZlib(Buffer.alloc(megabytes * 1_048_576, 0x20));
  return pdfOfObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
    { dictionary: '/Filter /FlateDecode', bytes: content },
  ]);
}

function deflateZlib(bytes: Uint8Array): Buffer {
  const raw = deflateRawSync(bytes, { level: 9 });
  // A header, and no checksum: readers of PDF do not ask for it.
  return Buffer.concat([Buffer.from([0x78, 0xda]), raw]);
}

interface StreamObject {
  /** Members besides the length. */
  readonly dictionary: string;
  readonly bytes: Uint8Array;
}

/** A PDF of these objects, numbered from 1; the first one is the catalogue. */
export function pdfOfObjects(objects: readonly (string | StreamObject)[], trailer = ''): Uint8Array {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')];
  const offsets: number[] = [];
  let length = parts[0]!.length;
  const push = (part: Uint8Array | string): void => {
    const bytes = Buffer.from(part as string); // a copy of either
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    push(`${at + 1} 0 obj\n`);
    if (typeof object === 'string') push(object);
    else {
      push(`<< ${object.dictionary} /Length ${object.bytes.length} >>\nstream\n`);
      push(object.bytes);
      push('\nendstream');
    }
    push('\nendobj\n');
  }
  const start = length;
  push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`);
  for (const offset of offsets) push(`${String(offset).padStart(10, '0')} 00000 n \n`);
  push(`trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF\n`);
  return Buffer.concat(parts);
}

/** A PDF of many pages that share one content. */
export function pagesPdf(count: number): Uint8Array {
  const kids = Array.from({ length: count }, (_, at) => `${at + 5} 0 R`).join(' ');
  return pdfOfObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    { dictionary: '', bytes: Buffer.from('BT /F1 10 Tf 50 700 Td (One of many pages.) Tj ET') },
    ...Array.from(
      { length: count },
      () =>
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>',
    ),
  ]);
}

export const MAIL = [
  'From: Ada <ada@example.org>',
  'To: Grace <grace@example.org>',
  'Date: Mon, 02 Mar 2026 10:00:00 +0000',
  'Subject: =?utf-8?B?UsOpc3Vtw6k=?=',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary="b"',
  '',
  '--b',
  'Content-Type: text/plain; charset=iso-8859-1',
  'Content-Transfer-Encoding: quoted-printable',
  '',
  'The caf=E9 opens at nine.',
  '--b',
  'Content-Type: text/markdown',
  'Content-Disposition: attachment; filename="plan.md"',
  '',
  '# Plan',
  'Buy coffee.',
  '--b',
  'Content-Type: image/png',
  'Content-Disposition: attachment; filename="logo.png"',
  'Content-Transfer-Encoding: base64',
  '',
  'iVBORw0KGgo=',
  '--b--',
  '',
].join('\r\n');
