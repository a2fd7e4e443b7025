// Output of commands: tables for people, one JSON value for programs.
import Table, { type TableConstructorOptions } from 'cli-table3';
import { stringifyJson } from '../engine/grain/api/json.ts';

/** Prints one JSON value on its own line. */
export function printJson(value: unknown): void {
  process.stdout.write(`${stringifyJson(value)}\n`);
}

/** Prints text, which may be that of others: none of it controls the terminal. */
export function printLine(text = ''): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints a warning or note to stderr, so that piped output stays clean. */
export function printNote(text: string): void {
  process.stderr.write(`${printable(text)}\n`);
}

const THIN = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right' | undefined;
  /** Maximum terminal columns; longer text is wrapped. */
  readonly width?: number | undefined;
}

/** Prints rows under titles, without borders: within the terminal, or into a pipe with one line for each row. */
export function printTable(columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): void {
  printLine(process.stdout.isTTY ? fittedText(columns, rows, terminalColumns()) : tableText(columns, rows));
}

/** Terminal columns between two columns of a table. */
const GAP = 2;
/** Terminal columns that a column of sentences keeps. */
const SENTENCE_MIN = 16;

/**
 * The table, with its columns of sentences wrapped where it is wider than the terminal. If its other columns alone are
 * too wide, each row is a block of names and values instead, so nothing is cut and ids can be copied.
 */
export function fittedText(
  columns: readonly Column[],
  rows: readonly (readonly (string | number)[])[],
  columnsMax: number,
): string {
  const table = tableText(columns, rows);
  if (widthOf(table) <= columnsMax || rows.length === 0) return table;
  const natural = columns.map(({ title, width }, at) =>
    Math.min(width ?? Number.MAX_SAFE_INTEGER, Math.max(title.length, ...rows.map((row) => widthOf(textOf(row[at]!))))),
  );
  const wraps = columns.map(({ title }, at) => natural[at]! > SENTENCE_MIN && isWrapped(title, rows, at));
  const sum = (taken: readonly number[]): number => taken.reduce((all, one) => all + one, 0);
  const fixed = sum(natural.filter((_, at) => !wraps[at])) + GAP * (columns.length - 1);
  const sentences = wraps.filter((wrap) => wrap).length;
  let left = columnsMax - fixed;
  if (sentences === 0 || left < sentences * SENTENCE_MIN) return blocks(columns, rows, columnsMax);
  // From the narrowest on: a column that needs less than its share leaves the rest to the others.
  const widths = [...natural];
  const inOrder = [...natural.keys()].filter((at) => wraps[at]).sort((one, other) => natural[one]! - natural[other]!);
  for (const [taken, at] of inOrder.entries()) {
    widths[at] = Math.min(natural[at]!, Math.floor(left / (sentences - taken)));
    left -= widths[at];
  }
  return tableText(
    columns.map((column, at) => ({ ...column, width: widths[at] })),
    rows,
  );
}

/** True for a column whose words all fit into the least width of a sentence. */
function isWrapped(title: string, rows: readonly (readonly (string | number)[])[], at: number): boolean {
  return [title, ...rows.map((row) => textOf(row[at]!))].every((text) =>
    text.split(/\s/).every((word) => word.length <= SENTENCE_MIN),
  );
}

function blocks(
  columns: readonly Column[],
  rows: readonly (readonly (string | number)[])[],
  columnsMax: number,
): string {
  const nameWidth = Math.max(...columns.map(({ title }) => title.length));
  const lines = rows.map((row) =>
    columns
      .map(({ title }, at) => [title, textOf(row[at]!)] as const)
      .filter(([, text]) => text !== '')
      .map(
        ([title, text]) =>
          `${title.padEnd(nameWidth)}  ${wrapped(text, columnsMax - nameWidth - GAP, nameWidth + GAP)}`,
      )
      .join('\n'),
  );
  return lines.join('\n\n');
}

/** Lines of whole words; those after the first are indented. */
function wrapped(text: string, width: number, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
}

function textOf(cell: string | number): string {
  return typeof cell === 'number' ? number(cell) : printable(cell);
}

function widthOf(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

export function tableText(columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = columns.map(({ width }) => width ?? null);
  const options: TableConstructorOptions = {
    head: columns.map(({ title }) => title),
    chars: THIN,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: columns.map(({ align }) => align ?? 'left'),
  };
  if (widths.some((width) => width !== null))
    Object.assign(options, { colWidths: widths, wordWrap: true, wrapOnWordBoundary: true });
  const table = new Table(options);
  for (const row of rows) table.push(row.map(textOf));
  return trimmed(table.toString());
}

/** Prints names and values, one pair per line. */
export function printPairs(pairs: readonly (readonly [name: string, value: string | number])[]): void {
  if (pairs.length === 0) return;
  for (const line of pairLines(pairs)) printLine(line);
}

/** Names may be field names from a grain, so they are made printable too. */
export function pairLines(pairs: readonly (readonly [name: string, value: string | number])[]): string[] {
  const names = pairs.map(([name]) => printable(name.replaceAll('\n', ' ')));
  const width = Math.max(...names.map((name) => name.length));
  return pairs.map(
    ([, value], i) => `${names[i]!.padEnd(width)}  ${typeof value === 'number' ? number(value) : printable(value)}`,
  );
}

function trimmed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

/**
 * Grain text for a terminal. Characters that control it (escape sequences, carriage returns, direction overrides)
 * become question marks, so stored text cannot change what the user sees.
 */
export function printable(text: string): string {
  return text.replace(/\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\n' ? character : character === '\t' ? ' ' : '?',
  );
}

/** One line of at most `width` characters. */
export function clipped(text: string, width: number): string {
  const line = printable(text.replace(/\s+/g, ' ').trim());
  const characters = [...line];
  return characters.length <= width ? line : `${characters.slice(0, width - 1).join('')}…`;
}

/** Groups digits by three: `1,234,567`. */
export function number(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en-US') : String(value);
}

/** A number with its noun: `1 grain`, `1,200 entries`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} bytes` : `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** `2024-03-15 10:20:30` in UTC. */
export function utc(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().slice(0, 19).replace('T', ' ');
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Draws `share` (0 to 1) as a bar of `width` characters, in eighths. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const rest = ' ▏▎▍▌▋▊▉'[eighths % 8]!;
  return `${'█'.repeat(Math.floor(eighths / 8))}${rest === ' ' ? '' : rest}`.padEnd(width);
}

/** Width of the terminal, or a readable default when the output is not a terminal. */
export function terminalColumns(): number {
  const { columns } = process.stdout;
  // Some pseudo-terminals report 0, or an absurdly large number.
  return columns === undefined || columns === 0 ? 110 : Math.min(240, Math.max(60, columns));
}
