// Parses WHERE: conditions and how they are joined. The validator checks fields, operators and values.

import { COMPARATORS, type Comparator } from '../../calls/cal.ts';
import {
  CATEGORIES,
  type Category,
  type Condition,
  type FieldCondition,
  joinedBy,
  type Recall,
  type Value,
  type Word,
  whereOf,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Cursor } from './cursor.ts';
import { takeExtractor } from './extract.ts';
import { parseArray, parseField, parseValue } from './values.ts';

const comparators: ReadonlySet<string> = new Set(COMPARATORS);
const categories: ReadonlySet<string> = new Set(CATEGORIES);
const OPERATORS = [...COMPARATORS, 'IN', 'BETWEEN', 'INCLUDE', 'EXCLUDE', 'IS'];

/** Maximum nesting of NOT and parentheses. */
const DEPTH_MAX = 16;

type ReadRecall = (cursor: Cursor) => Recall;

/** Parses the conditions after WHERE: NOT binds tightest, then AND, then OR. `parseRecall` reads a subquery. */
export function parseConditions(cursor: Cursor, parseRecall: ReadRecall): readonly Condition[] {
  return whereOf(parseAlternatives(cursor, parseRecall, 0));
}

function parseAlternatives(cursor: Cursor, parseRecall: ReadRecall, depth: number): Condition {
  const first = cursor.token;
  const conditions = [parseAll(cursor, parseRecall, depth)];
  while (cursor.isWord('or')) {
    noteBoolean(cursor);
    cursor.advance();
    conditions.push(parseAll(cursor, parseRecall, depth));
  }
  return joinedBy('or', conditions, cursor.spanFrom(first));
}

function parseAll(cursor: Cursor, parseRecall: ReadRecall, depth: number): Condition {
  const first = cursor.token;
  const conditions = [parseOne(cursor, parseRecall, depth)];
  while (cursor.takeWord('and')) conditions.push(parseOne(cursor, parseRecall, depth));
  return joinedBy('and', conditions, cursor.spanFrom(first));
}

function parseOne(cursor: Cursor, parseRecall: ReadRecall, depth: number): Condition {
  const first = cursor.token;
  const isNot = cursor.isWord('not');
  if (!isNot && !cursor.isSymbol('(')) return parseCondition(cursor, parseRecall);
  if (depth >= DEPTH_MAX)
    throw new CalError('CAL-E007', `conditions are nested more than ${DEPTH_MAX} deep`, {
      at: { start: first.start, end: first.end },
    });
  noteBoolean(cursor);
  cursor.advance();
  if (isNot) {
    const of = parseOne(cursor, parseRecall, depth + 1);
    return { op: 'not', of, at: cursor.spanFrom(first) };
  }
  if (cursor.isWord('recall')) cursor.fail(['a field'], 'A subquery follows IN: subject IN (RECALL … | SUBJECTS).');
  const inner = parseAlternatives(cursor, parseRecall, depth + 1);
  cursor.expectSymbol(')');
  return inner;
}

function noteBoolean(cursor: Cursor): void {
  const { start, end } = cursor.token;
  cursor.extensions.use('boolean', { start, end });
}

function parseCondition(cursor: Cursor, parseRecall: ReadRecall): FieldCondition {
  const first = cursor.token;
  const field = parseField(cursor);
  const { kind, text, lower } = cursor.token;
  if (kind === 'symbol' && comparators.has(text)) {
    cursor.advance();
    failSecondSymbol(cursor, text);
    // The set above holds only comparators.
    const op = text as Comparator;
    return { field, op, value: parseValue(cursor), at: cursor.spanFrom(first) };
  }
  if (kind === 'word') {
    switch (lower) {
      case 'in':
        cursor.advance();
        return { ...parseIn(cursor, field, 'in', parseRecall), at: cursor.spanFrom(first) };
      case 'not':
        if (!cursor.isWord('in', 1)) return cursor.fail(OPERATORS, operatorHint(cursor, field));
        cursor.advance();
        cursor.advance();
        return { ...parseIn(cursor, field, 'not_in', parseRecall), at: cursor.spanFrom(first) };
      case 'between': {
        cursor.advance();
        const low = parseValue(cursor);
        cursor.expectWord('and');
        return { field, op: 'between', value: [low, parseValue(cursor)], at: cursor.spanFrom(first) };
      }
      case 'include':
      case 'exclude': {
        cursor.advance();
        const values = parseItems(cursor, lower);
        return { field, op: lower, values, at: cursor.spanFrom(first) };
      }
      case 'is':
        cursor.advance();
        return { field, op: 'is', category: parseCategory(cursor, field), at: cursor.spanFrom(first) };
    }
  }
  return cursor.fail(OPERATORS, operatorHint(cursor, field));
}

/** Refuses `==`, `=>` and `<>`, which are operators in other languages, and suggests CAL's operator. */
function failSecondSymbol(cursor: Cursor, first: string): void {
  const { kind, text } = cursor.token;
  if (kind !== 'symbol' || !comparators.has(text)) return;
  const meant = first === '<' && text === '>' ? '!=' : first === text ? first : `${text}${first}`;
  cursor.fail(['a value'], comparators.has(meant) ? `Write ${meant}.` : undefined);
}

function parseIn(cursor: Cursor, field: Word, op: 'in' | 'not_in', parseRecall: ReadRecall): FieldCondition {
  const { kind, start, end } = cursor.token;
  if (kind === 'parameter') {
    cursor.extensions.use('in_parameter', { start, end });
    return { field, op, values: [parseValue(cursor)] };
  }
  if (cursor.isSymbol('[')) cursor.fail(['('], `Write ${field.word} IN ("a", "b"), with parentheses.`);
  return cursor.bracketed('(', ')', (): FieldCondition => {
    if (!cursor.isWord('recall')) return { field, op, values: cursor.list(() => parseValue(cursor)) };
    const { recall, extract } = takeExtractor(parseRecall(cursor));
    if (extract === undefined)
      return cursor.fail(
        ['SUBJECTS', 'OBJECTS', 'HASHES'],
        'A subquery ends with its extractor: (RECALL … | SUBJECTS).',
      );
    return { field, op, recall, extract };
  });
}

function parseCategory(cursor: Cursor, { word: field }: Word): Category {
  const { kind, lower } = cursor.token;
  const expected = CATEGORIES.map((category) => category.toUpperCase());
  if (kind !== 'word' || !categories.has(lower)) cursor.fail(expected, categoryHint(cursor, field));
  cursor.advance();
  return lower as Category; // The set holds only categories.
}

function categoryHint(cursor: Cursor, field: string): string | undefined {
  const { lower } = cursor.token;
  const isNot = lower === 'not';
  if (lower === 'null' || (isNot && cursor.isWord('null', 1)))
    return isNot
      ? `A condition on ${field} keeps only grains that have it, so IS NOT NULL is not needed: ${field} != "" keeps them.`
      : `Grains without ${field} pass NOT ${field} != "".`;
  if (isNot) return `Write NOT ${field} IS PREFERENCE.`;
  return lower === 'true' || lower === 'false' ? `Write ${field} = ${lower}.` : undefined;
}

/** The values of INCLUDE and EXCLUDE. Throws E020 for a single value without brackets. */
function parseItems(cursor: Cursor, operator: string): readonly Value[] {
  if (cursor.isSymbol('[')) return parseArray(cursor);
  const value = parseValue(cursor);
  throw new CalError('CAL-E020', `${operator.toUpperCase()} takes an array`, { at: value.at, example: '["a", "b"]' });
}

function operatorHint(cursor: Cursor, { word: field }: Word): string | undefined {
  const { kind, text, lower } = cursor.token;
  if (lower === 'not') {
    const next = cursor.ahead(1).lower;
    if (next === 'like' || next === 'contains')
      return `Texts are searched, not matched: LIKE "words". Exclude values with ${field} != "…".`;
    return `Write ${field} NOT IN ("a", "b"), or NOT ${field} = "a".`;
  }
  if (['contains', 'starts', 'ends', 'like', 'ilike', 'matches', 'match'].includes(lower))
    return field === 'tags'
      ? 'Write tags INCLUDE ["a"].'
      : 'Texts are searched by words: LIKE "words", as a clause of RECALL beside WHERE.';
  if (lower === 'includes' || lower === 'has' || lower === 'any') return `Write ${field} INCLUDE ["a"].`;
  if (kind === 'symbol' && text === ':') return `Write ${field} = "…".`;
  return undefined;
}
