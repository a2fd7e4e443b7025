// Cuts a query's text into tokens. The lexer finishes before the parser starts, so a lexical error anywhere is reported
// before any syntax error. Takes time linear in the length of the text. Positions are UTF-16 units.
import { toNfc } from '../base/nfc.ts';
import { SECTIONS } from './ast.ts';
import { CalError } from './errors.ts';
import { CAL_LIMITS } from './vocabulary/limits.ts';

export type TokenKind = 'word' | 'parameter' | 'string' | 'number' | 'hash' | 'symbol' | 'raw' | 'end';

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
  /** By kind: a word as written, a parameter without `$`, a string's value, a hash's digits in lower case, a symbol, or
   * the trimmed body of a template section. */
  readonly text: string;
  /** The word in lower case; empty for other kinds. */
  readonly lower: string;
  /** The value of a number; 0 for other kinds. */
  readonly value: number;
}

/** Text direction controls. They can make a query look different from what it says. */
const BIDI = /[\u202A-\u202E\u2066-\u2069]/;
const NOT_ASCII = /[\u0080-\uffff]/;
const WORD = /[A-Za-z][A-Za-z0-9_]*/y;
const NUMBER = /-?\d+(?:\.\d+)?/y;
const NUMBER_TAIL = /[A-Za-z0-9_.]*/y;
const HEX = /[0-9A-Fa-f]*/y;
const WORD_TAIL = /[A-Za-z0-9_]/;
const SECTION_WORDS: ReadonlySet<string> = new Set(SECTIONS);

/**
 * The tokens of `source`, the last of kind `end`.
 * Throws, in this order: E001, E070, E071 or E002 (direction controls), then E002, E005, E006 or E015 at the first
 * text that is no token, then E014.
 */
export function lex(source: string): readonly Token[] {
  checkSource(source);
  const tokens: Token[] = [];
  const control = source.search(BIDI);
  if (control >= 0) throw controlError(source, control);
  tokenize(source, tokens);
  if (tokens.length === 1) throw new CalError('CAL-E014', 'the query is empty');
  return tokens;
}

/** Checks a source of either form: E001 if it has too many bytes, E070 if it is not valid Unicode. */
export function checkSource(source: string): void {
  const bytes = Buffer.byteLength(source);
  if (bytes > CAL_LIMITS.queryBytesMax)
    throw new CalError('CAL-E001', `the query has ${bytes} bytes; the limit is ${CAL_LIMITS.queryBytesMax}`);
  if (!source.isWellFormed()) {
    const start = source.search(/\p{Surrogate}/u);
    throw new CalError('CAL-E070', 'the query is not valid UTF-8', { at: { start, end: start + 1 } });
  }
}

/** The value of a literal, in NFC. Throws E070 for half a surrogate pair, E071 for a text direction control. */
export function literal(value: string, at?: { readonly start: number; readonly end: number }): string {
  if (!NOT_ASCII.test(value)) return value;
  if (!value.isWellFormed()) throw new CalError('CAL-E070', 'a string holds half a surrogate pair', { at });
  if (BIDI.test(value)) throw new CalError('CAL-E071', 'a string holds a text direction control', { at });
  return toNfc(value);
}

/** The error for a text direction control: E071 inside a string or a template, E002 elsewhere. */
function controlError(source: string, index: number): CalError {
  const at = { start: index, end: index + 1 };
  const tokens: Token[] = [];
  let inside = false;
  try {
    tokenize(source, tokens, false);
  } catch (error) {
    if (!(error instanceof CalError)) throw error;
    inside = (error.code === 'CAL-E005' || error.expected?.[0] === '}') && error.at!.start < index;
  }
  inside ||= tokens.some(
    ({ kind, start, end }) => (kind === 'string' || kind === 'raw') && start < index && index < end,
  );
  const name = codePointName(source, index);
  return inside
    ? new CalError('CAL-E071', `a string holds ${name}, a text direction control`, { at })
    : new CalError('CAL-E002', `unexpected ${name}`, { at });
}

/** Appends to `tokens`, so that the caller has the tokens before an error when it throws. */
function tokenize(source: string, tokens: Token[], checked = true): void {
  let at = 0;
  for (;;) {
    at = skipBlank(source, at);
    if (at >= source.length) break;
    const token = nextToken(source, at, tokens.at(-1), checked);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: 'end', start: at, end: at, text: '', lower: '', value: 0 });
}

/** The first position from `at` on that is neither white space nor comment. */
function skipBlank(source: string, at: number): number {
  for (; at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue;
    if (code !== 0x2d || source.charCodeAt(at + 1) !== 0x2d) return at;
    const lineEnd = source.indexOf('\n', at);
    if (lineEnd < 0) return source.length;
    at = lineEnd;
  }
  return at;
}

function nextToken(source: string, at: number, previous: Token | undefined, checked: boolean): Token {
  const code = source.charCodeAt(at);
  if ((code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)) return wordOrHash(source, at);
  switch (source[at]) {
    case '"':
      return stringToken(source, at, checked);
    case '$': {
      const name = match(WORD, source, at + 1);
      if (name === '') throw new CalError('CAL-E002', 'a $ without a name', { at: { start: at, end: at + 1 } });
      return token('parameter', at, at + 1 + name.length, name);
    }
    case '{':
      if (previous?.kind === 'word' && SECTION_WORDS.has(previous.lower)) return rawToken(source, at, checked);
      return token('symbol', at, at + 1, '{');
    case '!':
    case '<':
    case '>':
      if (source[at + 1] === '=') return token('symbol', at, at + 2, `${source[at]}=`);
      if (source[at] === '!') break;
      return token('symbol', at, at + 1, source[at]!);
    case '=':
    case '(':
    case ')':
    case '[':
    case ']':
    case '}':
    case ',':
    case ':':
    case ';':
    case '|':
      return token('symbol', at, at + 1, source[at]!);
    case '/':
      if (source[at + 1] === '*')
        throw new CalError('CAL-E002', 'there are no block comments', {
          at: { start: at, end: at + 2 },
          suggestion: 'Comments start with -- and end with the line.',
        });
      return token('symbol', at, at + 1, '/');
  }
  if (isDigit(code) || (code === 0x2d && isDigit(source.charCodeAt(at + 1)))) return numberToken(source, at);
  // `+1`, `.5` and `-.5` are malformed numbers. Saying that helps more than "unexpected +".
  if (/^[+.-]\.?\d/.test(source.slice(at, at + 3))) {
    const end = at + 1 + match(NUMBER_TAIL, source, at + 1).length;
    throw new CalError('CAL-E006', `malformed number ${source.slice(at, end)}`, { at: { start: at, end } });
  }
  throw unexpectedCharacter(source, at);
}

function wordOrHash(source: string, at: number): Token {
  const word = match(WORD, source, at);
  const lower = word.toLowerCase();
  const end = at + word.length;
  if (lower !== 'sha256' || source[end] !== ':') return { kind: 'word', start: at, end, text: word, lower, value: 0 };
  const hex = match(HEX, source, end + 1);
  const hashEnd = end + 1 + hex.length;
  if (hex.length < 8 || hex.length > 64 || WORD_TAIL.test(source[hashEnd] ?? ''))
    throw new CalError('CAL-E015', 'a hash is sha256: and 8 to 64 hexadecimal digits', {
      at: { start: at, end: Math.max(hashEnd, end + 1) },
      example: `sha256:${'0123456789abcdef'.repeat(4)}`,
    });
  return token('hash', at, hashEnd, hex.toLowerCase());
}

function numberToken(source: string, at: number): Token {
  const digits = match(NUMBER, source, at);
  const tail = match(NUMBER_TAIL, source, at + digits.length);
  const end = at + digits.length + tail.length;
  const value = Number(digits);
  if (tail !== '' || !Number.isFinite(value))
    throw new CalError('CAL-E006', `malformed number ${excerpt(source.slice(at, end))}`, { at: { start: at, end } });
  // -0 becomes 0.
  return { kind: 'number', start: at, end, text: digits, lower: '', value: value === 0 ? 0 : value };
}

/** The only escapes are `\"` and `\\`. Any other backslash is a character (D-8). */
function stringToken(source: string, at: number, checked: boolean): Token {
  let escapes = false;
  let end = at + 1;
  for (; ; end++) {
    if (end >= source.length)
      throw new CalError('CAL-E005', 'the string is not closed', { at: { start: at, end: source.length } });
    const code = source.charCodeAt(end);
    if (code === 0x22) break;
    if (code !== 0x5c) continue;
    const next = source.charCodeAt(end + 1);
    if (next === 0x22 || next === 0x5c) {
      escapes = true;
      end++;
    }
  }
  const written = source.slice(at + 1, end);
  const value = escapes ? written.replace(/\\(["\\])/g, '$1') : written;
  return token('string', at, end + 1, checked ? literal(value, { start: at, end: end + 1 }) : value);
}

/** The token from the `{` after a template section's name to the matching `}`. The text between is not tokenised. */
function rawToken(source: string, at: number, checked: boolean): Token {
  const end = rawEnd(source, at + 1);
  if (end < 0)
    throw new CalError('CAL-E002', 'the section is not closed', {
      at: { start: at, end: source.length },
      expected: ['}'],
    });
  const text = trimSection(source.slice(at + 1, end));
  return token('raw', at, end + 1, checked ? literal(text, { start: at, end: end + 1 }) : text);
}

/**
 * The position of the `}` that closes a section whose text starts at `at`; -1 if the section is not closed. Skips tags
 * (`{{` to `}}`). Single braces nest.
 */
export function rawEnd(source: string, at: number): number {
  let depth = 0;
  let tag = false;
  let inTag = 0;
  for (; at < source.length; at++) {
    const char = source[at];
    if (char !== '{' && char !== '}') continue;
    if (tag) {
      if (char === '{') inTag++;
      else if (inTag > 0) inTag--;
      else if (source[at + 1] === '}') {
        tag = false;
        at++;
      }
    } else if (char === '{') {
      if (source[at + 1] === '{') {
        tag = true;
        inTag = 0;
        at++;
      } else depth++;
    } else if (depth-- === 0) return at;
  }
  return -1;
}

/** Removes one line break at each end, and the blanks between it and the brace. Keeps the indentation of the lines. */
export function trimSection(text: string): string {
  return text.replace(/^[ \t]*(?:\r\n|\n|\r)/, '').replace(/(?:\r\n|\n|\r)[ \t]*$/, '');
}

function token(kind: TokenKind, start: number, end: number, text: string): Token {
  return { kind, start, end, text, lower: '', value: 0 };
}

/** The text that the sticky `pattern` matches at `at`; empty if it does not match. */
function match(pattern: RegExp, source: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0] ?? '';
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function excerpt(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function unexpectedCharacter(source: string, at: number): CalError {
  const name = codePointName(source, at);
  const end = at + (source.codePointAt(at)! > 0xffff ? 2 : 1);
  const suggestion =
    source[at] === "'"
      ? 'Put strings in double quotes.'
      : 'Outside strings, a query has only ASCII letters, digits and punctuation.';
  return new CalError('CAL-E002', `unexpected ${name}`, { at: { start: at, end }, suggestion });
}

/** A character's name in messages: the character itself if it is printable ASCII, else its code point. */
function codePointName(source: string, at: number): string {
  const code = source.codePointAt(at)!;
  return code > 0x20 && code < 0x7f
    ? String.fromCodePoint(code)
    : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
