// Pairs of neighbouring words, scored by the same BM25 as words (spec: ranking of text, sections 1 and 3). A pair's
// list is made from the occurrences of its two terms when a query asks for it; no second index is kept.
import { countedLength } from './bm25.ts';
import type { QueryPair } from './query.ts';
import { scoreLists } from './score.ts';
import { countShared, removedDocsOf, type SearchPart, type TextStatistics, type Weights, weightsOf } from './search.ts';
import { lowerBound } from './tail.ts';
import type { Occurrences, Postings, TextPart } from './types.ts';

/** A pair's docs in one part: those where the second term stands `distance` after the first, with how often. */
export function pairPostings(text: TextPart, { first, second, distance }: QueryPair): Postings | undefined {
  const lists = [text.postings(first), text.postings(second)] as const;
  if (lists[0] === undefined || lists[1] === undefined) return undefined;
  const places = [text.occurrences(first)!, text.occurrences(second)!] as const; // both have postings
  const room = Math.min(lists[0].count, lists[1].count);
  const docs = new Uint32Array(room);
  const frequencies = new Uint16Array(room);
  let count = 0;
  let maxFrequency = 0;
  let minLength = 65_535;
  let i = 0;
  let j = 0;
  while (i < lists[0].count && j < lists[1].count) {
    const doc = lists[0].docs[i]!;
    const other = lists[1].docs[j]!;
    if (doc < other) i = seek(lists[0], other, i);
    else if (other < doc) j = seek(lists[1], doc, j);
    else {
      const frequency = countPairs(places[0], i++, places[1], j++, distance);
      if (frequency === 0) continue;
      docs[count] = doc;
      frequencies[count++] = Math.min(frequency, 65_535);
      maxFrequency = Math.max(maxFrequency, frequency);
      minLength = Math.min(minLength, text.lengths[doc]!);
    }
  }
  return count === 0 ? undefined : { docs, frequencies, count, maxFrequency, minLength: countedLength(minLength) };
}

function seek({ docs, count }: Postings, doc: number, from: number): number {
  let step = 1;
  while (from + step < count && docs[from + step]! < doc) step *= 2;
  return lowerBound(docs, doc, from + (step >>> 1), Math.min(from + step + 1, count));
}

function countPairs(first: Occurrences, i: number, second: Occurrences, j: number, distance: number): number {
  let count = 0;
  let at = second.starts[j]!;
  const end = second.starts[j + 1]!;
  for (let place = first.starts[i]!; place < first.starts[i + 1]!; place++) {
    const wanted = first.positions[place]! + distance;
    while (at < end && second.positions[at]! < wanted) at++;
    if (at === end) break;
    if (second.positions[at] === wanted) count++;
  }
  return count;
}

/** A query's pairs in all parts, with how many live docs hold each. Counts of several partitions are added up. */
export interface PairMatches {
  /** By part, then by pair of the query. */
  readonly lists: readonly (readonly (Postings | undefined)[])[];
  /** By "first second distance". */
  readonly documentFrequency: ReadonlyMap<string, number>;
}

/** What a pair is called in statistics. */
function pairName({ first, second, distance }: QueryPair): string {
  return `${first} ${second} ${distance}`;
}

/** Finds a query's pairs in all parts. Costs about the shorter list of the two terms of each pair. */
export function matchPairs(parts: readonly SearchPart[], pairs: readonly QueryPair[]): PairMatches {
  const documentFrequency = new Map<string, number>();
  const lists = parts.map((part) => {
    const removed = pairs.length === 0 ? undefined : removedDocsOf(part);
    return pairs.map((pair) => {
      const postings = pairPostings(part.text, pair);
      const live = postings === undefined ? 0 : postings.count - countShared(postings, removed!);
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
