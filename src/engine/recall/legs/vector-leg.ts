// What a recall asks of vectors. Who has them hands in the leg for one query of one memory; without it v is 0.
import type { Ordinal } from '../../index/parts/part.ts';

export interface VectorLeg {
  /** The best `limit` grains that `isAllowed` lets in, best first; a grain counts once, with its best vector. */
  search(options: {
    readonly limit: number;
    readonly isAllowed: (ordinal: Ordinal) => boolean;
    /** Ascending: no other grain is allowed. There where facets leave a list. */
    readonly allowedOrdinals?: Uint32Array;
  }): readonly { readonly ordinal: Ordinal; readonly cosine: number }[];
  /** The largest cosine of each grain, exactly; NaN for one without a vector. */
  cosinesOf(ordinals: readonly Ordinal[]): ArrayLike<number>;
}
