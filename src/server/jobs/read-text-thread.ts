// The thread that extracts facts, dates and personal data. It alone loads the libraries for that; lexicon and model
// load with the first text that needs them.
import { firstDate } from '../../engine/text/extract/dates.ts';
import { ruleExtractor } from '../../engine/text/extract/extractor.ts';
import type { PiiDetector } from '../../engine/text/pii/detection.ts';
import { piiDetector } from '../../engine/text/pii/detector.ts';
import { loadNameModel } from '../../engine/text/pii/name-model.ts';
import type { TextOutcome, TextTask } from './read-text.ts';

interface Names {
  readonly detector: PiiDetector;
  readonly loadedMs: number;
}

let names: Names | undefined;

/** Reads on this thread. */
export default async function readText({ text, wants, ...context }: TextTask): Promise<TextOutcome> {
  if (wants === 'beliefs') return ruleExtractor().extract(text, context);
  if (wants === 'pii') return { beliefs: [], findings: (await withNames(context.nowMs)).detector.detect(text) };
  if (wants === 'names') return { beliefs: [], namesLoadedMs: (await withNames(context.nowMs)).loadedMs };
  const found = await firstDate(text, context.nowMs);
  return found === undefined ? { beliefs: [] } : { beliefs: [], dateMs: found.ms };
}

async function withNames(nowMs: number): Promise<Names> {
  names ??= { detector: piiDetector({ names: await loadNameModel() }), loadedMs: nowMs };
  return names;
}
