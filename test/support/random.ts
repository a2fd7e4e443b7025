// Pseudo-random numbers, reproducible from a seed (Bob Jenkins' small fast generator, 32 bits).

export class Random {
  #a = 0xf1ea5eed;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: number) {
    this.#b = this.#c = this.#d = seed >>> 0;
    for (let i = 0; i < 20; i++) this.u32();
  }

  /** 0 to 2^32 - 1. */
  u32(): number {
    const e = (this.#a - ((this.#b << 27) | (this.#b >>> 5))) | 0;
    this.#a = this.#b ^ ((this.#c << 17) | (this.#c >>> 15));
    this.#b = (this.#c + this.#d) | 0;
    this.#c = (this.#d + e) | 0;
    this.#d = (e + this.#a) | 0;
    return this.#d >>> 0;
  }

  /** 0 <= x < 1. */
  next(): number {
    return this.u32() / 2 ** 32;
  }

  /** 0 to `below` - 1. */
  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  /** `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + this.int(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the items; there must be at least one. */
  pick<T>(from: readonly T[]): T {
    return from[this.int(from.length)]!;
  }

  /** One of the items, or undefined when there are none. */
  pickAny<T>(from: readonly T[]): T | undefined {
    return from[this.int(from.length)];
  }

  /** True with the given probability. */
  maybe<T>(probability: number, make: () => T): T | undefined {
    return this.chance(probability) ? make() : undefined;
  }

  /** One of the weighted choices. */
  weighted<T>(choices: readonly (readonly [weight: number, value: T])[]): T {
    let at = this.int(choices.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, value] of choices) {
      if (at < weight) return value;
      at -= weight;
    }
    return choices[0]![1];
  }
}
