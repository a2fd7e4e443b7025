// Which grains are looked at: drawn at random with a seed that is told, so that the same ones can be drawn again.

import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';

/** Docs that are passed before others get their turn. */
const SLICE_DOCS = 16_384;

/** Numbers from 0 to below 1 that a seed determines: mulberry32, which is enough to choose by. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Every grain of the memory that is not removed, by ordinal. */
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

/** `count` of them, each as likely as any other, in the order of their drawing; all, if there are no more. */
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
