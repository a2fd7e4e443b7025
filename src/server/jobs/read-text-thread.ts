// The thread that reads facts and dates out of texts. What that takes is loaded here alone, and the lexicon by the first
// text that wants it.
import { firstDate } from '../../engine/extract/dates.ts';
import { ruleExtractor } from '../../engine/extract/extractor.ts';
import type { TextOutcome, TextTask } from './read-text.ts';

/** Reads here and now. */
export default async function readText({ text, wants, ...context }: TextTask): Promise<TextOutcome> {
  if (wants === 'beliefs') return { beliefs: (await ruleExtractor().extract(text, context)).beliefs };
  const found = await firstDate(text, context.nowMs);
  return found === undefined ? { beliefs: [] } : { beliefs: [], dateMs: found.ms };
}
