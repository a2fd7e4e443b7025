// The best `limit` scores so far.

export class ScoreHeap {
  /** The lowest of the best scores, once there are `limit` of them; -Infinity before. */
  lowest = Number.NEGATIVE_INFINITY;
  readonly #limit: number;
  /** The lowest first. */
  readonly #heap: Float64Array;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#heap = new Float64Array(limit);
  }

  add(score: number): void {
    if (this.#size < this.#limit) {
      this.#rise(this.#size++, score);
      if (this.#size < this.#limit) return;
    } else if (score > this.lowest) this.#sink(score);
    else return;
    this.lowest = this.#heap[0]!;
  }

  #rise(at: number, score: number): void {
    const heap = this.#heap;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]! <= score) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = score;
  }

  #sink(score: number): void {
    const heap = this.#heap;
    const size = this.#size;
    let at = 0;
    for (let child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= score) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = score;
  }
}
