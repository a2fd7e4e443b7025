// Parses values, fields and references to grains.
import type { GrainReference, Value, Word } from '../ast.ts';
import { FIELDS_THAT_ARE_RESERVED, isReserved } from '../vocabulary/words.ts';
import type { Cursor } from './cursor.ts';

const VALUE_FORMS = ['a string', 'a number', 'true', 'false', 'an array', 'a hash', 'a parameter'] as const;

export function parseValue(cursor: Cursor): Value {
  const { kind, text, lower, value, start, end } = cursor.token;
  const at = { start, end };
  if (kind === 'symbol' && text === '[') {
    const first = cursor.token;
    const items = parseArray(cursor);
    return { kind: 'array', items, at: cursor.spanFrom(first) };
  }
  if (kind === 'word' && (lower === 'true' || lower === 'false')) {
    cursor.advance();
    return { kind: 'boolean', value: lower === 'true', at };
  }
  switch (kind) {
    case 'string':
      cursor.advance();
      return { kind: 'string', value: text, at };
    case 'number':
      cursor.advance();
      return { kind: 'number', value, at };
    case 'hash':
      cursor.advance();
      return { kind: 'hash', hex: text, at };
    case 'parameter':
      cursor.advance();
      return { kind: 'parameter', name: text, at };
    default:
      return cursor.fail(VALUE_FORMS, kind === 'word' ? 'Put strings in double quotes.' : undefined);
  }
}

/** Parses the items between square brackets. There can be none. */
export function parseArray(cursor: Cursor): readonly Value[] {
  return cursor.bracketed('[', ']', () => (cursor.isSymbol(']') ? [] : cursor.list(() => parseValue(cursor))));
}

/** Parses a hash or a parameter. */
export function parseReference(cursor: Cursor): GrainReference {
  const { kind } = cursor.token;
  if (kind !== 'hash' && kind !== 'parameter') cursor.fail(['a hash', 'a parameter']);
  const value = parseValue(cursor);
  if (value.kind !== 'hash' && value.kind !== 'parameter') return cursor.fail(['a hash']);
  return value;
}

/**
 * Parses a field name: `name`, or `prefix:name` without blanks. Returns it in lower case. Does not check that it
 * exists.
 */
export function parseField(cursor: Cursor): Word {
  const { kind, lower, start, end } = cursor.token;
  if (kind !== 'word') cursor.fail(['a field']);
  const name = domainName(cursor);
  if (name !== undefined) {
    cursor.advance();
    cursor.advance();
    const last = cursor.advance();
    return { word: `${lower}:${name}`, at: { start, end: last.end } };
  }
  if (isReserved(lower) && !FIELDS_THAT_ARE_RESERVED.has(lower)) cursor.fail(['a field'], reservedHint(lower));
  cursor.advance();
  return { word: lower, at: { start, end } };
}

/** The name after `prefix:`; undefined unless the three tokens are adjacent. */
function domainName(cursor: Cursor): string | undefined {
  if (!cursor.isSymbol(':', 1) || cursor.ahead(2).kind !== 'word') return undefined;
  const touching = cursor.token.end === cursor.ahead(1).start && cursor.ahead(1).end === cursor.ahead(2).start;
  return touching ? cursor.ahead(2).lower : undefined;
}

function reservedHint(word: string): string | undefined {
  if (word === 'or' || word === 'not')
    return 'Conditions are joined by AND alone; ask for alternatives with IN or UNION.';
  if (word === 'user') return 'Did you mean user_id?';
  return undefined;
}
