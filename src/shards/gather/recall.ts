// A recall over several partitions. First sums the BM25 statistics, then collects candidates with raw scores from every
// partition and fuses them as if they came from one. Reads only the final hits.

import { defined } from '../../engine/base/defined.ts';
import { RECALL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Excluded } from '../../engine/calls/recall.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import { ExclusionTally } from '../../engine/recall/exclusion-tally.ts';
import { type Fused, fuse, newestFirst } from '../../engine/recall/fusion/fuse.ts';
import { HitList } from '../../engine/recall/hits.ts';
import { shareOf } from '../../engine/recall/legs/evidence.ts';
import { beyondLimit } from '../../engine/recall/recall.ts';
import type { Candidate, GrainView, Output, RecallQuery, TextStatistics } from '../protocol.ts';
import type { Fan } from './fan.ts';
import { mergeTextStatistics } from './merge.ts';
import type { GrainPlace } from './names.ts';
import type { Held } from './room.ts';
import { withAllSources } from './sources.ts';

interface PartitionCandidate extends Candidate {
  readonly partition: number;
}

/** `places` receives the places of the grains that the answer names. */
export async function gatherRecall(
  fan: Fan,
  query: RecallQuery,
  { held, places }: { readonly held: Held; readonly places: Map<string, GrainPlace> },
): Promise<Output<'recall'>> {
  const statistics =
    query.query === undefined ? NO_STATISTICS : mergeTextStatistics(await fan.all('recallStatistics', query));
  const answers = await fan.all('recallCandidates', { query, statistics });
  const gathered = distinct(answers);
  const candidates = cutLegs(gathered, query);
  const legCut = candidates.length < gathered.length || answers.some((answer) => answer.legCut === true);
  // Every partition gives the same shares, because all use the same statistics.
  const shares = answers[0]?.termShares ?? [];
  const ranked = fuse(candidates, query, ({ matchedTerms = [] }) => shareOf(matchedTerms, shares));
  const { grains, end } = await fetchGrains(fan, ranked, held);
  const list = new HitList(query.query === undefined ? undefined : shares);
  for (const fused of ranked.slice(0, end)) {
    const grain = grains.get(fused.candidate.hash);
    // Forgotten or hidden since its partition listed it as a candidate.
    if (grain === undefined) continue;
    list.add(fused, {
      grain,
      superseded: grain.supersededBy !== undefined || grain.isSuperseded === true,
      matchedTerms: fused.candidate.matchedTerms ?? [],
    });
  }
  const beyond = query.tellBeyond === true ? beyondLimit(candidates, ranked) : undefined;
  if (beyond !== undefined)
    for (const { hash, partition, ordinal } of [...ranked.map(({ candidate }) => candidate), ...beyond])
      places.set(hash, { partition, ordinal });
  return defined({
    hits: list.hits,
    total: candidates.length,
    coverage: list.coverage(),
    truncated: end < ranked.length || undefined,
    ...behindOf(answers),
    queryCut: answers.some(({ queryCut }) => queryCut === true) || undefined,
    legCut: legCut || undefined,
    // Present if the caller asked for it or the policy records it.
    excluded: answers.some((answer) => answer.excluded !== undefined) ? excludedOf(answers) : undefined,
    beyond: beyond?.map(({ hash }) => hash),
  });
}

/** One partition without comparable vectors decides for the whole answer. */
function behindOf(answers: readonly Output<'recallCandidates'>[]): Pick<Output<'recall'>, 'vectorsBehind'> {
  if (answers.some(({ vectorsBehind }) => vectorsBehind === true)) return { vectorsBehind: true };
  return answers.some(({ vectorsBehind }) => vectorsBehind === 'partly') ? { vectorsBehind: 'partly' } : {};
}

function excludedOf(answers: readonly Output<'recallCandidates'>[]): Excluded {
  const excluded = new ExclusionTally();
  for (const answer of answers) if (answer.excluded !== undefined) excluded.join(answer.excluded);
  return excluded.plain();
}

const NO_STATISTICS: TextStatistics = { docs: 0, totalLength: 0, documentFrequency: {} };

/** Candidates of all partitions. Counts a grain that two partitions hold once. */
function distinct(answers: readonly Output<'recallCandidates'>[]): PartitionCandidate[] {
  const candidates = new Map<string, PartitionCandidate>();
  answers.forEach((answer, partition) => {
    for (const candidate of answer.candidates) {
      if (!candidates.has(candidate.hash)) candidates.set(candidate.hash, { ...candidate, partition });
    }
  });
  return [...candidates.values()];
}

/**
 * Cuts each leg to the number of candidates that a single partition would give, plus the neighbours of the best by
 * words and by vectors. Every partition gave that many; normalising over all of them would change the scores.
 */
function cutLegs(candidates: readonly PartitionCandidate[], query: RecallQuery): PartitionCandidate[] {
  const inText = candidates.filter(({ bm25, outsideText }) => bm25 !== undefined && outsideText !== true);
  const words = bestBy(
    inText.filter(({ bm25 = 0 }) => bm25 > 0),
    ({ bm25 = 0 }) => bm25,
    query.candidateLimit,
  );
  const vectors = bestBy(
    inText.filter(({ cosine }) => cosine !== undefined),
    ({ cosine = 0 }) => cosine,
    query.candidateLimit,
  );
  const kept = new Set([...words, ...vectors]);
  const places = new Map(inText.map((candidate) => [placeOf(candidate.partition, candidate.ordinal), candidate]));
  for (const { partition, turn } of [...kept]) {
    for (const neighbour of [turn?.before, turn?.after]) {
      const candidate = neighbour === undefined ? undefined : places.get(placeOf(partition, neighbour.ordinal));
      if (candidate !== undefined) kept.add(candidate);
    }
  }
  const structural = candidates.filter((candidate) => candidate.structural === true).sort(newestFirst);
  const inStructural = new Set(structural.slice(0, query.candidateLimit));
  return candidates.flatMap((candidate) => {
    const isStructural = inStructural.has(candidate);
    if (!kept.has(candidate)) return isStructural ? { ...candidate, outsideText: true } : [];
    return isStructural || candidate.structural !== true ? candidate : { ...candidate, structural: false };
  });
}

function placeOf(partition: number, ordinal: number): number {
  return partition * 2 ** 32 + ordinal;
}

function bestBy(
  candidates: readonly PartitionCandidate[],
  scoreOf: (candidate: PartitionCandidate) => number,
  limit: number,
): PartitionCandidate[] {
  return candidates.toSorted((a, b) => scoreOf(b) - scoreOf(a) || newestFirst(a, b)).slice(0, limit);
}

/**
 * Fetches the grains of the best candidates, as many as a single partition would open, and returns the rank at which
 * they end. A round requests at most one answer's worth of bytes over all partitions together, however large the grains
 * of one partition are.
 */
async function fetchGrains(
  fan: Fan,
  ranked: readonly Fused<PartitionCandidate>[],
  held: Held,
): Promise<{ readonly grains: ReadonlyMap<string, GrainView>; readonly end: number }> {
  const grains = new Map<string, GrainView | null>();
  const room = new AnswerRoom(RECALL_HELD_BYTES_MAX);
  let end = 0;
  for (let isFull = false; end < ranked.length && !isFull; ) {
    const bytesMax = Math.ceil((await held.room(RECALL_HELD_BYTES_MAX)) / fan.partitions);
    held.add(await fetchMissing(fan, ranked.slice(end), { bytesMax, grains }));
    for (; end < ranked.length; end++) {
      const { hash } = ranked[end]!.candidate;
      const grain = grains.get(hash);
      if (grain === undefined) break;
      isFull = grain !== null && !room.takesBytes(grain.sizeBytes);
      if (isFull) break;
    }
  }
  const complete = await withAllSources(fan, [...grains.values()]);
  return { grains: new Map(complete.flatMap((grain) => (grain === null ? [] : [[grain.hash, grain]]))), end };
}

/** Asks each partition for its outstanding grains and returns the bytes received. Each answer holds at least the next grain. */
async function fetchMissing(
  fan: Fan,
  ranked: readonly Fused<PartitionCandidate>[],
  { bytesMax, grains }: { readonly bytesMax: number; readonly grains: Map<string, GrainView | null> },
): Promise<number> {
  const missing = ranked.map(({ candidate }) => candidate).filter(({ hash }) => !grains.has(hash));
  const byPartition = Map.groupBy(missing, ({ partition }) => partition);
  const bytes = await Promise.all(
    [...byPartition].map(async ([partition, candidates]) => {
      const hashes = candidates.map(({ hash }) => hash);
      const answer = await fan.one(partition, 'fetch', { hashes, bytesMax });
      for (const [at, grain] of answer.grains.entries()) grains.set(hashes[at]!, grain);
      return bytesOf(answer.grains);
    }),
  );
  return bytes.reduce((sum, some) => sum + some, 0);
}

export function bytesOf(grains: readonly (GrainView | null)[]): number {
  return grains.reduce((sum, grain) => sum + (grain?.sizeBytes ?? 0), 0);
}
