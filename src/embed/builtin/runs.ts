// Chooses the texts that the encoder takes at once. A run has fixed costs, most of all reading the weights, so short
// texts share one. They have equally many tokens, because the graph pads nothing.
import { ENCODER_RUN_TOKENS_MAX, ENCODER_SHARED_TOKENS_MAX } from '../../engine/base/limits.ts';

/** A text as an encoder reads it; its length is the number of tokens. */
export interface Tokens {
  readonly length: number;
}

/** Texts that arrived in one message. */
export interface Batch<T extends Tokens> {
  readonly id: number;
  /** By place; undefined for a text without a vector. */
  readonly tokens: readonly (T | undefined)[];
  readonly vectors: (Float32Array | undefined)[];
  /** Places that no run has taken, ascending. */
  readonly left: number[];
}

export interface Taken<T extends Tokens> {
  readonly batch: Batch<T>;
  readonly place: number;
  readonly tokens: T;
}

export function newBatch<T extends Tokens>(id: number, tokens: readonly (T | undefined)[]): Batch<T> {
  const left = tokens.flatMap((one, place) => (one === undefined ? [] : [place]));
  return { id, tokens, vectors: tokens.map(() => undefined), left };
}

/**
 * Takes the next text of the first batch that has one, and texts of the same length from it and later batches. `shares`:
 * the encoder can take several. Empty when nothing is left.
 */
export function takeRun<T extends Tokens>(batches: Iterable<Batch<T>>, shares: boolean): readonly Taken<T>[] {
  const run: Taken<T>[] = [];
  let length = 0;
  let most = 1;
  for (const batch of batches) {
    for (let at = 0; at < batch.left.length && run.length < most; ) {
      const place = batch.left[at]!;
      const tokens = batch.tokens[place]!;
      if (run.length === 0) {
        length = tokens.length;
        if (shares && length <= ENCODER_SHARED_TOKENS_MAX) most = Math.floor(ENCODER_RUN_TOKENS_MAX / length);
      }
      if (tokens.length === length) {
        batch.left.splice(at, 1);
        run.push({ batch, place, tokens });
      } else at += 1;
    }
    if (run.length >= most) break;
  }
  return run;
}
