// Vectors for tests.
import type { Sliced } from '../files/section.ts';
import { readHalves, writeHalves } from './half-float.ts';

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A unit vector that depends only on `seed`. */
export function unitVector(dimensions: number, seed: number): Float32Array {
  const random = generator(seed);
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** The vector after rounding to half floats, as it is stored. */
export function asKept(vector: Float32Array): Float32Array {
  const halves = new Uint16Array(vector.length);
  writeHalves(vector, halves, 0);
  const kept = new Float32Array(vector.length);
  readHalves(halves, 0, kept);
  return kept;
}

export function innerProduct(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0);
}

export function finish<T>(steps: Sliced<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
