// Checks the required and forbidden clauses of a query in one part. Required words drive the search. Phrases are
// checked by position, after all cheaper checks.
import type { TextClause } from './query.ts';
import { lowerBound } from './tail.ts';
import type { Occurrences, Postings, TextPart } from './types.ts';

export interface ClauseMatcher {
  /** The shortest list that a clause requires: no other doc can match. Undefined when nothing is required. */
  readonly driver: Postings | undefined;
  /** Whether a doc satisfies all clauses. */
  matches(doc: number): boolean;
}

/** A matcher for one part; undefined when every doc matches, 'nothing' when none can. */
export function matcherOf(text: TextPart, clauses: readonly TextClause[]): ClauseMatcher | 'nothing' | undefined {
  if (clauses.length === 0) return undefined;
  let driver: Postings | undefined;
  const checks: { readonly required: boolean; readonly phrase: PhraseMatcher }[] = [];
  for (const clause of clauses) {
    const phrase = phraseOf(text, clause);
    if (phrase === undefined) {
      if (clause.required) return 'nothing';
      continue;
    }
    checks.push({ required: clause.required, phrase });
    if (clause.required && (driver === undefined || phrase.rarest.count < driver.count)) driver = phrase.rarest;
  }
  if (checks.length === 0) return undefined;
  return {
    driver,
    matches: (doc) => checks.every(({ required, phrase }) => phrase.matches(doc) === required),
  };
}

function phraseOf(text: TextPart, { terms, offsets }: TextClause): PhraseMatcher | undefined {
  const lists: Postings[] = [];
  for (const term of terms) {
    const postings = text.postings(term);
    if (postings === undefined) return undefined;
    lists.push(postings);
  }
  return new PhraseMatcher(text, terms, offsets, lists);
}

/** Terms at fixed distances in one doc; a single term is the shortest phrase. */
class PhraseMatcher {
  readonly rarest: Postings;
  readonly #text: TextPart;
  readonly #terms: readonly string[];
  readonly #offsets: readonly number[];
  readonly #lists: readonly Postings[];
  #occurrences: Occurrences[] | undefined;

  constructor(text: TextPart, terms: readonly string[], offsets: readonly number[], lists: readonly Postings[]) {
    this.#text = text;
    this.#terms = terms;
    this.#offsets = offsets;
    this.#lists = lists;
    this.rarest = lists.reduce((rarest, list) => (list.count < rarest.count ? list : rarest));
  }

  matches(doc: number): boolean {
    const places = new Uint32Array(this.#lists.length);
    for (let i = 0; i < places.length; i++) {
      const { docs, count } = this.#lists[i]!;
      const at = lowerBound(docs, doc, 0, count);
      if (at === count || docs[at] !== doc) return false;
      places[i] = at;
    }
    return places.length === 1 || this.#inOrder(places);
  }

  #inOrder(places: Uint32Array): boolean {
    this.#occurrences ??= this.#terms.map((term) => this.#text.occurrences(term)!); // every term has postings here
    const first = this.#occurrences[0]!;
    for (let at = first.starts[places[0]!]!; at < first.starts[places[0]! + 1]!; at++) {
      const begin = first.positions[at]!;
      let term = 1;
      while (term < places.length && this.#stands(term, places[term]!, begin + this.#offsets[term]!)) term++;
      if (term === places.length) return true;
    }
    return false;
  }

  #stands(term: number, place: number, position: number): boolean {
    const { starts, positions } = this.#occurrences![term]!;
    const end = starts[place + 1]!;
    const at = lowerBound(positions, position, starts[place]!, end);
    return at < end && positions[at] === position;
  }
}
