// The hits of a recall without stages, put together from candidates in their order and the grains that were read for them:
// in the shard, and on the main thread for several partitions.
import type { GrainView } from '../calls/grain.ts';
import type { RecallCalls, RecallHit } from '../calls/recall.ts';
import type { Fused } from './fusion/fuse.ts';
import { coverageOf, type Evidence, evidenceOf, type TermShares } from './legs/evidence.ts';

/** A grain that was read for a candidate. */
interface ReadGrain {
  readonly grain: GrainView;
  readonly superseded: boolean;
  /** Terms of the query that the grain holds, by index. */
  readonly held: readonly number[];
  /** What the trail calls the grain, for the record of a recall. */
  readonly name?: string;
}

export class HitList {
  readonly hits: RecallHit[] = [];
  readonly #evidence: Evidence[] = [];
  readonly #shares: TermShares | undefined;

  /** `shares`: of the query's words; undefined for a recall without words. */
  constructor(shares: TermShares | undefined) {
    this.#shares = shares;
  }

  add(fused: Fused, { grain, superseded, held, name }: ReadGrain): void {
    const { score, rrfScore, breakdown, bm25Rank } = fused;
    const { cosine } = fused.candidate;
    const evidence: Evidence = { held, cosine };
    this.#evidence.push(evidence);
    this.hits.push({
      grain,
      ...(name === undefined ? {} : { name }),
      superseded,
      score,
      rrfScore,
      breakdown,
      ...(bm25Rank === undefined ? {} : { bm25Rank }),
      ...(cosine === undefined ? {} : { cosine }),
      ...(this.#shares === undefined ? {} : { evidence: evidenceOf(evidence, this.#shares) }),
    });
  }

  /** How much of the query the hits cover together; null for a recall without words. */
  coverage(): RecallCalls['recall']['output']['coverage'] {
    return this.#shares === undefined ? null : coverageOf(this.#evidence, this.#shares);
  }
}
