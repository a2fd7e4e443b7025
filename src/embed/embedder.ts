// Interface of everything that turns texts into vectors: the built-in sentence encoder, a remote service, or the n-gram
// fallback.

export interface EmbedOptions {
  /** A caller waits for a `query`; `backlog` (the default) yields to it. */
  readonly priority?: 'query' | 'backlog' | undefined;
  /** Cancels the call: it rejects with the signal's reason, and pending work does not start. */
  readonly signal?: AbortSignal | undefined;
}

export interface Embedder {
  /**
   * Identifies the vectors. Embedders of one name give equal vectors; vectors under different names cannot be compared.
   * For example `use-lite-int8-512/2`.
   */
  readonly name: string;
  /** Length of every vector. */
  readonly dimensions: number;
  /**
   * One unit vector per text, in the order of `texts`: a Float32Array of `dimensions` numbers with L2 norm 1, in its
   * own buffer; undefined for a text without known words. Texts longer than a window (`windowsOf`) may be cut. Rejects
   * with EmbedError, or with the reason of an aborted signal.
   */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<readonly (Float32Array | undefined)[]>;
  /** Stops the embedder; running and later calls reject. Resolves when everything has stopped. */
  close(): Promise<void>;
}

/** Embedding failed; no text of the call has a result. */
export class EmbedError extends Error {
  override name = 'EmbedError';
  /** True when the same call may succeed later. */
  readonly retryable: boolean;

  constructor(message: string, options: { readonly retryable: boolean; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryable = options.retryable;
  }
}
