// Detection of personal data in text: precision, recall and speed. Three sets of the labelled sentences; the second and
// the fourth were written before the rules.
import type { PiiDetector } from '../../src/engine/text/pii/detection.ts';
import { piiDetector } from '../../src/engine/text/pii/detector.ts';
import { loadNameModel } from '../../src/engine/text/pii/name-model.ts';
import { applyPiiPolicy } from '../../src/engine/text/pii/write-action.ts';
import { labelled, precision, recall, score } from '../../test/pii/labelled.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { median, rounded } from '../lib/statistics.ts';

const ROUNDS = 7;
/** Uncounted rounds, in which the rules are compiled. */
const WARM_ROUNDS = 3;
const TEXT_CHARS = 200;
const LONG_CHARS = 250_000;
/** Texts designed to be slow: numbers and names that are looked up, and near misses of names, numbers and addresses. */
const HOSTILE = [
  'fax 1234567 ',
  'Aa Bb, ',
  '1 Aa ',
  'a@',
  '4111 ',
  'eyJa.',
  '市',
  'U1NOIDIxOS0wOS05OTk4IG5vdw== ',
  '%40',
  '616c',
  '0171 2345678 ',
];
/** Chat messages, with personal data now and then. */
const CHAT = `I have been thinking about moving the weekly review to Thursday morning, since most of the team is out on Fridays.
The draft is about 1,200 words long; section 3.2 still needs numbers from the 2024-03-05 report. My name is Maria Lopez and
you can reach me at maria.lopez@example.org or +1 202 456 1111. The build took 14 minutes on version 10.4.2, which is fine.
Could you compare the two vendors and tell me which is cheaper over three years? Priya asked for it yesterday. Thanks! `;

export const scenario: Scenario = {
  name: 'pii',
  about: 'personal data found in text: precision, recall and speed',
  aims: [
    { metric: 'second_half_precision_ratio', atLeast: 0.95 },
    { metric: 'second_half_recall_ratio', atLeast: 0.9 },
    { metric: 'text_without_names_cpu_us', atMost: 60 },
    { metric: 'text_cpu_us', atMost: 600 },
  ],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const repeats = sized(size, { full: 400, quick: 60, smoke: 2 });
  const longChars = sized(size, { full: LONG_CHARS, quick: LONG_CHARS, smoke: 2_000 });
  const loading = performance.now();
  const names = await loadNameModel();
  const loadMs = performance.now() - loading;
  const detector = piiDetector({ names });
  const withoutNames = piiDetector({ findNames: false });
  const halves = { first: labelled('first'), second: labelled('second'), fourth: labelled('fourth') };
  const scores = {
    first: score(detector, halves.first),
    second: score(detector, halves.second),
    fourth: score(detector, halves.fourth),
  };
  const lists = score(piiDetector(), halves.second);
  const marked = [...halves.first, ...halves.second].map(({ text }) => text).join(' ');
  const chat = pieces(CHAT.replaceAll('\n', ' ').repeat(repeats), TEXT_CHARS);
  const dense = pieces(marked, TEXT_CHARS);
  const hostileMs = HOSTILE.map((unit) => {
    const text = unit.repeat(Math.ceil(longChars / unit.length));
    const start = performance.now();
    detector.detect(text);
    return performance.now() - start;
  });
  const long = CHAT.repeat(Math.ceil(longChars / CHAT.length));
  return {
    parameters: {
      first_sentences: halves.first.length,
      second_sentences: halves.second.length,
      text_chars: TEXT_CHARS,
      long_chars: longChars,
      rounds: ROUNDS,
    },
    metrics: rounded({
      first_half_precision_ratio: precision(scores.first),
      first_half_recall_ratio: recall(scores.first),
      second_half_precision_ratio: precision(scores.second),
      second_half_recall_ratio: recall(scores.second),
      fourth_set_precision_ratio: precision(scores.fourth),
      fourth_set_recall_ratio: recall(scores.fourth),
      second_half_without_model_recall_ratio: recall(lists),
      model_load_ms: loadMs,
      text_without_names_cpu_us: medianUs(chat.length, () => detectAll(withoutNames, chat)),
      text_cpu_us: medianUs(chat.length, () => detectAll(detector, chat)),
      dense_text_without_names_cpu_us: medianUs(dense.length, () => detectAll(withoutNames, dense)),
      dense_text_cpu_us: medianUs(dense.length, () => detectAll(detector, dense)),
      redacted_grain_cpu_us: medianUs(chat.length, () => redactAll(detector, chat)),
      long_text_cpu_ms: medianUs(1000, () => detectAll(detector, [long])),
      slowest_hostile_ms: Math.max(...hostileMs),
    }),
  };
}

function pieces(text: string, chars: number): string[] {
  return Array.from({ length: Math.floor(text.length / chars) }, (_, i) => text.slice(i * chars, (i + 1) * chars));
}

function detectAll(detector: PiiDetector, texts: readonly string[]): void {
  for (const text of texts) detector.detect(text);
}

function redactAll(detector: PiiDetector, texts: readonly string[]): void {
  const policy = { action: 'redact', categories: '*', sensitiveSeparate: false } as const;
  const writer = { purpose: 'storage', granted: () => false };
  for (const content of texts) applyPiiPolicy(detector, { type: 'event', fields: { content } }, policy, writer);
}

/** Median over rounds of CPU microseconds per item: nothing here waits, and other load does not count. */
function medianUs(count: number, work: () => void): number {
  const times: number[] = [];
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    if (round >= WARM_ROUNDS) times.push((user + system) / count);
  }
  return median(times);
}
