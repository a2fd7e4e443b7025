// HTML as a stream of tags: no tree is built, so a page of 50 MB costs little more than its text. Scripts, menus and
// hidden parts are left out; of a page that marks its main part, only that part is read.
import { Parser } from 'htmlparser2';
import { type DocumentLimits, tooLarge } from '../limits.ts';
import { cleanText, HeadingPath, SectionWriter } from '../section-writer.ts';
import { HtmlTable } from './html-table.ts';

/** Elements without text for a reader. */
const LEFT_OUT = new Set(
  'script style noscript template svg math head iframe object canvas nav footer aside form button select dialog menu'.split(
    ' ',
  ),
);
const LEFT_OUT_ROLES = new Set(
  'navigation banner contentinfo complementary search menu menubar dialog alertdialog'.split(' '),
);
/** Elements whose text is a paragraph of its own. */
const PARAGRAPHS = new Set('p ul ol dl table blockquote pre figure section article address details'.split(' '));
/** Elements that begin a line. */
const LINES = new Set(
  'div li dt dd tr caption summary figcaption main header hgroup body fieldset legend option thead tbody tfoot'.split(
    ' ',
  ),
);
const HEADING = /^h[1-6]$/;
/** Stands for `<br>` until the block ends: a line end of the source is a blank. */
const LINE_BREAK = '\u2028';
/** A marked main part with less text than this is not what the page is about. */
const MAIN_CHARS_MIN = 200;
const HIDDEN_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i;

type Attributes = Readonly<Record<string, string>>;

/** Reads a page into `out`. */
export function readHtml(source: string, out: SectionWriter, limits: DocumentLimits): void {
  const main = mainPartOf(source);
  if (main !== undefined) {
    const part = new SectionWriter(limits);
    readPart(source, part, { limits, main });
    if (part.chars >= MAIN_CHARS_MIN) {
      for (const { text, ...place } of part.finish()) {
        out.begin(place);
        out.write(text);
      }
      return;
    }
  }
  readPart(source, out, { limits, main: undefined });
}

/** The element that holds the page's content, if the page marks one. */
function mainPartOf(source: string): 'main' | 'article' | undefined {
  if (/<main[\s>]|\srole=["']?main/i.test(source)) return 'main';
  const first = source.search(/<article[\s>]/i);
  if (first === -1) return undefined;
  // Several articles are a list of teasers, or comments.
  return /<article[\s>]/i.test(source.slice(first + 8)) ? undefined : 'article';
}

interface Reading {
  readonly limits: DocumentLimits;
  readonly main: 'main' | 'article' | undefined;
}

function readPart(source: string, out: SectionWriter, reading: Reading): void {
  const text = new PageText(out, reading);
  const parser = new Parser(
    {
      onopentag: (name, attributes) => text.open(name, attributes),
      ontext: (data) => text.text(data),
      onclosetag: (name) => text.close(name),
    },
    { decodeEntities: true },
  );
  parser.write(source);
  parser.end();
  text.end();
}

/** Follows the tags of one page and writes its text. */
class PageText {
  readonly #out: SectionWriter;
  readonly #limits: DocumentLimits;
  readonly #main: Reading['main'];
  readonly #path = new HeadingPath();
  #depth = 0;
  /** Depth of the element that is left out as a whole; 0: none. */
  #leftOutAt = 0;
  /** Depth of the main part; 0: not in it. */
  #mainAt = 0;
  #block = '';
  #isPre = 0;
  #title = '';
  #inTitle = false;
  /** The headings above those of the page; undefined until there is text. */
  #root: readonly string[] | undefined;
  /** The table that is read row by row; tables inside its cells are text. */
  #table: HtmlTable | undefined;

  constructor(out: SectionWriter, { limits, main }: Reading) {
    this.#out = out;
    this.#limits = limits;
    this.#main = main;
  }

  open(name: string, attributes: Attributes): void {
    this.#depth += 1;
    if (this.#depth > this.#limits.depth) throw tooLarge(`nests elements deeper than ${this.#limits.depth}`);
    if (name === 'title') this.#inTitle = this.#title === '';
    if (this.#leftOutAt !== 0) return;
    if (this.#main !== undefined && this.#mainAt === 0 && isMain(name, attributes, this.#main)) {
      this.#mainAt = this.#depth;
      return;
    }
    if (isLeftOut(name, attributes, this.#mainAt !== 0)) this.#leftOutAt = this.#depth;
    else if (!this.#isOutside) this.#begin(name, attributes);
  }

  get #isOutside(): boolean {
    return this.#main !== undefined && this.#mainAt === 0;
  }

  #begin(name: string, attributes: Attributes): void {
    if (name === 'br') this.#block += LINE_BREAK;
    else if (name === 'img') this.#image(attributes['alt']);
    else if (name === 'td' || name === 'th') this.#table?.cell(name, attributes, this.#takeBlock());
    else if (HEADING.test(name)) {
      this.#table = undefined;
      this.#flush();
    } else if (this.#table !== undefined) {
      if (name === 'tr') this.#table.row();
      else if (PARAGRAPHS.has(name) || LINES.has(name)) this.#block += ' ';
      if (name === 'table') this.#table.depth += 1;
    } else if (PARAGRAPHS.has(name) || LINES.has(name)) {
      this.#flush();
      if (name === 'li') this.#block = '- ';
      else if (name === 'pre') this.#isPre += 1;
      else if (name === 'table') this.#table = new HtmlTable();
    }
  }

  #image(alt: string | undefined): void {
    if (alt !== undefined && alt.trim() !== '') this.#block += ` ${alt} `;
  }

  text(data: string): void {
    if (this.#inTitle) this.#title += data;
    else if (this.#leftOutAt === 0 && !this.#isOutside) this.#block += data;
  }

  close(name: string): void {
    this.#depth -= 1;
    if (name === 'title') this.#inTitle = false;
    if (this.#leftOutAt !== 0) {
      if (this.#depth < this.#leftOutAt) this.#leftOutAt = 0;
      return;
    }
    if (this.#isOutside) return;
    if (this.#mainAt !== 0 && this.#depth < this.#mainAt) {
      this.#flush();
      this.#mainAt = 0;
      return;
    }
    this.#finish(name);
  }

  #finish(name: string): void {
    if (HEADING.test(name)) this.#heading(Number(name[1]));
    else if (this.#table !== undefined) this.#finishInTable(this.#table, name);
    else if (PARAGRAPHS.has(name)) {
      this.#flush();
      if (name === 'pre') this.#isPre = Math.max(0, this.#isPre - 1);
      this.#out.write('\n');
    } else if (LINES.has(name)) this.#flush();
  }

  #finishInTable(table: HtmlTable, name: string): void {
    if (name === 'td' || name === 'th') table.endCell(this.#takeBlock());
    else if (name === 'tr' || name === 'table') {
      if (table.depth === 1) this.#line(table.endRow(this.#takeBlock()));
    } else if (name === 'caption') this.#flush();
    if (name !== 'table') return;
    table.depth -= 1;
    if (table.depth > 0) return;
    this.#line(table.loneHeaders);
    this.#table = undefined;
    this.#out.write('\n');
  }

  #line(text: string): void {
    if (text === '') return;
    this.#beginAt(text);
    this.#out.write(`${cleanText(text)}\n`);
  }

  #heading(level: number): void {
    const text = collapsed(cleanText(this.#takeBlock()));
    if (text === '') return;
    this.#beginAt(text);
    this.#out.begin({ headings: [...(this.#root ?? []), ...this.#path.enter(level, text)] });
    this.#out.heading(`${text}\n\n`);
  }

  /** The page's title is above all headings, unless the first of them says the same. */
  #beginAt(first: string): void {
    if (this.#root !== undefined) return;
    const title = collapsed(cleanText(this.#title));
    const isRepeated = title === '' || title.includes(first) || first.includes(title);
    this.#root = isRepeated ? [] : [title];
    this.#out.begin({ headings: this.#root });
    if (!isRepeated) this.#out.heading(`${title}\n\n`);
  }

  #takeBlock(): string {
    const block = this.#block;
    this.#block = '';
    return block;
  }

  #flush(): void {
    const block = this.#takeBlock();
    if (block === '') return;
    const text = this.#isPre > 0 ? block.replace(/^\n/, '').trimEnd() : collapsedLines(block);
    if (text === '' || text === '-') return;
    this.#line(text);
  }

  end(): void {
    this.#flush();
  }
}

function isMain(name: string, attributes: Attributes, main: 'main' | 'article'): boolean {
  return name === main || (main === 'main' && attributes['role'] === 'main');
}

function isLeftOut(name: string, attributes: Attributes, isInMain: boolean): boolean {
  if (LEFT_OUT.has(name)) return true;
  // The header of a page is its banner; that of an article has its title.
  if (name === 'header') return false;
  const { role, hidden, style } = attributes;
  if (role !== undefined && LEFT_OUT_ROLES.has(role) && !(isInMain && role === 'banner')) return true;
  if (hidden !== undefined || attributes['aria-hidden'] === 'true') return true;
  return style !== undefined && HIDDEN_STYLE.test(style);
}

/** Runs of blanks, except for a single space, which stays: most runs are one. */
function collapsed(text: string): string {
  return text.replace(/[^\S ]\s*| \s+/g, ' ').trim();
}

/** One line for each line that the page breaks. */
function collapsedLines(text: string): string {
  const line = text.replace(/[\t\r\n\f\u00a0][ \t\r\n\f\u00a0]*| [ \t\r\n\f\u00a0]+/g, ' ').trim();
  return line.includes(LINE_BREAK) ? line.replace(/(?: ?\u2028 ?)+/g, '\n').trim() : line;
}
