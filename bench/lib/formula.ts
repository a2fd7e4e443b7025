// The text leg's formula computed directly from the specification (ranking of text, sections 1 to 3): every unit of a
// memory is scored with exact cosines, without index or candidates. The server's ranking is compared with it.
import { asks, leadingName, wordCues } from '../../src/engine/index/context/cues.ts';
import { asksForTime, namedRoles } from '../../src/engine/index/context/question-cues.ts';
import type { Analyzer } from '../../src/engine/index/text/analyze.ts';
import { unscoredTerms } from '../../src/engine/index/text/question-words.ts';

const K1 = 1.2;
const B = 0.75;
const LENGTH_MIN = 16;

export interface Unit {
  readonly id: string;
  readonly text: string;
  /** Units of a session are in the order in which they were said. */
  readonly session?: string | undefined;
  readonly role?: string | undefined;
  /** One per window of the text. */
  readonly vectors: readonly Float32Array[];
}

interface Counted {
  readonly length: number;
  readonly terms: ReadonlyMap<string, number>;
  readonly pairs: ReadonlyMap<string, number>;
}

export class Formula {
  readonly #units: readonly Unit[];
  readonly #counted: readonly Counted[];
  readonly #analyzer: Analyzer;
  readonly #meanLength: number;

  constructor(units: readonly Unit[], analyzer: Analyzer) {
    this.#units = units;
    this.#analyzer = analyzer;
    this.#counted = units.map(({ text }) => counted(text, analyzer));
    this.#meanLength = this.#counted.reduce((sum, { length }) => sum + length, 0) / units.length;
  }

  /** Ids of the best units; without the query's vector, by words and context only. */
  rank(query: string, vector: Float32Array | undefined, limit: number): string[] {
    const asked = counted(query, this.#analyzer, unscoredTerms(query, this.#analyzer));
    const words = byBest(this.#bm25([...asked.terms.keys()], ({ terms }) => terms));
    const pairs = byBest(this.#bm25([...asked.pairs.keys()], ({ pairs: own }) => own));
    const cosines = minMax(this.#units.map((unit) => (vector === undefined ? Number.NaN : nearest(unit, vector))));
    const weight = this.#vectorWeight(asked, words, cosines);
    const hybrid = words.map((score, i) => score + weight * cosines[i]!);
    const pooled = vector === undefined ? new Map<string, number>() : this.#pooled(asked);
    const sessions = new Map<string, number>();
    for (const [i, { session }] of this.#units.entries())
      if (session !== undefined) sessions.set(session, Math.max(sessions.get(session) ?? 0, hybrid[i]!));
    const named = namedRoles(query, 'en');
    const isNamedRole = (role: string | undefined): boolean =>
      (role === 'user' && named.user) || (role === 'assistant' && named.assistant);
    const hasRoles = this.#units.some(({ role }) => role !== undefined);
    const scores = this.#units.map((unit, i) => {
      const { session, role, text } = unit;
      const plain = hybrid[i]! + 0.3 * pairs[i]!;
      const speaker = leadingName(text);
      if (session === undefined && speaker === undefined) return plain + (hasRoles ? 0.4 : 0);
      const before = this.#beside(i, -1);
      const after = this.#beside(i, 1);
      const cues = wordCues(text);
      const isAnswer = before !== undefined && this.#answers(before, i);
      return (
        plain +
        0.2 * (before === undefined ? 0 : hybrid[before]!) +
        0.2 * (after === undefined ? 0 : hybrid[after]!) +
        (isAnswer ? 0.3 * hybrid[before]! : 0) +
        0.2 * (session === undefined ? 0 : sessions.get(session)!) +
        0.2 * (session === undefined ? 0 : (pooled.get(session) ?? 0)) +
        (role === 'assistant' ? 0 : 0.4) +
        (isNamedRole(role) || (speaker !== undefined && this.#names(asked, speaker)) ? 0.4 : 0) +
        (asksForTime(query) && cues.holdsTime ? 0.2 : 0) +
        (cues.speaksOfSelf ? 0.1 : 0)
      );
    });
    const order = scores.map((_, i) => i).sort((a, b) => scores[b]! - scores[a]! || b - a);
    return order.slice(0, limit).map((i) => this.#units[i]!.id);
  }

  #beside(i: number, step: 1 | -1): number | undefined {
    const { session } = this.#units[i]!;
    return session !== undefined && this.#units[i + step]?.session === session ? i + step : undefined;
  }

  #answers(before: number, i: number): boolean {
    const { text } = this.#units[before]!;
    const speaker = leadingName(text);
    return asks(text) && speaker !== undefined && speaker !== leadingName(this.#units[i]!.text);
  }

  #names({ terms }: Counted, speaker: string): boolean {
    const words = this.#analyzer.analyze(speaker).terms;
    return words.length > 0 && words.every((word) => terms.has(word));
  }

  #bm25(terms: readonly string[], of: (unit: Counted) => ReadonlyMap<string, number>): number[] {
    return bm25(this.#counted, terms, of, this.#meanLength);
  }

  /** 1, or less if vectors would put another unit before the best by words, which holds a part of the question. */
  #vectorWeight(asked: Counted, words: readonly number[], cosines: readonly number[]): number {
    const best = Math.max(...words.map((score, i) => score + cosines[i]!));
    const first = words.indexOf(1);
    if (first < 0 || 1 + cosines[first]! >= best) return 1;
    const idfs = [...asked.terms.keys()].map((term) => [term, this.#idf(term)] as const);
    const all = idfs.reduce((sum, [, idf]) => sum + idf, 0);
    const held = idfs.reduce((sum, [term, idf]) => sum + (this.#counted[first]!.terms.has(term) ? idf : 0), 0);
    return 1 - 0.5 * (held / all) ** 2;
  }

  #idf(term: string): number {
    return idfOf(this.#counted, (unit) => unit.terms.has(term));
  }

  /** The BM25 of each session as one text, as a share of the best. */
  #pooled({ terms }: Counted): ReadonlyMap<string, number> {
    const sessions = new Map<string, { length: number; terms: Map<string, number> }>();
    for (const [i, { session }] of this.#units.entries()) {
      if (session === undefined) continue;
      const pooled = sessions.get(session) ?? { length: 0, terms: new Map<string, number>() };
      sessions.set(session, pooled);
      for (const [term, count] of this.#counted[i]!.terms) {
        pooled.length += count;
        pooled.terms.set(term, (pooled.terms.get(term) ?? 0) + count);
      }
    }
    const texts = [...sessions.values()].map((one) => ({ ...one, length: Math.max(LENGTH_MIN, one.length) }));
    const mean = texts.reduce((sum, { length }) => sum + length, 0) / texts.length;
    const scores = byBest(bm25(texts, [...terms.keys()], (one) => one.terms, mean));
    return new Map([...sessions.keys()].map((session, i) => [session, scores[i]!]));
  }
}

function idfOf<T>(units: readonly T[], holds: (unit: T) => boolean): number {
  const holding = units.filter(holds).length;
  return Math.log(1 + (units.length - holding + 0.5) / (holding + 0.5));
}

function bm25<T extends { readonly length: number }>(
  units: readonly T[],
  terms: readonly string[],
  of: (unit: T) => ReadonlyMap<string, number>,
  meanLength: number,
): number[] {
  const scores = units.map(() => 0);
  for (const term of terms) {
    const idf = idfOf(units, (unit) => of(unit).has(term));
    for (const [i, unit] of units.entries()) {
      const frequency = of(unit).get(term) ?? 0;
      const norm = K1 * (1 - B + (B * unit.length) / meanLength);
      if (frequency > 0) scores[i]! += (idf * frequency * (K1 + 1)) / (frequency + norm);
    }
  }
  return scores;
}

function counted(text: string, analyzer: Analyzer, unless: ReadonlySet<string> = new Set()): Counted {
  const analyzed = analyzer.analyze(text);
  const kept = analyzed.terms.map((_, i) => i).filter((i) => !unless.has(analyzed.terms[i]!));
  const terms = kept.map((i) => analyzed.terms[i]!);
  const positions = kept.map((i) => analyzed.positions[i]!);
  const counts = new Map<string, number>();
  const pairs = new Map<string, number>();
  for (const [i, term] of terms.entries()) {
    counts.set(term, (counts.get(term) ?? 0) + 1);
    if (positions[i + 1] !== positions[i]! + 1) continue;
    const pair = `${term} ${terms[i + 1]}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return { length: Math.max(LENGTH_MIN, terms.length), terms: counts, pairs };
}

function nearest({ vectors }: Unit, query: Float32Array): number {
  let best = Number.NaN;
  for (const vector of vectors) {
    let sum = 0;
    for (let d = 0; d < vector.length; d++) sum += vector[d]! * query[d]!;
    if (!(sum <= best)) best = sum;
  }
  return best;
}

function byBest(scores: readonly number[]): number[] {
  const best = Math.max(...scores);
  return scores.map((score) => (best > 0 ? score / best : 0));
}

/** 0 for units without a vector. */
function minMax(cosines: readonly number[]): number[] {
  const known = cosines.filter((cosine) => !Number.isNaN(cosine));
  const least = Math.min(...known);
  const best = Math.max(...known);
  return cosines.map((cosine) => (Number.isNaN(cosine) ? 0 : best > least ? (cosine - least) / (best - least) : 1));
}
