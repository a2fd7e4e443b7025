// WHERE: conditions joined by AND. What a field may be compared with is the validator's; here only the shapes.
import {
  CATEGORIES,
  type Category,
  COMPARATORS,
  type Comparator,
  type Condition,
  type Recall,
  type Value,
  type Word,
} from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Cursor } from './cursor.ts';
import { takeExtractor } from './extract.ts';
import { parseArray, parseField, parseValue } from './values.ts';

const comparators: ReadonlySet<string> = new Set(COMPARATORS);
const categories: ReadonlySet<string> = new Set(CATEGORIES);
const OPERATORS = [...COMPARATORS, 'IN', 'BETWEEN', 'INCLUDE', 'EXCLUDE', 'IS'];

/** What stands after WHERE. `parseRecall` reads a subquery. */
export function parseConditions(cursor: Cursor, parseRecall: (cursor: Cursor) => Recall): readonly Condition[] {
  const conditions = [parseCondition(cursor, parseRecall)];
  while (cursor.takeWord('and')) conditions.push(parseCondition(cursor, parseRecall));
  if (cursor.isWord('or'))
    cursor.fail(['AND', 'the next clause'], 'There is no OR; ask for alternatives with IN or with UNION.');
  return conditions;
}

function parseCondition(cursor: Cursor, parseRecall: (cursor: Cursor) => Recall): Condition {
  const first = cursor.token;
  if (first.kind === 'symbol' && first.text === '(')
    cursor.fail(['a field'], 'Conditions are not grouped; they are joined by AND alone.');
  const field = parseField(cursor);
  const { kind, text, lower } = cursor.token;
  if (kind === 'symbol' && comparators.has(text)) {
    cursor.advance();
    failSecondSymbol(cursor, text);
    // The lexer gives these symbols alone; the set was asked.
    const op = text as Comparator;
    return { field, op, value: parseValue(cursor), at: cursor.spanFrom(first) };
  }
  if (kind === 'word') {
    switch (lower) {
      case 'in':
        cursor.advance();
        return { ...parseIn(cursor, field, parseRecall), at: cursor.spanFrom(first) };
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
        return { field, op: 'is', category: parseCategory(cursor), at: cursor.spanFrom(first) };
    }
  }
  return cursor.fail(OPERATORS, operatorHint(lower));
}

/** `==`, `=>` and `<>` are one operator elsewhere. */
function failSecondSymbol(cursor: Cursor, first: string): void {
  const { kind, text } = cursor.token;
  if (kind !== 'symbol' || !comparators.has(text)) return;
  const meant = first === '<' && text === '>' ? '!=' : first === text ? first : `${text}${first}`;
  cursor.fail(['a value'], comparators.has(meant) ? `Write ${meant}.` : undefined);
}

function parseIn(cursor: Cursor, field: Word, parseRecall: (cursor: Cursor) => Recall): Condition {
  return cursor.bracketed('(', ')', (): Condition => {
    if (!cursor.isWord('recall')) return { field, op: 'in', values: cursor.list(() => parseValue(cursor)) };
    const { recall, extract } = takeExtractor(parseRecall(cursor));
    if (extract === undefined)
      return cursor.fail(['SUBJECTS', 'OBJECTS', 'HASHES'], 'A subquery ends in what to take from it.');
    return { field, op: 'in', recall, extract };
  });
}

function parseCategory(cursor: Cursor): Category {
  const { kind, lower } = cursor.token;
  const expected = CATEGORIES.map((category) => category.toUpperCase());
  if (kind !== 'word' || !categories.has(lower))
    cursor.fail(
      expected,
      lower === 'null' ? 'A grain without the field never matches; there is no IS NULL.' : undefined,
    );
  cursor.advance();
  return lower as Category; // The set was asked.
}

/** The values of INCLUDE and EXCLUDE. Throws E020 for one value that stands there without brackets. */
function parseItems(cursor: Cursor, operator: string): readonly Value[] {
  if (cursor.isSymbol('[')) return parseArray(cursor);
  const value = parseValue(cursor);
  throw new CalError('CAL-E020', `${operator.toUpperCase()} takes an array`, { at: value.at, example: '["a", "b"]' });
}

function operatorHint(word: string): string | undefined {
  if (word === 'not') return 'There is no NOT; use != or EXCLUDE.';
  if (word === 'contains' || word === 'starts' || word === 'like') return 'Search texts with query = "…" or LIKE "…".';
  return undefined;
}
