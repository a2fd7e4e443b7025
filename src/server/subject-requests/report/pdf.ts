// Writes a report as PDF with pdfkit, an optional peer dependency that is loaded here alone. With dejavu-fonts-ttf, another
// one, letters beyond Latin ones are drawn too; without it, and for letters that its font lacks, their code stands in their place.
import { createRequire } from 'node:module';
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import { type Block, type ReportDocument, reportDocument } from './document.ts';
import { findPdfkit } from './find-pdfkit.ts';
import { visible } from './plain.ts';
import type { ReportLanguage } from './texts.ts';
import { visualOrder } from './visual-order.ts';

/** The part of pdfkit that this file uses. */
interface Pdf {
  readonly page: { readonly width: number; readonly height: number };
  registerFont(name: string, source: string): Pdf;
  font(name: string): Pdf;
  fontSize(size: number): Pdf;
  fillColor(color: string): Pdf;
  widthOfString(text: string): number;
  text(text: string, x: number, y: number, options: { readonly lineBreak: false }): Pdf;
  addPage(): Pdf;
  switchToPage(page: number): Pdf;
  bufferedPageRange(): { readonly start: number; readonly count: number };
  moveTo(x: number, y: number): Pdf;
  lineTo(x: number, y: number): Pdf;
  lineWidth(width: number): Pdf;
  strokeColor(color: string): Pdf;
  stroke(): Pdf;
  on(event: 'data', listener: (bytes: Buffer) => void): Pdf;
  on(event: 'end', listener: () => void): Pdf;
  end(): void;
  /** The current font of an embedded file; pdfkit declares it as internal. */
  readonly _font: { readonly font?: { hasGlyphForCodePoint?: (code: number) => boolean } };
}
type PdfMaker = new (options: object) => Pdf;

const MARGIN = 50;
const FOOTER = 30;
const INK = '#1a1a1a';
const GREY = '#555555';
const RULE = '#c8c8c8';
const PADDING = 4;
/** Lines at the end of a text that stand on one page. */
const LAST_LINES = 4;
/** Latin-1 and what Windows-1252 adds to it: the letters of the fonts that every reader of PDF has. */
const STANDARD =
  /^[ -~\u00a0-\u00ff\u20ac\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u017d\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u017e\u0178]$/;

type Style = 'body' | 'bold' | 'mono';
interface Look {
  readonly style?: Style;
  readonly size?: number;
  readonly color?: string;
}

const NOTE: Look = { color: GREY, size: 8.5 };
/** In points: below a paragraph, of a heading, and of the head of a table with its first row. */
const PARAGRAPH_GAP = 4;
const HEADING_HEIGHT = 32;
const TABLE_START_HEIGHT = 60;

/** Resolves to the bytes of the file. Throws `PdfkitMissing`. */
export async function reportPdf(data: ReportData, language: ReportLanguage): Promise<Buffer> {
  const document = reportDocument(data, language);
  const writer = new PdfWriter(loadPdfkit(), document);
  return writer.write();
}

const require = createRequire(import.meta.url);

function loadPdfkit(): PdfMaker {
  findPdfkit();
  const loaded: unknown = require('pdfkit');
  return ((loaded as { default?: unknown }).default ?? loaded) as PdfMaker; // the package exports the class
}

function fontFile(name: string): string | undefined {
  try {
    return require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
  } catch {
    return undefined;
  }
}

class PdfWriter {
  readonly #pdf: Pdf;
  readonly #document: ReportDocument;
  readonly #done: Promise<Buffer>;
  readonly #embeds: boolean;
  #y = MARGIN;

  constructor(Maker: PdfMaker, document: ReportDocument) {
    this.#document = document;
    this.#pdf = new Maker({
      size: 'A4',
      margin: 0,
      bufferPages: true,
      lang: document.language,
      displayTitle: true,
      info: { Title: `${document.title}: ${document.subtitle}`, Creator: 'granary' },
    });
    const pieces: Buffer[] = [];
    this.#done = new Promise((resolve) => {
      this.#pdf.on('data', (bytes) => pieces.push(bytes)).on('end', () => resolve(Buffer.concat(pieces)));
    });
    const files = ['DejaVuSans', 'DejaVuSans-Bold', 'DejaVuSansMono'].map(fontFile);
    this.#embeds = files.every((file) => file !== undefined);
    const standard = ['Helvetica', 'Helvetica-Bold', 'Courier'];
    for (const [at, style] of (['body', 'bold', 'mono'] as const).entries())
      this.#pdf.registerFont(style, (this.#embeds ? files[at] : standard[at])!); // three of each
  }

  write(): Promise<Buffer> {
    const { title, subtitle, madeAt, blocks } = this.#document;
    this.#lines(title, { style: 'bold', size: 17 });
    this.#lines(subtitle, { color: GREY, size: 11 });
    this.#lines(madeAt, { color: GREY });
    this.#rule(INK, 1.2);
    for (const [at, block] of blocks.entries()) this.#block(block, blocks.slice(at + 1, at + 3));
    this.#footers();
    this.#pdf.end();
    return this.#done;
  }

  get #width(): number {
    return this.#pdf.page.width - 2 * MARGIN;
  }

  get #bottom(): number {
    return this.#pdf.page.height - MARGIN - FOOTER;
  }

  #block(block: Block, following: readonly Block[]): void {
    switch (block.kind) {
      case 'heading':
        this.#room(HEADING_HEIGHT + this.#heightOfStart(following));
        this.#y += 14;
        this.#lines(block.text, { style: 'bold', size: 12 });
        this.#y += 2;
        return;
      case 'paragraph':
        this.#lines(block.text, block.isNote === true ? NOTE : {});
        this.#y += PARAGRAPH_GAP;
        return;
      case 'code':
        this.#lines(block.text, { style: 'mono', size: 6.5 });
        this.#y += 6;
        return;
      case 'pairs':
        for (const [name, value] of block.rows)
          this.#row([name, value], [0.26, 0.74], [{ color: GREY, size: 8.5 }, { size: 8.5 }]);
        this.#y += 6;
        return;
      case 'table':
        this.#table(block);
    }
  }

  /** Of what keeps a heading company on its page: the note below it, if any, with the first rows or lines that follow. */
  #heightOfStart([first, second]: readonly Block[]): number {
    if (first?.kind !== 'paragraph' || first.isNote !== true || second === undefined || second.kind === 'heading')
      return TABLE_START_HEIGHT;
    return this.#wrap(first.text, this.#width, NOTE).length * leading(NOTE) + PARAGRAPH_GAP + TABLE_START_HEIGHT;
  }

  #table({ columns, rows, hasTotal }: Extract<Block, { readonly kind: 'table' }>): void {
    const looks = columns.map(({ isCode }): Look => (isCode === true ? { style: 'mono', size: 7.5 } : { size: 8.5 }));
    const shares = this.#shares(columns, rows, looks);
    const isRight = columns.map(({ isNumber }) => isNumber === true);
    const head = (): void =>
      this.#row(
        columns.map(({ title }) => title),
        shares,
        columns.map(() => ({ style: 'bold', size: 8.5 })),
        { rule: INK, isRight },
      );
    this.#room(TABLE_START_HEIGHT);
    head();
    for (const [at, row] of rows.entries()) {
      const isTotal = hasTotal === true && at === rows.length - 1;
      this.#row(row, shares, isTotal ? columns.map(() => ({ style: 'bold', size: 8.5 })) : looks, { isRight, head });
    }
    this.#y += 8;
  }

  /** Shares of the width: of what each column needs, and less of the widest ones where that is too much. */
  #shares(
    columns: readonly { readonly title: string }[],
    rows: readonly (readonly string[])[],
    looks: readonly Look[],
  ): number[] {
    const needed = columns.map(({ title }, at) => {
      const cells = rows.map((row) => this.#widthOf(this.#drawable(row[at] ?? '', looks[at] ?? {}), looks[at] ?? {}));
      return 5 * PADDING + 1 + Math.max(this.#widthOf(title, { style: 'bold', size: 8.5 }), ...cells);
    });
    // The cap under which all columns fit together.
    let cap = this.#width;
    const capped = (): number => needed.reduce((sum, one) => sum + Math.min(one, cap), 0);
    while (capped() > this.#width) cap -= 2;
    const sum = capped();
    return needed.map((one) => Math.min(one, cap) / sum);
  }

  #row(
    cells: readonly string[],
    shares: readonly number[],
    looks: readonly Look[],
    { rule = RULE, isRight = [], head }: { rule?: string; isRight?: readonly boolean[]; head?: () => void } = {},
  ): void {
    const laid = cells.map((cell, at) => {
      const look = looks[at] ?? {};
      return { look, lines: this.#wrap(cell, this.#width * (shares[at] ?? 0) - 2 * PADDING, look) };
    });
    const height = Math.max(...laid.map(({ lines, look }) => lines.length * leading(look)));
    if (this.#room(Math.min(height + 2 * PADDING, this.#bottom - MARGIN)) && head !== undefined) head();
    // A cell of more than a page continues on the next one.
    let left = Math.max(...laid.map(({ lines }) => lines.length));
    for (let from = 0; left > 0; ) {
      const fit = Math.max(1, Math.floor((this.#bottom - this.#y - 2 * PADDING) / leading({})));
      let x = MARGIN;
      for (const [at, { lines, look }] of laid.entries()) {
        const width = this.#width * (shares[at] ?? 0);
        for (const [row, line] of lines.slice(from, from + fit).entries()) {
          const shift =
            isRight[at] === true ? width - (at < laid.length - 1 ? 5 : 2) * PADDING - this.#widthOf(line, look) : 0;
          this.#draw(line, x + PADDING + shift, this.#y + PADDING + row * leading(look), look);
        }
        x += width;
      }
      const drawn = Math.max(
        ...laid.map(({ lines, look }) => Math.min(fit, Math.max(0, lines.length - from)) * leading(look)),
      );
      this.#y += drawn + 2 * PADDING;
      from += fit;
      left -= fit;
      if (left > 0) this.#newPage();
    }
    this.#line(this.#y, rule, 0.6);
  }

  #lines(text: string, look: Look): void {
    const lines = this.#wrap(text, this.#width, look);
    for (const [at, line] of lines.entries()) {
      // The last lines stay together: a page does not begin with a bracket alone.
      this.#room(leading(look) * (at === lines.length - LAST_LINES ? LAST_LINES : 1));
      this.#draw(line, MARGIN, this.#y, look);
      this.#y += leading(look);
    }
  }

  /** Lines that fit the width. Words that are too long are broken. */
  #wrap(text: string, width: number, look: Look): string[] {
    return this.#drawable(text, look)
      .split('\n')
      .flatMap((paragraph) => {
        const lines: string[] = [];
        let line = '';
        for (const word of paragraph.split(/(?<=[ \u200b])/)) {
          if (this.#pdf.widthOfString((line + word).trimEnd()) <= width) {
            line += word;
            continue;
          }
          if (line !== '') lines.push(line.trimEnd());
          line = '';
          for (const character of word) {
            if (line !== '' && this.#pdf.widthOfString(line + character) > width) {
              lines.push(line);
              line = '';
            }
            line += character;
          }
        }
        return [...lines, line.trimEnd()];
      });
  }

  /** The text with the code of each letter that the font does not have, such as `[U+4E2D]`. */
  #drawable(text: string, look: Look): string {
    this.#use(look);
    const { font } = this.#pdf._font;
    const has = (character: string): boolean =>
      character === '\n' ||
      (this.#embeds ? (font?.hasGlyphForCodePoint?.(character.codePointAt(0) ?? 0) ?? true) : STANDARD.test(character));
    return [...visible(text)]
      .map((character) =>
        has(character)
          ? character
          : `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
      )
      .join('');
  }

  #draw(line: string, x: number, y: number, look: Look): void {
    this.#use(look);
    let at = x;
    for (const piece of visualOrder(line)) {
      if (piece !== '') this.#pdf.text(piece, at, y, { lineBreak: false });
      at += this.#pdf.widthOfString(piece);
    }
  }

  #widthOf(line: string, look: Look): number {
    this.#use(look);
    return this.#pdf.widthOfString(line);
  }

  #use({ style = 'body', size = 9.5, color = INK }: Look): void {
    this.#pdf.font(style).fontSize(size).fillColor(color);
  }

  /** True if it began a new page. */
  #room(height: number): boolean {
    if (this.#y + height <= this.#bottom) return false;
    this.#newPage();
    return true;
  }

  #newPage(): void {
    this.#pdf.addPage();
    this.#y = MARGIN;
  }

  #rule(color: string, width: number): void {
    this.#y += 5;
    this.#line(this.#y, color, width);
    this.#y += 4;
  }

  #line(y: number, color: string, width: number): void {
    this.#pdf
      .lineWidth(width)
      .strokeColor(color)
      .moveTo(MARGIN, y)
      .lineTo(MARGIN + this.#width, y)
      .stroke();
  }

  #footers(): void {
    const { start, count } = this.#pdf.bufferedPageRange();
    const look: Look = { color: GREY, size: 8 };
    for (let page = 0; page < count; page++) {
      this.#pdf.switchToPage(start + page);
      const y = this.#pdf.page.height - MARGIN;
      this.#draw(this.#document.title, MARGIN, y, look);
      const text = this.#document.texts.page(page + 1, count);
      this.#draw(text, MARGIN + this.#width - this.#widthOf(text, look), y, look);
    }
  }
}

function leading({ size = 9.5 }: Look): number {
  return size * 1.4;
}
