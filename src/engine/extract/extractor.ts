// What takes facts out of a text, whatever stands behind it: the rules of this folder, or later a model.
import { loadDateFinder } from './dates.ts';
import { loadLexicon } from './names.ts';
import { extractByRules } from './rules.ts';

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

export interface Extractor {
  /** Tells extractions of different extractors apart. */
  readonly name: string;
  extract(text: string, context: ExtractContext): Promise<Extraction>;
}

/**
 * The rules for English. They take what is stated plainly and leave everything unsure: questions, conditions, wishes,
 * hearsay, quotations, pronouns other than "I". The same text and context give the same facts. Loads its lexicon at
 * the first call, which that call waits for.
 */
export function ruleExtractor(): Extractor {
  return {
    name: 'rules-en/1',
    extract: async (text, context) => {
      const [lexicon, dates] = await Promise.all([loadLexicon(), loadDateFinder()]);
      return extractByRules(text, context, { lexicon, dates });
    },
  };
}
