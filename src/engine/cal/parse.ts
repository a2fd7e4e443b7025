// Parses the text form: tokens to a tree. Recursive descent. The nesting of brackets is bounded, so no text overflows
// the stack.
import type { Explain, LetBinding, Query, Statement } from './ast.ts';
import { CalError } from './errors.ts';
import { lex } from './lexer.ts';
import { parseAssemble } from './parser/assemble.ts';
import { Cursor } from './parser/cursor.ts';
import { takeExtractor } from './parser/extract.ts';
import {
  parseBatch,
  parseCoalesce,
  parseDescribe,
  parseExists,
  parseHistory,
  parseSetOperation,
} from './parser/reads.ts';
import { failAfterRecall, parseRecall } from './parser/recall.ts';
import { parseAdd, parseDefineTemplate, parseRevert, parseSupersede } from './parser/writes.ts';
import { Extensions } from './vocabulary/extensions.ts';

const STATEMENTS: Readonly<Record<string, (cursor: Cursor) => Statement>> = {
  recall: parseRecall,
  assemble: parseAssemble,
  exists: parseExists,
  history: parseHistory,
  explain: parseExplain,
  describe: parseDescribe,
  batch: parseBatch,
  coalesce: parseCoalesce,
  define: parseDefineTemplate,
  add: parseAdd,
  supersede: parseSupersede,
  revert: parseRevert,
};
/** The words that start a statement; a set operation starts with a parenthesis. */
export const STATEMENT_WORDS_READ: readonly string[] = Object.keys(STATEMENTS);
const STATEMENTS_EXPECTED = [...STATEMENT_WORDS_READ.map((word) => word.toUpperCase()), '('];

const EXPLAINABLE = ['recall', 'assemble', 'batch', 'coalesce', 'add', 'supersede', 'revert'] as const;
const explainable: ReadonlySet<string> = new Set(EXPLAINABLE);

export interface Parsed {
  readonly query: Query;
  /** Number of token reads: a measure of the parser's work that needs no clock. */
  readonly looks: number;
}

/**
 * Reads a query in its text form. Does not check fields and values.
 * Throws `CalError`: the errors of `lex`, then E002, E003, E007, E018, E095 or E100 at the first wrong token.
 */
export function parseText(source: string, extensions = new Extensions()): Parsed {
  const cursor = new Cursor(lex(source), extensions);
  const query = parseQuery(cursor);
  return { query, looks: cursor.looks };
}

function parseQuery(cursor: Cursor): Query {
  const first = cursor.token;
  parseVersion(cursor);
  const lets: LetBinding[] = [];
  while (cursor.isWord('let')) lets.push(parseLet(cursor));
  const statement = parseStatement(cursor);
  const at = cursor.spanFrom(first);
  cursor.takeSymbol(';');
  if (cursor.token.kind !== 'end') failAtEnd(cursor, statement);
  return { lets, statement, at };
}

function parseVersion(cursor: Cursor): void {
  if (!cursor.takeWord('cal')) return;
  cursor.expectSymbol('/');
  const { kind, text, start, end } = cursor.token;
  if (kind !== 'number') cursor.fail(['1']);
  if (text !== '1')
    throw new CalError('CAL-E100', `CAL/${text.slice(0, 40)} is not supported`, {
      at: { start, end },
      validValues: ['1'],
    });
  cursor.advance();
}

function parseLet(cursor: Cursor): LetBinding {
  const first = cursor.expectWord('let');
  if (cursor.token.kind !== 'parameter') cursor.fail(['a parameter'], 'Write LET $name = RECALL …;');
  const name = cursor.advance().text;
  cursor.expectSymbol('=');
  const bound = takeExtractor(parseRecall(cursor));
  const at = cursor.spanFrom(first);
  if (!cursor.takeSymbol(';')) failAfterRecall(cursor, [';']);
  return { name, ...bound, at };
}

function parseStatement(cursor: Cursor): Statement {
  if (cursor.isSymbol('(')) return parseSetOperation(cursor);
  const { kind, lower } = cursor.token;
  if (kind !== 'word' || !Object.hasOwn(STATEMENTS, lower)) return cursor.fail(STATEMENTS_EXPECTED);
  return STATEMENTS[lower]!(cursor);
}

function parseExplain(cursor: Cursor): Explain {
  const first = cursor.expectWord('explain');
  const { kind, lower } = cursor.token;
  if (!cursor.isSymbol('(') && (kind !== 'word' || !explainable.has(lower)))
    cursor.fail([...EXPLAINABLE.map((word) => word.toUpperCase()), '('], explainHint(lower));
  const statement = parseStatement(cursor) as Explain['statement']; // One of the words above started it.
  return { kind: 'explain', statement, at: cursor.spanFrom(first) };
}

function explainHint(word: string): string | undefined {
  return Object.hasOwn(STATEMENTS, word) ? `${word.toUpperCase()} has no plan to explain.` : undefined;
}

function failAtEnd(cursor: Cursor, statement: Statement): never {
  const { kind, lower } = cursor.token;
  if (kind === 'word' && Object.hasOwn(STATEMENTS, lower))
    return cursor.fail(['the end of the query'], 'A query has one statement. Send several with BATCH.');
  if (statement.kind === 'recall') return failAfterRecall(cursor, [';', 'the end of the query']);
  return cursor.fail([';', 'the end of the query']);
}
