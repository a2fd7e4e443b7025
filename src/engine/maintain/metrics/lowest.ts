// Draws a sample of grains: those with the lowest addresses. An address is a hash, so the sample is random, and it does
// not depend on how the grains are spread over parts and partitions.
import type { Ordinal } from '../../index/parts/part.ts';

export interface Drawn {
  /** The first 32 bits of the address. */
  readonly head: number;
  readonly ordinal: Ordinal;
}

/** Collects grains and keeps the `size` lowest. */
export class Lowest {
  readonly #size: number;
  /** At most twice the size; sorted and cut when it is full. */
  #drawn: Drawn[] = [];
  #highest = Number.POSITIVE_INFINITY;

  constructor(size: number) {
    this.#size = size;
  }

  take(head: number, ordinal: Ordinal): void {
    if (head > this.#highest) return;
    this.#drawn.push({ head, ordinal });
    if (this.#drawn.length < this.#size * 2) return;
    this.#drawn = lowestOf(this.#drawn, this.#size);
    this.#highest = this.#drawn.at(-1)?.head ?? this.#highest;
  }

  /** Ascending. */
  all(): readonly Drawn[] {
    return lowestOf(this.#drawn, this.#size);
  }
}

/** The `size` items with the lowest heads, ascending. */
export function lowestOf<T extends { readonly head: number }>(items: readonly T[], size: number): T[] {
  return [...items].sort((a, b) => a.head - b.head).slice(0, size);
}
