// Parses the other statements that read: EXISTS, HISTORY, DESCRIBE, BATCH, COALESCE and set operations.
import { defined } from '../../base/defined.ts';
import {
  type Batch,
  type BatchStatement,
  type Coalesce,
  DESCRIBE_TARGETS,
  type Describe,
  type Exists,
  type History,
  type HistoryDiff,
  type HistoryOfPair,
  type Recall,
  SET_OPERATORS,
  type SetOperation,
  type Word,
} from '../ast.ts';
import type { Token } from '../lexer.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import { type Cursor, ENTRY_WORDS } from './cursor.ts';
import { parseInClause, parseRecall, unknownType } from './recall.ts';
import { parseStages } from './stages.ts';
import { parseReference, parseValue } from './values.ts';

export function parseExists(cursor: Cursor): Exists {
  const first = cursor.expectWord('exists');
  return { kind: 'exists', grain: parseReference(cursor), at: cursor.spanFrom(first) };
}

export function parseHistory(cursor: Cursor): History | HistoryDiff | HistoryOfPair {
  const first = cursor.expectWord('history');
  if (cursor.isWord('in') || cursor.isWord('where')) return parsePairHistory(cursor, first);
  const { kind } = cursor.token;
  if (kind !== 'hash' && kind !== 'parameter') cursor.fail(['a hash', 'a parameter', 'IN', 'WHERE']);
  const grain = parseReference(cursor);
  if (!cursor.takeWord('diff')) return { kind: 'history', grain, at: cursor.spanFrom(first) };
  const to = parseReference(cursor);
  return { kind: 'history_diff', from: grain, to, at: cursor.spanFrom(first) };
}

/** Parses HISTORY of a pair. The condition on the subject must come first. */
function parsePairHistory(cursor: Cursor, first: Token): HistoryOfPair {
  const namespace = cursor.takeWord('in') ? parseInClause(cursor) : undefined;
  cursor.expectWord('where');
  const subject = parseEquals(cursor, 'subject');
  cursor.expectWord('and');
  const relation = parseEquals(cursor, 'relation');
  const asOf = parseAsOf(cursor);
  return defined({ kind: 'history_of_pair', in: namespace, subject, relation, asOf, at: cursor.spanFrom(first) });
}

function parseAsOf(cursor: Cursor): string | undefined {
  if (!cursor.takeWord('as')) return undefined;
  cursor.expectWord('of');
  return cursor.expectString();
}

function parseEquals(cursor: Cursor, field: string): HistoryOfPair['subject'] {
  if (!cursor.isWord(field)) cursor.fail([field], 'HISTORY takes WHERE subject = … AND relation = …, in this order.');
  cursor.advance();
  cursor.expectSymbol('=');
  return parseValue(cursor);
}

const targets: ReadonlySet<string> = new Set(DESCRIBE_TARGETS);

export function parseDescribe(cursor: Cursor): Describe {
  const first = cursor.expectWord('describe');
  const { kind, lower } = cursor.token;
  if (kind !== 'word' || !targets.has(lower)) cursor.fail(DESCRIBE_TARGETS);
  cursor.advance();
  const target = lower as Describe['target']; // The set holds only targets.
  if (target !== 'fields' || cursor.token.kind !== 'word')
    return { kind: 'describe', target, at: cursor.spanFrom(first) };
  return { kind: 'describe', target, grainType: parseSingular(cursor), at: cursor.spanFrom(first) };
}

/** Parses the singular of a grain type. Throws E003 for any other word. */
export function parseSingular(cursor: Cursor): Word {
  const { kind, lower, start, end } = cursor.token;
  if (kind !== 'word') cursor.fail(['a grain type']);
  const at = { start, end };
  if (typeOfSingular(lower) === undefined) throw unknownType(lower, { plural: false, at });
  cursor.advance();
  return { word: lower, at };
}

export function parseBatch(cursor: Cursor): Batch {
  const first = cursor.expectWord('batch');
  cursor.isInBatch = true;
  const entries = cursor.bracketed('{', '}', () => cursor.parted(() => parseLabelled(cursor)));
  return { kind: 'batch', entries, at: cursor.spanFrom(first) };
}

function parseLabelled(cursor: Cursor): Batch['entries'][number] {
  const hint = 'Entries have labels: BATCH { known: RECALL beliefs, last: RECALL events RECENT 1 }.';
  const label = cursor.expectLabel(hint);
  cursor.expectSymbol(':', hint);
  return { label, statement: parseEntry(cursor) };
}

function parseEntry(cursor: Cursor): BatchStatement {
  switch (cursor.token.lower) {
    case 'recall':
      return parseRecall(cursor);
    case 'exists':
      return parseExists(cursor);
    case 'history':
      return parseHistory(cursor);
    case 'describe':
      return parseDescribe(cursor);
    case 'coalesce':
      return parseCoalesce(cursor);
    default:
      return cursor.fail(ENTRY_WORDS.map((word) => word.toUpperCase()));
  }
}

export function parseCoalesce(cursor: Cursor): Coalesce {
  const first = cursor.expectWord('coalesce');
  const branches = cursor.bracketed('(', ')', () => cursor.parted(() => parseRecall(cursor)));
  return { kind: 'coalesce', branches, at: cursor.spanFrom(first) };
}

const operators: ReadonlySet<string> = new Set(SET_OPERATORS);
const OPERATORS_EXPECTED = SET_OPERATORS.map((word) => word.toUpperCase());

/** Parses a set operation from its first parenthesis on. All operators of a chain are the same (D-12). */
export function parseSetOperation(cursor: Cursor): SetOperation {
  const first = cursor.token;
  const operands = [parseOperand(cursor)];
  const word = cursor.token;
  if (word.kind !== 'word' || !operators.has(word.lower)) cursor.fail(OPERATORS_EXPECTED);
  const operator = word.lower as SetOperation['operator']; // The set holds only operators.
  while (cursor.token.kind === 'word' && operators.has(cursor.token.lower)) {
    if (cursor.token.lower !== operator)
      cursor.fail(
        [operator.toUpperCase(), 'a stage'],
        `Put ${operator.toUpperCase()} and what it joins in parentheses.`,
      );
    cursor.advance();
    operands.push(parseOperand(cursor));
  }
  const stages = parseStages(cursor);
  return { kind: 'set_op', operator, operands, stages, at: cursor.spanFrom(first) };
}

function parseOperand(cursor: Cursor): Recall | SetOperation {
  return cursor.bracketed('(', ')', () => {
    if (cursor.isSymbol('(')) return parseSetOperation(cursor);
    if (!cursor.isWord('recall')) cursor.fail(['RECALL', '(']);
    return parseRecall(cursor);
  });
}
