// The interface of extractors, which take facts out of a text: the rules of this folder, or a model.

import { loadDateFinder } from './dates.ts';
import type { ExtractContext, Extraction } from './extraction.ts';
import { loadLexicon } from './names.ts';
import { extractByRules } from './rules.ts';

export interface Extractor {
  /** Identifies the extractor of a belief. */
  readonly name: string;
  extract(text: string, context: ExtractContext): Promise<Extraction>;
}

/**
 * The rules for English. They extract plain statements and skip everything uncertain: questions, conditions, wishes,
 * hearsay, quotations, pronouns other than "I". The same text and context give the same facts. The first call loads the
 * lexicon and waits for it.
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
