// The thread that reads facts, dates and personal data out of texts. What that takes is loaded here alone, and lexicon and
// model by the first text that wants them.
import { firstDate } from '../../engine/extract/dates.ts';
import { ruleExtractor } from '../../engine/extract/extractor.ts';
import { type PiiDetector, piiDetector } from '../../engine/govern/pii/detector.ts';
import { loadNameModel } from '../../engine/govern/pii/name-model.ts';
import type { TextOutcome, TextTask } from './read-text.ts';

let detector: PiiDetector | undefined;

/** Reads here and now. */
export default async function readText({ text, wants, ...context }: TextTask): Promise<TextOutcome> {
  if (wants === 'beliefs') return { beliefs: (await ruleExtractor().extract(text, context)).beliefs };
  if (wants === 'pii') {
    detector ??= piiDetector({ names: await loadNameModel() });
    return { beliefs: [], findings: detector.detect(text) };
  }
  const found = await firstDate(text, context.nowMs);
  return found === undefined ? { beliefs: [] } : { beliefs: [], dateMs: found.ms };
}
