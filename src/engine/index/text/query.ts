// Parses the text of a query (service contract 8.8). Operators: "a phrase", +must, -not, field:term. A sign is an
// operator only at the beginning of a token and before a letter or a quote; a colon only after a known field name; a
// quote only at the beginning of a token and if it is closed. Everything else is text. Operators are conditions of a
// search (`parseQuery`) and wishes in a question, which is prose (`parseQuestion`; 8.8.1).
import { QUERY_CHARS_MAX, QUERY_CLAUSES_MAX, QUERY_TERMS_MAX } from '../../base/limits.ts';
import { withoutAtEnd } from '../../base/without-at-end.ts';
import type { Analyzer } from './analyze.ts';

const QUERY_FIELDS = ['subject', 'relation', 'object', 'content', 'tag', 'namespace'] as const;
type QueryField = (typeof QUERY_FIELDS)[number];

/** A word or phrase: the document must (or must not) contain these terms at these distances from the first. */
export interface TextClause {
  readonly required: boolean;
  /** At least one. */
  readonly terms: readonly string[];
  /** Position of each term relative to the first; ascending. */
  readonly offsets: readonly number[];
}

/**
 * A condition on a field, which the caller applies. For `content` the caller has nothing to do: it is also a clause.
 */
export interface FieldCondition {
  readonly field: QueryField;
  /** As written, without quotes. */
  readonly value: string;
  readonly terms: readonly string[];
  /** True for `-field:term`. */
  readonly negated: boolean;
}

/** Two consecutive terms of the query; `distance` is 2 or more when stop words lie between them. */
export interface QueryPair {
  readonly first: string;
  readonly second: string;
  readonly distance: number;
}

export interface Wishes {
  readonly clauses: readonly TextClause[];
  readonly fields: readonly FieldCondition[];
}

export interface TextQuery {
  /**
   * Distinct terms that contribute to the score, in order of appearance, including those of required clauses. May be
   * empty.
   */
  readonly terms: readonly string[];
  /** Distinct pairs of neighbouring terms, in order of appearance. */
  readonly pairs: readonly QueryPair[];
  /** Conditions on the text. A question has none. */
  readonly clauses: readonly TextClause[];
  /** Conditions on fields. A question has none. */
  readonly fields: readonly FieldCondition[];
  /** The operators of a question, which move documents up or down and exclude none. Absent if there are none. */
  readonly wishes?: Wishes | undefined;
  /** The query exceeded the bounds of limits.ts and its end was ignored: warn the caller. */
  readonly truncated: boolean;
}

/**
 * Parses a query. Never throws; linear in the text's length. Stop words alone give no terms. Terms of `unless` do not
 * score if other terms remain; terms of operators are always searched.
 */
export function parseQuery(text: string, analyzer: Analyzer, unless: ReadonlySet<string> = NO_TERMS): TextQuery {
  return parsed(text, unless, (pieces, without) => {
    const reader = new QueryReader(analyzer);
    for (const piece of pieces) {
      if (piece.kind === 'text') reader.score(piece.value, without);
      else if (piece.field !== undefined) reader.field(piece.field, piece);
      else reader.clause(piece);
    }
    return reader;
  });
}

/**
 * Parses a question. Like `parseQuery`, but its operators are wishes. The words of phrases, `+word` and `field:term`
 * score as plain text, and those of `-word` do not score. A query of `field:term` alone is no prose: its operators are
 * conditions.
 */
export function parseQuestion(text: string, analyzer: Analyzer, unless: ReadonlySet<string> = NO_TERMS): TextQuery {
  if (isOfFields(text)) return parseQuery(text, analyzer, unless);
  const { clauses, fields, ...query } = parsed(text, unless, (pieces, without) => {
    const reader = new QueryReader(analyzer);
    let prose = '';
    for (const piece of pieces) {
      if (piece.kind === 'text') prose += piece.value;
      else {
        reader.wish(piece);
        // Words on both sides of an unwanted one are no pair.
        if (piece.negated) {
          reader.score(prose, without);
          prose = '';
        } else prose += ` ${piece.value} `;
      }
    }
    reader.score(prose, without);
    return reader;
  });
  const hasWishes = clauses.length + fields.length > 0;
  return { ...query, clauses: [], fields: [], wishes: hasWishes ? { clauses, fields } : undefined };
}

const NO_TERMS: ReadonlySet<string> = new Set();

function isOfFields(text: string): boolean {
  if (!text.includes(':')) return false;
  const pieces = piecesOf(text);
  const operators = pieces.filter((piece) => piece.kind === 'operator');
  return (
    operators.some(({ negated }) => !negated) &&
    operators.every(({ field }) => field !== undefined) &&
    pieces.every((piece) => piece.kind === 'operator' || piece.value.trim() === '')
  );
}

function piecesOf(text: string): readonly Piece[] {
  return new PieceScanner(text.slice(0, QUERY_CHARS_MAX)).pieces();
}

function parsed(
  text: string,
  unless: ReadonlySet<string>,
  readerOf: (pieces: readonly Piece[], unless: ReadonlySet<string>) => QueryReader,
): TextQuery {
  const pieces = piecesOf(text);
  const truncated = text.length > QUERY_CHARS_MAX;
  const query = readerOf(pieces, unless).query(truncated);
  return query.terms.length > 0 || unless.size === 0 ? query : readerOf(pieces, NO_TERMS).query(truncated);
}

/** Plain text, or an operator with its value. */
type Piece = { readonly kind: 'text'; readonly value: string } | Operator;

interface Operator {
  readonly kind: 'operator';
  /** Undefined for words and phrases. */
  readonly field: QueryField | undefined;
  /** As written, without sign, field and quotes. */
  readonly value: string;
  readonly negated: boolean;
}

class PieceScanner {
  readonly #text: string;
  readonly #pieces: Piece[] = [];
  /** Position of the last closing quote. Searches for a quote stop there, which keeps scanning linear. */
  readonly #lastQuote: number;

  constructor(text: string) {
    this.#text = text;
    this.#lastQuote = Math.max(text.lastIndexOf('"'), text.lastIndexOf('”'));
  }

  pieces(): readonly Piece[] {
    const text = this.#text;
    let plainStart = 0;
    let at = 0;
    while (at < text.length) {
      const operatorEnd = this.#operator(at, plainStart);
      if (operatorEnd > at) {
        at = operatorEnd;
        plainStart = at;
      } else {
        at = tokenEnd(text, at);
      }
      while (at < text.length && isSpace(text.charCodeAt(at))) at++;
    }
    this.#plain(plainStart, text.length);
    return this.#pieces;
  }

  /**
   * Reads the operator at a token's start, after taking the plain text before it. Returns its end, or `start` if there
   * is none.
   */
  #operator(start: number, plainStart: number): number {
    const text = this.#text;
    const sign = text[start]!;
    const signed = sign === '+' || sign === '-';
    let at = start;
    if (signed) {
      const next = text.slice(start + 1, start + 3);
      if (!/^[\p{L}"“]/u.test(next)) return start;
      at++;
    }
    const field = fieldAt(text, at);
    const valueStart = field === undefined ? at : at + field.length + 1;
    const quoted = isQuote(text.charCodeAt(valueStart)) ? this.#closingQuote(valueStart + 1) : -1;
    if (!signed && field === undefined && quoted < 0) return start;
    const end = quoted >= 0 ? quoted + 1 : tokenEnd(text, valueStart);
    let value = quoted >= 0 ? text.slice(valueStart + 1, quoted) : text.slice(valueStart, end);
    if (field !== undefined && value.trim() === '') return start;
    if (field !== undefined && quoted < 0) value = withoutAtEnd(value, '?!.,;');
    this.#plain(plainStart, start);
    this.#pieces.push({ kind: 'operator', field, value, negated: sign === '-' });
    return end;
  }

  #closingQuote(from: number): number {
    for (let at = from; at <= this.#lastQuote; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 0x22 || code === 0x201d) return at;
    }
    return -1;
  }

  #plain(start: number, end: number): void {
    if (start < end) this.#pieces.push({ kind: 'text', value: this.#text.slice(start, end) });
  }
}

/** Collects the terms, pairs and conditions of a query within their limits. */
class QueryReader {
  readonly #analyzer: Analyzer;
  readonly #terms = new Set<string>();
  readonly #pairs = new Map<string, QueryPair>();
  readonly #clauses: TextClause[] = [];
  readonly #fields: FieldCondition[] = [];
  #truncated = false;

  constructor(analyzer: Analyzer) {
    this.#analyzer = analyzer;
  }

  query(truncated: boolean): TextQuery {
    return {
      terms: [...this.#terms],
      pairs: [...this.#pairs.values()],
      clauses: this.#clauses,
      fields: this.#fields,
      truncated: truncated || this.#truncated,
    };
  }

  /** Adds a text's terms and pairs to the score. `complete` is false when the terms exceeded the limit. */
  score(text: string, unless: ReadonlySet<string>): { readonly complete: boolean } {
    const { terms, positions } = this.#analyzer.analyze(text);
    let complete = true;
    let before = -1;
    for (let i = 0; i < terms.length; i++) {
      const term = terms[i]!;
      if (unless.has(term)) continue;
      if (!this.#terms.has(term)) {
        if (this.#terms.size >= QUERY_TERMS_MAX) {
          complete = false;
          this.#truncated = true;
          break;
        }
        this.#terms.add(term);
      }
      if (before >= 0) {
        const pair = { first: terms[before]!, second: term, distance: positions[i]! - positions[before]! };
        this.#pairs.set(`${pair.first} ${pair.second}`, this.#pairs.get(`${pair.first} ${pair.second}`) ?? pair);
      }
      before = i;
    }
    return { complete };
  }

  /** Adds a word or phrase as a condition, and its terms to the score if it is required. */
  clause(operator: Operator): void {
    this.#clause(operator, (value) => this.score(value, NO_TERMS).complete);
  }

  /** Adds a field's condition. */
  field(field: QueryField, operator: Operator): void {
    if (this.#addField(field, operator) && field === 'content') this.clause(operator);
  }

  /** Adds an operator of a question; the caller scores its words. */
  wish(operator: Operator): void {
    const { field } = operator;
    const isTaken = field === undefined || this.#addField(field, operator);
    if (isTaken && (field === undefined || field === 'content')) this.#clause(operator, () => true);
  }

  /** `scores`: scores the value of a required clause, and tells whether its terms are within the limit. */
  #clause({ value, negated }: Operator, scores: (value: string) => boolean): void {
    const { terms, positions } = this.#analyzer.analyze(value);
    if (terms.length === 0) return;
    if (this.#clauses.length >= QUERY_CLAUSES_MAX || terms.length > QUERY_TERMS_MAX) {
      this.#truncated = true;
      return;
    }
    // A clause whose terms exceed the limit is left out as a whole, not cut.
    if (!negated && !scores(value)) return;
    const offsets = positions.map((position) => position - positions[0]!);
    this.#clauses.push({ required: !negated, terms, offsets });
  }

  #addField(field: QueryField, { value, negated }: Operator): boolean {
    if (this.#fields.length >= QUERY_CLAUSES_MAX) {
      this.#truncated = true;
      return false;
    }
    this.#fields.push({ field, value, terms: this.#analyzer.analyze(value).terms, negated });
    return true;
  }
}

/** The known field name before a colon at `at`, if any. */
function fieldAt(text: string, at: number): QueryField | undefined {
  return QUERY_FIELDS.find((field) => text.startsWith(field, at) && text[at + field.length] === ':');
}

function tokenEnd(text: string, at: number): number {
  while (at < text.length && !isSpace(text.charCodeAt(at))) at++;
  return at;
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x201c;
}

function isSpace(code: number): boolean {
  return (
    code === 0x20 ||
    (code >= 0x09 && code <= 0x0d) ||
    code === 0xa0 ||
    (code >= 0x2000 && code <= 0x200b) ||
    code === 0x3000
  );
}
