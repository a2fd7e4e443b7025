// One recall: plan legs and a filter, search the parts, fuse, fetch the final hits. The three steps are also calls of
// their own, for a memory with several partitions: statistics from all, candidates with the sums, fetch of the hits.
import type { CallContext, Candidate, MemoryCalls, RecallHit, RecallQuery, TextStatistics } from '../calls.ts';
import type { Doc, IndexPart, Ordinal } from '../index/part.ts';
import { parseQuery, type TextQuery } from '../index/text/query.ts';
import { collectStatistics, docBits, type SearchPart, searchText } from '../index/text/search.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { viewGrain } from '../store/view.ts';
import { type FacetTerm, filterPart, type PartFilter } from './filter.ts';
import { fuse } from './fuse.ts';
import { inOrder } from './ordered.ts';
import { removedDocs } from './removed.ts';

/** A candidate that looks its hash up only when a tie asks for it: most are never asked. */
class LocalCandidate implements Candidate {
  readonly ordinal: Ordinal;
  readonly createdAtMs: number;
  bm25?: number;
  structural?: boolean;
  readonly #store: Store;
  #hash: string | undefined;

  constructor(store: Store, ordinal: Ordinal, createdAtMs: number) {
    this.#store = store;
    this.ordinal = ordinal;
    this.createdAtMs = createdAtMs;
  }

  get hash(): string {
    this.#hash ??= this.#store.addressAt(this.ordinal) ?? '';
    return this.#hash;
  }
}

interface Plan {
  readonly parts: readonly IndexPart[];
  readonly text: TextQuery | undefined;
  readonly query: RecallQuery;
  /** The `field:term` operators: they narrow what every leg finds. */
  readonly facets: readonly FacetTerm[];
}

function plan(store: Store, memory: Memory, query: RecallQuery): Plan {
  const parts = store.parts(memory.number);
  if (query.query === undefined) return { parts, text: undefined, query, facets: [] };
  const text = parseQuery(query.query, memory.analyzer);
  const facets = text.fields.flatMap(({ field, value, negated }) =>
    field === 'content' ? [] : [{ facet: field, value, negated }],
  );
  // Without a word to look for, `field:term` is a question about structure.
  const structural = query.structural || (text.terms.length === 0 && facets.some(({ negated }) => !negated));
  return { parts, text, query: structural === query.structural ? query : { ...query, structural }, facets };
}

export function recallStatistics(store: Store, memory: Memory, query: RecallQuery): TextStatistics {
  const { parts, text } = plan(store, memory, query);
  return statisticsOf(store, parts, text);
}

function statisticsOf(store: Store, parts: readonly IndexPart[], text: TextQuery | undefined): TextStatistics {
  if (text === undefined) return { docs: 0, totalLength: 0, documentFrequency: {} };
  const live = parts.map(
    (part): SearchPart => ({
      text: part.text,
      removed: undefined,
      allowed: undefined,
      removedDocs: removedDocs(store, part),
    }),
  );
  const { docs, totalLength, documentFrequency } = collectStatistics(live, text.terms);
  // A term that is nowhere says so: topic coverage counts it.
  const frequencies = text.terms.map((term) => [term, documentFrequency.get(term) ?? 0] as const);
  return { docs, totalLength, documentFrequency: Object.fromEntries(frequencies) };
}

export function recallCandidates(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
  statistics: TextStatistics,
): MemoryCalls['recallCandidates']['output'] {
  const candidates = search(store, context, plan(store, memory, query), statistics);
  // Lazy hashes do not cross threads.
  const plain = candidates.map(
    ({ ordinal, createdAtMs, bm25, structural, hash }): Candidate => ({
      hash,
      ordinal,
      createdAtMs,
      ...(bm25 === undefined ? {} : { bm25 }),
      ...(structural === undefined ? {} : { structural }),
    }),
  );
  return { candidates: plain, total: plain.length };
}

export function recall(
  store: Store,
  memory: Memory,
  context: CallContext,
  query: RecallQuery,
): MemoryCalls['recall']['output'] {
  const planned = plan(store, memory, query);
  const statistics = statisticsOf(store, planned.parts, planned.text);
  const candidates = search(store, context, planned, statistics);
  const hits: RecallHit[] = [];
  for (const { candidate, score, rrfScore, bm25Rank } of fuse(candidates, query)) {
    const stored = store.readGrain(memory, candidate.ordinal);
    if (stored === undefined) continue;
    hits.push({
      grain: viewGrain(store, memory, stored),
      score,
      rrfScore,
      superseded: store.index.superseded.get(candidate.ordinal),
      ...(bm25Rank === undefined ? {} : { bm25Rank }),
    });
  }
  return { hits, total: candidates.length, coverage: coverage(planned.text, statistics, hits.length) };
}

function search(
  store: Store,
  context: CallContext,
  { parts, text, query, facets }: Plan,
  statistics: TextStatistics,
): LocalCandidate[] {
  const filters = parts.map((part) => filterPart(store, part, query.filter, context, facets));
  const candidates = new Map<Ordinal, LocalCandidate>();
  const candidate = (part: IndexPart, doc: Doc): LocalCandidate => {
    const ordinal = part.ordinals[doc]!;
    let known = candidates.get(ordinal);
    if (known === undefined) {
      known = new LocalCandidate(store, ordinal, part.createdAtMs[doc]!);
      candidates.set(ordinal, known);
    }
    return known;
  };
  if (text !== undefined) {
    for (const hit of wordLeg(parts, filters, text, statistics, query.candidateLimit))
      candidate(parts[hit.part]!, hit.doc).bm25 = hit.score;
  }
  if (text === undefined || query.structural) {
    const limit = text === undefined ? query.limit : query.candidateLimit;
    for (const { part, doc } of inOrder(store, parts, filters, { limit, order: 'desc' }))
      candidate(parts[part]!, doc).structural = true;
  }
  return [...candidates.values()];
}

function wordLeg(
  parts: readonly IndexPart[],
  filters: readonly PartFilter[],
  text: TextQuery,
  statistics: TextStatistics,
  limit: number,
) {
  const searched = parts.map((part, i): SearchPart => {
    const { docs, test } = filters[i]!;
    return {
      text: part.text,
      removed: (doc) => !test(doc),
      allowed: docs === undefined ? undefined : docBits(docs, part.docCount),
      createdAtMs: part.createdAtMs,
      ordinals: part.ordinals,
      chronological: part.chronological,
    };
  });
  return searchText(
    searched,
    text,
    {
      docs: statistics.docs,
      totalLength: statistics.totalLength,
      documentFrequency: new Map(Object.entries(statistics.documentFrequency)),
    },
    limit,
  );
}

/** Share of the query's terms that the memory knows: none, some (under 70 %), or enough of them. */
function coverage(
  text: TextQuery | undefined,
  statistics: TextStatistics,
  hits: number,
): 'none' | 'partial' | 'full' | null {
  if (text === undefined) return null;
  const known = text.terms.filter((term) => (statistics.documentFrequency[term] ?? 0) > 0).length;
  if (known === 0 || hits === 0) return 'none';
  return known / text.terms.length < 0.7 ? 'partial' : 'full';
}
