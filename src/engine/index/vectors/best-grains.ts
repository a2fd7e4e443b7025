// Collects the best grains of a search.

export interface VectorHit {
  readonly ordinal: number;
  /** The cosine of the grain's best chunk, computed over half floats; from -1 to 1 except for rounding. */
  readonly cosine: number;
}

/** Keeps the `limit` best of the offered grains, each ordinal once. For equal cosines the higher ordinal wins. */
export class BestGrains {
  readonly limit: number;
  /** A heap with the worst first. */
  readonly #ordinals: number[] = [];
  readonly #cosines: number[] = [];
  readonly #places: number[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.#ordinals.length >= this.limit;
  }

  /** The number of best grains whose place is at least `place`. */
  placedFrom(place: number): number {
    return this.#places.reduce((count, one) => (one >= place ? count + 1 : count), 0);
  }

  /** `place`: the rank of the grain among the candidates. */
  offer(ordinal: number, cosine: number, place = 0): void {
    const size = this.#ordinals.length;
    if (size < this.limit) {
      this.#ordinals.push(ordinal);
      this.#cosines.push(cosine);
      this.#places.push(place);
      this.#rise(size);
    } else if (size > 0 && isWorse(this.#cosines[0]!, this.#ordinals[0]!, cosine, ordinal)) {
      this.#ordinals[0] = ordinal;
      this.#cosines[0] = cosine;
      this.#places[0] = place;
      this.#sink();
    }
  }

  /** Best first. */
  hits(): VectorHit[] {
    return this.#ordinals
      .map((ordinal, at) => ({ ordinal, cosine: this.#cosines[at]! }))
      .sort((a, b) => b.cosine - a.cosine || b.ordinal - a.ordinal);
  }

  #rise(at: number): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorse(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    const size = this.#ordinals.length;
    for (let at = 0; ; ) {
      let child = 2 * at + 1;
      if (child >= size) return;
      if (child + 1 < size && this.#isWorse(child + 1, child)) child += 1;
      if (!this.#isWorse(child, at)) return;
      this.#swap(at, child);
      at = child;
    }
  }

  #isWorse(a: number, b: number): boolean {
    return isWorse(this.#cosines[a]!, this.#ordinals[a]!, this.#cosines[b]!, this.#ordinals[b]!);
  }

  #swap(a: number, b: number): void {
    swap(this.#ordinals, a, b);
    swap(this.#cosines, a, b);
    swap(this.#places, a, b);
  }
}

function swap(values: number[], a: number, b: number): void {
  const value = values[a]!;
  values[a] = values[b]!;
  values[b] = value;
}

function isWorse(cosine: number, ordinal: number, otherCosine: number, otherOrdinal: number): boolean {
  return cosine < otherCosine || (cosine === otherCosine && ordinal < otherOrdinal);
}
