// One part in the form that a search uses: its text index, and which of its docs count.
import type { TextPart } from './types.ts';

/** A set of docs: bit `doc & 31` of word `doc >>> 5`. A DocSet is one. */
export interface DocBits {
  readonly words: Int32Array;
}

/** One part, and which of its docs count. */
export interface SearchPart {
  readonly text: TextPart;
  /** Docs that neither count in statistics nor can be found; undefined: none. Called only for possible hits. */
  readonly removed: ((doc: number) => boolean) | undefined;
  /** Docs that may be found; undefined: all. Does not affect statistics. */
  readonly allowed: DocBits | undefined;
  /** The docs of `allowed`, ascending. A search looks at each of them where they are few. */
  readonly allowedDocs?: Uint32Array | undefined;
  /** The docs for which `removed` is true, ascending. With it, statistics need not check every doc. */
  readonly removedDocs?: Uint32Array | undefined;
  /** The docs that count in statistics, when they are not all live docs. */
  readonly counted?: CountedDocs | undefined;
  /** By doc, for equal scores (see TopHits). */
  readonly createdAtMs?: Float64Array | undefined;
  readonly ordinals?: Uint32Array | undefined;
  /** True when createdAtMs never falls from one doc to the next; makes searching faster. */
  readonly chronological?: boolean | undefined;
}

/** Live docs of a part on which statistics are based. */
export interface CountedDocs {
  readonly count: number;
  /** Whichever is smaller: an ascending list, or a set. */
  readonly docs: Uint32Array | DocBits;
  /** Sum of their counted lengths. */
  readonly totalLength: number;
  /** Numbers of counted docs of long posting lists, by term. Kept, since counting reads the whole list. */
  readonly frequencies: Map<string, number>;
}
