// Parses the text of a query (service contract 8.8). Operators: "a phrase", +must, -not, field:term. A sign is an
// operator only at the beginning of a token and before a letter or a quote; a colon only after a known field name; a
// quote only at the beginning of a token and if it is closed. Everything else is text (8.8.1).
import { QUERY_CHARS_MAX, QUERY_CLAUSES_MAX, QUERY_TERMS_MAX } from '../../base/limits.ts';
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

export interface TextQuery {
  /**
   * Distinct terms that contribute to the score, in order of appearance, including those of required clauses. May be
   * empty.
   */
  readonly terms: readonly string[];
  /** Distinct pairs of neighbouring terms, in order of appearance. */
  readonly pairs: readonly QueryPair[];
  readonly clauses: readonly TextClause[];
  readonly fields: readonly FieldCondition[];
  /** The query exceeded the bounds of limits.ts and its end was ignored: warn the caller. */
  readonly truncated: boolean;
}

/**
 * Parses a query. Never throws; linear in the text's length. Stop words alone give no terms. Terms of `unless` do not
 * score if other terms remain; terms of operators are always searched.
 */
export function parseQuery(text: string, analyzer: Analyzer, unless: ReadonlySet<string> = NO_TERMS): TextQuery {
  const truncated = text.length > QUERY_CHARS_MAX;
  const start = text.slice(0, QUERY_CHARS_MAX);
  const query = new QueryReader(start, analyzer, unless).read(truncated);
  return query.terms.length > 0 || unless.size === 0
    ? query
    : new QueryReader(start, analyzer, NO_TERMS).read(truncated);
}

const NO_TERMS: ReadonlySet<string> = new Set();

class QueryReader {
  readonly #text: string;
  readonly #analyzer: Analyzer;
  readonly #unless: ReadonlySet<string>;
  readonly #terms = new Set<string>();
  readonly #pairs = new Map<string, QueryPair>();
  readonly #clauses: TextClause[] = [];
  readonly #fields: FieldCondition[] = [];
  #truncated = false;
  /** Position of the last closing quote. Searches for a quote stop there, which keeps parsing linear. */
  readonly #lastQuote: number;

  constructor(text: string, analyzer: Analyzer, unless: ReadonlySet<string>) {
    this.#text = text;
    this.#analyzer = analyzer;
    this.#unless = unless;
    this.#lastQuote = Math.max(text.lastIndexOf('"'), text.lastIndexOf('”'));
  }

  read(truncated: boolean): TextQuery {
    const text = this.#text;
    this.#truncated = truncated;
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
    return {
      terms: [...this.#terms],
      pairs: [...this.#pairs.values()],
      clauses: this.#clauses,
      fields: this.#fields,
      truncated: this.#truncated,
    };
  }

  /**
   * Parses the operator at a token's start, after taking the plain text before it. Returns its end, or `start` if there
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
    const negated = sign === '-';
    const field = fieldAt(text, at);
    const valueStart = field === undefined ? at : at + field.length + 1;
    const quoted = isQuote(text.charCodeAt(valueStart)) ? this.#closingQuote(valueStart + 1) : -1;
    if (!signed && field === undefined && quoted < 0) return start;
    const end = quoted >= 0 ? quoted + 1 : tokenEnd(text, valueStart);
    const value = quoted >= 0 ? text.slice(valueStart + 1, quoted) : text.slice(valueStart, end);
    if (field !== undefined && value.trim() === '') return start;
    this.#plain(plainStart, start);
    if (field !== undefined) this.#field(field, quoted >= 0 ? value : value.replace(/[?!.,;]+$/, ''), negated);
    else this.#clause(value, !negated);
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
    if (start < end) this.#score(this.#text.slice(start, end), this.#unless);
  }

  /** Adds a text's terms and pairs to the score. `complete` is false when the terms exceeded the limit. */
  #score(text: string, unless: ReadonlySet<string>): { readonly complete: boolean } {
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

  #clause(value: string, required: boolean): void {
    const { terms, positions } = this.#analyzer.analyze(value);
    if (terms.length === 0) return;
    if (this.#clauses.length >= QUERY_CLAUSES_MAX || terms.length > QUERY_TERMS_MAX) {
      this.#truncated = true;
      return;
    }
    // A clause whose terms exceed the limit is left out as a whole, not cut.
    if (required && !this.#score(value, NO_TERMS).complete) return;
    this.#clauses.push({ required, terms, offsets: positions.map((position) => position - positions[0]!) });
  }

  #field(field: QueryField, value: string, negated: boolean): void {
    if (this.#fields.length >= QUERY_CLAUSES_MAX) {
      this.#truncated = true;
      return;
    }
    this.#fields.push({ field, value, terms: this.#analyzer.analyze(value).terms, negated });
    if (field === 'content') this.#clause(value, !negated);
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
