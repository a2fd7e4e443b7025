// CSV: a line a row, with the names of its columns. Fields may be quoted and hold delimiters and line ends.
import { cleanText, type SectionWriter } from '../section-writer.ts';
import { looksLikeHeaders, TableRows } from './table-rows.ts';

const DELIMITERS = [',', ';', '\t', '|'] as const;
const LOOKED_AT_CHARS = 16_384;
const QUOTE = 0x22;
const LINE_END = 0x0a;

export function readCsv(source: string, out: SectionWriter): void {
  const text = cleanText(source);
  const table = new TableRows();
  let isFirst = true;
  let lines = '';
  for (const cells of rowsOf(text, delimiterOf(text))) {
    if (cells.length === 1 && cells[0] === '') continue;
    if (isFirst && looksLikeHeaders(cells)) {
      table.setHeaders(cells);
      out.heading(`${cells.join(' | ')}\n`);
    } else lines += `${table.lineOf(cells)}\n`;
    isFirst = false;
    // Fewer and longer pieces.
    if (lines.length < LOOKED_AT_CHARS) continue;
    out.write(lines);
    lines = '';
  }
  if (lines !== '') out.write(lines);
}

/** The delimiter that the first lines use most, outside of quotes. */
function delimiterOf(text: string): string {
  const head = text.slice(0, LOOKED_AT_CHARS).replace(/"[^"]*"/g, '');
  const count = (delimiter: string): number => head.split(delimiter).length;
  return [...DELIMITERS].sort((one, other) => count(other) - count(one))[0] ?? ',';
}

function* rowsOf(text: string, delimiter: string): Generator<string[]> {
  const separator = delimiter.charCodeAt(0);
  let cells: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end: number;
    if (text.charCodeAt(at) === QUOTE) {
      const quoted = quotedField(text, at);
      cells.push(quoted.value);
      end = quoted.end;
    } else {
      end = at;
      while (end < text.length && text.charCodeAt(end) !== separator && text.charCodeAt(end) !== LINE_END) end++;
      cells.push(text.slice(at, end));
    }
    // Text between a closing quote and the delimiter belongs to no field.
    while (end < text.length && text.charCodeAt(end) !== separator && text.charCodeAt(end) !== LINE_END) end++;
    at = end + 1;
    if (end < text.length && text.charCodeAt(end) === separator) {
      if (at >= text.length) cells.push('');
      continue;
    }
    yield cells;
    cells = [];
  }
  if (cells.length > 0) yield cells;
}

/** The field whose opening quote is at `at`, and the position behind its closing quote. */
function quotedField(text: string, at: number): { readonly value: string; readonly end: number } {
  let hasQuotes = false;
  let end = text.indexOf('"', at + 1);
  while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) {
    hasQuotes = true;
    end = text.indexOf('"', end + 2);
  }
  const to = end === -1 ? text.length : end;
  const value = text.slice(at + 1, to);
  return { value: hasQuotes ? value.replaceAll('""', '"') : value, end: to + 1 };
}
