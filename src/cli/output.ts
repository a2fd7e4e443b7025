// Output of commands: tables for people, one JSON value for programs.
import Table, { type TableConstructorOptions } from 'cli-table3';
import { stringifyJson } from '../engine/grain/api/json.ts';

/** Prints one JSON value on its own line. */
export function printJson(value: unknown): void {
  process.stdout.write(`${stringifyJson(value)}\n`);
}

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a warning or note to stderr, so that piped output stays clean. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
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

/** Prints rows under titles, without borders. */
export function printTable(columns: readonly Column[], rows: readonly (readonly (string | number)[])[]): void {
  printLine(tableText(columns, rows));
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
  for (const row of rows) table.push(row.map((cell) => (typeof cell === 'number' ? number(cell) : printable(cell))));
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
