// What is still to be embedded in one shard, as the follower sees it. A shard keeps how far each memory's vectors reach
// (per embedder, so that those of another embedder serve until the new ones are complete), and the log is what they
// follow: nothing here has to be remembered over a restart.

/** A stretch of one memory's log without vectors of its embedder: sequences above `after`, up to `upTo`. */
export interface BacklogPage {
  readonly memory: number;
  /** The memory's `vector_backend`; '' for the deployment's own. */
  readonly backend: string;
  readonly after: number;
  readonly upTo: number;
  /** Of what is taken ahead of its turn: how far the memory was embedded when it was taken. */
  readonly aheadOf?: number;
  /** The stretch's grains that have words, ordinals ascending. A stretch may have none: then it is only to be noted. */
  readonly grains: readonly { readonly ordinal: number; readonly text: string }[];
}

/** The vectors of a page: of each grain with any, one a window of its text, in order. */
export interface EmbeddedPage {
  readonly memory: number;
  readonly embedder: { readonly name: string; readonly dimensions: number };
  readonly after: number;
  readonly upTo: number;
  readonly aheadOf?: number;
  readonly grains: readonly { readonly ordinal: number; readonly vectors: readonly Float32Array[] }[];
}

export interface Backlog {
  /**
   * The oldest stretches that wait, of memories in turn, with about `grainsMax` grains in all; none when nothing waits.
   * `stampOf` tells the name and dimensions of a backend's embedder, or undefined for one that is out of order at the
   * moment: its memories are left out.
   */
  pages(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]>;
  /** What was just written and is short, of memories that were not asked about since: it goes ahead of what waits. Absent where nothing does. */
  fresh?(stampOf: StampOf, grainsMax: number): Promise<readonly BacklogPage[]>;
  /** Keeps vectors. A grain that was removed meanwhile is passed over. */
  store(page: EmbeddedPage): Promise<void>;
}

export type StampOf = (backend: string) => { readonly name: string; readonly dimensions: number } | undefined;
