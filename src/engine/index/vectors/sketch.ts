// A vector's sketch: the signs of its components after a fixed random rotation. The share of differing bits grows with
// the angle between two vectors (Charikar 2002, "Similarity estimation techniques from rounding algorithms"). The
// rotation makes this independent of the embedder's coordinates. Without it, the sketches of sparse or one-sided vectors
// would all have nearly the same signs. The rotation is two rounds of random signs and a Walsh-Hadamard transform.

const ROUNDS = 2;
const BITS_MIN = 64;

export class Sketcher {
  readonly dimensions: number;
  /** A power of two, at least `dimensions`. */
  readonly bits: number;
  readonly #signs: readonly Float32Array[];

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.bits = Math.max(BITS_MIN, 2 ** Math.ceil(Math.log2(dimensions)));
    const random = fixedSigns();
    this.#signs = Array.from({ length: ROUNDS }, () => Float32Array.from({ length: this.bits }, random));
  }

  /** Writes `vector`, rotated, to `into` at `at`. The signs of the `bits` values are the sketch. */
  write(vector: Float32Array, into: Float32Array, at: number): void {
    into.fill(0, at, at + this.bits);
    into.set(vector, at);
    for (const signs of this.#signs) {
      for (let i = 0; i < this.bits; i++) into[at + i]! *= signs[i]!;
      transform(into, at, this.bits);
    }
  }
}

/** Walsh-Hadamard, in place and not normalised. */
function transform(values: Float32Array, at: number, length: number): void {
  for (let half = 1; half < length; half *= 2) {
    for (let start = at; start < at + length; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const a = values[i]!;
        const b = values[i + half]!;
        values[i] = a + b;
        values[i + half] = a - b;
      }
    }
  }
}

/** The same signs in every process (xorshift), because the sketches of one graph must agree. */
function fixedSigns(): () => number {
  let state = 0x9e37_79b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state & 0x1_0000 ? 1 : -1;
  };
}
