// The share of the processors that embedding may take, as the threads of an embedder see it.

export interface Spare {
  /** The share of a core (`Pace`) that the backlog may have in an embedder's first and second thread. */
  readonly shares: readonly [Int32Array, Int32Array];
  /** The shares are kept up to date until the returned function is called. */
  hold(): () => void;
}
