// What takes facts out of a text, whatever stands behind it: the rules of this folder, or later a model.

import { loadDateFinder } from './dates.ts';
import type { ExtractContext, Extraction } from './extraction.ts';
import { loadLexicon } from './names.ts';
import { extractByRules } from './rules.ts';

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
