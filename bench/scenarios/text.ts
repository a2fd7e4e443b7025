// The text index alone: analysis, adding, searching (tail and sealed chunk), sealing and merging, on synthetic texts of
// 14-26 words drawn by Zipf's law from 30,000. Searches are compared with the plain method, term at a time over
// everything.
import { createHash } from 'node:crypto';
import { HeapBudget } from '../../src/engine/index/heap-budget.ts';
import type { AnalyzedText } from '../../src/engine/index/parts/part.ts';
import { analyzer } from '../../src/engine/index/text/analyze.ts';
import { inverseDocumentFrequency, LengthNorms, termScore } from '../../src/engine/index/text/bm25.ts';
import { MemoryChunk, oneByOne } from '../../src/engine/index/text/memory-chunk.ts';
import { mergeText } from '../../src/engine/index/text/merge-text.ts';
import { matchPairs } from '../../src/engine/index/text/pairs.ts';
import { parseQuery, type QueryPair, type TextQuery } from '../../src/engine/index/text/query.ts';
import { collectStatistics, searchText, type TextStatistics } from '../../src/engine/index/text/search.ts';
import type { SearchPart } from '../../src/engine/index/text/search-part.ts';
import { encodeText, TextChunk } from '../../src/engine/index/text/segment.ts';
import { TextTail } from '../../src/engine/index/text/tail.ts';
import type { TextPart } from '../../src/engine/index/text/types.ts';
import { generator, makeWords, zipf } from '../lib/random.ts';
import { type Measured, type Options, type Scenario, sized } from '../lib/scenario.ts';
import { percentile, rounded } from '../lib/statistics.ts';

const WORDS = 30_000;
const LIMIT = 100;

export const scenario: Scenario = {
  name: 'text',
  about: 'the text index alone, beside reading every posting of every word asked for',
  aims: [],
  run,
};

async function run({ size }: Options): Promise<Measured> {
  const docs = sized(size, { full: 100_000, quick: 40_000, smoke: 400 });
  const count = sized(size, { full: 1_000, quick: 500, smoke: 20 });
  const random = generator(7);
  const words = makeWords(WORDS, random);
  const pick = zipf(words.length, random);
  const texts = Array.from({ length: docs }, () => {
    const length = 14 + Math.floor(random() * 13);
    return `${Array.from({ length }, () => words[pick()]!).join(' ')}.`;
  });
  const analysis = analyzer('en');
  for (const text of texts.slice(0, docs / 5)) analysis.analyze(text);
  const analyzeStart = performance.now();
  const analyzed = texts.map((text) => analysis.analyze(text));
  const analyzeUs = ((performance.now() - analyzeStart) * 1_000) / docs;

  const tail = new TextTail();
  const addStart = performance.now();
  for (let doc = 0; doc < docs; doc++) tail.add(doc, analyzed[doc]!);
  const addUs = ((performance.now() - addStart) * 1_000) / docs;

  // As grains are published: scanned, and added at once.
  const published = new TextTail();
  const publishStart = process.cpuUsage();
  for (let doc = 0; doc < docs; doc++) published.add(doc, analysis.scan(texts[doc]!));
  const publishCpu = process.cpuUsage(publishStart);

  const token = hashedToken();
  const sealed = new MemoryChunk();
  const sealMs = slices(encodeText(tail, oneByOne(token), sealed));
  const chunk = new TextChunk(sealed, docs, token, new HeapBudget(1e9).scope());

  const queries = Array.from({ length: count }, () => {
    const from = analyzed[Math.floor(random() * docs)]!.terms;
    const terms = Array.from({ length: 2 + Math.floor(random() * 3) }, () => from[Math.floor(random() * from.length)]!);
    return queryOf(terms);
  });
  const publishUs = (publishCpu.user + publishCpu.system) / docs;
  const result: Record<string, number> = { analyze_us: analyzeUs, add_us: addUs, publish_cpu_us: publishUs };
  result['tail_heap_bytes_per_doc'] = tail.heapBytes / docs;
  for (const [name, text] of [['tail', tail] as const, ['chunk', chunk] as const]) {
    const parts: SearchPart[] = [{ text, removed: undefined, allowed: undefined }];
    const cold = timeQueries(queries, (query) =>
      searchText(parts, query, collectStatistics(parts, query.terms), LIMIT),
    );
    const warm = timeQueries(queries, (query) =>
      searchText(parts, query, collectStatistics(parts, query.terms), LIMIT),
    );
    result[`search_${name}_cold_p50_ms`] = cold.p50;
    result[`search_${name}_p50_ms`] = warm.p50;
    result[`search_${name}_p99_ms`] = warm.p99;
    result[`search_${name}_mean_ms`] = warm.mean;
  }
  const parts: SearchPart[] = [{ text: chunk, removed: undefined, allowed: undefined }];
  timeQueries(queries, (query) => termAtATime(chunk, query, collectStatistics(parts, query.terms), LIMIT));
  const plain = timeQueries(queries, (query) =>
    termAtATime(chunk, query, collectStatistics(parts, query.terms), LIMIT),
  );
  result['search_baseline_p50_ms'] = plain.p50;
  result['search_baseline_p99_ms'] = plain.p99;
  result['search_baseline_mean_ms'] = plain.mean;

  const pairs = timeQueries(queries, ({ terms }) => matchPairs(parts, neighbours(terms)));
  result['pairs_p50_ms'] = pairs.p50;
  result['pairs_p99_ms'] = pairs.p99;

  for (const [section, bytes] of sealed.sizes()) result[`${section}_bytes_per_doc`] = bytes / docs;
  result['bytes_per_doc'] = sealed.byteLength / docs;
  result['seal_us_per_doc'] = (sealMs.totalMs * 1_000) / docs;
  result['seal_slice_max_ms'] = sealMs.slowestMs;
  const merged = mergeQuarters(analyzed, token);
  result['merge_us_per_doc'] = (merged.totalMs * 1_000) / docs;
  result['merge_slice_max_ms'] = merged.slowestMs;
  return { parameters: { docs, queries: count, limit: LIMIT }, metrics: rounded(result) };
}

/** Four sealed quarters into one chunk. */
function mergeQuarters(texts: readonly AnalyzedText[], token: (term: string) => Uint8Array): Slices {
  const inputs = [0, 1, 2, 3].map((quarter) => {
    const tail = new TextTail();
    const size = texts.length / 4;
    for (let doc = 0; doc < size; doc++) tail.add(doc, texts[quarter * size + doc]!);
    const sealed = new MemoryChunk();
    slices(encodeText(tail, oneByOne(token), sealed));
    const chunk = new TextChunk(sealed, size, token, new HeapBudget(1e9).scope());
    return { chunk, docMap: Int32Array.from({ length: size }, (_, doc) => quarter * size + doc) };
  });
  return slices(mergeText(inputs, texts.length, new MemoryChunk()));
}

interface Slices {
  readonly totalMs: number;
  readonly slowestMs: number;
}

function slices(work: Generator<void, void, void>): Slices {
  const start = performance.now();
  let slowestMs = 0;
  for (let last = start; ; ) {
    const { done } = work.next();
    const now = performance.now();
    slowestMs = Math.max(slowestMs, now - last);
    last = now;
    if (done === true) return { totalMs: now - start, slowestMs };
  }
}

function timeQueries(
  queries: readonly TextQuery[],
  ask: (query: TextQuery) => unknown,
): { p50: number; p99: number; mean: number } {
  const times = queries.map((query) => {
    const start = performance.now();
    ask(query);
    return performance.now() - start;
  });
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), mean };
}

function queryOf(terms: readonly string[]): TextQuery {
  return { ...parseQuery('', analyzer('en')), terms: [...new Set(terms)] };
}

function neighbours(terms: readonly string[]): QueryPair[] {
  return terms.slice(1).map((second, i) => ({ first: terms[i]!, second, distance: 1 }));
}

let accumulator = new Float64Array(0);
let touched = new Uint32Array(0);

/** The baseline: every posting of every term, then the best `limit` by a heap of (score, doc). */
function termAtATime(text: TextPart, query: TextQuery, statistics: TextStatistics, limit: number): number[] {
  if (accumulator.length < statistics.docs) {
    accumulator = new Float64Array(statistics.docs);
    touched = new Uint32Array(statistics.docs);
  }
  const norms = new LengthNorms(statistics.totalLength / statistics.docs);
  const { lengths } = text;
  let count = 0;
  for (const term of query.terms) {
    const postings = text.postings(term);
    if (postings === undefined) continue;
    const inverse = inverseDocumentFrequency(statistics.docs, statistics.documentFrequency.get(term)!);
    for (let i = 0; i < postings.count; i++) {
      const doc = postings.docs[i]!;
      if (accumulator[doc] === 0) touched[count++] = doc;
      accumulator[doc]! += termScore(inverse, postings.frequencies[i]!, norms.of(lengths[doc]!));
    }
  }
  const heap: number[] = [];
  const scores = new Float64Array(limit);
  let size = 0;
  for (let i = 0; i < count; i++) {
    const doc = touched[i]!;
    const score = accumulator[doc]!;
    accumulator[doc] = 0;
    if (size === limit && score <= scores[0]!) continue;
    let at = size < limit ? size++ : siftDown(scores, heap, score, size);
    if (size <= limit && at === size - 1) {
      while (at > 0 && scores[(at - 1) >> 1]! > score) {
        scores[at] = scores[(at - 1) >> 1]!;
        heap[at] = heap[(at - 1) >> 1]!;
        at = (at - 1) >> 1;
      }
    }
    scores[at] = score;
    heap[at] = doc;
  }
  return heap;
}

function siftDown(scores: Float64Array, heap: number[], score: number, size: number): number {
  let at = 0;
  for (let child = 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && scores[child + 1]! < scores[child]!) child++;
    if (scores[child]! >= score) break;
    scores[at] = scores[child]!;
    heap[at] = heap[child]!;
    at = child;
  }
  return at;
}

function hashedToken(): (term: string) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  return (term) => {
    let token = known.get(term);
    if (token === undefined) {
      token = createHash('sha256').update(term).digest().subarray(0, 8);
      known.set(term, token);
    }
    return token;
  };
}
