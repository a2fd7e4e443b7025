// One recall: plan the legs and filters, search the parts, fuse, fetch the final hits. For a memory with several
// partitions the steps are separate calls: statistics from all, candidates with the summed statistics, fetch of the
// hits.

import { defined } from '../base/defined.ts';
import { RECALL_HELD_BYTES_MAX } from '../base/limits.ts';
import type { RecallStage } from '../base/shard-counters.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { Candidate, Excluded, RecallQuery, TextStatistics } from '../calls/recall.ts';
import { AnswerRoom } from '../grain/api/answer-room.ts';
import type { IndexPart } from '../index/parts/part.ts';
import { matchPairs } from '../index/text/pairs.ts';
import type { TextQuery } from '../index/text/query.ts';
import { type TextStatistics as BareStatistics, collectStatistics } from '../index/text/search.ts';
import type { SearchPart } from '../index/text/search-part.ts';
import { NameRunWriter } from '../record/name-run.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { EXCLUDED_NAMED_MAX } from './exclusion-tally.ts';
import { excludedByConditions } from './filter/excluded-by-conditions.ts';
import { filterPart } from './filter/filter.ts';
import { viewWithSources } from './filter/further-sources.ts';
import { fieldTest, type NameTest } from './filter/named.ts';
import { type Fused, fuse } from './fusion/fuse.ts';
import { HitList } from './hits.ts';
import { KnownQuestions } from './known-questions.ts';
import {
  type CandidateSearch,
  type Found,
  findCandidates,
  type LocalCandidate,
  matchedTermsOf,
  plainCandidate,
} from './legs/candidates.ts';
import { countedParts } from './legs/counted.ts';
import { shareOf, termShares } from './legs/evidence.ts';
import { PooledSessions } from './legs/pooled.ts';
import type { VectorLeg } from './legs/vector-leg.ts';

/** Additional legs that a caller may pass to a recall. */
export interface RecallLegs {
  /** Absent: the recall treats all grains as without a vector. */
  readonly vectors?: VectorLeg | undefined;
  /** Questions that other searches of the same query asked. */
  readonly questions?: KnownQuestions | undefined;
}

interface Plan {
  readonly parts: readonly IndexPart[];
  readonly text: TextQuery | undefined;
  readonly query: RecallQuery;
  /** The conditions of the `field:term` operators, which narrow every leg. */
  readonly facets: readonly NameTest[];
}

function plan(store: Store, memory: Memory, asked: RecallQuery, questions = new KnownQuestions()): Plan {
  const query = explainable(memory, asked);
  const parts = store.parts(memory.number);
  if (query.query === undefined) return { parts, text: undefined, query, facets: [] };
  const text = questions.parsed(query.query, query, memory.analyzer);
  const facets = text.fields.flatMap((condition) => fieldTest(condition, memory.analyzer) ?? []);
  // Without search words, `field:term` makes the query structural.
  const structural = query.structural || (text.terms.length === 0 && facets.some(({ negated }) => !negated));
  return { parts, text, query: structural === query.structural ? query : { ...query, structural }, facets };
}

/** If the policy requires explanations, a recall that leaves a record also reports the grains its conditions excluded. */
function explainable({ governed: { rules } }: Memory, query: RecallQuery): RecallQuery {
  const isKept = query.tellBeyond === true && rules['explanation.required'];
  return isKept && query.showExcluded !== true ? { ...query, showExcluded: true } : query;
}

const NO_STATISTICS: BareStatistics = { docs: 0, totalLength: 0, documentFrequency: new Map() };

function statisticsOf(counted: readonly SearchPart[], text: TextQuery | undefined): BareStatistics {
  return text === undefined ? NO_STATISTICS : collectStatistics(counted, text.terms);
}

/** Statistics over the grains that the caller may see. The rarity of a word in other grains must not influence an answer. */
export function recallStatistics(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
): TextStatistics {
  const startedMs = performance.now();
  const planned = plan(store, memory, query);
  const { text, parts } = planned;
  const counted = countedParts(store, parts, context);
  const { docs, totalLength, documentFrequency } = statisticsOf(counted, text);
  // Include unknown terms with frequency 0: they are part of the query's idf.
  const frequencies = (text?.terms ?? []).map((term) => [term, documentFrequency.get(term) ?? 0] as const);
  const hasPairs = text !== undefined && text.pairs.length > 0 && query.wordsOnly !== true;
  const pairFrequency = hasPairs ? Object.fromEntries(matchPairs(counted, text.pairs).documentFrequency) : undefined;
  const hasVector = text !== undefined && query.vector !== undefined && query.wordsOnly !== true;
  const pooled = hasVector ? new PooledSessions(parts, counted, text.terms).statistics() : undefined;
  staged(store, context, 'statistics', startedMs);
  return defined({
    docs,
    totalLength,
    documentFrequency: Object.fromEntries(frequencies),
    pairFrequency,
    pooled,
  });
}

export function recallCandidates(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  summed: TextStatistics,
  { vectors }: RecallLegs = {},
): MemoryCalls['recallCandidates']['output'] {
  const startedMs = performance.now();
  const planned = plan(store, memory, query);
  const statistics = { ...summed, documentFrequency: new Map(Object.entries(summed.documentFrequency)) };
  const pairFrequency = new Map(Object.entries(summed.pairFrequency ?? {}));
  const { pooled } = summed;
  const counted = { statistics, pairFrequency, pooled };
  const { candidates, legCut } = search(store, memory, context, planned, counted, { vectors });
  const { parts, text } = planned;
  const matched = matchedTermsOf({ parts, text }, candidates);
  // Resolve lazy hashes before candidates cross threads.
  const plain = candidates.map((candidate, i): Candidate => plainCandidate(candidate, matched[i]!));
  staged(store, context, 'candidates', startedMs);
  const excluded = excludedFrom(store, context, planned, { statistics, vectors });
  return defined({
    candidates: plain,
    total: plain.length,
    termShares: termShares(text?.terms ?? [], statistics),
    ...cutsOf(text, legCut),
    excluded,
  });
}

export function recall(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  legs: RecallLegs = {},
): MemoryCalls['recall']['output'] {
  let atMs = performance.now();
  const { questions = new KnownQuestions() } = legs;
  const planned = plan(store, memory, query, questions);
  const { parts, text } = planned;
  const statistics =
    text === undefined
      ? NO_STATISTICS
      : questions.statistics(text, () => statisticsOf(countedParts(store, parts, context), text));
  atMs = staged(store, context, 'statistics', atMs);
  const { candidates, legCut } = search(
    store,
    memory,
    context,
    planned,
    { statistics, pairFrequency: undefined, pooled: undefined },
    legs,
  );
  atMs = staged(store, context, 'candidates', atMs);
  const shares = termShares(text?.terms ?? [], statistics);
  const covered = (candidate: LocalCandidate): number =>
    shareOf(matchedTermsOf({ parts, text }, [candidate])[0]!, shares);
  const fused = fuse(candidates, query, covered);
  atMs = staged(store, context, 'fusion', atMs);
  const { list, isTruncated } = hitsOf(store, memory, context, planned, { fused, statistics });
  staged(store, context, 'fetch', atMs);
  const excluded = excludedFrom(store, context, planned, { statistics, vectors: legs.vectors });
  return defined({
    hits: list.hits,
    total: candidates.length,
    coverage: list.coverage(),
    ...cutsOf(text, legCut),
    truncated: isTruncated || undefined,
    excluded,
    beyond: query.tellBeyond === true ? namesOf(store, beyondLimit(candidates, fused)) : undefined,
  });
}

/** Counts a stage that began at `fromMs`, and notes it for a traced recall. Returns the present time. */
function staged(store: Store, context: CallContext, stage: RecallStage, fromMs: number): number {
  const toMs = store.counters.stage(stage, fromMs);
  store.stageTimes.note(context, `recall ${stage}`, fromMs, toMs);
  return toMs;
}

/** Fetches the best grains, as many as one answer holds. Leaves out grains that are gone. */
function hitsOf(
  store: Store,
  memory: Memory,
  context: CallContext,
  { parts, text, query }: Plan,
  { fused, statistics }: { readonly fused: readonly Fused<LocalCandidate>[]; readonly statistics: BareStatistics },
): { readonly list: HitList; readonly isTruncated: boolean } {
  const list = new HitList(text === undefined ? undefined : termShares(text.terms, statistics));
  const matched = matchedTermsOf(
    { parts, text },
    fused.map(({ candidate }) => candidate),
  );
  const room = new AnswerRoom(RECALL_HELD_BYTES_MAX);
  for (const [i, one] of fused.entries()) {
    const { ordinal } = one.candidate;
    const stored = store.readShown(memory, ordinal);
    if (stored === undefined) continue;
    if (!room.takesBytes(stored.blob.length)) return { list, isTruncated: true };
    list.add(one, {
      grain: viewWithSources(store, memory, context, stored),
      superseded: store.index.superseded.get(ordinal),
      matchedTerms: matched[i]!,
      name: query.tellBeyond === true ? stored.name : undefined,
    });
  }
  return { list, isTruncated: false };
}

function cutsOf(text: TextQuery | undefined, legCut: boolean): { readonly queryCut?: true; readonly legCut?: true } {
  return defined({ queryCut: text?.truncated === true || undefined, legCut: legCut || undefined });
}

/** Candidates that are not among the hits, at most as many as a record names. */
export function beyondLimit<C extends Candidate>(candidates: readonly C[], hits: readonly Fused<C>[]): C[] {
  if (candidates.length <= hits.length) return [];
  const kept = new Set<Candidate>(hits.map(({ candidate }) => candidate));
  const beyond: C[] = [];
  for (const candidate of candidates) {
    if (beyond.length >= EXCLUDED_NAMED_MAX) break;
    if (!kept.has(candidate)) beyond.push(candidate);
  }
  return beyond;
}

/** The names of these candidates, one after the other. */
function namesOf(store: Store, candidates: readonly LocalCandidate[]): Uint8Array {
  const names = new NameRunWriter(candidates.length);
  for (let i = 0; i < candidates.length; i++) names.hint(store, candidates[i]!.ordinal);
  return names.bytes;
}

function excludedFrom(
  store: Store,
  context: CallContext,
  { parts, query, text, facets }: Plan,
  known: { readonly statistics: BareStatistics; readonly vectors: VectorLeg | undefined },
): Excluded | undefined {
  if (query.showExcluded !== true) return undefined;
  return excludedByConditions({ store, context, parts, query, text, facets, ...known });
}

function search(
  store: Store,
  memory: Memory,
  context: CallContext,
  { parts, text, query, facets }: Plan,
  counted: Pick<CandidateSearch, 'statistics' | 'pairFrequency' | 'pooled'>,
  { vectors }: RecallLegs,
): Found {
  const filters = parts.map((part) => filterPart(store, part, query.filter, context, facets));
  const { analyzer } = memory;
  return findCandidates({
    store,
    context,
    parts,
    filters,
    query,
    analyzer,
    text,
    ...counted,
    vectors,
  });
}
