// Pairs of adjacent words, scored with the same BM25 as words (spec: ranking of text, sections 1 and 3). There is no second
// index: a pair's list is computed from the occurrences of its two terms, and only for a pair that some candidate holds.
import { countedLength, termScore } from './bm25.ts';
import type { QueryPair } from './query.ts';
import { scoreLists } from './score.ts';
import { frequencyAmong, removedDocsOf, type TextStatistics, type Weights, weightsOf } from './search.ts';
import type { SearchPart } from './search-part.ts';
import { lowerBound } from './tail.ts';
import type { Occurrences, Postings, TextPart } from './types.ts';

/** `pairPostings`, cached by parts that do not change. */
function keptPostings(text: TextPart, pair: QueryPair): Postings | undefined {
  return text.keep === undefined ? pairPostings(text, pair) : text.keep(pairName(pair), () => pairPostings(text, pair));
}

/**
 * A pair's docs in one part: those in which the second term is `distance` after the first, with the number of
 * occurrences.
 */
export function pairPostings(text: TextPart, { first, second, distance }: QueryPair): Postings | undefined {
  const lists = [text.postings(first), text.postings(second)] as const;
  if (lists[0] === undefined || lists[1] === undefined) return undefined;
  let places: readonly [Occurrences, Occurrences] | undefined;
  // Walks the shorter list, and reads the other one only for docs that are in both.
  const isSwapped = lists[1].count < lists[0].count;
  const [short, long] = isSwapped ? [lists[1], lists[0]] : [lists[0], lists[1]];
  const docs = new Uint32Array(short.count);
  const frequencies = new Uint16Array(short.count);
  let count = 0;
  let maxFrequency = 0;
  let minLength = 65_535;
  let j = 0;
  for (let i = 0; i < short.count; i++) {
    const doc = short.docs[i]!;
    if (long.byDoc !== undefined && (long.byDoc[doc] ?? 0) === 0) continue;
    if (long.docs[j]! < doc) j = seek(long, doc, j);
    if (j === long.count) break;
    if (long.docs[j] !== doc) continue;
    places ??= [text.occurrences(first)!, text.occurrences(second)!]; // both have postings
    const frequency = isSwapped
      ? countPairs(places[0], j, places[1], i, distance)
      : countPairs(places[0], i, places[1], j, distance);
    if (frequency === 0) continue;
    docs[count] = doc;
    frequencies[count++] = Math.min(frequency, 65_535);
    maxFrequency = Math.max(maxFrequency, frequency);
    minLength = Math.min(minLength, text.lengths[doc]!);
  }
  if (count === 0) return undefined;
  return {
    docs: docs.slice(0, count),
    frequencies: frequencies.slice(0, count),
    count,
    maxFrequency,
    minLength: countedLength(minLength),
  };
}

/** Lists are often of like length: the doc mostly is among the next ones. */
const SEEK_STEPS = 8;

function seek({ docs, count }: Postings, doc: number, from: number): number {
  for (const near = Math.min(from + SEEK_STEPS, count); from < near; from++) if (docs[from]! >= doc) return from;
  if (from === count || docs[from]! >= doc) return from;
  let step = 1;
  while (from + step < count && docs[from + step]! < doc) step *= 2;
  return lowerBound(docs, doc, from + (step >>> 1), Math.min(from + step + 1, count));
}

function countPairs(first: Occurrences, i: number, second: Occurrences, j: number, distance: number): number {
  let at = second.starts[j]!;
  const end = second.starts[j + 1]!;
  const only = first.starts[i]!;
  // Most terms occur once in a text.
  if (end === at + 1 && first.starts[i + 1] === only + 1)
    return second.positions[at] === first.positions[only]! + distance ? 1 : 0;
  let count = 0;
  for (let place = first.starts[i]!; place < first.starts[i + 1]!; place++) {
    const wanted = first.positions[place]! + distance;
    while (at < end && second.positions[at]! < wanted) at++;
    if (at === end) break;
    if (second.positions[at] === wanted) count++;
  }
  return count;
}

/**
 * How often a pair stands in each of `docs`; undefined when in none. It makes no list, and asks for positions only when a
 * doc holds both terms.
 */
export function pairFrequencies(text: TextPart, docs: ArrayLike<number>, pair: QueryPair): Uint16Array | undefined {
  const { first, second, distance } = pair;
  const a = text.postings(first);
  const b = a === undefined ? undefined : text.postings(second);
  if (a === undefined || b === undefined) return undefined;
  const isFirstRare = a.count < b.count;
  const rare = isFirstRare ? a : b;
  const common = isFirstRare ? b : a;
  let frequencies: Uint16Array | undefined;
  let places: { readonly first: Occurrences; readonly second: Occurrences } | undefined;
  for (let at = 0; at < docs.length; at++) {
    const doc = docs[at]!;
    if (common.byDoc !== undefined && (common.byDoc[doc] ?? 0) === 0) continue;
    if (rare.byDoc !== undefined && (rare.byDoc[doc] ?? 0) === 0) continue;
    const inRare = placeIn(rare, doc);
    const inCommon = inRare < 0 ? -1 : placeIn(common, doc);
    if (inCommon < 0) continue;
    places ??= { first: text.occurrences(first)!, second: text.occurrences(second)! }; // both have postings
    const count = isFirstRare
      ? countPairs(places.first, inRare, places.second, inCommon, distance)
      : countPairs(places.first, inCommon, places.second, inRare, distance);
    if (count === 0) continue;
    frequencies ??= new Uint16Array(docs.length);
    frequencies[at] = Math.min(count, 65_535);
  }
  return frequencies;
}

/** The index of a doc's posting, or -1. */
function placeIn({ docs, count }: Postings, doc: number): number {
  const at = lowerBound(docs, doc, 0, count);
  return at < count && docs[at] === doc ? at : -1;
}

/** A query's pairs in all parts, with how many live docs hold each. Counts of several partitions are added up. */
export interface PairMatches {
  /** By part, then by pair of the query. */
  readonly lists: readonly (readonly (Postings | undefined)[])[];
  /** By "first second distance". */
  readonly documentFrequency: ReadonlyMap<string, number>;
}

/** The key of a pair in statistics. */
function pairName({ first, second, distance }: QueryPair): string {
  return `${first} ${second} ${distance}`;
}

/** Finds a query's pairs in all parts. Its cost follows the shorter list of each pair's two terms. */
export function matchPairs(parts: readonly SearchPart[], pairs: readonly QueryPair[]): PairMatches {
  const documentFrequency = new Map<string, number>();
  const lists = parts.map((part) => {
    const removed = pairs.length === 0 ? undefined : removedDocsOf(part);
    return pairs.map((pair) => {
      const postings = keptPostings(part.text, pair);
      const live = postings === undefined ? 0 : frequencyAmong(postings, part, removed!);
      const name = pairName(pair);
      if (live > 0) documentFrequency.set(name, (documentFrequency.get(name) ?? 0) + live);
      return postings;
    });
  });
  return { lists, documentFrequency };
}

/** The pair BM25 of each of `docs` of a part. `statistics` has the docs and lengths of words, and counts of pairs. */
export function scorePairs(
  part: number,
  text: TextPart,
  docs: ArrayLike<number>,
  pairs: readonly QueryPair[],
  matches: PairMatches,
  statistics: TextStatistics,
): Float64Array {
  const weights: Weights = weightsOf(pairs.map(pairName), {
    ...statistics,
    documentFrequency: matches.documentFrequency,
  });
  return scoreLists(text, docs, matches.lists[part]!, weights);
}

/**
 * The pair BM25 of some docs of each part, by part; undefined when none of them holds a pair. `counts` of the pairs are
 * those of all partitions; without them they are made here, and only of the pairs that the docs hold: most questions
 * hold few.
 */
export function scoreFewPairs(
  parts: readonly SearchPart[],
  docs: readonly ArrayLike<number>[],
  pairs: readonly QueryPair[],
  statistics: TextStatistics,
  counts?: ReadonlyMap<string, number>,
): readonly Float64Array[] | undefined {
  const found = pairs.flatMap((pair) => {
    const byPart = parts.map(({ text }, part) => pairFrequencies(text, docs[part]!, pair));
    return byPart.every((frequencies) => frequencies === undefined) ? [] : [{ pair, byPart }];
  });
  if (found.length === 0) return undefined;
  const asked = found.map(({ pair }) => pair);
  const documentFrequency = counts ?? matchPairs(parts, asked).documentFrequency;
  const { inverseFrequencies, norms } = weightsOf(asked.map(pairName), { ...statistics, documentFrequency });
  const scores = docs.map((some) => new Float64Array(some.length));
  for (const [i, { byPart }] of found.entries()) {
    for (const [part, frequencies] of byPart.entries()) {
      const { lengths } = parts[part]!.text;
      for (let at = 0; at < (frequencies?.length ?? 0); at++) {
        const frequency = frequencies![at]!;
        if (frequency === 0) continue;
        scores[part]![at]! += termScore(inverseFrequencies[i]!, frequency, norms.of(lengths[docs[part]![at]!]!));
      }
    }
  }
  return scores;
}
