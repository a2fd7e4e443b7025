// A piece of personal data in a text, in the form for callers and in the form of the rules.
import type { PiiCategory } from './categories.ts';

/** The evidence: a shape, a check digit, a list of known words, or a model of names. */
export type PiiSource = 'regex' | 'checksum' | 'dictionary' | 'ner';

export interface PiiFinding {
  readonly category: PiiCategory;
  /** The original text from `start` to `end`; for data hidden in Base64, the whole encoded run. */
  readonly matchedText: string;
  /** Byte offset in the original text as UTF-8; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** 1 with a valid check digit, 0.85 to 0.95 by shape alone, lower by the words around it. */
  readonly confidence: number;
  readonly source: PiiSource;
}

/** A finding of a rule: UTF-16 offsets in the normalised text. */
export interface Candidate {
  readonly category: PiiCategory;
  readonly from: number;
  readonly to: number;
  readonly confidence: number;
  readonly source: PiiSource;
}
