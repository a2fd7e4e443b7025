// Additional legs that a request asks for: rewordings of the query, its parts, and hops over the graph of entities.
// Each is a ranking; reciprocal rank fusion combines them with the found hits.
import type { RecallOptions, RecallQuery, RecallSource } from '../../calls/recall.ts';
import { RRF_K } from '../fusion/fuse.ts';
import { splitQuery } from './decompose.ts';
import { entitiesOfHits } from './entities.ts';
import { ALIKE_MAX, expandQuery, wordsToExpand } from './expansion.ts';
import { compareHits, type StageHit } from './hit.ts';
import { aboutEntity, askAlike, followUp, type Recalling, search } from './questions.ts';

export interface Leg {
  /** Source label of hits that only this leg found. */
  readonly source: RecallSource;
  /** Best first. */
  readonly hits: readonly StageHit[];
}

const LEG_HITS = 50;
const DECOMPOSED_MAX = 4;
const HOP_START_HITS = 10;
const HOP_ENTITIES = 5;
const HOP_HITS = 20;

/** The non-empty rankings that the options ask for, in addition to `hits`. */
export function* furtherLegs(hits: readonly StageHit[], query: RecallQuery, options: RecallOptions): Recalling<Leg[]> {
  const text = query.query;
  const wordings: { text: string; source: RecallSource }[] = [];
  if (text !== undefined && options.queryExpansion === true)
    wordings.push(...(yield* expansions(text)).map((wording) => ({ text: wording, source: 'expansion' as const })));
  if (text !== undefined && options.queryDecompose === true)
    wordings.push(
      ...(splitQuery(text, DECOMPOSED_MAX)?.parts ?? []).map((part) => ({ text: part, source: 'primary' as const })),
    );
  const found = yield* search(
    wordings.map(({ text: wording, source }) =>
      // An expansion has no vector of its own, so it ranks by words only.
      followUp(query, { text: wording, limit: LEG_HITS, structural: false, wordsOnly: source === 'expansion' }),
    ),
  );
  const legs = wordings.map(({ source }, at): Leg => ({ source, hits: found[at]! }));
  if (options.multiHop !== undefined) legs.push(...(yield* hops(hits, query, options.multiHop)));
  return legs.filter((leg) => leg.hits.length > 0);
}

function* expansions(text: string): Recalling<string[]> {
  const words = wordsToExpand(text);
  const alike = yield* askAlike(words, ALIKE_MAX);
  const known = new Map(words.map((word, at) => [word, alike[at]!]));
  return expandQuery(text, (word) => known.get(word) ?? []);
}

/** A ranking for each hop: grains about the entities of the previous hop, in entity order. */
function* hops(hits: readonly StageHit[], query: RecallQuery, count: number): Recalling<Leg[]> {
  const legs: Leg[] = [];
  const asked = new Set<string>();
  const known = new Set(hits.map(({ grain }) => grain.hash));
  let frontier = hits.slice(0, HOP_START_HITS);
  for (let hop = 0; hop < count; hop++) {
    const entities = entitiesOfHits(frontier, HOP_ENTITIES + asked.size)
      .filter((entity) => !asked.has(entity))
      .slice(0, HOP_ENTITIES);
    if (entities.length === 0) break;
    for (const entity of entities) asked.add(entity);
    const answers = yield* search(
      entities.map((entity) => ({
        ...followUp(query, { text: null, limit: HOP_HITS }),
        filter: aboutEntity(query.filter, entity),
        structural: true,
      })),
    );
    const reached = distinct(answers.flat());
    legs.push({ source: 'expansion', hits: reached });
    frontier = reached.filter(({ grain }) => !known.has(grain.hash)).slice(0, HOP_START_HITS);
    for (const { grain } of reached) known.add(grain.hash);
  }
  return legs;
}

function distinct(hits: readonly StageHit[]): StageHit[] {
  return [...new Map(hits.toReversed().map((hit) => [hit.grain.hash, hit])).values()].reverse();
}

/**
 * Fuses the hits with additional rankings by reciprocal rank fusion: the sum of 1/(60 + rank) over all legs, divided by
 * the score of a hit that is first in every leg. The result becomes each hit's base; the text leg's terms are
 * informative only from then on.
 */
export function fuseLegs(hits: readonly StageHit[], legs: readonly Leg[]): StageHit[] {
  if (legs.length === 0) return [...hits];
  const own = hits.reduce((most, { breakdown }) => Math.max(most, breakdown.legs?.count ?? 1), 1);
  const count = own + legs.length;
  const sums = new Map<string, { hit: StageHit; sum: number }>();
  hits.forEach((hit, at) => {
    sums.set(hit.grain.hash, { hit, sum: hit.breakdown.legs?.sum ?? 1 / (RRF_K + at + 1) });
  });
  for (const { source, hits: ranked } of legs) {
    ranked.forEach((hit, at) => {
      const share = 1 / (RRF_K + at + 1);
      const known = sums.get(hit.grain.hash);
      if (known === undefined) sums.set(hit.grain.hash, { hit: strange(hit, source), sum: share });
      else {
        known.sum += share;
        // A part of the question found it too, so it counts as primary.
        if (source === 'primary') known.hit = { ...known.hit, recallSource: 'primary' };
      }
    });
  }
  return [...sums.values()]
    .map(({ hit, sum }): StageHit => {
      const base = (sum * (RRF_K + 1)) / count;
      return {
        ...hit,
        score: base,
        breakdown: { ...hit.breakdown, base, rrf: base, legs: { sum, count }, changes: {} },
      };
    })
    .sort(compareHits);
}

/**
 * Fuses the rankings of several questions by reciprocal rank fusion, divided by the score of a hit that is first in
 * every ranking.
 */
export function fuseRankings(rankings: readonly (readonly StageHit[])[]): StageHit[] {
  const [first = [], ...rest] = rankings.filter((ranking) => ranking.length > 0);
  const begun = first.map((hit, at) => {
    const one = strange(hit, hit.recallSource);
    const sum = 1 / (RRF_K + at + 1);
    const base = sum * (RRF_K + 1);
    return { ...one, score: base, breakdown: { base, rrf: base, legs: { sum, count: 1 }, changes: {} } };
  });
  return fuseLegs(
    begun,
    rest.map((hits) => ({ source: 'primary', hits })),
  );
}

/** A hit of another query, without its terms: they do not explain a score of this query. */
function strange(hit: StageHit, recallSource: RecallSource): StageHit {
  return { ...hit, recallSource, breakdown: { base: hit.breakdown.base, changes: {} } };
}
