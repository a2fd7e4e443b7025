// What an extraction takes and gives.

export interface ExtractContext {
  /** What relative dates are seen from. */
  readonly nowMs: number;
  /** Whose words these are: what "I" stands for; without one `userId`, without both `user`. */
  readonly speaker?: string;
  readonly userId?: string;
}

/** A fact as the text states it, in the shape of a belief. */
export interface ExtractedBelief {
  readonly subject: string;
  /** Lower case words with `_` between: `lives_in`. */
  readonly relation: string;
  readonly object: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** When it began to hold, milliseconds since 1970, where the text says so. */
  readonly validFromMs?: number;
}

export interface Extraction {
  /** Distinct, in the order of the text, EXTRACT_BELIEFS_MAX at most. */
  readonly beliefs: readonly ExtractedBelief[];
  /** What of the text was not read, or not taken, for a bound. */
  readonly left: readonly string[];
}
