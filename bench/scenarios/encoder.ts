// The built-in sentence encoder in its thread: texts per second, short ones and ones of 118 pieces, and the latency of
// a query alone and during a full backlog, by both runtimes if both are installed. Also during a backlog of long texts
// with the second thread that queries then get, and its cost; long texts in bytes (int8) beside floats; and the preceding steps, the tokenizer and the cutting of
// windows.
import { setTimeout } from 'node:timers/promises';
import { type BuiltinEmbedder, openBuiltinEmbedder } from '../../src/embed/builtin/builtin.ts';
import type { Precision } from '../../src/embed/builtin/graph.ts';
import { encoderFolder } from '../../src/embed/builtin/package-files.ts';
import { withQueryThread } from '../../src/embed/builtin/query-thread.ts';
import { hasNativeRuntime, type RuntimeName } from '../../src/embed/builtin/runtime.ts';
import { readTokenizer } from '../../src/embed/builtin/vocabulary.ts';
import type { Embedder } from '../../src/embed/embedder.ts';
import { ngramVector } from '../../src/embed/ngram.ts';
import { windowsOf } from '../../src/embed/windows.ts';
import { inFolder } from '../lib/folder.ts';
import type { Measured, Options, Scenario } from '../lib/scenario.ts';
import { sized } from '../lib/scenario.ts';
import { inTurns, median, medianRatio, percentile, rounded } from '../lib/statistics.ts';

const SENTENCES = [
  'The user is allergic to peanuts.',
  'He lives in Berlin with his wife.',
  'My car broke down on the highway.',
  'She got promoted to engineering manager.',
  'I prefer window seats on long flights.',
  'The meeting was moved to Thursday.',
  'Our company reported record profits.',
  'The software crashes when uploading large files.',
];
const LONG_PIECES = 118;
/** Longer than a text of the backlog takes. */
const RESTS_MS = 60;

export const scenario: Scenario = {
  name: 'encoder',
  about: 'the built-in sentence encoder: texts a second by both runtimes, a query beside a backlog, the tokenizer',
  aims: [
    { metric: 'wasm_short_texts_per_s', atLeast: 200 },
    // A query waits for the rest of one text, then takes its own time.
    { metric: 'wasm_query_beside_backlog_over_alone_ratio', atMost: 2.5 },
    // With a second thread it shares the cores with the backlog, but waits for none of its texts.
    { metric: 'wasm_query_own_thread_over_shared_ratio', atMost: 0.5 },
    { metric: 'int8_over_fp32_short_texts_ratio', atLeast: 2 },
    { metric: 'int8_over_fp32_long_texts_ratio', atLeast: 2 },
    { metric: 'tokenizer_short_us', atMost: 20 },
  ],
  run,
};

interface Round {
  readonly short: number;
  readonly long: number;
  readonly query: number;
  readonly beside: number;
  readonly besideLong: number;
  readonly ownThread: number;
}

async function run({ size }: Options): Promise<Measured> {
  const shortTexts = sized(size, { full: 1_000, quick: 200, smoke: 4 });
  const rounds = sized(size, { full: 5, quick: 3, smoke: 1 });
  const tokenizer = readTokenizer(encoderFolder());
  const long = upTo(LONG_PIECES, (text) => tokenizer.count(text));
  const names: RuntimeName[] = hasNativeRuntime() ? ['wasm', 'native'] : ['wasm'];
  const metrics: Record<string, number> = {};
  const figures = await inFolder(async (cacheFolder) => {
    const embedders: Partial<Record<RuntimeName, BuiltinEmbedder>> = {};
    const seconds: Partial<Record<RuntimeName, BuiltinEmbedder>> = {};
    for (const name of names) {
      // The first load converts the model; the measured load reads the file.
      if (name === 'wasm') metrics['convert_and_load_ms'] = await loadMs(cacheFolder, name);
      metrics[`${name}_load_ms`] = await loadMs(cacheFolder, name);
      embedders[name] = openBuiltinEmbedder({ cacheFolder, runtime: name });
      await embedders[name].load();
      const before = process.memoryUsage().rss;
      seconds[name] = openBuiltinEmbedder({ cacheFolder, runtime: name, queriesOnly: true });
      await seconds[name].load();
      await seconds[name].embed([long]);
      metrics[`${name}_second_thread_rss_mb`] = (process.memoryUsage().rss - before) / 1_048_576;
    }
    const variants = Object.fromEntries(
      names.map((name) => [name, () => measure(embedders[name]!, seconds[name]!, long, shortTexts)]),
    );
    const measured = await inTurns(rounds, variants);
    Object.assign(metrics, await precisions(cacheFolder, long, { rounds, shortTexts }));
    for (const name of names) await Promise.all([embedders[name]!.close(), seconds[name]!.close()]);
    return measured;
  });
  for (const [name, all] of Object.entries(figures)) {
    metrics[`${name}_short_texts_per_s`] = median(all.map(({ short }) => short));
    metrics[`${name}_long_texts_per_s`] = median(all.map((round) => round.long));
    metrics[`${name}_query_ms`] = median(all.map(({ query }) => query));
    metrics[`${name}_query_beside_backlog_ms`] = median(all.map(({ beside }) => beside));
    metrics[`${name}_query_beside_backlog_over_alone_ratio`] = medianRatio(
      all.map(({ beside }) => beside),
      all.map(({ query }) => query),
    );
  }
  for (const [name, all] of Object.entries(figures)) {
    const own = all.map(({ ownThread }) => ownThread);
    const shared = all.map(({ besideLong }) => besideLong);
    metrics[`${name}_query_beside_long_backlog_ms`] = median(shared);
    metrics[`${name}_query_own_thread_ms`] = median(own);
    metrics[`${name}_query_own_thread_over_shared_ratio`] = medianRatio(own, shared);
  }
  if (figures['native'] !== undefined)
    metrics['native_over_wasm_ratio'] = medianRatio(
      figures['native'].map(({ short }) => short),
      figures['wasm']!.map(({ short }) => short),
    );
  const repeats = sized(size, { full: 2_000, quick: 500, smoke: 5 });
  metrics['tokenizer_short_us'] = us(repeats, (i) => tokenizer.encode(SENTENCES[i % SENTENCES.length]!));
  metrics['tokenizer_long_us'] = us(repeats, () => tokenizer.encode(long));
  metrics['windows_of_long_us'] = us(repeats, () => windowsOf(long));
  metrics['ngram_short_us'] = us(repeats, (i) => ngramVector(SENTENCES[i % SENTENCES.length]!));
  return {
    parameters: { short_texts: shortTexts, long_pieces: LONG_PIECES, rounds, runtimes: names.join(' ') },
    metrics: rounded(metrics),
  };
}

/** Short and long texts a second by WebAssembly, with the matrices in floats and in bytes. */
async function precisions(
  cacheFolder: string,
  long: string,
  { rounds, shortTexts }: { readonly rounds: number; readonly shortTexts: number },
): Promise<Record<string, number>> {
  const open = async (precision: Precision): Promise<BuiltinEmbedder> => {
    const embedder = openBuiltinEmbedder({ cacheFolder, runtime: 'wasm', precision });
    await embedder.embed([long]);
    return embedder;
  };
  const [fp32, int8] = [await open('fp32'), await open('int8')];
  const longs = Array.from({ length: Math.ceil(shortTexts / 10) }, () => long);
  const shorts = shortOnes(shortTexts);
  const figures: Record<string, number> = {};
  for (const [name, texts] of Object.entries({ short: shorts, long: longs })) {
    const rates = await inTurns(rounds, {
      fp32: () => perSecond(texts.length, () => fp32.embed(texts)),
      int8: () => perSecond(texts.length, () => int8.embed(texts)),
    });
    figures[`fp32_${name}_texts_per_s`] = median(rates.fp32);
    figures[`int8_over_fp32_${name}_texts_ratio`] = medianRatio(rates.int8, rates.fp32);
  }
  await Promise.all([fp32.close(), int8.close()]);
  return figures;
}

function shortOnes(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${i} ${SENTENCES[i % SENTENCES.length]}`);
}

async function measure(
  embedder: BuiltinEmbedder,
  second: BuiltinEmbedder,
  long: string,
  count: number,
): Promise<Round> {
  const texts = shortOnes(count);
  const short = await perSecond(count, () => embedder.embed(texts));
  const longs = Array.from({ length: Math.ceil(count / 10) }, () => long);
  const longRate = await perSecond(longs.length, () => embedder.embed(longs));
  const queries = texts.slice(0, Math.ceil(count / 10));
  const query = await medianQueryMs(embedder, queries);
  // More than the thread can embed meanwhile; the rest is cancelled.
  const besideOf = async (asked: Embedder, backlogTexts: readonly string[], restsMs = 0): Promise<number> => {
    const controller = new AbortController();
    const backlog = embedder.embed(backlogTexts, { signal: controller.signal }).catch(() => undefined);
    const beside = await medianQueryMs(asked, queries, restsMs);
    controller.abort();
    await backlog;
    return beside;
  };
  const beside = await besideOf(embedder, [...texts, ...texts, ...texts]);
  const longBacklog = texts.map(() => long);
  // A query right after another often slips in before the next text of the backlog; real queries arrive at random.
  const besideLong = await besideOf(embedder, longBacklog, RESTS_MS);
  const ownThread = await besideOf(withQueryThread(embedder, { open: () => second }), longBacklog, RESTS_MS);
  return { short, long: longRate, query, beside, besideLong, ownThread };
}

/** Queries one after the other, with random pauses of up to `restsMs`. */
async function medianQueryMs(embedder: Embedder, queries: readonly string[], restsMs = 0): Promise<number> {
  const times: number[] = [];
  for (const [i, text] of queries.entries()) {
    if (restsMs > 0) await setTimeout(((i * 37) % 100) * (restsMs / 100));
    const start = performance.now();
    await embedder.embed([text], { priority: 'query' });
    times.push(performance.now() - start);
  }
  return percentile(times, 0.5);
}

async function loadMs(cacheFolder: string, runtime: RuntimeName): Promise<number> {
  const embedder = openBuiltinEmbedder({ cacheFolder, runtime });
  const start = performance.now();
  await embedder.load();
  const ms = performance.now() - start;
  await embedder.close();
  return ms;
}

async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (count * 1_000) / (performance.now() - start);
}

function us(repeats: number, work: (i: number) => unknown): number {
  const rounds = Array.from({ length: 5 }, () => {
    const start = performance.now();
    for (let i = 0; i < repeats; i++) work(i);
    return ((performance.now() - start) * 1_000) / repeats;
  });
  return median(rounds);
}

/** Sentences, then words, of exactly `pieces` pieces. */
function upTo(pieces: number, count: (text: string) => number): string {
  let text = '';
  for (const word of Array.from({ length: pieces }, () => SENTENCES.join(' ').split(' ')).flat()) {
    const longer = text === '' ? word : `${text} ${word}`;
    if (count(longer) > pieces) break;
    text = longer;
  }
  while (count(text) < pieces) text += ' the';
  return text;
}
