// Splits `RECALL … | SUBJECTS` in LET and subqueries: the last stage is the extractor and not part of the recall.
import { EXTRACTORS, type Extractor } from '../../calls/cal.ts';
import type { Recall } from '../ast.ts';

const extractors: ReadonlySet<string> = new Set(EXTRACTORS);

/** The recall and its extractor. If the last stage is an extractor, it is removed from the recall. */
export function takeExtractor(recall: Recall): { readonly recall: Recall; readonly extract?: Extractor } {
  const last = recall.stages.at(-1);
  if (last === undefined || !extractors.has(last.stage)) return { recall };
  // The set holds only extractors.
  return { recall: { ...recall, stages: recall.stages.slice(0, -1) }, extract: last.stage as Extractor };
}
