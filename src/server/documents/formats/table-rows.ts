// Rows of a table as lines. With a header row, each line names its columns (`Name: Ada; Age: 36`): a chunk that begins in
// the middle of a table still says what its values are, and a question finds the word of the header next to the value.

/** Characters of one header in a line; some tables have whole sentences there. */
const HEADER_CHARS_MAX = 80;

/** Longer values of cells over several rows are not repeated in each of them. */
export const REPEATED_CHARS_MAX = 80;
/** Columns or rows of one cell; a document may state any number. */
export const SPAN_MAX = 1_000;

/** Columns of a row that are kept, or that cells over several may fill: the widest sheet has as many. */
export const COLUMNS_MAX = 16_384;

export class TableRows {
  #headers: readonly string[] | undefined;

  get hasHeaders(): boolean {
    return this.#headers !== undefined;
  }

  setHeaders(cells: readonly string[]): void {
    this.#headers = cells.map((cell) => oneLine(cell).slice(0, HEADER_CHARS_MAX).toWellFormed());
  }

  /** The row's line, without a line end; '' for a row without values. */
  lineOf(cells: readonly string[]): string {
    const headers = this.#headers;
    const parts: string[] = [];
    for (const [at, cell] of cells.entries()) {
      const value = oneLine(cell);
      if (value === '') continue;
      const header = headers?.[at] ?? '';
      parts.push(header === '' || header === value ? value : `${header}: ${value}`);
    }
    return parts.join(headers === undefined ? ' | ' : '; ');
  }
}

function oneLine(text: string): string {
  return /[\s\u00a0]/.test(text) ? text.replace(/[\s\u00a0]+/g, ' ').trim() : text;
}

const NUMERIC = /^[\s\d.,:%€$£¥+()/-]*$/;

/** True when a first row looks like headers: every cell has words, and no two are the same. */
export function looksLikeHeaders(cells: readonly string[]): boolean {
  return (
    cells.length > 1 &&
    cells.every((cell) => cell.length <= HEADER_CHARS_MAX && !NUMERIC.test(cell)) &&
    new Set(cells).size === cells.length
  );
}
