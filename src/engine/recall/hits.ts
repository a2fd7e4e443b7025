// Builds the hits of a recall without stages from ordered candidates and their grains. Runs in the shard, and on the
// main thread for several partitions.
import type { GrainView } from '../calls/grain.ts';
import type { RecallCalls, RecallHit } from '../calls/recall.ts';
import type { Fused } from './fusion/fuse.ts';
import { coverageOf, type Evidence, evidenceOf, type TermShares } from './legs/evidence.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A candidate's grain. */
interface ReadGrain {
  readonly grain: GrainView;
  readonly superseded: boolean;
  /** Indexes of the query terms that the grain holds. */
  readonly matchedTerms: readonly number[];
  /** The grain's name in the trail, for the recall record. */
  readonly name?: string | undefined;
}

export class HitList {
  readonly hits: RecallHit[] = [];
  readonly #evidence: Evidence[] = [];
  readonly #shares: TermShares | undefined;

  /** `shares`: idf shares of the query's words; undefined for a recall without words. */
  constructor(shares: TermShares | undefined) {
    this.#shares = shares;
  }

  add(fused: Fused, { grain, superseded, matchedTerms, name }: ReadGrain): void {
    const { score, relevance, rrfScore, breakdown, bm25Rank } = fused;
    const { cosine, wishes } = fused.candidate;
    const evidence: Evidence = { matchedTerms, cosine };
    this.#evidence.push(evidence);
    // Members that most hits lack are added one by one: `defined` would copy each hit.
    const hit: Writable<RecallHit> = { grain, superseded, score, rrfScore, breakdown };
    if (name !== undefined) hit.name = name;
    if (relevance !== undefined) hit.relevance = relevance;
    if (bm25Rank !== undefined) hit.bm25Rank = bm25Rank;
    if (cosine !== undefined) hit.cosine = cosine;
    if (wishes?.isMet === false) hit.unmet = true;
    if (this.#shares !== undefined) hit.evidence = evidenceOf(evidence, this.#shares);
    this.hits.push(hit);
  }

  /** Coverage of the query by all hits together; null for a recall without words. */
  coverage(): RecallCalls['recall']['output']['coverage'] {
    return this.#shares === undefined ? null : coverageOf(this.#evidence, this.#shares);
  }
}
