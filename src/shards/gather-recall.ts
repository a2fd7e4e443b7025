// A recall over several partitions: what BM25 must know is summed first, then every partition gives its candidates
// with raw scores, and they are fused here as if they had come from one. Only the final hits are read.
import { type Fused, fuse } from '../engine/recall/fuse.ts';
import type { Fan } from './fan.ts';
import { mergeTextStatistics } from './merge.ts';
import type { Candidate, GrainView, Output, RecallHit, RecallQuery, TextStatistics } from './protocol.ts';

interface PartitionCandidate extends Candidate {
  readonly partition: number;
}

export async function gatherRecall(fan: Fan, query: RecallQuery): Promise<Output<'recall'>> {
  const statistics =
    query.query === undefined ? NO_STATISTICS : mergeTextStatistics(await fan.all('recallStatistics', query));
  const answers = await fan.all('recallCandidates', { query, statistics });
  const candidates = cutLegs(distinct(answers), query);
  const ranked = fuse(candidates, query);
  const grains = await fetchGrains(fan, ranked);
  const hits = ranked.flatMap(({ candidate, ...scores }): RecallHit[] => {
    const grain = grains.get(candidate.hash);
    // Forgotten since the candidates were gathered.
    return grain === undefined ? [] : [{ grain, superseded: grain.supersededBy !== undefined, ...scores }];
  });
  return {
    hits,
    total: candidates.length,
    coverage: query.query === undefined ? null : topicCoverage(statistics, hits.length),
  };
}

const NO_STATISTICS: TextStatistics = { docs: 0, totalLength: 0, documentFrequency: {} };

/** Candidates of all partitions; a grain that two of them hold counts once. */
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
 * The best of each leg, as many as one partition would have given: every partition gave that many of its own, and
 * ranks in longer legs would be other ranks.
 */
function cutLegs(candidates: readonly PartitionCandidate[], query: RecallQuery): PartitionCandidate[] {
  const words = candidates.filter(({ bm25 }) => bm25 !== undefined);
  words.sort((a, b) => b.bm25! - a.bm25! || newestFirst(a, b));
  const structural = candidates.filter((candidate) => candidate.structural === true).sort(newestFirst);
  const inWords = new Set(words.slice(0, query.candidateLimit));
  const inStructural = new Set(structural.slice(0, query.query === undefined ? query.limit : query.candidateLimit));
  return candidates.flatMap((candidate) => {
    const { bm25, structural: _, ...rest } = candidate;
    if (inWords.has(candidate) && bm25 !== undefined) {
      return { ...rest, bm25, ...(inStructural.has(candidate) ? { structural: true } : {}) };
    }
    return inStructural.has(candidate) ? { ...rest, structural: true } : [];
  });
}

function newestFirst(a: Candidate, b: Candidate): number {
  return b.createdAtMs - a.createdAtMs || (a.hash < b.hash ? -1 : 1);
}

async function fetchGrains(
  fan: Fan,
  ranked: readonly Fused<PartitionCandidate>[],
): Promise<ReadonlyMap<string, GrainView>> {
  const hashesOf = Map.groupBy(ranked, ({ candidate }) => candidate.partition);
  const answers = await Promise.all(
    [...hashesOf].map(([partition, fused]) =>
      fan.one(partition, 'fetch', { hashes: fused.map(({ candidate }) => candidate.hash) }),
    ),
  );
  const grains = answers.flatMap((answer) => answer.grains).filter((grain) => grain !== null);
  return new Map(grains.map((grain) => [grain.hash, grain]));
}

/** Share of the query's terms below which the memory knows the topic only partly; as the engine has it. */
const COVERAGE_FULL = 0.7;

function topicCoverage({ documentFrequency }: TextStatistics, hits: number): 'none' | 'partial' | 'full' {
  const frequencies = Object.values(documentFrequency);
  const known = frequencies.filter((frequency) => frequency > 0).length;
  if (known === 0 || hits === 0) return 'none';
  return known / frequencies.length < COVERAGE_FULL ? 'partial' : 'full';
}
