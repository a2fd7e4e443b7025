// A table of a page while it is read: cells become lines that name their columns. A cell over several columns or rows takes
// its places, so that the cells beside and below it keep the headers of their own columns.
import { COLUMNS_MAX, REPEATED_CHARS_MAX, SPAN_MAX, TableRows } from './table-rows.ts';

type Attributes = Readonly<Record<string, string | undefined>>;

/** A cell of an earlier row that reaches into further rows. */
interface Held {
  readonly text: string;
  rows: number;
}

export class HtmlTable {
  /** Of nested tables. */
  depth = 1;
  /** The line of the headers while no row has repeated them. */
  loneHeaders = '';
  readonly #rows = new TableRows();
  #cells: string[] = [];
  /** Column of the last cell; -1 before the first one. */
  #at = -1;
  /** Cells of this row that take more than one place. */
  #wide: { readonly at: number; readonly columns: number; readonly rows: number }[] = [];
  /** By column. */
  readonly #held = new Map<number, Held>();
  #areHeaders = true;
  #isOpen = false;

  row(): void {
    if (this.depth > 1) return;
    this.#begin();
    this.#areHeaders = true;
  }

  #begin(): void {
    this.#cells = [];
    if (this.#wide.length > 0) this.#wide = [];
    this.#at = -1;
  }

  /** A cell begins; `before` is the text of one that was not closed. */
  cell(name: string, attributes: Attributes, before: string): void {
    if (this.depth > 1) {
      this.#append(before);
      return;
    }
    this.endCell(before);
    if (name === 'td') this.#areHeaders = false;
    this.#isOpen = true;
    if (this.#held.size > 0) this.#takeHeld();
    this.#at = this.#cells.length;
    this.#cells.push('');
    const { colspan, rowspan } = attributes;
    if (colspan === undefined && rowspan === undefined) return;
    const columns = spanOf(colspan);
    const rows = spanOf(rowspan);
    for (let column = 1; column < columns && this.#cells.length < COLUMNS_MAX; column++) this.#cells.push('');
    if (columns > 1 || rows > 1) this.#wide.push({ at: this.#at, columns, rows });
  }

  /** Puts the cells of earlier rows that are next in this one. */
  #takeHeld(): void {
    for (let held = this.#held.get(this.#cells.length); held !== undefined; ) {
      const column = this.#cells.length;
      this.#cells.push(held.text);
      held.rows -= 1;
      if (held.rows === 0) this.#held.delete(column);
      held = this.#held.get(this.#cells.length);
    }
  }

  endCell(text: string): void {
    this.#append(text);
    if (this.depth === 1) this.#isOpen = false;
  }

  #append(text: string): void {
    if (!this.#isOpen && text.trim() === '') return;
    if (this.#at === -1) {
      this.#at = this.#cells.length;
      this.#cells.push(text);
    } else this.#cells[this.#at] += ` ${text}`;
  }

  /** The line of the row; '' for headers, which their rows repeat. */
  endRow(rest: string): string {
    this.#append(rest);
    this.#isOpen = false;
    if (this.#at === -1) return '';
    if (this.#held.size > 0) this.#takeHeld();
    const areHeaders = this.#areHeaders && this.#cells.length > 1;
    const cells = this.#cells;
    if (this.#wide.length > 0) this.#spread(areHeaders);
    this.#begin();
    if (areHeaders && !this.#rows.hasHeaders) {
      this.loneHeaders = this.#rows.lineOf(cells);
      this.#rows.setHeaders(cells);
      return '';
    }
    this.loneHeaders = '';
    return this.#rows.lineOf(cells);
  }

  /** A header stands above all of its columns; a value stands in the first one, in each of its rows. */
  #spread(areHeaders: boolean): void {
    for (const { at, columns, rows } of this.#wide) {
      const text = (this.#cells[at] ?? '').trim();
      const end = Math.min(at + columns, this.#cells.length);
      for (let column = at; column < end; column++) {
        if (areHeaders) this.#cells[column] = text;
        const isRepeated = (areHeaders || column === at) && text.length <= REPEATED_CHARS_MAX;
        if (rows > 1) this.#held.set(column, { text: isRepeated ? text : '', rows: rows - 1 });
      }
    }
  }
}

function spanOf(value: string | undefined): number {
  if (value === undefined) return 1;
  const span = Number.parseInt(value, 10);
  return span > 1 ? Math.min(span, SPAN_MAX) : 1;
}
