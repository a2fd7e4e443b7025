// The reply that is stored for an idempotency key.

/** The content that is sealed. */
export interface StoredReply {
  readonly bodyHash: string;
  readonly output: unknown;
  readonly shows?: ShownGrain;
}

/**
 * The grain whose `fields` an answer shows. They are not stored with the reply, so removing the grain removes them too.
 */
export interface ShownGrain {
  readonly hash: string;
  /** The address of the previous version, which answers do not show among a grain's sources. */
  readonly predecessor: string;
}
