// The grains of one shard that await embedding, as the follower sees them. The shard stores how far each memory's
// vectors reach, per embedder, so that old vectors serve until the new ones are complete. Progress follows from the
// log, so nothing is stored here.

/** A range of one memory's log without vectors of its embedder: sequences above `after`, up to `upTo`. */
export interface BacklogPage {
  readonly memory: number;
  /** The memory's `vector_backend`; '' for the deployment's default. */
  readonly backend: string;
  readonly after: number;
  readonly upTo: number;
  /** For a page taken out of order: how far the memory was embedded at that time. */
  readonly aheadOf?: number | undefined;
  /** The range's grains with words, ordinals ascending. It may be empty: then the range is only marked as done. */
  readonly grains: readonly { readonly ordinal: number; readonly text: string }[];
}

/** The vectors of a page: for each grain with any, one per window of its text, in order. */
export interface EmbeddedPage {
  readonly memory: number;
  readonly embedder: { readonly name: string; readonly dimensions: number };
  readonly after: number;
  readonly upTo: number;
  readonly aheadOf?: number | undefined;
  readonly grains: readonly { readonly ordinal: number; readonly vectors: readonly Float32Array[] }[];
}

export interface Backlog {
  /**
   * The oldest pending ranges, from memories in turn, with about `grainsMax` grains in all; empty when nothing is
   * pending. `stampOf` returns name and dimensions of a backend's embedder, or undefined while it is out of order: its
   * memories are left out.
   */
  pages(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]>;
  /** Short texts that were just written, of memories not returned since; they go ahead of the backlog. Optional. */
  fresh?(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]>;
  /** Stores vectors. Grains removed in the meantime are skipped. */
  store(page: EmbeddedPage): Promise<void>;
}

export type StampOf = (backend: string) => { readonly name: string; readonly dimensions: number } | undefined;
