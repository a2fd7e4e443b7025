// Reads of the model: every grain is looked at, every score is computed.
import type { GrainFilter, RecallQuery } from '../../../src/engine/calls.ts';
import { tripleForm } from '../../../src/engine/grain/api-text.ts';
import {
  countedLength,
  inverseDocumentFrequency,
  LengthNorms,
  termScore,
} from '../../../src/engine/index/text/bm25.ts';
import { parseQuery, type TextClause } from '../../../src/engine/index/text/query.ts';
import type { Output } from '../../../src/shards/protocol.ts';
import { ANALYZER, type Held, inOrder, isExpired, numberOf, type Prepared, viewOf } from './grain.ts';
import { type Bound, isWithin, type ModelMemory } from './memory.ts';

export interface Clocked {
  readonly nowMs: number;
}

/** True when a filter keeps the grain. */
export function passes(filter: GrainFilter, bound: Bound, held: Held, { nowMs }: Clocked): boolean {
  const { triple } = held;
  const is = (wanted: string | undefined, value: string | undefined): boolean =>
    wanted === undefined || value === tripleForm(wanted);
  const validFrom = numberOf(held, 'valid_from');
  const importance = numberOf(held, 'importance');
  const inWindow = (value: number | undefined, low: number | undefined, high: number | undefined): boolean =>
    (low === undefined && high === undefined) ||
    (value !== undefined && (low === undefined || value >= low) && (high === undefined || value <= high));
  return (
    !held.removed &&
    isWithin(bound, held) &&
    (filter.includeSuperseded === true || held.supersededBy === undefined) &&
    !isExpired(held, nowMs) &&
    (filter.grainTypes === undefined || filter.grainTypes.includes(held.grain.type)) &&
    (filter.namespace === undefined || held.namespace === filter.namespace) &&
    (filter.userId === undefined || held.userId === filter.userId) &&
    (filter.sessionId === undefined || held.session === filter.sessionId || held.namespace === filter.sessionId) &&
    is(filter.subject, triple.subject) &&
    is(filter.relation, triple.relation) &&
    is(filter.object, triple.object) &&
    (filter.entity === undefined || is(filter.entity, triple.subject) || is(filter.entity, triple.object)) &&
    (filter.tags ?? []).every((tag) => held.tags.includes(tag)) &&
    !(filter.excludeTags ?? []).some((tag) => held.tags.includes(tag)) &&
    inWindow(held.createdAtMs, filter.createdFromMs, filter.createdToMs) &&
    inWindow(validFrom, filter.validFromMs, filter.validToMs) &&
    (filter.confidenceMin === undefined || (numberOf(held, 'confidence') ?? 1) >= filter.confidenceMin) &&
    (filter.importanceMin === undefined || (importance !== undefined && importance >= filter.importanceMin))
  );
}

/** Everything that a list goes through, in its order. */
export function listed(memory: ModelMemory, bound: Bound, filter: GrainFilter, order: 'asc' | 'desc', now: Clocked) {
  return memory.grains.filter((held) => passes(filter, bound, held, now)).sort(inOrder(order));
}

const RRF_K = 60;

interface Scored {
  readonly held: Held;
  bm25?: number;
  structural?: boolean;
}

export function recalled(memory: ModelMemory, bound: Bound, query: RecallQuery, now: Clocked): Output<'recall'> {
  const text = query.query === undefined ? undefined : parseQuery(query.query, ANALYZER);
  const fields = (text?.fields ?? []).filter(({ field }) => field !== 'content');
  const isMeant = (held: Held): boolean =>
    fields.every(({ field, value, negated }) => valuesOf(held, field).includes(valueForm(field, value)) !== negated);
  const passing = memory.grains.filter((held) => passes(query.filter, bound, held, now) && isMeant(held));

  const scored = new Map<Held, Scored>();
  const found = (held: Held): Scored => {
    const one = scored.get(held) ?? { held };
    scored.set(held, one);
    return one;
  };
  const live = memory.live;
  const lengths = live.reduce((sum, { terms }) => sum + countedLength(terms.terms.length), 0);
  const frequencyOf = (term: string): number => live.filter(({ terms }) => terms.terms.includes(term)).length;
  if (text !== undefined) {
    const norms = new LengthNorms(live.length === 0 ? 1 : lengths / live.length);
    const weights = text.terms.map((term) => inverseDocumentFrequency(live.length, frequencyOf(term)));
    for (const held of passing) {
      if (!text.clauses.every((clause) => holds(held, clause) === clause.required)) continue;
      const { terms } = held.terms;
      const score = text.terms.reduce((sum, term, i) => {
        const frequency = terms.filter((other) => other === term).length;
        return frequency === 0 ? sum : sum + termScore(weights[i]!, frequency, norms.of(terms.length));
      }, 0);
      if (score > 0) found(held).bm25 = score;
    }
  }
  // Without a word to look for, `field:term` is a question about structure.
  const asksStructure = text?.terms.length === 0 && fields.some(({ negated }) => !negated);
  if (text === undefined || query.structural || asksStructure) {
    const limit = text === undefined ? query.limit : query.candidateLimit;
    for (const held of passing.sort(inOrder('desc')).slice(0, limit)) found(held).structural = true;
  }
  const candidates = [...scored.values()];
  const hits = fused(candidates, query).slice(0, query.limit);
  const known = (text?.terms ?? []).filter((term) => frequencyOf(term) > 0).length;
  const coverage =
    text === undefined
      ? null
      : known === 0 || hits.length === 0
        ? 'none'
        : known / text.terms.length < 0.7
          ? 'partial'
          : 'full';
  return { hits, total: candidates.length, coverage };
}

function fused(candidates: Scored[], query: RecallQuery): Output<'recall'>['hits'][number][] {
  const newest = inOrder('desc');
  const words = candidates.filter(({ bm25 }) => bm25 !== undefined);
  words.sort((a, b) => b.bm25! - a.bm25! || newest(a.held, b.held));
  const structure = candidates.filter(({ structural }) => structural).sort((a, b) => newest(a.held, b.held));
  const best = words[0]?.bm25 ?? 1;
  const hits = candidates.map((candidate) => {
    const word = words.indexOf(candidate);
    const place = structure.indexOf(candidate);
    const rrfScore = (word < 0 ? 0 : 1 / (RRF_K + word + 1)) + (place < 0 ? 0 : 1 / (RRF_K + place + 1));
    const ranked = word < 0 ? {} : { bm25Rank: word + 1 };
    const { held } = candidate;
    if (query.query === undefined || (!query.structural && words.length === 0))
      return { held, score: 1, rrfScore: 1 / (RRF_K + 1), ...ranked };
    if (!query.structural) return { held, score: (candidate.bm25 ?? 0) / best, rrfScore, ...ranked };
    return { held, score: (rrfScore * (RRF_K + 1)) / 2, rrfScore, ...ranked };
  });
  hits.sort((a, b) => b.score - a.score || newest(a.held, b.held));
  return hits.map(({ held, ...scores }) => ({
    grain: viewOf(held),
    superseded: held.supersededBy !== undefined,
    ...scores,
  }));
}

/** The terms of a clause stand in the text at their distances. */
function holds({ terms: { terms, positions } }: Prepared, clause: TextClause): boolean {
  const standsAt = (term: string, position: number): boolean =>
    terms.some((other, i) => other === term && positions[i] === position);
  return terms.some(
    (first, i) =>
      first === clause.terms[0] &&
      clause.terms.every((term, at) => standsAt(term, positions[i]! + clause.offsets[at]!)),
  );
}

function valueForm(field: string, value: string): string {
  return field === 'tag' || field === 'namespace' ? value : tripleForm(value);
}

function valuesOf(held: Held, field: string): readonly string[] {
  const { subject, relation, object } = held.triple;
  const values: Readonly<Record<string, readonly (string | undefined)[]>> = {
    tag: held.tags,
    namespace: [held.namespace],
    subject: [subject],
    relation: [relation],
    object: [object],
  };
  return (values[field] ?? []).filter((value) => value !== undefined);
}
