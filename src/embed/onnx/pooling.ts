// The vector of a text out of the vectors of its tokens.
import type { Pooling } from './model-folder.ts';

/** `hidden`: `tokens` rows of `width` numbers. A new array; its length is not 1. */
export function pooled(hidden: Float32Array, tokens: number, width: number, pooling: Pooling): Float32Array {
  if (pooling === 'cls') return hidden.slice(0, width);
  if (pooling === 'last') return hidden.slice((tokens - 1) * width, tokens * width);
  const sums = new Float64Array(width);
  for (let row = 0; row < tokens; row++) for (let i = 0; i < width; i++) sums[i]! += hidden[row * width + i]!;
  return Float32Array.from(sums, (sum) => sum / tokens);
}
