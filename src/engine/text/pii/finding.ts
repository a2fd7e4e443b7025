// A piece of personal data in a text, as callers get it and as rules hand it in.
import type { PiiCategory } from './categories.ts';

/** What told: a shape, a check digit, a list of known words, or a model of names. */
export type PiiSource = 'regex' | 'checksum' | 'dictionary' | 'ner';

export interface PiiFinding {
  readonly category: PiiCategory;
  /** The original text from `start` to `end`; for what was hidden in Base64 the whole encoded run. */
  readonly matchedText: string;
  /** Bytes of the original text in UTF-8; `end` is the first byte behind. */
  readonly start: number;
  readonly end: number;
  /** 1 with a check digit that fits, 0.85 to 0.95 by a shape alone, below that by the words around it. */
  readonly confidence: number;
  readonly source: PiiSource;
}

/** What a rule found: UTF-16 offsets in the normalised text. */
export interface Candidate {
  readonly category: PiiCategory;
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
  readonly source: PiiSource;
}
