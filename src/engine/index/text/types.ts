// The text index of one part as searches see it: postings by term, lengths by doc.

/** A term's postings in a part. Parallel arrays, docs ascending. Read-only views; at least `count` long. */
export interface Postings {
  readonly count: number;
  readonly docs: Uint32Array;
  /** Occurrences of the term in the doc; 65535 means that or more. */
  readonly frequencies: Uint16Array;
  /** Largest frequency and smallest counted length (see `countedLength`) of the list: bounds for MaxScore. */
  readonly maxFrequency: number;
  readonly minLength: number;
  /**
   * For a common term: its frequency in each doc, 0 for none, 255 for that or more. Docs beyond its end do not contain
   * the term.
   */
  readonly byDoc?: Uint8Array | undefined;
}

/**
 * A term has `byDoc` when at least one in this many docs contains it: looking up single docs is then ten times faster.
 */
export const COMMON_TERM_SHARE = 16;

/**
 * Positions of a term: posting i has `positions[starts[i]]` .. `positions[starts[i + 1] - 1]`, ascending. Read-only.
 */
export interface Occurrences {
  /** At least `count + 1` long. */
  readonly starts: Uint32Array;
  readonly positions: Uint32Array;
}

export interface TextPart {
  readonly docCount: number;
  /** Terms in each doc (stop words not counted), capped at 65535. At least docCount long. */
  readonly lengths: Uint16Array;
  /** Sum over docs of `countedLength`, removed docs included. */
  readonly totalLength: number;
  /** Postings of an analysed term (a stem, a bigram), or undefined. */
  postings(term: string): Postings | undefined;
  /** Positions of a term in all its docs, in the order of its postings, or undefined when it has no postings. */
  occurrences(term: string): Occurrences | undefined;
  /** Positions of `term` in `doc`, ascending; empty when there are none. */
  positions(term: string, doc: number): Uint32Array;
  /**
   * The result of `make`, cached under `name` while there is room: for lists computed from others. Absent in a part
   * that changes.
   */
  keep?(name: string, make: () => Postings | undefined): Postings | undefined;
  /** Number of distinct terms. */
  readonly termCount: number;
  /** Every distinct term in plain text, with its document frequency, in no particular order. For the vocabulary. */
  vocabulary(): Iterable<readonly [term: string, documentFrequency: number]>;
}
