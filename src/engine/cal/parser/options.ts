// Parses WITH: the options of a statement. The set is closed, except for vendor hints, which start with x_ (D-25).
import { DISCLOSURE_LEVELS, type DisclosureLevel, type WithOption } from '../ast.ts';
import { CalError } from '../errors.ts';
import { WITH_OPTIONS } from '../vocabulary/words.ts';
import type { Cursor } from './cursor.ts';
import { parseField, parseValue } from './values.ts';

const levels: ReadonlySet<string> = new Set(DISCLOSURE_LEVELS);

/** Parses the options after WITH. Throws E002 for an unknown or repeated option. */
export function parseOptions(cursor: Cursor): readonly WithOption[] {
  const seen = new Set<string>();
  return cursor.list(() => {
    const first = cursor.token;
    const option = parseOption(cursor);
    const name = option.option === 'vendor' ? option.name : option.option;
    const at = cursor.spanFrom(first);
    if (seen.has(name)) throw new CalError('CAL-E002', `${name} occurs twice`, { at, expected: ['another option'] });
    seen.add(name);
    return { ...option, at };
  });
}

function parseOption(cursor: Cursor): WithOption {
  const { kind, lower } = cursor.token;
  if (kind !== 'word') return cursor.fail(WITH_OPTIONS);
  switch (lower) {
    case 'superseded':
    case 'score_breakdown':
    case 'explanation':
    case 'provenance':
    case 'contradiction_detection':
    case 'summarize':
    case 'iso_timestamps':
      cursor.advance();
      return { option: lower };
    case 'progressive_disclosure':
      cursor.advance();
      if (!cursor.isSymbol('(')) return { option: lower };
      return { option: lower, level: cursor.bracketed('(', ')', () => parseLevel(cursor)) };
    case 'diversity':
      cursor.advance();
      return cursor.bracketed('(', ')', () => parseDiversity(cursor));
    case 'consistency':
      cursor.advance();
      return cursor.bracketed('(', ')', () => parseConsistency(cursor));
    case 'dedup':
      cursor.advance();
      return { option: lower, field: cursor.bracketed('(', ')', () => parseField(cursor)) };
    case 'locale':
      cursor.advance();
      return { option: lower, locale: cursor.bracketed('(', ')', () => cursor.expectString()) };
    case 'cache':
      cursor.advance();
      return {
        option: lower,
        ttl: cursor.bracketed('(', ')', () => parseNamed(cursor, 'ttl', () => cursor.expectInteger())),
      };
  }
  if (!/^x_[a-z]/.test(lower)) {
    const hint = lower === 'anonymize' ? 'This server cannot anonymize, and gives no plain answer instead.' : undefined;
    return cursor.fail(WITH_OPTIONS, hint);
  }
  cursor.advance();
  const values = cursor.isSymbol('(') ? cursor.bracketed('(', ')', () => cursor.list(() => parseValue(cursor))) : [];
  return { option: 'vendor', name: lower, values };
}

function parseLevel(cursor: Cursor): DisclosureLevel {
  const { kind, lower } = cursor.token;
  if (kind !== 'word' || !levels.has(lower)) cursor.fail(DISCLOSURE_LEVELS);
  cursor.advance();
  return lower as DisclosureLevel; // The set holds only levels.
}

function parseDiversity(cursor: Cursor): WithOption {
  if (cursor.takeWord('mmr')) {
    if (!cursor.takeSymbol(',')) return { option: 'diversity', by: 'mmr' };
    return { option: 'diversity', by: 'mmr', lambda: parseNamed(cursor, 'lambda', () => expectNumber(cursor)) };
  }
  if (!cursor.takeWord('threshold')) return cursor.fail(['mmr', 'threshold']);
  cursor.expectSymbol(',');
  return { option: 'diversity', by: 'threshold', threshold: expectNumber(cursor) };
}

function parseConsistency(cursor: Cursor): WithOption {
  if (cursor.takeWord('eventual')) return { option: 'consistency', level: 'eventual' };
  if (cursor.takeWord('linearizable')) return { option: 'consistency', level: 'linearizable' };
  if (!cursor.takeWord('bounded')) return cursor.fail(['eventual', 'bounded', 'linearizable']);
  return { option: 'consistency', level: 'bounded', bound: cursor.bracketed('(', ')', () => expectNumber(cursor)) };
}

function parseNamed<T>(cursor: Cursor, name: string, value: () => T): T {
  if (!cursor.takeWord(name)) cursor.fail([`${name} =`]);
  cursor.expectSymbol('=');
  return value();
}

function expectNumber(cursor: Cursor): number {
  if (cursor.token.kind !== 'number') cursor.fail(['a number']);
  return cursor.advance().value;
}
