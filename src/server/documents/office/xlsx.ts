// XLSX: a section a sheet, a line a row. Formulas give the values that the file holds for them; nothing is computed.
import { COLUMNS_MAX, looksLikeHeaders, TableRows } from '../formats/table-rows.ts';
import { type DocumentLimits, tooLarge } from '../limits.ts';
import { cleanText, SectionWriter } from '../section-writer.ts';
import { type Archive, damaged } from './archive.ts';
import { relationsOf, relationsPath } from './package.ts';
import { dateFormats, dateOf } from './xlsx-dates.ts';
import { attribute, readXml, type XmlAttributes, type XmlHandler, xmlSink } from './xml.ts';

interface Sheet {
  readonly name: string;
  readonly path: string;
}

interface Workbook {
  readonly sheets: readonly Sheet[];
  readonly strings: readonly string[];
  /** Cell styles that show dates. */
  readonly dates: ReadonlySet<number>;
  /** True when days count from 1904. */
  readonly from1904: boolean;
}

/** Returns the number of sheets. */
export function readXlsx(archive: Archive, main: string, out: SectionWriter, limits: DocumentLimits): number {
  const workbook = workbookOf(archive, main, limits);
  if (workbook.sheets.length > limits.pages) throw tooLarge(`has more than ${limits.pages} sheets`);
  const wanted = new Map(workbook.sheets.map((sheet) => [sheet.path, sheet]));
  // Sheets are in the file in any order, and are too large to keep.
  const read = new Map<string, SectionWriter>();
  const left = (): DocumentLimits => ({
    ...limits,
    textChars: [...read.values()].reduce((chars, sheet) => chars - sheet.chars, limits.textChars),
  });
  archive.each((name) => {
    const sheet = wanted.get(name);
    if (sheet === undefined) return undefined;
    const rows = new SectionWriter(left());
    read.set(name, rows);
    rows.begin({ headings: [sheet.name], sheet: sheet.name });
    return xmlSink(new SheetReader(rows, workbook), limits);
  });
  for (const { path } of workbook.sheets)
    for (const { text, ...place } of read.get(path)?.finish() ?? []) {
      out.begin(place);
      out.write(text);
    }
  return workbook.sheets.length;
}

function workbookOf(archive: Archive, main: string, limits: DocumentLimits): Workbook {
  const parts = archive.read(new Set([main, relationsPath(main)]));
  const book = parts.get(main);
  if (book === undefined) throw damaged();
  const relations = relationsOf(main, parts.get(relationsPath(main)), limits);
  const sheets: Sheet[] = [];
  let from1904 = false;
  const open = (name: string, attributes: XmlAttributes): void => {
    if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attribute(attributes, 'date1904') ?? '');
    if (name !== 'sheet') return;
    const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1];
    const path = relations.find((relation) => relation.id === id && relation.type === 'worksheet')?.target;
    if (path !== undefined) sheets.push({ name: cleanText(attribute(attributes, 'name') ?? ''), path });
  };
  readXml(book, { open, close: () => undefined }, limits);
  const pathOf = (type: string): string => relations.find((relation) => relation.type === type)?.target ?? '';
  const strings = new StringReader();
  archive.each((name) => (name === pathOf('sharedStrings') ? xmlSink(strings, limits) : undefined));
  const styles = archive.read(new Set([pathOf('styles')])).get(pathOf('styles'));
  return { sheets, strings: strings.found, dates: dateFormats(styles, limits), from1904 };
}

/** The texts that cells refer to by number. */
class StringReader implements XmlHandler {
  readonly found: string[] = [];
  #text = '';
  #isText = false;
  #isPhonetic = false;

  open(name: string): void {
    if (name === 'si') this.#text = '';
    else if (name === 'rPh') this.#isPhonetic = true;
    else if (name === 't') this.#isText = !this.#isPhonetic;
  }

  text(data: string): void {
    if (this.#isText) this.#text += data;
  }

  close(name: string): void {
    if (name === 't') this.#isText = false;
    else if (name === 'rPh') this.#isPhonetic = false;
    else if (name === 'si') this.found.push(cleanText(this.#text));
  }
}

class SheetReader implements XmlHandler {
  readonly #out: SectionWriter;
  readonly #book: Workbook;
  #rows = new TableRows();
  /** True while no row of the table has had several cells: titles stand above headers. */
  #isFirst = true;
  /** The columns of the headers: the first one and their number. */
  #span = '';
  #row = 0;
  /** True after an empty row. */
  #isApart = false;
  #cells: string[] = [];
  #column = 0;
  #type = '';
  #style = 0;
  #value = '';
  #isValue = false;

  constructor(out: SectionWriter, book: Workbook) {
    this.#out = out;
    this.#book = book;
  }

  open(name: string, attributes: XmlAttributes): void {
    if (name === 'row') {
      // Files leave empty rows out.
      const row = Number(attributes['r'] ?? this.#row + 1);
      if (row > this.#row + 1) this.#isApart = true;
      this.#row = row;
      this.#cells = [];
      this.#column = 0;
    } else if (name === 'c') {
      const at = columnOf(attributes['r']);
      if (at !== undefined) this.#column = at;
      this.#type = attributes['t'] ?? 'n';
      this.#style = Number(attributes['s'] ?? 0);
      this.#value = '';
    } else if (name === 'v' || name === 't') this.#isValue = true;
  }

  text(data: string): void {
    if (this.#isValue) this.#value += data;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false;
    else if (name === 'c') {
      while (this.#cells.length < this.#column && this.#cells.length < COLUMNS_MAX) this.#cells.push('');
      if (this.#column < COLUMNS_MAX) this.#cells[this.#column] = this.#shown();
      this.#column += 1;
    } else if (name === 'row') this.#endRow();
  }

  #shown(): string {
    const value = this.#value;
    switch (this.#type) {
      case 's':
        return this.#book.strings[Number(value)] ?? '';
      case 'b':
        return value === '1' ? 'true' : 'false';
      case 'e':
        return '';
      case 'n':
        return this.#book.dates.has(this.#style) ? dateOf(value, this.#book.from1904) : numberOf(value);
      default:
        return cleanText(value);
    }
  }

  #endRow(): void {
    const cells = this.#cells;
    this.#cells = [];
    const begin = cells.findIndex((cell) => cell.trim() !== '');
    if (begin === -1) {
      this.#isApart = true;
      return;
    }
    const end = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
    if (end - begin > 1 && (this.#isFirst || this.#isApart) && this.#isHeader(cells.slice(begin, end), begin)) {
      this.#rows = new TableRows();
      this.#rows.setHeaders(cells);
      this.#out.heading(`${cells.slice(begin, end).join(' | ')}\n`);
      return;
    }
    this.#out.write(`${this.#rows.lineOf(cells)}\n`);
  }

  /** Asked for the first row of a table and for one after an empty row. The same columns are the same table, with space in it. */
  #isHeader(filled: readonly string[], begin: number): boolean {
    const span = `${begin}-${filled.length}`;
    const mayBe = this.#isFirst || span !== this.#span;
    this.#isFirst = false;
    this.#isApart = false;
    if (!mayBe || !looksLikeHeaders(filled)) return false;
    this.#span = span;
    return true;
  }
}

/** The column of a reference such as `AB12`, from 0. */
function columnOf(reference: string | undefined): number | undefined {
  if (reference === undefined) return undefined;
  let column = 0;
  for (let at = 0; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
    if (column > COLUMNS_MAX) return COLUMNS_MAX;
  }
  return column === 0 ? undefined : column - 1;
}

/** A number as a person writes it: files hold 0.1 + 0.2 with seventeen digits. */
function numberOf(text: string): string {
  if (text.length < 15) return text;
  const value = Number(text);
  return Number.isFinite(value) ? String(Number(value.toPrecision(15))) : text;
}
