// Extraction of facts from text by rules: how many facts are right, how many are found, and how fast. Both halves of
// the labelled sentences; the second was written before the rules and is only counted.
import { loadDateFinder } from '../../src/engine/text/extract/dates.ts';
import { ruleExtractor } from '../../src/engine/text/extract/extractor.ts';
import { LABELLED_NOW_MS, labelled, precision, recall, score } from '../../test/extraction/labelled.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';

const ROUNDS = 5;
const MEBIBYTE = 1_048_576;
const TEXT_CHARS = 200_000;

export const scenario: Scenario = {
  name: 'extraction',
  about: 'facts and dates taken out of text by rules: precision, recall and speed',
  aims: [
    { metric: 'first_half_precision_ratio', atLeast: 0.9 },
    { metric: 'second_half_precision_ratio', atLeast: 0.9 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const repeats = sized(size, { full: 40, quick: 8, smoke: 1 });
  const loading = performance.now();
  const extractor = ruleExtractor();
  await extractor.extract('My name is Anna.', { nowMs: LABELLED_NOW_MS });
  const loadMs = performance.now() - loading;
  const halves = { first: labelled('first'), second: labelled('second') };
  const scores = {
    first: await score(extractor, halves.first),
    second: await score(extractor, halves.second),
  };
  const all = [...halves.first, ...halves.second].map(({ text }) => text);
  // One paragraph each, so that sentences are not context for one another.
  const chat = new Array<string>(repeats).fill(all.join('\n\n')).join('\n\n');
  const texts = Array.from({ length: Math.ceil(chat.length / TEXT_CHARS) }, (_, i) =>
    chat.slice(i * TEXT_CHARS, (i + 1) * TEXT_CHARS),
  );
  const dates = await loadDateFinder();
  const dated = all.map((text) => `${text} We met on March 3, 2020.`);
  const sentenceUs = await medianUs(all.length, async () => {
    for (const text of all) await extractor.extract(text, { nowMs: LABELLED_NOW_MS });
  });
  const byteUs = await medianUs(chat.length, async () => {
    for (const text of texts) await extractor.extract(text, { nowMs: LABELLED_NOW_MS });
  });
  const dateUs = await medianUs(dated.length, async () => {
    for (const text of dated) dates(text, LABELLED_NOW_MS);
  });
  return {
    parameters: {
      first_sentences: halves.first.length,
      second_sentences: halves.second.length,
      rounds: ROUNDS,
      repeats,
    },
    metrics: rounded({
      first_half_precision_ratio: precision(scores.first),
      first_half_recall_ratio: recall(scores.first),
      second_half_precision_ratio: precision(scores.second),
      second_half_recall_ratio: recall(scores.second),
      load_ms: loadMs,
      sentence_us: sentenceUs,
      long_text_mb_per_s: 1e6 / (byteUs * MEBIBYTE),
      first_date_us: dateUs,
    }),
  };
}

/** Median over rounds of the microseconds per item. */
async function medianUs(count: number, work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    await work();
    if (round > 0) times.push(((performance.now() - start) * 1000) / count);
  }
  return median(times);
}
