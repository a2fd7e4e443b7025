// Reads of the model: they visit every grain and compute every score.
import type { RecallQuery } from '../../src/engine/calls/recall.ts';
import { asksForTime } from '../../src/engine/index/context/question-cues.ts';
import { ROLES } from '../../src/engine/index/context/turn.ts';
import { countedLength, inverseDocumentFrequency, LengthNorms, termScore } from '../../src/engine/index/text/bm25.ts';
import {
  type FieldCondition,
  parseQuery,
  parseQuestion,
  type QueryPair,
  type TextClause,
  type TextQuery,
  type Wishes,
} from '../../src/engine/index/text/query.ts';
import { unscoredTerms } from '../../src/engine/index/text/question-words.ts';
import { COVERAGE_FULL } from '../../src/engine/recall/legs/evidence.ts';
import { KNOWN_MIN } from '../../src/engine/recall/legs/relevance.ts';
import type { Output } from '../../src/shards/protocol.ts';
import { ANALYZER, type Bound, has, inOrder, type ModelGrain, viewOf } from './grain.ts';
import { positionsOf, turnsOf } from './lists.ts';
import type { ModelMemory } from './memory.ts';

const RRF_K = 60;

interface Scored {
  readonly modelGrain: ModelGrain;
  /** Undefined if not in the text leg. */
  text?: TextScores | undefined;
  structural?: boolean | undefined;
}

interface TextScores {
  bm25: number;
  phrase: number;
  /** For a turn: its neighbours in its session, and whether it answers the one before. */
  turn?:
    | { readonly before: ModelGrain | undefined; readonly after: ModelGrain | undefined; readonly answers: boolean }
    | undefined;
}

export function recalled(memory: ModelMemory, bound: Bound, query: RecallQuery): Output<'recall'> {
  const unless =
    query.wordsOnly === true || query.query === undefined ? undefined : unscoredTerms(query.query, ANALYZER);
  const parse = query.operators === true ? parseQuery : parseQuestion;
  const text = query.query === undefined ? undefined : parse(query.query, ANALYZER, unless);
  const fields = namedFields(text?.fields);
  const isMeant = (modelGrain: ModelGrain): boolean =>
    fields.every(({ facet, value, negated }) => has(modelGrain, facet, value) !== negated);
  const passing = memory.passing(query.filter, bound).filter(isMeant);

  const scored = new Map<ModelGrain, Scored>();
  const found = (modelGrain: ModelGrain): Scored => {
    const one = scored.get(modelGrain) ?? { modelGrain };
    scored.set(modelGrain, one);
    return one;
  };
  // Frequencies of words in other namespaces or in expired grains must not affect the caller.
  const seen = memory.passing({ includeSuperseded: true }, bound);
  const words = text === undefined ? undefined : new Words(seen, text);
  if (text !== undefined && words !== undefined) {
    const mayMatch = (modelGrain: ModelGrain): boolean =>
      passing.includes(modelGrain) && text.clauses.every((clause) => holds(modelGrain, clause) === clause.required);
    const take = (modelGrain: ModelGrain): TextScores => {
      const one = found(modelGrain);
      one.text ??= { bm25: words.bm25(modelGrain), phrase: words.phrase(modelGrain) };
      return one.text;
    };
    for (const modelGrain of passing) if (mayMatch(modelGrain) && words.bm25(modelGrain) > 0) take(modelGrain);
    const versions = query.filter.includeSuperseded === true ? { includeSuperseded: true } : {};
    const visible = memory.passing(versions, bound);
    const matched = [...scored.keys()];
    for (const modelGrain of matched)
      for (const near of Object.values(around(modelGrain, visible)))
        if (near !== undefined && mayMatch(near)) take(near);
    for (const { modelGrain, text: scores } of scored.values()) {
      if (scores === undefined || !isTurn(modelGrain)) continue;
      const { before, after } = around(modelGrain, visible);
      const answers = before?.turn?.asks === true && hasOtherSpeaker(before, modelGrain);
      scores.turn = { before, after, answers };
    }
  }
  // Without a search word, `field:term` is a structural question.
  const asksStructure = text?.terms.length === 0 && fields.some(({ negated }) => !negated);
  if (text === undefined || query.structural || asksStructure) {
    for (const modelGrain of passing.sort(inOrder('desc')).slice(0, query.candidateLimit))
      found(modelGrain).structural = true;
  }
  const candidates = [...scored.values()];
  const hits = fused(candidates, query, words, bound).slice(0, query.limit);
  const shown = new Set(hits.map(({ grain }) => grain.hash));
  const answered = candidates.flatMap(({ modelGrain }) => (shown.has(modelGrain.hash) ? [modelGrain] : []));
  const together = words?.matched(...answered) ?? 0;
  const best = Math.max(0, ...answered.map((modelGrain) => words?.matched(modelGrain) ?? 0));
  const isKnown = knownByWords(best) >= KNOWN_MIN;
  const coverage = text === undefined ? null : !isKnown ? 'none' : together < COVERAGE_FULL ? 'partial' : 'full';
  return { hits, total: candidates.length, coverage };
}

/** How far a question is known whose best hit by words holds this share of its idf: from a fifth to a half. */
function knownByWords(share: number): number {
  return Math.min(1, Math.max(0, (share - 0.2) / 0.3));
}

/** BM25 of words and pairs over every grain that the caller may see. */
class Words {
  readonly #live: readonly ModelGrain[];
  readonly #text: TextQuery;
  readonly #norms: LengthNorms;

  constructor(live: readonly ModelGrain[], text: TextQuery) {
    this.#live = live;
    this.#text = text;
    const lengths = live.reduce((sum, { terms }) => sum + countedLength(terms.terms.length), 0);
    this.#norms = new LengthNorms(live.length === 0 ? 1 : lengths / live.length);
  }

  get terms(): readonly string[] {
    return this.#text.terms;
  }

  get wishes(): Wishes | undefined {
    return this.#text.wishes;
  }

  bm25(modelGrain: ModelGrain): number {
    return this.#sum(modelGrain, this.#text.terms, occurrences);
  }

  phrase(modelGrain: ModelGrain): number {
    return this.#sum(modelGrain, this.#text.pairs, pairOccurrences);
  }

  /** The share of the query's idf that the grains cover together. */
  matched(...grains: readonly ModelGrain[]): number {
    const { terms } = this.#text;
    const all = terms.reduce((sum, term) => sum + this.#weight(term, occurrences), 0);
    return terms
      .filter((term) => grains.some((modelGrain) => occurrences(modelGrain, term) > 0))
      .reduce((sum, term) => sum + this.#weight(term, occurrences) / all, 0);
  }

  #sum<T>(modelGrain: ModelGrain, asked: readonly T[], count: (modelGrain: ModelGrain, one: T) => number): number {
    const norm = this.#norms.of(modelGrain.terms.terms.length);
    return asked.reduce((sum, one) => {
      const frequency = count(modelGrain, one);
      return frequency === 0 ? sum : sum + termScore(this.#weight(one, count), frequency, norm);
    }, 0);
  }

  #weight<T>(one: T, count: (modelGrain: ModelGrain, one: T) => number): number {
    const holding = this.#live.filter((modelGrain) => count(modelGrain, one) > 0).length;
    return inverseDocumentFrequency(this.#live.length, holding);
  }
}

function occurrences(modelGrain: ModelGrain, term: string): number {
  return positionsOf(modelGrain, term).length;
}

function pairOccurrences(modelGrain: ModelGrain, { first, second, distance }: QueryPair): number {
  const seconds = positionsOf(modelGrain, second);
  return positionsOf(modelGrain, first).filter((position) => seconds.includes(position + distance)).length;
}

/** The turns before and after an event in its session. */
function around(
  modelGrain: ModelGrain,
  visible: readonly ModelGrain[],
): { before?: ModelGrain | undefined; after?: ModelGrain | undefined } {
  const { turn, session, partition } = modelGrain;
  if (turn === undefined || session === undefined) return {};
  const turns = turnsOf(
    visible.filter((other) => other.partition === partition),
    session,
  );
  const at = turns.indexOf(modelGrain);
  return { before: turns[at - 1], after: turns[at + 1] };
}

function isTurn({ turn, session }: ModelGrain): boolean {
  return turn !== undefined && (session !== undefined || turn.speaker !== undefined || turn.role !== ROLES.none);
}

/** True if the first of two turns has a speaker that differs from the second's. */
function hasOtherSpeaker(before: ModelGrain, modelGrain: ModelGrain): boolean {
  const name = ({ turn }: ModelGrain): string | undefined => turn?.speaker?.replace(/:$/, '');
  return name(before) !== undefined && name(before) !== name(modelGrain);
}

const NO_TERMS = {
  bm25: 0,
  phrase: 0,
  vector: 0,
  near: 0,
  answer: 0,
  session: 0,
  pooled: 0,
  role: 0,
  speaker: 0,
  time: 0,
  self: 0,
};

/** The formula of the specification, without vectors. */
function textTerms(candidates: readonly Scored[], query: string, words: Words): (candidate: Scored) => typeof NO_TERMS {
  const inText = candidates.filter(({ text }) => text !== undefined);
  const most = (values: readonly number[]): number => Math.max(0, ...values);
  const bestWords = most(inText.map(({ text }) => text!.bm25));
  const bestPairs = most(inText.map(({ text }) => text!.phrase));
  const h = (modelGrain: ModelGrain | undefined): number =>
    modelGrain === undefined || words.bm25(modelGrain) === 0 ? 0 : Math.min(1, words.bm25(modelGrain) / bestWords);
  const hasTurns = inText.some(({ text }) => text!.turn !== undefined);
  const inSession = (a: ModelGrain, b: ModelGrain): boolean =>
    a.session !== undefined && a.session === b.session && a.partition === b.partition;
  return ({ modelGrain, text }) => {
    if (text === undefined) return NO_TERMS;
    const own = {
      ...NO_TERMS,
      bm25: h(modelGrain) / 5.4,
      phrase: bestPairs === 0 ? 0 : (0.3 * (text.phrase / bestPairs)) / 5.4,
      role: hasTurns ? 0.4 / 5.4 : 0,
    };
    if (text.turn === undefined) return own;
    const { before, after, answers } = text.turn;
    const { turn } = modelGrain;
    const name = turn?.speaker === undefined ? [] : ANALYZER.analyze(turn.speaker).terms;
    // A heading before a colon must be present as a whole.
    const asked = turn?.speaker?.endsWith(':') === true ? name : name.slice(0, 1);
    const isNamed = name.length > 0 && asked.every((word) => words.terms.includes(word));
    const best = most(
      inText
        .filter((one) => one.text!.turn !== undefined && inSession(one.modelGrain, modelGrain))
        .map((one) => h(one.modelGrain)),
    );
    return {
      ...own,
      near: (0.2 * (h(before) + h(after))) / 5.4,
      answer: answers ? (0.3 * h(before)) / 5.4 : 0,
      session: (0.2 * best) / 5.4,
      role: turn?.role === ROLES.assistant ? 0 : 0.4 / 5.4,
      speaker: isNamed ? 0.4 / 5.4 : 0,
      time: asksForTime(query) && turn?.holdsTime === true ? 0.2 / 5.4 : 0,
      self: turn?.speaksOfSelf === true ? 0.1 / 5.4 : 0,
    };
  };
}

function fused(
  candidates: readonly Scored[],
  query: RecallQuery,
  words: Words | undefined,
  caller: Bound,
): Output<'recall'>['hits'][number][] {
  const newest = inOrder('desc');
  const inText = candidates.filter(({ text }) => text !== undefined);
  const plain = words === undefined ? () => NO_TERMS : textTerms(candidates, query.query ?? '', words);
  const terms = (candidate: Scored): typeof NO_TERMS => {
    const { factor } = wishesMet(candidate.modelGrain, words?.wishes);
    const scaled = Object.entries(plain(candidate)).map(([name, term]) => [name, term * factor] as const);
    return { ...NO_TERMS, ...Object.fromEntries(scaled) };
  };
  const relevance = (candidate: Scored): number =>
    Math.min(
      1,
      Object.values(terms(candidate)).reduce((sum, term) => sum + term, 0),
    );
  const ranking = inText.map((candidate) => ({ candidate, score: relevance(candidate) }));
  ranking.sort((a, b) => b.score - a.score || newest(a.candidate.modelGrain, b.candidate.modelGrain));
  const byWords = inText.filter(({ text }) => text!.bm25 > 0);
  byWords.sort((a, b) => b.text!.bm25 - a.text!.bm25 || newest(a.modelGrain, b.modelGrain));
  const structure = candidates
    .filter(({ structural }) => structural)
    .sort((a, b) => newest(a.modelGrain, b.modelGrain));
  const isMixed = query.query !== undefined && query.structural;
  const shown = !isMixed && inText.length > 0 ? inText : candidates;
  const hasTurns = inText.some(({ text }) => text!.turn !== undefined);
  // The highest possible scores without vectors, of a turn and of another grain.
  const attained = (candidate: Scored): number => {
    if (query.wordsOnly === true) return relevance(candidate) / (candidate.text!.turn === undefined ? 1.3 : 3.3);
    const most =
      candidate.text!.turn === undefined
        ? 1 + 0.3 + (hasTurns ? 0.4 : 0)
        : 1 + 0.3 + (2 * 0.2 + 0.3 + 0.2) + 0.4 + 0.4 + 0.2 + 0.1;
    return (relevance(candidate) * 5.4) / most;
  };
  // The tenth candidate, or the background of few candidates.
  const tenth = Math.max(0.3, inText.map(attained).sort((a, b) => b - a)[9] ?? 0);
  const known = byWords.length === 0 ? 0 : knownByWords(words!.matched(byWords[0]!.modelGrain));
  const probability = (candidate: Scored, rank: number): number => {
    const lead = Math.max(0, Math.min(1, attained(candidate)) - tenth);
    return known * (1 / (1 + Math.exp(0.45 * Math.log(rank) - (-2.2 + 10 * lead))));
  };
  const hits = shown.map((candidate) => {
    const place = ranking.findIndex((one) => one.candidate === candidate);
    const newness = structure.indexOf(candidate);
    const word = byWords.indexOf(candidate);
    const text = place < 0 ? 0 : 1 / (RRF_K + place + 1);
    const both = text + (newness < 0 ? 0 : 1 / (RRF_K + newness + 1));
    const [score, rrf] = isMixed
      ? [(both * (RRF_K + 1)) / 2, both]
      : inText.length > 0
        ? [ranking[place]!.score, text]
        : [1, 1 / (RRF_K + 1)];
    return {
      modelGrain: candidate.modelGrain,
      candidate,
      score,
      rrfScore: rrf,
      breakdown: { ...(isMixed || inText.length > 0 ? terms(candidate) : NO_TERMS), rrf, final: score },
      ...(word < 0 ? {} : { bm25Rank: word + 1 }),
      ...(wishesMet(candidate.modelGrain, words?.wishes).isMet ? {} : { unmet: true }),
      ...(words === undefined ? {} : { evidence: Math.min(1, words.matched(candidate.modelGrain)) }),
    };
  });
  hits.sort((a, b) => b.score - a.score || newest(a.modelGrain, b.modelGrain));
  return hits.map(({ modelGrain, candidate, ...scores }, i) => ({
    grain: viewOf(modelGrain, caller),
    superseded: modelGrain.supersededBy !== undefined,
    ...(inText.includes(candidate) ? { relevance: probability(candidate, i + 1) } : {}),
    ...scores,
  }));
}

function namedFields(fields: readonly FieldCondition[] = []) {
  return fields.flatMap(({ field, value, negated }) => (field === 'content' ? [] : [{ facet: field, value, negated }]));
}

/** A grain that meets all wishes scores 1.25, one that an unwanted operator matches half. */
function wishesMet(modelGrain: ModelGrain, wishes: Wishes | undefined): { factor: number; isMet: boolean } {
  if (wishes === undefined) return { factor: 1, isMet: true };
  const judged = [
    ...wishes.clauses.map((clause) => ({ wanted: clause.required, met: holds(modelGrain, clause) })),
    ...namedFields(wishes.fields).map(({ facet, value, negated }) => {
      return { wanted: !negated, met: has(modelGrain, facet, value) };
    }),
  ];
  const wanted = judged.filter((one) => one.wanted);
  const met = wanted.filter((one) => one.met).length;
  const isUnwanted = judged.some((one) => !one.wanted && one.met);
  const gain = wanted.length === 0 ? 0 : (0.25 * met) / wanted.length;
  return { factor: (1 + gain) * (isUnwanted ? 0.5 : 1), isMet: met === wanted.length && !isUnwanted };
}

/** True if the terms of a clause are in the text at their distances. */
function holds(modelGrain: ModelGrain, { terms: [first, ...others], offsets }: TextClause): boolean {
  return positionsOf(modelGrain, first!).some((position) =>
    others.every((term, i) => positionsOf(modelGrain, term).includes(position + offsets[i + 1]!)),
  );
}
