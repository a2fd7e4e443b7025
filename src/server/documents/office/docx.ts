// DOCX: paragraphs with the headings that their styles make, tables as lines, footnotes at the end. Deleted text,
// headers, footers and comments are left out.
import { COLUMNS_MAX, looksLikeHeaders, REPEATED_CHARS_MAX, SPAN_MAX, TableRows } from '../formats/table-rows.ts';
import type { DocumentLimits } from '../limits.ts';
import { cleanText, HeadingPath, type SectionWriter } from '../section-writer.ts';
import { type Archive, damaged } from './archive.ts';
import { headingStyles, outlineLevel } from './docx-styles.ts';
import { relationsOf, relationsPath } from './package.ts';
import { attribute, type XmlAttributes, type XmlHandler, xmlSink } from './xml.ts';

/** Elements whose text is not part of the document as it reads now. */
const LEFT_OUT = new Set(['del', 'moveFrom', 'Fallback', 'instrText', 'delText']);

export function readDocx(archive: Archive, main: string, out: SectionWriter, limits: DocumentLimits): void {
  const relations = relationsOf(main, archive.read(new Set([relationsPath(main)])).get(relationsPath(main)), limits);
  const pathOf = (type: string): string | undefined => relations.find((relation) => relation.type === type)?.target;
  const styles = pathOf('styles') ?? 'word/styles.xml';
  const levels = headingStyles(archive.read(new Set([styles])).get(styles), limits);
  const body = new Body(out, levels);
  let isFound = false;
  archive.each((name) => {
    if (name !== main) return undefined;
    isFound = true;
    return xmlSink(body, limits);
  });
  if (!isFound) throw damaged();
  readNotes(archive, [pathOf('footnotes'), pathOf('endnotes')], out, limits);
}

function readNotes(
  archive: Archive,
  paths: readonly (string | undefined)[],
  out: SectionWriter,
  limits: DocumentLimits,
): void {
  const notes = archive.read(new Set(paths.filter((path) => path !== undefined)));
  for (const path of paths) {
    const bytes = path === undefined ? undefined : notes.get(path);
    if (bytes === undefined) continue;
    out.begin({ headings: ['Notes'] });
    xmlSink(new Body(out, new Map()), limits)(bytes, true);
  }
}

/** A paragraph that is being read. Text boxes hold paragraphs within paragraphs. */
interface Paragraph {
  text: string;
  level: number | undefined;
}

class Body implements XmlHandler {
  readonly #out: SectionWriter;
  readonly #levels: ReadonlyMap<string, number>;
  readonly #path = new HeadingPath();
  readonly #paragraphs: Paragraph[] = [];
  #isText = false;
  /** Number of open elements that are left out. */
  #leftOut = 0;
  /** The outermost table; text of tables within is text of its cells. */
  #table: DocxTable | undefined;

  constructor(out: SectionWriter, levels: ReadonlyMap<string, number>) {
    this.#out = out;
    this.#levels = levels;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (LEFT_OUT.has(name)) this.#leftOut += 1;
    if (this.#leftOut > 0) return;
    switch (name) {
      case 'p':
        this.#paragraphs.push({ text: '', level: undefined });
        break;
      case 't':
        this.#isText = true;
        break;
      case 'tab':
        this.#add('\t');
        break;
      case 'br':
      case 'cr':
        this.#add('\n');
        break;
      case 'noBreakHyphen':
        this.#add('-');
        break;
      case 'pStyle':
        this.#setLevel(this.#levels.get(attribute(attributes, 'val') ?? ''));
        break;
      case 'outlineLvl':
        this.#setLevel(outlineLevel(attributes));
        break;
      case 'tbl':
        if (this.#table === undefined) this.#table = new DocxTable();
        else this.#table.depth += 1;
        break;
      case 'tr':
        this.#table?.row();
        break;
      case 'gridSpan':
        this.#table?.spans(Number(attribute(attributes, 'val')));
        break;
      case 'vMerge':
        if (attribute(attributes, 'val') !== 'restart') this.#table?.continues();
        break;
      default:
    }
  }

  #setLevel(level: number | undefined): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined && level !== undefined) paragraph.level = level;
  }

  #add(text: string): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph !== undefined) paragraph.text += text;
  }

  text(data: string): void {
    if (this.#isText && this.#leftOut === 0) this.#add(data);
  }

  close(name: string): void {
    if (LEFT_OUT.has(name)) this.#leftOut -= 1;
    else if (this.#leftOut > 0) return;
    if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (this.#table !== undefined) this.#closeInTable(this.#table, name);
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    const text = cleanText(paragraph?.text ?? '').trimEnd();
    if (paragraph === undefined || text.trim() === '') return;
    if (this.#table !== undefined) this.#table.add(text);
    else if (paragraph.level !== undefined) {
      this.#out.begin({ headings: this.#path.enter(paragraph.level, text) });
      this.#out.heading(`${text}\n\n`);
    } else this.#out.write(`${text}\n\n`);
  }

  #closeInTable(table: DocxTable, name: string): void {
    if (name === 'tc') table.endCell();
    else if (name === 'tr' && table.depth === 1) this.#lines(table.endRow());
    else if (name === 'tbl') {
      table.depth -= 1;
      if (table.depth > 0) return;
      this.#lines(table.end());
      this.#out.write('\n');
      this.#table = undefined;
    }
  }

  #lines(lines: readonly string[]): void {
    for (const line of lines) if (line !== '') this.#out.write(`${line}\n`);
  }
}

class DocxTable {
  /** Of nested tables. */
  depth = 1;
  readonly #rows = new TableRows();
  #cells: string[] = [];
  /** Of the row before. */
  #above: readonly string[] = [];
  #cell = '';
  #columns = 1;
  #isContinued = false;
  /** The first row, until it is known whether rows follow it. */
  #first: readonly string[] | undefined;
  #isBegun = false;

  row(): void {
    if (this.depth === 1) this.#cells = [];
  }

  add(text: string): void {
    this.#cell += this.#cell === '' ? text : ` ${text}`;
  }

  /** The cell takes so many columns. */
  spans(columns: number): void {
    if (this.depth === 1 && columns > 1) this.#columns = Math.min(columns, SPAN_MAX);
  }

  /** The cell is part of the one above. */
  continues(): void {
    if (this.depth === 1) this.#isContinued = true;
  }

  endCell(): void {
    if (this.depth > 1) return;
    const above = this.#isContinued && this.#cell === '' ? (this.#above[this.#cells.length] ?? '') : '';
    this.#cells.push(above.length > 0 && above.length <= REPEATED_CHARS_MAX ? above : this.#cell);
    for (let column = 1; column < this.#columns && this.#cells.length < COLUMNS_MAX; column++) this.#cells.push('');
    this.#cell = '';
    this.#columns = 1;
    this.#isContinued = false;
  }

  endRow(): string[] {
    const cells = this.#cells;
    this.#cells = [];
    this.#above = cells;
    if (!this.#isBegun) {
      this.#isBegun = true;
      this.#first = cells;
      return [];
    }
    const first = this.#first;
    this.#first = undefined;
    if (first === undefined) return [this.#rows.lineOf(cells)];
    if (!looksLikeHeaders(first)) return [this.#rows.lineOf(first), this.#rows.lineOf(cells)];
    this.#rows.setHeaders(first);
    return [this.#rows.lineOf(cells)];
  }

  /** The line of a table's only row. */
  end(): string[] {
    return this.#first === undefined ? [] : [this.#rows.lineOf(this.#first)];
  }
}
