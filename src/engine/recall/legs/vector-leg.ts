// The interface of the vector leg, for one query of one memory. The owner of the vectors passes it in; without it all
// vector terms are 0.
import type { Ordinal } from '../../index/parts/part.ts';

export interface VectorLeg {
  /** The best `limit` grains that pass `isAllowed`, best first. Each grain appears once, with its best vector. */
  search(options: {
    readonly limit: number;
    readonly isAllowed: (ordinal: Ordinal) => boolean;
    /** The only allowed ordinals, ascending. Set if facets give a list. */
    readonly allowedOrdinals?: Uint32Array | undefined;
  }): readonly { readonly ordinal: Ordinal; readonly cosine: number }[];
  /** The exact largest cosine of each grain, in input order; NaN for a grain without a vector. */
  cosinesOf(ordinals: readonly Ordinal[]): ArrayLike<number>;
}
