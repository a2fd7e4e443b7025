// `RECALL … | SUBJECTS` in LET and in subqueries: the last stage says what to take, and does not belong to the recall.
import { EXTRACTORS, type Extractor } from '../../calls/cal.ts';
import type { Recall } from '../ast.ts';

const extractors: ReadonlySet<string> = new Set(EXTRACTORS);

/** The recall without its last stage when that one extracts, and what it extracts. */
export function takeExtractor(recall: Recall): { readonly recall: Recall; readonly extract?: Extractor } {
  const last = recall.stages.at(-1);
  if (last === undefined || !extractors.has(last.stage)) return { recall };
  // The set was asked.
  return { recall: { ...recall, stages: recall.stages.slice(0, -1) }, extract: last.stage as Extractor };
}
