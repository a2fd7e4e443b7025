// Vectors as bytes in messages between threads.

/** Vectors one behind the other, as 4-byte floats in native byte order, because they only cross threads. */
export function packVectors(vectors: readonly Float32Array[]): Uint8Array {
  const dimensions = vectors[0]?.length ?? 0;
  const all = new Float32Array(vectors.length * dimensions);
  for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
  return new Uint8Array(all.buffer);
}

export function unpackVectors(bytes: Uint8Array, dimensions: number): Float32Array[] {
  // A copy, because bytes in a message may be unaligned. Not by slice(), which for a Buffer gives a view.
  const all = new Float32Array(new Uint8Array(bytes).buffer);
  return Array.from({ length: all.length / dimensions }, (_, i) => all.slice(i * dimensions, (i + 1) * dimensions));
}
