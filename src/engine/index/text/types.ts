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
}

export interface TextPart {
  readonly docCount: number;
  /** Terms in each doc (stop words not counted), capped at 65535. At least docCount long. */
  readonly lengths: Uint16Array;
  /** Sum over docs of max(length, lengthFloor), removed docs included. */
  readonly totalLength: number;
  /** Postings of an analysed term (a stem, a bigram), or undefined. */
  postings(term: string): Postings | undefined;
  /** Positions of `term` in `doc`, ascending; empty when it has none. */
  positions(term: string, doc: number): Uint32Array;
  /** Number of distinct terms. */
  readonly termCount: number;
  /** Every distinct term in plain text, with its document frequency, in no particular order. For the vocabulary. */
  vocabulary(): Iterable<readonly [term: string, documentFrequency: number]>;
}
