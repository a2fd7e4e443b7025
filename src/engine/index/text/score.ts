// Exact BM25 of given documents, and the explanation of a score term by term.

import { termScore } from './bm25.ts';
import type { TextQuery } from './query.ts';
import { type TextStatistics, type Weights, weightsOf } from './search.ts';
import { lowerBound } from './tail.ts';
import type { Postings, TextPart } from './types.ts';

/** The BM25 score of each of `docs` (in any order), the same as from `searchText`. 0 when no term matches. */
export function scoreDocs(
  text: TextPart,
  docs: ArrayLike<number>,
  query: TextQuery,
  statistics: TextStatistics,
): Float64Array {
  const lists = query.terms.map((term) => text.postings(term));
  return scoreLists(text, docs, lists, weightsOf(query.terms, statistics));
}

/** The sum over some lists of their term scores in each of `docs`. Lists and weights are parallel. */
export function scoreLists(
  { lengths }: TextPart,
  docs: ArrayLike<number>,
  lists: readonly (Postings | undefined)[],
  { inverseFrequencies, norms }: Weights,
): Float64Array {
  const scores = new Float64Array(docs.length);
  for (const [i, postings] of lists.entries()) {
    if (postings === undefined) continue;
    for (let at = 0; at < docs.length; at++) {
      const doc = docs[at]!;
      const frequency = frequencyIn(postings, doc);
      if (frequency > 0) scores[at]! += termScore(inverseFrequencies[i]!, frequency, norms.of(lengths[doc]!));
    }
  }
  return scores;
}

/**
 * The terms that each of `docs` contains, as ascending indexes of `terms`. Docs with the same terms share one list, because
 * a question has few combinations of terms.
 */
export function matchedTerms(text: TextPart, docs: ArrayLike<number>, terms: readonly string[]): (readonly number[])[] {
  const matched: (readonly number[])[] = Array.from({ length: docs.length }, () => NONE);
  for (let i = 0; i < terms.length; i++) {
    const postings = text.postings(terms[i]!);
    if (postings === undefined) continue;
    /** By the list before this term. */
    const longer = new Map<readonly number[], readonly number[]>();
    for (let at = 0; at < docs.length; at++) {
      if (frequencyIn(postings, docs[at]!) === 0) continue;
      const before = matched[at]!;
      let list = longer.get(before);
      if (list === undefined) {
        list = [...before, i];
        longer.set(before, list);
      }
      matched[at] = list;
    }
  }
  return matched;
}

const NONE: readonly number[] = [];

/** Occurrences in a doc, 0 when it does not contain the term. */
export function frequencyIn({ docs, frequencies, count, byDoc }: Postings, doc: number): number {
  const frequency = byDoc === undefined ? 255 : (byDoc[doc] ?? 0);
  if (frequency < 255) return frequency;
  const at = lowerBound(docs, doc, 0, count);
  return at < count && docs[at] === doc ? frequencies[at]! : 0;
}

/** One term's contribution to a score, with its factors. */
interface TermExplanation {
  readonly term: string;
  readonly documentFrequency: number;
  readonly inverseDocumentFrequency: number;
  /** In the document. */
  readonly frequency: number;
  readonly score: number;
}

export interface ScoreExplanation {
  /** The sum of the terms' scores. */
  readonly score: number;
  /** Terms in the document, and their mean over all documents; short documents count as the floor. */
  readonly length: number;
  readonly meanLength: number;
  readonly terms: readonly TermExplanation[];
}

/** Explains a doc's score for a query. Terms that it does not contain have frequency 0. */
export function explain(text: TextPart, doc: number, query: TextQuery, statistics: TextStatistics): ScoreExplanation {
  const { inverseFrequencies, norms } = weightsOf(query.terms, statistics);
  const length = text.lengths[doc]!;
  const terms = query.terms.map((term, i): TermExplanation => {
    const postings = text.postings(term);
    const frequency = postings === undefined ? 0 : frequencyIn(postings, doc);
    const inverseDocumentFrequency = inverseFrequencies[i]!;
    return {
      term,
      documentFrequency: statistics.documentFrequency.get(term) ?? 0,
      inverseDocumentFrequency,
      frequency,
      score: frequency === 0 ? 0 : termScore(inverseDocumentFrequency, frequency, norms.of(length)),
    };
  });
  return {
    score: terms.reduce((sum, { score }) => sum + score, 0),
    length,
    meanLength: statistics.docs === 0 ? 0 : statistics.totalLength / statistics.docs,
    terms,
  };
}
