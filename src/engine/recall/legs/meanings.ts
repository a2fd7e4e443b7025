// A vector for each of some grains, for stages that compare hits with each other.
import type { MemoryCalls } from '../../calls/calls.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** In the order of the hashes; null for what has none, or is not (any more) here. */
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

/** The same as bytes, with whose vectors they are: those of two embedders cannot be compared. */
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

/** A vector as it crossed threads. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  // A copy: bytes that came in a message may begin anywhere in it. Not by slice(), which of a Buffer is a view.
  return new Float32Array(new Uint8Array(bytes).buffer);
}
