// The best grains of a search, collected as they come.

export interface VectorHit {
  readonly ordinal: number;
  /** Of the grain's best chunk, computed over half floats; from -1 to 1 but for rounding. */
  readonly cosine: number;
}

/** Keeps the `limit` best of what is offered, each ordinal once. Of equal cosines the higher ordinal is better. */
export class BestGrains {
  readonly limit: number;
  /** A heap with the worst first. */
  readonly #ordinals: number[] = [];
  readonly #cosines: number[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  get isFull(): boolean {
    return this.#ordinals.length >= this.limit;
  }

  offer(ordinal: number, cosine: number): void {
    const size = this.#ordinals.length;
    if (size < this.limit) {
      this.#ordinals.push(ordinal);
      this.#cosines.push(cosine);
      this.#rise(size);
    } else if (size > 0 && isWorse(this.#cosines[0]!, this.#ordinals[0]!, cosine, ordinal)) {
      this.#ordinals[0] = ordinal;
      this.#cosines[0] = cosine;
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
    const [ordinal, cosine] = [this.#ordinals[a]!, this.#cosines[a]!];
    this.#ordinals[a] = this.#ordinals[b]!;
    this.#cosines[a] = this.#cosines[b]!;
    this.#ordinals[b] = ordinal;
    this.#cosines[b] = cosine;
  }
}

function isWorse(cosine: number, ordinal: number, otherCosine: number, otherOrdinal: number): boolean {
  return cosine < otherCosine || (cosine === otherCosine && ordinal < otherOrdinal);
}
