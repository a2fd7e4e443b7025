// Draws random samples of grains with a reported seed, so that the same sample can be drawn again.

import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';

/** Docs that are processed before other work gets its turn. */
const SLICE_DOCS = 16_384;

/** Pseudorandom numbers from 0 to below 1 that a seed determines: mulberry32, which is good enough for sampling. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Every live grain of the memory, by ordinal. */
export function* liveOrdinals(store: Store, memory: number): Sliced<Ordinal[]> {
  const ordinals: Ordinal[] = [];
  for (const part of store.parts(memory))
    for (let doc = 0; doc < part.docCount; doc++) {
      const ordinal = part.ordinals[doc]!;
      if (!store.index.removed.get(ordinal)) ordinals.push(ordinal);
      if (doc % SLICE_DOCS === SLICE_DOCS - 1) yield;
    }
  return ordinals;
}

/** Draws `count` grains uniformly, in drawing order; all of them if there are no more. */
export function drawn(from: readonly Ordinal[], count: number, random: () => number): Ordinal[] {
  const left = Uint32Array.from(from);
  const taken = Math.min(count, left.length);
  for (let i = 0; i < taken; i++) {
    const j = i + Math.floor(random() * (left.length - i));
    const other = left[j]!;
    left[j] = left[i]!;
    left[i] = other;
  }
  return [...left.subarray(0, taken)];
}
