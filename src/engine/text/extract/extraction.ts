// Input and output of an extraction.

export interface ExtractContext {
  /** The reference time of relative dates. */
  readonly nowMs: number;
  /** The speaker, to whom "I" refers. Default: `userId`, or `user` without both. */
  readonly speaker?: string | undefined;
  readonly userId?: string | undefined;
}

/** A fact as the text states it, in the shape of a belief. */
export interface ExtractedBelief {
  readonly subject: string;
  /** Lower case words with `_` between: `lives_in`. */
  readonly relation: string;
  readonly object: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** When the fact began to hold, in milliseconds since 1970, if the text says so. */
  readonly validFromMs?: number;
}

export interface Extraction {
  /** Distinct, in the order of the text, EXTRACT_BELIEFS_MAX at most. */
  readonly beliefs: readonly ExtractedBelief[];
  /** Parts of the text that were skipped because of a limit. */
  readonly left: readonly string[];
}
