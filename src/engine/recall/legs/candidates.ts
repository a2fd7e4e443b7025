// The candidates of a recall in one partition, with exact raw scores: the results of each leg and, for the text leg,
// the neighbouring turns of results by words and vectors. Scores are normalised later, over all partitions
// (text-leg.ts).
import { defined } from '../../base/defined.ts';
import type { CallContext } from '../../calls/context.ts';
import type {
  Candidate,
  CandidateTurn,
  MetWishes,
  NeighbourScore,
  RecallQuery,
  SessionStatistics,
} from '../../calls/recall.ts';
import type { TurnContext } from '../../index/context/turn.ts';
import { evenLowerBound } from '../../index/even-lower-bound.ts';
import type { Doc, IndexPart, Ordinal } from '../../index/parts/part.ts';
import type { Analyzer } from '../../index/text/analyze.ts';
import { type ClauseMatcher, matcherOf } from '../../index/text/clauses.ts';
import { scoreFewPairs } from '../../index/text/pairs.ts';
import type { TextQuery } from '../../index/text/query.ts';
import { matchedTerms, scoreLists } from '../../index/text/score.ts';
import { docBits, searchText, type TextStatistics, weightsOf } from '../../index/text/search.ts';
import type { SearchPart } from '../../index/text/search-part.ts';
import type { Store } from '../../store/store.ts';
import { type PartFilter, visibleIn } from '../filter/filter.ts';
import { Conversations } from './conversations.ts';
import { countedParts } from './counted.ts';
import { inOrder, type PartDoc } from './ordered.ts';
import { PooledSessions } from './pooled.ts';
import { isTurn, type PlacedCode, QueryCues } from './query-cues.ts';
import type { VectorLeg } from './vector-leg.ts';
import { WishJudge } from './wishes.ts';

/** A search in one partition, with the statistics of the whole memory. */
export interface CandidateSearch {
  readonly store: Store;
  readonly context: CallContext;
  readonly parts: readonly IndexPart[];
  readonly filters: readonly PartFilter[];
  readonly query: RecallQuery;
  readonly analyzer: Analyzer;
  /** The analysed query; undefined for structure only. */
  readonly text: TextQuery | undefined;
  readonly statistics: TextStatistics;
  /** Document frequency of the query's pairs over all partitions; undefined if this is the only one. */
  readonly pairFrequency: ReadonlyMap<string, number> | undefined;
  /** Statistics of sessions over all partitions; undefined if this is the only one. */
  readonly pooled: SessionStatistics | undefined;
  readonly vectors: VectorLeg | undefined;
}

/** A grain with its raw scores. Looks up its hash only for a tie; most candidates never need it. */
export class LocalCandidate implements Candidate {
  readonly ordinal: Ordinal;
  readonly createdAtMs: number;
  readonly part: number;
  readonly doc: Doc;
  bm25: number | undefined = undefined;
  phrase: number | undefined = undefined;
  cosine: number | undefined = undefined;
  structural: boolean = false;
  turn: CandidateTurn | undefined = undefined;
  /** False for a neighbour that only contributes its scores. */
  isCandidate = true;
  outsideText: boolean = false;
  wishes: MetWishes | undefined = undefined;
  readonly #store: Store;
  #hash: string | undefined;

  constructor(store: Store, index: Pick<IndexPart, 'ordinals' | 'createdAtMs'>, part: number, doc: Doc) {
    this.#store = store;
    this.ordinal = index.ordinals[doc]!;
    this.createdAtMs = index.createdAtMs[doc]!;
    this.part = part;
    this.doc = doc;
  }

  get hash(): string {
    this.#hash ??= this.#store.addressOfLive(this.ordinal);
    return this.#hash;
  }
}

export interface Found {
  readonly candidates: readonly LocalCandidate[];
  /** True if words or structure reached the limit of a leg: more grains may match. */
  readonly legCut: boolean;
}

export function findCandidates(search: CandidateSearch): Found {
  if (search.filters.every(({ docs }) => docs?.length === 0)) return { candidates: [], legCut: false };
  const units = new Units(search);
  const { text, query, vectors } = search;
  let legCut = false;
  if (text !== undefined) {
    const matching = new Matching(search, text);
    const hits = searchText(matching.searched, text, search.statistics, query.candidateLimit);
    for (const hit of hits) units.add(hit.part, hit.doc).bm25 = hit.score;
    legCut = hits.length >= query.candidateLimit;
    if (query.wordsOnly !== true) {
      vectorHits(search, matching, units);
      scoreContext(search, text, matching, units);
      if (vectors !== undefined) scoreSessions(search, text, units);
      scoreExactly(search, text, units);
    }
  }
  if (text === undefined || query.structural) {
    const { store, parts, filters } = search;
    const newest = inOrder(store, parts, filters, { limit: query.candidateLimit, order: 'desc' });
    for (const { part, doc } of newest) asCandidate(units.at(part, doc)).structural = true;
    legCut ||= newest.length >= query.candidateLimit;
  }
  judgeWishes(search, units);
  const { all } = units;
  // Only neighbours of turns are not.
  return { candidates: all.every(isCandidate) ? all : all.filter(isCandidate), legCut };
}

function isCandidate(unit: LocalCandidate): boolean {
  return unit.isCandidate;
}

/** Makes a unit a candidate for another leg. A neighbour that the text leg did not take stays outside the text leg. */
function asCandidate(unit: LocalCandidate): LocalCandidate {
  if (unit.isCandidate) return unit;
  unit.isCandidate = true;
  unit.outsideText = true;
  return unit;
}

/** Indexes of the query terms that each candidate holds, in candidate order. Evidence is computed from them. */
export function matchedTermsOf(
  { parts, text }: Pick<CandidateSearch, 'parts' | 'text'>,
  candidates: readonly LocalCandidate[],
): (readonly number[])[] {
  const matched: (readonly number[])[] = candidates.map(() => NO_TERMS);
  if (text === undefined || candidates.length === 0) return matched;
  for (const [part, index] of parts.entries()) {
    const places: number[] = [];
    for (let i = 0; i < candidates.length; i++) if (candidates[i]!.part === part) places.push(i);
    if (places.length === 0) continue;
    const docs = docsOf(places.map((i) => candidates[i]!));
    const found = matchedTerms(index.text, docs, text.terms);
    for (let at = 0; at < places.length; at++) matched[places[at]!] = found[at]!;
  }
  return matched;
}

const NO_TERMS: readonly number[] = [];

/** Grains by place, without repeats. */
class Units {
  readonly all: LocalCandidate[] = [];
  readonly #store: Store;
  /** Columns of the parts, fetched once because each access to a chunk is a cache lookup. */
  readonly #parts: readonly Pick<IndexPart, 'ordinals' | 'createdAtMs'>[];
  /** Units by part and doc. Built at the first lookup, because most recalls only add the results by words. */
  #byDoc: readonly Map<Doc, LocalCandidate>[] | undefined;

  constructor({ store, parts }: CandidateSearch) {
    this.#store = store;
    this.#parts = parts.map(({ ordinals, createdAtMs }) => ({ ordinals, createdAtMs }));
  }

  /** Adds a new grain without a check for repeats: use it for the first leg only, before any lookup. */
  add(part: number, doc: Doc): LocalCandidate {
    const unit = new LocalCandidate(this.#store, this.#parts[part]!, part, doc);
    this.all.push(unit);
    return unit;
  }

  known(part: number, doc: Doc): LocalCandidate | undefined {
    return this.#indexed()[part]!.get(doc);
  }

  at(part: number, doc: Doc): LocalCandidate {
    const docs = this.#indexed()[part]!;
    let unit = docs.get(doc);
    if (unit === undefined) {
      unit = this.add(part, doc);
      docs.set(doc, unit);
    }
    return unit;
  }

  #indexed(): readonly Map<Doc, LocalCandidate>[] {
    if (this.#byDoc !== undefined) return this.#byDoc;
    const byDoc = this.#parts.map(() => new Map<Doc, LocalCandidate>());
    for (const unit of this.all) byDoc[unit.part]!.set(unit.doc, unit);
    this.#byDoc = byDoc;
    return byDoc;
  }
}

/** The docs that pass the filters and the query's clauses. */
class Matching {
  readonly searched: readonly SearchPart[];
  readonly #filters: readonly PartFilter[];
  readonly #matchers: (ClauseMatcher | 'nothing' | undefined | null)[];
  readonly #parts: readonly IndexPart[];
  readonly #text: TextQuery;

  constructor({ parts, filters }: CandidateSearch, text: TextQuery) {
    this.#parts = parts;
    this.#filters = filters;
    this.#text = text;
    this.#matchers = parts.map(() => null);
    this.searched = parts.map((part, i): SearchPart => {
      const { docs, test, passesAll } = filters[i]!;
      return {
        text: part.text,
        removed: passesAll === true ? undefined : (doc) => !test(doc),
        allowed: docs === undefined ? undefined : docBits(docs, part.docCount),
        allowedDocs: docs,
        createdAtMs: part.createdAtMs,
        ordinals: part.ordinals,
        chronological: part.chronological,
      };
    });
  }

  /** True if no filter and no clause excludes any doc. */
  get letsAll(): boolean {
    return (
      this.#filters.every(({ docs, passesAll }) => docs === undefined && passesAll === true) &&
      this.#text.clauses.length === 0
    );
  }

  lets(part: number, doc: Doc): boolean {
    const allowed = this.searched[part]!.allowed?.words;
    if (allowed !== undefined && (allowed[doc >>> 5]! & (1 << (doc & 31))) === 0) return false;
    if (!this.#filters[part]!.test(doc)) return false;
    const matcher = this.#matcher(part);
    return matcher === undefined || (matcher !== 'nothing' && matcher.matches(doc));
  }

  #matcher(part: number): ClauseMatcher | 'nothing' | undefined {
    const known = this.#matchers[part];
    if (known !== null) return known;
    const made = matcherOf(this.#parts[part]!.text, this.#text.clauses);
    this.#matchers[part] = made;
    return made;
  }
}

function vectorHits(
  { store, context, parts, filters, query, vectors }: CandidateSearch,
  matching: Matching,
  units: Units,
): void {
  if (vectors === undefined) return;
  const placeOf = placesIn(parts);
  const isAllowed =
    matching.letsAll && !store.isDamaged(context.memory)
      ? ALWAYS
      : (ordinal: Ordinal): boolean => {
          const place = placeOf(ordinal);
          return place !== undefined && matching.lets(place.part, place.doc);
        };
  const lists = filters.map(({ docs }) => docs);
  const isListed = lists.length > 0 && lists.every((docs) => docs !== undefined);
  const hits = vectors.search({
    limit: query.candidateLimit,
    isAllowed,
    allowedOrdinals: isListed ? ordinalsOf(parts, lists) : undefined,
  });
  for (const { ordinal, cosine } of hits) {
    const place = placeOf(ordinal);
    if (place === undefined) continue;
    const unit = units.at(place.part, place.doc);
    unit.cosine = cosine;
  }
}

/** The vectors of removed grains are removed with them, so each vector has a place unless the index is damaged. */
const ALWAYS = (): boolean => true;

function ordinalsOf(parts: readonly IndexPart[], lists: readonly (Uint32Array | undefined)[]): Uint32Array {
  const ordinals = new Uint32Array(lists.reduce((sum, docs) => sum + (docs?.length ?? 0), 0));
  let at = 0;
  // Ordinals ascend from part to part.
  lists.forEach((docs, part) => {
    for (const doc of docs ?? []) ordinals[at++] = parts[part]!.ordinals[doc]!;
  });
  return ordinals;
}

/**
 * Returns a function that maps an ordinal to its part and doc, or undefined if no part holds it. Fetches the columns
 * once, because each access to a chunk is a cache lookup.
 */
export function placesIn(parts: readonly IndexPart[]): (ordinal: Ordinal) => PartDoc | undefined {
  const columns = parts.map(({ ordinals, docCount }) => ({ ordinals, docCount, at: (doc: Doc) => ordinals[doc]! }));
  return (ordinal) => {
    for (let part = columns.length - 1; part >= 0; part--) {
      const { ordinals, docCount, at } = columns[part]!;
      if (docCount === 0 || ordinals[0]! > ordinal) continue;
      const doc = evenLowerBound(at, ordinal, docCount);
      return doc < docCount && ordinals[doc] === ordinal ? { part, doc } : undefined;
    }
    return undefined;
  };
}

/**
 * Sets the neighbours and flags of every turn. Neighbours of results by words and vectors become candidates if they
 * pass the filters. Neighbours of these neighbours only contribute scores.
 */
function scoreContext(search: CandidateSearch, text: TextQuery, matching: Matching, units: Units): void {
  const { store, context, parts, query, analyzer } = search;
  if (units.all.length === 0) return;
  const contexts = parts.map((part) => part.context);
  if (contexts.every((known) => known === undefined)) return;
  const visible = parts.map((part) => visibleIn(store, part, query.filter, context));
  const conversations = new Conversations(parts, contexts, (part, doc) => visible[part]!(doc));
  // Most questions find no turn.
  let cues: QueryCues | undefined;
  const neighbour = (place: { part: number; doc: Doc } | undefined, mayEnter: boolean): LocalCandidate | undefined => {
    if (place === undefined) return undefined;
    const known = units.known(place.part, place.doc);
    if (known !== undefined) return known;
    const unit = units.at(place.part, place.doc);
    unit.isCandidate = mayEnter && matching.lets(place.part, place.doc);
    return unit;
  };
  const surround = (unit: LocalCandidate, mayEnter: boolean): void => {
    const code = codeAt(contexts, unit.part, unit.doc);
    if (code === undefined || !isTurn(code.code, code.context.sessions[unit.doc] ?? 0)) return;
    const around = conversations.around(unit.part, unit.doc);
    const before = neighbour(around?.before, mayEnter);
    const after = neighbour(around?.after, mayEnter);
    const beforeCode = before === undefined ? undefined : codeAt(contexts, before.part, before.doc);
    cues ??= new QueryCues(query.query ?? '', text, analyzer);
    unit.turn = { turnFlags: cues.of(code, beforeCode), session: around?.session ?? 0, before, after };
  };
  const found = units.all.length;
  for (let i = 0; i < found; i++) surround(units.all[i]!, true);
  const entered = units.all.length;
  for (let i = found; i < entered; i++) if (units.all[i]!.isCandidate) surround(units.all[i]!, false);
}

/** Sets the pooled BM25 of each turn's session. */
function scoreSessions(
  { store, context, parts, pooled: summed }: CandidateSearch,
  text: TextQuery,
  units: Units,
): void {
  const turns = units.all.filter(({ turn }) => turn !== undefined && turn.session !== 0);
  if (turns.length === 0) return;
  const pooled = new PooledSessions(parts, countedParts(store, parts, context), text.terms);
  const numbers = turns.map(({ part, doc }) => pooled.numberOf(part, doc));
  const scores = pooled.scores([...new Set(numbers)], summed);
  for (const [i, unit] of turns.entries()) unit.turn = { ...unit.turn!, pooled: scores.get(numbers[i]!)! };
}

function codeAt(contexts: readonly (TurnContext | undefined)[], part: number, doc: Doc): PlacedCode | undefined {
  const here = contexts[part];
  return here === undefined ? undefined : { code: here.codes[doc] ?? 0, context: here };
}

/** Completes the scores that the legs left open: BM25 of grains not found by words, cosines, pairs. */
function scoreExactly(search: CandidateSearch, text: TextQuery, units: Units): void {
  const { parts, statistics, vectors } = search;
  if (units.all.length === 0) return;
  if (units.all.some((unit) => unit.bm25 === undefined)) {
    const missing = units.all.filter((unit) => unit.bm25 === undefined);
    const weights = weightsOf(text.terms, statistics);
    for (const [part, some] of Map.groupBy(missing, (unit) => unit.part)) {
      const index = parts[part]!.text;
      const lists = text.terms.map((term) => index.postings(term));
      const scores = scoreLists(index, docsOf(some), lists, weights);
      for (const [i, unit] of some.entries()) unit.bm25 = scores[i]!;
    }
  }
  if (vectors !== undefined) {
    const blind = units.all.filter((unit) => unit.cosine === undefined);
    const cosines = vectors.cosinesOf(blind.map(({ ordinal }) => ordinal));
    for (const [i, unit] of blind.entries()) if (!Number.isNaN(cosines[i]!)) unit.cosine = cosines[i]!;
  }
  scorePhrases(search, text, units);
}

function scorePhrases(
  { store, context, parts, statistics, pairFrequency }: CandidateSearch,
  text: TextQuery,
  units: Units,
): void {
  if (text.pairs.length === 0 || pairFrequency?.size === 0) return;
  const byPart = parts.map((): LocalCandidate[] => []);
  for (const unit of units.all) if (unit.isCandidate) byPart[unit.part]!.push(unit);
  const docs = byPart.map(docsOf);
  const scores = scoreFewPairs(countedParts(store, parts, context), docs, text.pairs, statistics, pairFrequency);
  if (scores === undefined) return;
  for (const [part, some] of byPart.entries())
    for (let at = 0; at < some.length; at++) if (scores[part]![at]! > 0) some[at]!.phrase = scores[part]![at]!;
}

function judgeWishes({ parts, analyzer, text }: CandidateSearch, units: Units): void {
  if (text?.wishes === undefined) return;
  const judge = new WishJudge(text.wishes, parts, analyzer);
  for (const unit of units.all) if (unit.isCandidate) unit.wishes = judge.of(unit.part, unit.doc);
}

function docsOf(units: readonly LocalCandidate[]): Uint32Array {
  const docs = new Uint32Array(units.length);
  for (let i = 0; i < docs.length; i++) docs[i] = units[i]!.doc;
  return docs;
}

/** A candidate as plain data, to cross threads. */
export function plainCandidate(unit: LocalCandidate, matched: readonly number[]): Candidate {
  const { hash, ordinal, createdAtMs, bm25, phrase, cosine, structural, outsideText, turn, wishes } = unit;
  return defined({
    hash,
    ordinal,
    createdAtMs,
    bm25,
    phrase,
    cosine,
    structural: structural || undefined,
    outsideText: outsideText || undefined,
    turn: turn && plainTurn(turn),
    wishes,
    matchedTerms: matched.length === 0 ? undefined : matched,
  });
}

function plainTurn({ turnFlags, session, pooled, before, after }: CandidateTurn): CandidateTurn {
  return defined({
    turnFlags,
    session,
    pooled,
    before: before && plainScore(before),
    after: after && plainScore(after),
  });
}

function plainScore({ ordinal, bm25, cosine }: NeighbourScore): NeighbourScore {
  return defined({ ordinal, bm25, cosine });
}
