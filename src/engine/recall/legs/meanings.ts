// Vectors of grains, for stages that compare hits with each other.
import type { MemoryCalls } from '../../calls/calls.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** Vectors in the order of the hashes; null for a grain without one or not in this partition. */
export function meanings(
  store: Store,
  { number }: Pick<Memory, 'number'>,
  hashes: MemoryCalls['meanings']['input']['hashes'],
): (Float32Array | undefined)[] {
  if (store.vectors.serving(number) === undefined) return hashes.map(() => undefined);
  return hashes.map((hash) => {
    const ordinal = store.findOrdinal(number, hash);
    return ordinal === undefined ? undefined : store.vectors.meanOf(number, ordinal);
  });
}

/** The vectors as bytes, with their embedder: vectors of different embedders cannot be compared. */
export function packedMeanings(
  store: Store,
  memory: Memory,
  { hashes }: MemoryCalls['meanings']['input'],
): MemoryCalls['meanings']['output'] {
  const embedder = store.vectors.serving(memory.number)?.name ?? '';
  const vectors = meanings(store, memory, hashes).map((vector) =>
    vector === undefined ? null : new Uint8Array(vector.buffer),
  );
  return { embedder, vectors };
}

/** Decodes a vector that crossed threads. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  // Copy to get the alignment right: bytes of a message may start at any offset. Buffer.slice() would be a view.
  return new Float32Array(new Uint8Array(bytes).buffer);
}
