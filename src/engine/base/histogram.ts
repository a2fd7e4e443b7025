// Observations by size. Each is counted in the first bucket that holds it; the last bucket holds the rest.

/** A histogram as it crosses threads. */
export interface Counted {
  readonly counts: readonly number[];
  readonly sum: number;
}

export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** Counts `times` observations of one value. */
  observe(value: number, times = 1): void {
    let bucket = 0;
    while (bucket < this.bounds.length && value > this.bounds[bucket]!) bucket += 1;
    this.#counts[bucket]! += times;
    this.#sum += value * times;
  }

  get counted(): Counted {
    return { counts: [...this.#counts], sum: this.#sum };
  }
}

/** The sum of histograms with the same bounds; nothing counted if there are none. */
export function sumOfCounted(all: readonly Counted[], buckets: number): Counted {
  const counts = Array.from({ length: buckets }, (_, at) => all.reduce((sum, one) => sum + one.counts[at]!, 0));
  return { counts, sum: all.reduce((sum, one) => sum + one.sum, 0) };
}
