// A position in the tokens, and the errors for it. It only moves forward, and the parser looks at most four tokens ahead,
// so the parser's work is linear in the length of the query.
import type { Span, Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import type { Token } from '../lexer.ts';
import type { Extensions } from '../vocabulary/extensions.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { EXCLUDED_WORDS, isReserved } from '../vocabulary/words.ts';
import { didYouMean, joined } from './spelling.ts';

/** Words that start an entry of BATCH. After a comma they tell the label of the next entry from a field. */
export const ENTRY_WORDS = ['recall', 'exists', 'history', 'describe', 'coalesce'] as const;
const entryWords: ReadonlySet<string> = new Set(ENTRY_WORDS);

export class Cursor {
  readonly #tokens: readonly Token[];
  /** The parser records the extensions that leave no trace in the tree. The validator records the others. */
  readonly extensions: Extensions;
  /** True within BATCH, where a comma may separate entries. */
  isInBatch = false;
  #index = 0;
  #depth = 0;
  #looks = 0;

  constructor(tokens: readonly Token[], extensions: Extensions) {
    this.#tokens = tokens;
    this.extensions = extensions;
  }

  get token(): Token {
    return this.ahead(0);
  }

  /** Number of token reads: a measure of the parser's work. */
  get looks(): number {
    return this.#looks;
  }

  /** The token `count` places ahead. Past the end it is the end token. */
  ahead(count: number): Token {
    this.#looks++;
    return this.#tokens[Math.min(this.#index + count, this.#tokens.length - 1)]!;
  }

  advance(): Token {
    const token = this.token;
    if (this.#index < this.#tokens.length - 1) this.#index++;
    return token;
  }

  /** The range from the start of `first` to the end of the last token taken. */
  spanFrom(first: Token): Span {
    return { start: first.start, end: this.#tokens[Math.max(this.#index - 1, 0)]!.end };
  }

  isWord(word: string, ahead = 0): boolean {
    const { kind, lower } = this.ahead(ahead);
    return kind === 'word' && lower === word;
  }

  isSymbol(symbol: string, ahead = 0): boolean {
    const { kind, text } = this.ahead(ahead);
    return kind === 'symbol' && text === symbol;
  }

  /** Takes the word if it is the current token. Returns whether it was. */
  takeWord(word: string): boolean {
    if (!this.isWord(word)) return false;
    this.advance();
    return true;
  }

  takeSymbol(symbol: string): boolean {
    if (!this.isSymbol(symbol)) return false;
    this.advance();
    return true;
  }

  expectWord(word: string): Token {
    if (!this.isWord(word)) this.fail([word.toUpperCase()]);
    return this.advance();
  }

  expectSymbol(symbol: string, hint?: string): Token {
    if (!this.isSymbol(symbol)) this.fail([symbol], hint);
    return this.advance();
  }

  expectString(): string {
    if (this.token.kind !== 'string') this.fail(['a string']);
    return this.advance().text;
  }

  /** The body of a template section. */
  expectRaw(): string {
    if (this.token.kind !== 'raw') this.fail(['{']);
    return this.advance().text;
  }

  /** A whole number. The validator checks its range, so it can be negative here. */
  expectInteger(): number {
    const { kind, value } = this.token;
    if (kind !== 'number' || !Number.isInteger(value)) this.fail(['a whole number']);
    return this.advance().value;
  }

  /** A name that the caller chose. No reserved word. */
  expectIdentifier(what: string): Token {
    const { kind, lower } = this.token;
    if (kind !== 'word') this.fail([what]);
    if (isReserved(lower)) this.fail([what], `${this.token.text} is a reserved word; use another name.`);
    return this.advance();
  }

  /** A label: reserved words may be labels, excluded ones may not (D-9). */
  expectLabel(hint?: string): Word {
    const { kind, lower } = this.token;
    if (kind !== 'word' || EXCLUDED_WORDS.has(lower)) this.fail(['a label'], hint);
    const token = this.advance();
    return { word: token.text, at: { start: token.start, end: token.end } };
  }

  /** One or more items, separated by commas. */
  parted<T>(item: () => T): T[] {
    const items = [item()];
    while (this.takeSymbol(',')) items.push(item());
    return items;
  }

  /** Like `parted`, for lists at the end of a recall. A comma that separates the recall from a next one ends the list. */
  list<T>(item: () => T): T[] {
    const items = [item()];
    while (this.isSymbol(',') && this.atListItem()) {
      this.advance();
      items.push(item());
    }
    return items;
  }

  /** False if the comma here precedes the next branch of COALESCE, or the label of the next entry of BATCH. */
  atListItem(): boolean {
    if (this.isWord('recall', 1)) return false;
    // Inside of an entry's own brackets, and outside of BATCH, a colon belongs to a field.
    if (!this.isInBatch || this.#depth > 1) return true;
    return !(this.ahead(1).kind === 'word' && this.isSymbol(':', 2) && entryWords.has(this.ahead(3).lower));
  }

  /** Runs `read` between two brackets and returns its result. Throws E007 if brackets are nested too deep. */
  bracketed<T>(open: string, close: string, read: () => T): T {
    const { start, end } = this.expectSymbol(open);
    if (++this.#depth > CAL_LIMITS.nestingMax)
      throw new CalError('CAL-E007', `brackets are nested more than ${CAL_LIMITS.nestingMax} deep`, {
        at: { start, end },
      });
    const result = read();
    if (!this.isSymbol(close)) this.fail([close]);
    this.advance();
    this.#depth--;
    return result;
  }

  /** Refuses the current token: throws E002 with the tokens that are allowed here. */
  fail(expected: readonly string[], hint?: string): never {
    const { kind, text, lower, start, end } = this.token;
    const at = { start, end };
    const found = describe(this.token);
    if (kind === 'word' && EXCLUDED_WORDS.has(lower)) {
      throw new CalError('CAL-E002', `unexpected ${text}: there is no such word in CAL`, {
        at,
        expected,
        suggestion: 'Queries cannot remove grains or touch keys, policies and schemas.',
      });
    }
    // Name only a few in the message. The error's `expected` has them all.
    const isShort = expected.length <= SHOWN_MAX;
    const shown = isShort ? joined(expected) : `${expected.slice(0, SHOWN_MAX).join(', ')}, …`;
    const suggestion =
      hint ??
      (kind === 'word' ? didYouMean(text, expected.filter(isWord)) : undefined) ??
      (isShort ? `Write ${shown} here.` : undefined);
    throw new CalError('CAL-E002', `unexpected ${found}, expected ${shown}`, {
      at,
      expected,
      suggestion,
    });
  }
}

/** Maximum number of expected tokens that a message names. */
const SHOWN_MAX = 8;

/** True if the expected token is a word, which the caller may have misspelt. */
function isWord(expected: string): boolean {
  return /^[A-Za-z_]{2,}$/.test(expected);
}

function describe({ kind, text }: Token): string {
  const short = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  switch (kind) {
    case 'end':
      return 'end of the query';
    case 'string':
      return `string "${short}"`;
    case 'parameter':
      return `$${short}`;
    case 'hash':
      return `hash sha256:${short}`;
    case 'raw':
      return 'template section';
    case 'number':
    case 'word':
    case 'symbol':
      return short;
  }
}
