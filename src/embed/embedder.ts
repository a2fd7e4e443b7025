// What turns texts into vectors, wherever it runs: the built-in sentence encoder, a service, or the plain fallback.

export interface EmbedOptions {
  /** Somebody waits for a `query`; `backlog` (the default) gives way to it. */
  readonly priority?: 'query' | 'backlog';
  /** Gives the call up: it rejects with the signal's reason, and what has not begun is not begun. */
  readonly signal?: AbortSignal;
}

export interface Embedder {
  /**
   * Stamps vectors: two embedders of one name give the same vectors, another name means that they cannot be compared.
   * For example `use-lite-512/1`.
   */
  readonly name: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /**
   * One unit vector a text, in the order of `texts`: a Float32Array of `dimensions` numbers, L2 norm 1, in a buffer of
   * its own; undefined for a text without words that the embedder knows. A text longer than a window (`windowsOf`) is
   * read as far as the embedder reads. Rejects with EmbedError, or with the reason of an aborted signal.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly (Float32Array | undefined)[]>;
  /** Ends what it runs; calls in flight reject, as do later ones. Resolves when nothing runs any more. */
  close(): Promise<void>;
}

/** Embedding failed; nothing of the call was done. */
export class EmbedError extends Error {
  override name = 'EmbedError';
  /** True when the same call may succeed later. */
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable;
  }
}
