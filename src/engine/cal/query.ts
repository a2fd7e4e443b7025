// The entry point of the language: turns a query as received into a checked tree. Pure: uses no store and no clock.
import { hash } from 'node:crypto';
import type { Query } from './ast.ts';
import { CalError } from './errors.ts';
import { readJson } from './json/read.ts';
import { checkSource } from './lexer.ts';
import { mended } from './mend/mend.ts';
import { parseText } from './parse.ts';
import { validate } from './validate.ts';
import { type ExtensionName, Extensions } from './vocabulary/extensions.ts';

export interface CheckedQuery {
  readonly query: Query;
  /** Each starts with its code: `CAL-W001: …`. */
  readonly warnings: readonly string[];
  /** The extensions that the query uses, in the order of their first use. */
  readonly extensions: readonly ExtensionName[];
  /**
   * SHA-256 of the trimmed query in UTF-8, 64 hex digits in lower case: it names a query on the wire and in the audit trail
   * (D-2). The query is not normalised to NFC.
   */
  readonly sourceHash: string;
}

/**
 * Reads `source` in the JSON form if its first character is `{`, else in the text form (D-1), and makes every check that
 * needs no data. `isStrict` refuses extensions. Throws `CalError`; errors of the text form have a position.
 */
export function readQuery(source: string, isStrict = false): CheckedQuery {
  try {
    return readOnce(source, isStrict);
  } catch (error) {
    if (!(error instanceof CalError) || error.position === undefined) throw error;
    const example = mended(source, error, (text) => readOnce(text, isStrict));
    throw example === undefined ? error : error.withExample(example);
  }
}

function readOnce(source: string, isStrict: boolean): CheckedQuery {
  try {
    const extensions = new Extensions(isStrict);
    checkSource(source);
    const text = trimmed(source);
    const query = text.startsWith('{') ? readJson(text) : parseText(source, extensions).query;
    const warnings = validate(query, extensions);
    return { query, warnings, extensions: extensions.used, sourceHash: hash('sha256', text, 'hex') };
  } catch (error) {
    throw error instanceof CalError ? error.located(source) : error;
  }
}

/** The source without Unicode white space at its ends. No regular expression, because queries over the length limit are hashed too. */
export function trimmed(source: string): string {
  let start = 0;
  let end = source.length;
  while (start < end && isWhiteSpace(source.charCodeAt(start))) start++;
  while (end > start && isWhiteSpace(source.charCodeAt(end - 1))) end--;
  return source.slice(start, end);
}

/** True for the characters with the Unicode property White_Space. Each is one UTF-16 unit. */
function isWhiteSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  if (unit < 0x2000) return unit === 0x85 || unit === 0xa0 || unit === 0x1680;
  return unit <= 0x200a || unit === 0x2028 || unit === 0x2029 || unit === 0x202f || unit === 0x205f || unit === 0x3000;
}
