// BM25 over sessions, each pooled into one text (spec: ranking of text, section 3). The pooled texts follow from what the
// index holds anyway: the session of each doc and the postings of each word. So they need no storage of their own, and
// seals, merges, purges and crashes cannot make them differ from the turns. Only docs that count for the caller are
// pooled, as in the statistics of words: other turns would change scores, and so reveal themselves.
//
// Sums that need a scan of a part (turns and words of each session) are cached as long as nothing is added, removed or
// hidden; a tail that only grows is read on from where it was. A query walks the postings of its words once.
import type { SessionStatistics } from '../../calls/recall.ts';
import type { TurnContext } from '../../index/context/turn.ts';
import type { IndexPart } from '../../index/parts/part.ts';
import { countedLength, inverseDocumentFrequency, lengthNorm, termScore } from '../../index/text/bm25.ts';
import { docBits } from '../../index/text/search.ts';
import type { CountedDocs, DocBits, SearchPart } from '../../index/text/search-part.ts';
import type { Postings } from '../../index/text/types.ts';

/** The turns and words of each session of one part. Sessions have dense numbers from 1, in order of discovery. */
interface PartSums {
  readonly removed: Uint32Array | undefined;
  /** Docs that were read. */
  docCount: number;
  /** Number of sessions. */
  count: number;
  /** By session: the turns that count; a session without any does not count. */
  turns: Uint32Array;
  lengths: Float64Array;
  /** The docs that count; undefined: all. */
  readonly counted: DocBits | undefined;
  /** Where the part's own numbers have gaps: the dense number of each doc, and the part's number of each session. */
  readonly gaps: { docs: Uint32Array; readonly dense: Map<number, number>; readonly own: number[] } | undefined;
}

/** The sessions of a memory's parts, numbered from 0 over all parts. */
class Numbering {
  readonly parts: readonly IndexPart[];
  count = 0;
  /** The sums of all parts as of `docCounts`, by number. */
  totals: Totals | undefined;
  readonly #byName = new Map<string, number>();
  /** By part, then by the part's dense session number. */
  readonly #numbers: Uint32Array[];

  constructor(parts: readonly IndexPart[]) {
    this.parts = parts;
    this.#numbers = parts.map(() => NOTHING);
  }

  isOf(parts: readonly IndexPart[]): boolean {
    return parts.length === this.parts.length && parts.every((part, i) => part === this.parts[i]);
  }

  /** Numbers over all parts, by the dense numbers of a part. Sessions of a part are only ever added. */
  of(part: number, context: TurnContext, sums: PartSums): Uint32Array {
    const known = this.#numbers[part]!;
    if (known.length > sums.count) return known;
    const numbers = new Uint32Array(sums.count + 1);
    numbers.set(known);
    for (let session = Math.max(1, known.length); session <= sums.count; session++) {
      const name = context.sessionName(sums.gaps === undefined ? session : sums.gaps.own[session]!);
      let number = this.#byName.get(name);
      if (number === undefined) {
        number = this.count++;
        this.#byName.set(name, number);
      }
      numbers[session] = number;
    }
    this.#numbers[part] = numbers;
    return numbers;
  }
}

/** Turns and words of each session over all parts, by number. */
interface Totals {
  readonly of: readonly (PartSums | undefined)[];
  readonly docCounts: readonly number[];
  readonly turns: Uint32Array;
  readonly lengths: Float64Array;
  readonly sessions: number;
  readonly totalLength: number;
}

const NOTHING = new Uint32Array(0);

const sumsOfAll = new WeakMap<IndexPart, PartSums>();
const sumsOfCounted = new WeakMap<CountedDocs, PartSums>();
const numberings = new WeakMap<IndexPart, Numbering>();

interface PooledPart {
  readonly part: IndexPart;
  readonly sums: PartSums;
  /** The dense session number of each doc, 0 for none; docs beyond its end have none. */
  readonly sessions: Uint32Array;
  /** Numbers over all parts, by dense session number. */
  readonly numbers: Uint32Array;
}

/** The frequencies of a query's words in the sessions of a memory. */
export class PooledSessions {
  /** By part; undefined for a part without events. */
  readonly #parts: readonly (PooledPart | undefined)[];
  readonly #totals: Totals;
  readonly #terms: readonly string[];

  /** `counted`: the same parts, restricted to the docs that the caller sees (counted.ts). */
  constructor(parts: readonly IndexPart[], counted: readonly SearchPart[], terms: readonly string[]) {
    this.#terms = terms;
    const last = parts.at(-1);
    let numbering = last === undefined ? undefined : numberings.get(last);
    if (numbering?.isOf(parts) !== true) {
      numbering = new Numbering(parts);
      if (last !== undefined) numberings.set(last, numbering);
    }
    this.#parts = parts.map((part, i) => {
      const { context } = part;
      if (context === undefined) return undefined;
      const sums = sumsOf(part, context, counted[i]!);
      const sessions = sums.gaps?.docs ?? context.sessions;
      return { part, sums, sessions, numbers: numbering.of(i, context, sums) };
    });
    const of = this.#parts.map((pooled) => pooled?.sums);
    const { totals } = numbering;
    const isCurrent =
      totals !== undefined &&
      of.every((sums, i) => sums === totals.of[i] && (sums?.docCount ?? 0) === totals.docCounts[i]);
    this.#totals = isCurrent ? totals : totalsOf(this.#parts, numbering.count);
    numbering.totals = this.#totals;
  }

  /** The number of a doc's session; -1 if it has none. */
  numberOf(part: number, doc: number): number {
    const pooled = this.#parts[part];
    const session = pooled?.sessions[doc] ?? 0;
    return pooled === undefined || session === 0 ? -1 : pooled.numbers[session]!;
  }

  statistics(): SessionStatistics {
    return this.#statisticsOf(this.#walk([]).sessionFrequencies);
  }

  /**
   * The pooled BM25 of some sessions, by their numbers. `summed`: statistics over all partitions; absent if this is the
   * only one.
   */
  scores(sessions: readonly number[], summed: SessionStatistics | undefined): Map<number, number> {
    const { sessionFrequencies, frequencies } = this.#walk(sessions);
    const statistics = summed ?? this.#statisticsOf(sessionFrequencies);
    const weights = this.#terms.map((term) =>
      inverseDocumentFrequency(statistics.sessions, statistics.sessionFrequency[term] ?? 0),
    );
    const meanLength = statistics.sessions === 0 ? 1 : statistics.totalLength / statistics.sessions;
    const scores = new Map<number, number>();
    for (const [at, session] of sessions.entries()) {
      const norm = lengthNorm(this.#totals.lengths[session]!, meanLength);
      let score = 0;
      for (const [i, weight] of weights.entries()) {
        const frequency = frequencies[i]![at]!;
        if (frequency > 0) score += termScore(weight, frequency, norm);
      }
      scores.set(session, score);
    }
    return scores;
  }

  #statisticsOf(sessionFrequencies: readonly number[]): SessionStatistics {
    const { sessions, totalLength } = this.#totals;
    const sessionFrequency = Object.fromEntries(this.#terms.map((term, i) => [term, sessionFrequencies[i]!]));
    return { sessions, totalLength, sessionFrequency };
  }

  /** For each term: the number of sessions that hold it, and its frequencies in the given ones. */
  #walk(sessions: readonly number[]): {
    readonly sessionFrequencies: readonly number[];
    readonly frequencies: readonly Float64Array[];
  } {
    const inSession = new Float64Array(this.#totals.turns.length);
    const touched: number[] = [];
    const sessionFrequencies: number[] = [];
    const frequencies = this.#terms.map((term) => {
      for (const pooled of this.#parts) if (pooled !== undefined) addFrequencies(pooled, term, inSession, touched);
      sessionFrequencies.push(touched.length);
      const found = Float64Array.from(sessions, (session) => inSession[session]!);
      for (const session of touched) inSession[session] = 0;
      touched.length = 0;
      return found;
    });
    return { sessionFrequencies, frequencies };
  }
}

function totalsOf(parts: readonly (PooledPart | undefined)[], count: number): Totals {
  const turns = new Uint32Array(count);
  const lengths = new Float64Array(count);
  for (const pooled of parts) {
    if (pooled === undefined) continue;
    const { sums, numbers } = pooled;
    for (let session = 1; session <= sums.count; session++) {
      const number = numbers[session]!;
      turns[number]! += sums.turns[session]!;
      lengths[number]! += sums.lengths[session]!;
    }
  }
  let sessions = 0;
  let totalLength = 0;
  for (let number = 0; number < count; number++) {
    if (turns[number] === 0) continue;
    sessions += 1;
    totalLength += countedLength(lengths[number]!);
  }
  const of = parts.map((pooled) => pooled?.sums);
  const docCounts = of.map((sums) => sums?.docCount ?? 0);
  return { of, docCounts, turns, lengths, sessions, totalLength };
}

function addFrequencies(
  { part, sums, sessions, numbers }: PooledPart,
  term: string,
  inSession: Float64Array,
  touched: number[],
): void {
  const { text } = part;
  const counted = sums.counted?.words;
  // A sealed part keeps the list by session of a word that was asked for, unless some of its docs do not count.
  if (counted === undefined && text.keep !== undefined) {
    const kept = text.keep(`${term} by session`, () => bySession(text.postings(term), sessions, sums.count));
    if (kept === undefined) return;
    for (let i = 0; i < kept.count; i++) {
      const number = numbers[kept.docs[i]!]!;
      if (inSession[number] === 0) touched.push(number);
      inSession[number]! += kept.frequencies[i]!;
    }
    return;
  }
  const postings = text.postings(term);
  if (postings === undefined) return;
  const { docs, frequencies, count } = postings;
  for (let i = 0; i < count; i++) {
    const doc = docs[i]!;
    const session = sessions[doc] ?? 0;
    if (session === 0) continue;
    if (counted !== undefined && (counted[doc >>> 5]! & (1 << (doc & 31))) === 0) continue;
    const number = numbers[session]!;
    if (inSession[number] === 0) touched.push(number);
    inSession[number]! += frequencies[i]!;
  }
}

/** A word's frequencies by dense session number, as a list of postings. */
function bySession(postings: Postings | undefined, sessions: Uint32Array, sessionCount: number): Postings | undefined {
  if (postings === undefined) return undefined;
  const sums = new Float64Array(sessionCount + 1);
  for (let i = 0; i < postings.count; i++) sums[sessions[postings.docs[i]!] ?? 0]! += postings.frequencies[i]!;
  const docs: number[] = [];
  for (let session = 1; session <= sessionCount; session++) if (sums[session]! > 0) docs.push(session);
  // A score hardly changes beyond 65,535 occurrences.
  const frequencies = Uint16Array.from(docs, (session) => Math.min(65_535, sums[session]!));
  return { docs: Uint32Array.from(docs), frequencies, count: docs.length, maxFrequency: 0, minLength: 0 };
}

function sumsOf(part: IndexPart, context: TurnContext, { counted, removedDocs }: SearchPart): PartSums {
  if (counted !== undefined) {
    let sums = sumsOfCounted.get(counted);
    if (sums === undefined) {
      const bits = counted.docs instanceof Uint32Array ? docBits(counted.docs, part.docCount) : counted.docs;
      sums = emptySums(context, bits, undefined);
      readOn(sums, part, context);
      sumsOfCounted.set(counted, sums);
    }
    return sums;
  }
  const removed = removedDocs !== undefined && removedDocs.length > 0 ? removedDocs : undefined;
  let sums = sumsOfAll.get(part);
  // The list of removed docs is another one after each change.
  const mayReadOn = sums !== undefined && sums.removed === removed && removed === undefined;
  const isRead = sums !== undefined && sums.removed === removed && sums.docCount === part.docCount;
  if (sums === undefined || !(mayReadOn || isRead)) {
    sums = emptySums(context, removed === undefined ? undefined : bitsWithout(removed, part.docCount), removed);
    sumsOfAll.set(part, sums);
  }
  readOn(sums, part, context);
  return sums;
}

function emptySums(
  { sessionCount }: TurnContext,
  counted: DocBits | undefined,
  removed: Uint32Array | undefined,
): PartSums {
  const gaps = sessionCount === undefined ? { docs: new Uint32Array(64), dense: new Map(), own: [0] } : undefined;
  const length = 1 + (sessionCount ?? 15);
  const turns = new Uint32Array(length);
  return { removed, docCount: 0, count: sessionCount ?? 0, turns, lengths: new Float64Array(length), counted, gaps };
}

/** Adds the docs that were not read yet. */
function readOn(sums: PartSums, { docCount, text }: IndexPart, { sessions }: TurnContext): void {
  if (sums.docCount === docCount) return;
  const { lengths } = text;
  const { gaps } = sums;
  const counted = sums.counted?.words;
  if (gaps !== undefined && gaps.docs.length < docCount) gaps.docs = grown(gaps.docs, Uint32Array, docCount);
  for (let doc = sums.docCount; doc < docCount; doc++) {
    const own = sessions[doc] ?? 0;
    if (own === 0) continue;
    let session = own;
    if (gaps !== undefined) {
      session = gaps.dense.get(own) ?? 0;
      if (session === 0) session = addSession(sums, gaps, own);
      gaps.docs[doc] = session;
    }
    if (counted !== undefined && (counted[doc >>> 5]! & (1 << (doc & 31))) === 0) continue;
    sums.turns[session]! += 1;
    sums.lengths[session]! += lengths[doc]!;
  }
  sums.docCount = docCount;
}

function addSession(sums: PartSums, gaps: NonNullable<PartSums['gaps']>, own: number): number {
  const session = ++sums.count;
  gaps.dense.set(own, session);
  gaps.own.push(own);
  if (session >= sums.turns.length) {
    sums.turns = grown(sums.turns, Uint32Array, session + 1);
    sums.lengths = grown(sums.lengths, Float64Array, session + 1);
  }
  return session;
}

function grown<A extends Uint32Array | Float64Array>(array: A, type: new (length: number) => A, length: number): A {
  const longer = new type(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}

/** All docs but the removed ones. */
function bitsWithout(removed: Uint32Array, docCount: number): DocBits {
  const words = new Int32Array((docCount + 31) >>> 5).fill(-1);
  for (const doc of removed) words[doc >>> 5]! &= ~(1 << (doc & 31));
  return { words };
}
