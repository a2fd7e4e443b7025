// The text index of one part, seen by search: postings by term, lengths by doc.

/** A term's postings in a part. Parallel arrays, docs ascending. Read-only views; at least `count` long. */
export interface Postings {
  readonly count: number;
  readonly docs: Uint32Array;
  /** Occurrences of the term in the doc; 65535 stands for that or more. */
  readonly frequencies: Uint16Array;
  /** Largest frequency and smallest counted length (see `lengthFloor`) of the list: bounds for MaxScore. */
  readonly maxFrequency: number;
  readonly minLength: number;
  /** Of a term that many docs hold: its frequency in each doc, 0 for none, 255 for that or more. Docs beyond
   * its end do not hold the term. */
  readonly byDoc?: Uint8Array | undefined;
}

/** A term has `byDoc` when at least one doc in this many holds it: looking up docs one by one is then ten times faster. */
export const COMMON_TERM_SHARE = 16;

/** Where a term stands: posting i has `positions[starts[i]]` .. `positions[starts[i + 1] - 1]`, ascending. Read-only. */
export interface Occurrences {
  /** At least `count + 1` long. */
  readonly starts: Uint32Array;
  readonly positions: Uint32Array;
}

export interface TextPart {
  readonly docCount: number;
  /** Terms in each doc (stop words not counted), capped at 65535. At least docCount long. */
  readonly lengths: Uint16Array;
  /** Sum over docs of max(length, lengthFloor), removed docs included. */
  readonly totalLength: number;
  /** Postings of an analysed term (a stem, a bigram), or undefined. */
  postings(term: string): Postings | undefined;
  /** Positions of a term in all its docs, in the order of its postings, or undefined when it has no postings. */
  occurrences(term: string): Occurrences | undefined;
  /** Positions of `term` in `doc`, ascending; empty when it has none. */
  positions(term: string, doc: number): Uint32Array;
  /**
   * What `make` gives, kept under `name` while there is room: lists that are made of others. A part that changes keeps
   * none, and does not have this.
   */
  keep?(name: string, make: () => Postings | undefined): Postings | undefined;
  /** Number of distinct terms. */
  readonly termCount: number;
  /** Every distinct term in plain text, with its document frequency, in no particular order. For the vocabulary. */
  vocabulary(): Iterable<readonly [term: string, documentFrequency: number]>;
}
