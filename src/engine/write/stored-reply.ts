// A reply that is kept under an idempotency key.

/** As it is sealed. */
export interface StoredReply {
  readonly bodyHash: string;
  readonly output: unknown;
  readonly shows?: ShownGrain;
}

/** A grain whose fields an answer shows, in `fields`. They are not kept with it: what takes the grain takes them, too. */
export interface ShownGrain {
  readonly hash: string;
  /** Of the version before, which answers do not show among a grain's sources. */
  readonly predecessor: string;
}
