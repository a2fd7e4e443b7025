// The interactive shell of `granary cal`. A query may span lines; it ends with a semicolon, or at the end of a line
// once all brackets are closed. Arrow keys recall earlier queries.
import { readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ask, type CalOptions } from './cal-ask.ts';
import { printResult } from './cal-result.ts';
import type { Connection } from './connection.ts';
import { Failure, failureOf } from './failure.ts';
import { printJson, printLine, printNote } from './output.ts';

const HISTORY_LINES_MAX = 500;
const PROMPT = 'cal> ';
const MORE = '...> ';

const HELP = `A query ends with ;, or at the end of a line once every bracket and string is closed.
  \\d          list the grain types
  \\d TYPE     list the fields of a type
  \\timing     turn query times on or off
  \\h          show this help
  \\q          quit`;

export interface ShellStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Reads and runs queries until end of input or `\q`. A rejected query does not end the shell. */
export async function runShell(connection: Connection, options: CalOptions, streams: ShellStreams): Promise<void> {
  const isPerson = 'isTTY' in streams.input && streams.input.isTTY === true;
  const history = isPerson ? readHistory() : [];
  const lines = createInterface({
    ...streams,
    terminal: isPerson,
    history,
    historySize: HISTORY_LINES_MAX,
    prompt: PROMPT,
  });
  lines.on('history', writeHistory);
  let pending = '';
  let isTiming = false;
  const prompt = (): void => {
    if (!isPerson) return;
    lines.setPrompt(pending === '' ? PROMPT : MORE);
    lines.prompt();
  };
  const run = async (query: string): Promise<void> => {
    try {
      const answer = await ask(connection, options.memory, query);
      for (const warning of answer.warnings) printNote(warning);
      if (options.json) printJson(answer.all);
      else printResult(answer.result);
      if (isTiming) printLine(`${answer.executionMs} ms`);
    } catch (error) {
      tell(error, query);
    }
  };
  // Ctrl-C discards the query being typed.
  lines.on('SIGINT', () => {
    if (pending === '' && lines.line === '') {
      lines.close();
      return;
    }
    pending = '';
    printLine();
    prompt();
  });
  prompt();
  for await (const line of lines) {
    const word = line.trim();
    if (pending === '' && word === '\\q') break;
    if (pending === '' && word.startsWith('\\')) {
      if (word === '\\timing') {
        isTiming = !isTiming;
        printLine(`timing is ${isTiming ? 'on' : 'off'}`);
      } else {
        const query = metaQuery(word);
        if (query === undefined) printLine(HELP);
        else await run(query);
      }
      prompt();
      continue;
    }
    pending = pending === '' ? line : `${pending}\n${line}`;
    if (isComplete(pending)) {
      const query = pending;
      pending = '';
      if (query.trim() !== '' && query.trim() !== ';') await run(query);
    }
    prompt();
  }
  if (pending.trim() !== '') await run(pending);
  lines.close();
}

function metaQuery(word: string): string | undefined {
  const [command, type] = word.split(/\s+/);
  if (command !== '\\d') return undefined;
  return type === undefined ? 'DESCRIBE grain_types' : `DESCRIBE fields ${type}`;
}

/**
 * True when the query is complete: it ends with a semicolon, or all strings and brackets are closed and the last word
 * needs no operand.
 */
export function isComplete(text: string): boolean {
  const { bare, isOpen } = withoutTexts(text);
  if (isOpen) return false;
  let depth = 0;
  for (const character of bare) {
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
  }
  if (depth > 0) return false;
  // A semicolon after a LET ends the binding, not the query.
  if (/^\s*let\b/i.test(lastStatement(bare))) return false;
  return !WANTS_MORE.test(bare.trimEnd());
}

/** The query with strings emptied and comments removed. `isOpen` is true when the text ends inside a string. */
function withoutTexts(text: string): { readonly bare: string; readonly isOpen: boolean } {
  let bare = '';
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (inString) {
      if (character === '\\' && (text[at + 1] === '"' || text[at + 1] === '\\')) at += 1;
      else if (character === '"') {
        inString = false;
        bare += character;
      }
      continue;
    }
    if (character === '-' && text[at + 1] === '-') {
      const end = text.indexOf('\n', at);
      if (end === -1) break;
      at = end - 1;
      continue;
    }
    if (character === '"') inString = true;
    bare += character;
  }
  return { bare, isOpen: inString };
}

/** Words and operators that cannot end a query. */
const WANTS_MORE =
  /(?:[,|=<>:]|\b(?:recall|where|and|with|from|for|by|in|is|include|exclude|between|about|like|since|thread|recent|limit|offset|order|group|select|budget|priority|format|as|union|intersect|except|set|reason|because|describe|explain|let))$/i;

function lastStatement(text: string): string {
  const parts = text.split(';').filter((part) => part.trim() !== '');
  return parts.at(-1) ?? '';
}

function tell(error: unknown, query: string): void {
  const { code, text } = failureOf(error);
  printNote(`${code}: ${text}`);
  if (!(error instanceof Failure)) return;
  const { position, suggestion, example } = error.more;
  const place = position as { readonly line?: number | undefined; readonly col?: number | undefined } | undefined; // The contract defines this shape.
  const line = place?.line === undefined ? undefined : query.split('\n')[place.line - 1];
  if (line !== undefined && place?.col !== undefined)
    printNote(`  ${line}\n  ${' '.repeat(Math.max(0, place.col - 1))}^`);
  if (typeof suggestion === 'string') printNote(suggestion);
  if (typeof example === 'string') printNote(`Try: ${example}`);
}

function historyPath(): string {
  return join(homedir(), '.granary_cal_history');
}

function readHistory(): string[] {
  try {
    return readFileSync(historyPath(), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}

/** Newest first, as readline keeps them. History is skipped when the home folder is not writable. */
function writeHistory(lines: readonly string[]): void {
  try {
    writeFileSync(historyPath(), lines.slice(0, HISTORY_LINES_MAX).join('\n'), { mode: 0o600 });
  } catch {
    // The history is a convenience: a failed write is ignored.
  }
}
