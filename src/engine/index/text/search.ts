// The word leg: the best documents of some parts for a query, by BM25 (spec: ranking of text, section 1).
//
// MaxScore: no document can get more from a term than the term's bound. Once `limit` documents are known, terms whose
// bounds add up to less than the lowest of their scores cannot find new documents on their own. Only the other terms
// (the essential ones) are walked; the rest is looked up for documents that may still qualify. The walk goes through
// the docs in windows, and term by term within a window: tight loops over typed arrays instead of a merge of cursors.
// It goes from the newest doc to the oldest. Of equal scores the newer one wins, and equal scores are common (short
// texts all count as equally long), so a later doc that only equals the lowest score is out already.

import { gallop } from '../docs/docset.ts';
import { countedLength, inverseDocumentFrequency, type LengthNorms, lengthNorms, termScore } from './bm25.ts';
import { type ClauseMatcher, matcherOf } from './clauses.ts';
import type { TextQuery } from './query.ts';
import { scoreFloor } from './score-floor.ts';
import type { DocBits, SearchPart } from './search-part.ts';
import { type TermList, termListsOf } from './term-list.ts';
import { type TextHit, TopHits } from './top-hits.ts';
import type { Postings } from './types.ts';

/** Statistics of BM25 over all parts of a memory. Those of several partitions are summed. */
export interface TextStatistics {
  /** Documents that are not removed; superseded ones count. */
  readonly docs: number;
  /** Sum of their counted lengths. */
  readonly totalLength: number;
  /** Number of documents that contain each term. Terms without documents may be missing. */
  readonly documentFrequency: ReadonlyMap<string, number>;
}

/**
 * Statistics over the live, counted docs of all parts: independent of sealing, merging, and removed docs that are still
 * stored.
 */
export function collectStatistics(parts: readonly SearchPart[], terms: readonly string[]): TextStatistics {
  let docs = 0;
  let totalLength = 0;
  const documentFrequency = new Map<string, number>();
  for (const part of parts) {
    const { text, counted } = part;
    const removed = removedDocsOf(part);
    if (counted !== undefined) {
      docs += counted.count;
      totalLength += counted.totalLength;
    } else {
      docs += text.docCount - removed.length;
      totalLength += text.totalLength;
      const { lengths } = text;
      for (const doc of removed) totalLength -= countedLength(lengths[doc]!);
    }
    for (const term of terms) {
      const postings = text.postings(term);
      if (postings === undefined) continue;
      const frequency = keptFrequency(term, postings, part, removed);
      if (frequency > 0) documentFrequency.set(term, (documentFrequency.get(term) ?? 0) + frequency);
    }
  }
  return { docs, totalLength, documentFrequency };
}

const NONE = new Uint32Array(0);

/** The docs that do not count, ascending. */
export function removedDocsOf({ text, removed, removedDocs }: SearchPart): Uint32Array {
  if (removedDocs !== undefined) return removedDocs;
  if (removed === undefined) return NONE;
  const docs: number[] = [];
  for (let doc = 0; doc < text.docCount; doc++) if (removed(doc)) docs.push(doc);
  return Uint32Array.from(docs);
}

/** Posting lists from this length on keep the number of their counted docs: a part has few of them. */
const LONG_LIST = 1_024;

function keptFrequency(term: string, postings: Postings, part: SearchPart, removed: Uint32Array): number {
  const kept = postings.count < LONG_LIST ? undefined : part.counted?.frequencies;
  if (kept === undefined) return frequencyAmong(postings, part, removed);
  let frequency = kept.get(term);
  if (frequency === undefined) {
    frequency = frequencyAmong(postings, part, removed);
    kept.set(term, frequency);
  }
  return frequency;
}

/** Number of docs of a posting list that count in statistics. `removed`: the removed docs of the part. */
export function frequencyAmong(postings: Postings, { counted }: SearchPart, removed: Uint32Array): number {
  if (counted === undefined) return postings.count - countShared(postings, removed);
  if (counted.docs instanceof Uint32Array) return countShared(postings, counted.docs);
  const { words } = counted.docs;
  const { docs, count } = postings;
  let shared = 0;
  for (let i = 0; i < count; i++) shared += (words[docs[i]! >>> 5]! >>> (docs[i]! & 31)) & 1;
  return shared;
}

/** Number of docs that a posting list and an ascending list share. */
function countShared(postings: Postings, docs: Uint32Array): number {
  let shared = 0;
  if (docs.length === 0) return 0;
  const list = postings.docs.subarray(0, postings.count);
  const [short, long] = docs.length < list.length ? [docs, list] : [list, docs];
  let at = 0;
  for (let i = 0; i < short.length && at < long.length; i++) {
    at = gallop(long, short[i]!, at);
    if (long[at] === short[i]) shared++;
  }
  return shared;
}

/** Weights of a query's terms and norms of lengths, under some statistics. */
export interface Weights {
  readonly inverseFrequencies: Float64Array;
  readonly norms: LengthNorms;
}

export function weightsOf(terms: readonly string[], statistics: TextStatistics): Weights {
  const { docs, totalLength } = statistics;
  return {
    inverseFrequencies: inverseFrequenciesOf(terms, statistics),
    norms: lengthNorms(docs === 0 ? 1 : totalLength / docs),
  };
}

export function inverseFrequenciesOf(
  terms: readonly string[],
  { docs, documentFrequency }: Pick<TextStatistics, 'docs' | 'documentFrequency'>,
): Float64Array {
  const inverseFrequencies = new Float64Array(terms.length);
  for (let i = 0; i < terms.length; i++) {
    inverseFrequencies[i] = inverseDocumentFrequency(docs, documentFrequency.get(terms[i]!) ?? 0);
  }
  return inverseFrequencies;
}

/** The best `limit` live, allowed documents that match, best first (order: see TopHits). A match scores above 0. */
export function searchText(
  parts: readonly SearchPart[],
  query: TextQuery,
  statistics: TextStatistics,
  limit: number,
): TextHit[] {
  if (query.terms.length === 0 || limit < 1 || statistics.docs === 0) return [];
  const weights = weightsOf(query.terms, statistics);
  const lists = parts.map(({ text, allowedDocs }) =>
    allowedDocs?.length === 0 ? [] : termListsOf(text, query.terms, weights),
  );
  const floor = query.clauses.length > 0 ? Number.NEGATIVE_INFINITY : scoreFloor(parts, lists, weights.norms, limit);
  const top = new TopHits(limit, parts, floor);
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i]!;
    if (part.allowedDocs?.length === 0) continue;
    const matcher = matcherOf(part.text, query.clauses);
    if (matcher === 'nothing') continue;
    const search = new PartSearch(i, part, lists[i]!, weights.norms, top, matcher);
    const driver = matcher?.driver ?? fewAllowed(part, lists[i]!);
    try {
      if (driver === undefined) search.walk();
      else search.lookUp(driver);
    } catch (error) {
      // A bad block ends the search inside a window, whose scores would count in the next search.
      windowScores.fill(0);
      throw error;
    }
  }
  return top.hits();
}

type Docs = Pick<Postings, 'docs' | 'count'>;

/** Looking a doc up in a list takes as long as walking over so many postings. */
const POSTINGS_A_LOOKUP = 16;

/** The allowed docs, if it is faster to look each of them up than to walk the lists. */
function fewAllowed({ allowedDocs: docs }: SearchPart, lists: readonly (TermList | undefined)[]): Docs | undefined {
  if (docs === undefined) return undefined;
  let postings = 0;
  let lookups = 0;
  for (const list of lists) {
    if (list === undefined) continue;
    postings += list.count;
    lookups += docs.length;
  }
  return lookups * POSTINGS_A_LOOKUP < postings ? { docs, count: docs.length } : undefined;
}

const WINDOW_DOCS = 4_096;
/**
 * Scores of the window's docs; zero between windows. Searches run one at a time, without interruption. A score stays in
 * its slot while it is completed: as an argument or a result, each would be an object of the heap.
 */
const windowScores = new Float64Array(WINDOW_DOCS);
/** The slots with a score. One more than docs, as a slot is written before it is known to be new. */
const windowDocs = new Uint16Array(WINDOW_DOCS + 1);

class PartSearch {
  readonly #index: number;
  readonly #part: SearchPart;
  readonly #top: TopHits;
  readonly #matcher: ClauseMatcher | undefined;
  readonly #norms: LengthNorms;
  readonly #lengths: Uint16Array;
  /** Lists of the terms in the part, by ascending bound. */
  readonly #lists: TermList[] = [];
  /** Sum of the bounds up to each list. */
  readonly #bounds: Float64Array;

  constructor(
    index: number,
    part: SearchPart,
    lists: readonly (TermList | undefined)[],
    norms: LengthNorms,
    top: TopHits,
    matcher: ClauseMatcher | undefined,
  ) {
    this.#index = index;
    this.#part = part;
    this.#top = top;
    this.#matcher = matcher;
    this.#norms = norms;
    this.#lengths = part.text.lengths;
    for (const list of lists) if (list !== undefined) this.#lists.push(list);
    this.#lists.sort((a, b) => a.bound - b.bound);
    this.#bounds = new Float64Array(this.#lists.length);
    let sum = 0;
    for (let i = 0; i < this.#lists.length; i++) {
      sum += this.#lists[i]!.bound;
      this.#bounds[i] = sum;
    }
  }

  /** For queries that any of the terms can match. */
  walk(): void {
    const lists = this.#lists;
    let essential = this.#firstEssential(0);
    while (essential < lists.length) {
      let newest = -1;
      for (let i = essential; i < lists.length; i++) newest = Math.max(newest, lists[i]!.doc());
      if (newest < 0) return;
      const base = Math.max(0, newest - WINDOW_DOCS + 1);
      this.#top.begin(this.#index, base, newest);
      let found = 0;
      // The rarest term first, so that good documents come early and raise the threshold for the rest.
      for (let i = lists.length - 1; i >= essential; i--) found = this.#accumulate(lists[i]!, base, found);
      for (let i = 0; i < essential; i++) lists[i]!.seek(newest);
      this.#consider(base, found, essential);
      essential = this.#firstEssential(essential);
    }
  }

  #firstEssential(from: number): number {
    const { least } = this.#top;
    while (from < this.#lists.length && this.#bounds[from]! < least) from++;
    return from;
  }

  /** Adds a list's scores of allowed docs in the window from `base`. Returns the number of docs with a score. */
  #accumulate(list: TermList, base: number, found: number): number {
    const { docs, frequencies, inverseFrequency } = list;
    const lengths = this.#lengths;
    const norms = this.#norms;
    const once = list.scoresOfOne();
    const allowed = this.#part.allowed?.words;
    let at = list.at - 1;
    for (; at >= 0; at--) {
      const doc = docs[at]!;
      if (doc < base) break;
      if (allowed !== undefined && (allowed[doc >>> 5]! & (1 << (doc & 31))) === 0) continue;
      const frequency = frequencies[at]!;
      const length = lengths[doc]!;
      const score =
        frequency === 1 && length < once.length
          ? once[length]!
          : termScore(inverseFrequency, frequency, norms.of(length));
      const slot = doc - base;
      const before = windowScores[slot]!;
      windowDocs[found] = slot;
      if (before === 0) found++;
      windowScores[slot] = before + score;
    }
    list.at = at + 1;
    return found;
  }

  /** Completes the scores of the window's docs that can still be among the best, and clears the window. */
  #consider(base: number, found: number, essential: number): void {
    const top = this.#top;
    const others = essential === 0 ? 0 : this.#bounds[essential - 1]!;
    let { least } = top;
    for (let i = 0; i < found; i++) {
      const slot = windowDocs[i]!;
      if (windowScores[slot]! + others >= least) {
        this.#complete(base + slot, slot, essential);
        least = top.least;
      }
      windowScores[slot] = 0;
    }
  }

  /** Adds the other lists' scores to the one in `slot`, and offers the doc while it may still be among the best. */
  #complete(doc: number, slot: number, essential: number): void {
    const top = this.#top;
    const length = this.#lengths[doc]!;
    for (let i = essential - 1; i >= 0; i--) {
      if (windowScores[slot]! + this.#bounds[i]! < top.least) return;
      this.#lists[i]!.addScore(windowScores, slot, doc, length);
    }
    const score = windowScores[slot]!;
    if (score === 0 || score < top.least) return;
    if (this.#part.removed?.(doc) === true) return;
    if (this.#matcher !== undefined && !this.#matcher.matches(doc)) return;
    top.offer(windowScores, slot, this.#index, doc);
  }

  /** For searches in which only the docs of `driver` can match: the rarest list of a required clause, or few allowed docs. */
  lookUp(driver: Docs): void {
    const allowed = this.#part.allowed?.words;
    const all = this.#lists.length;
    for (let i = driver.count - 1; i >= 0; i--) {
      const doc = driver.docs[i]!;
      if (allowed !== undefined && (allowed[doc >>> 5]! & (1 << (doc & 31))) === 0) continue;
      this.#top.begin(this.#index, doc, doc);
      for (let list = 0; list < all; list++) this.#lists[list]!.seek(doc);
      this.#complete(doc, 0, all);
      windowScores[0] = 0;
    }
  }
}

/** The set of an ascending (or any) list of docs. */
export function docBits(docs: ArrayLike<number>, docCount: number): DocBits {
  const words = new Int32Array((docCount + 31) >>> 5);
  for (let i = 0; i < docs.length; i++) words[docs[i]! >>> 5]! |= 1 << (docs[i]! & 31);
  return { words };
}
