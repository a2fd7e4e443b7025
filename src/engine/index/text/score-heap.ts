// The best `limit` scores so far. A score is taken from an array: as an argument it would be an object of the heap.

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

  /** Takes `scores[at]`. */
  add(scores: Float64Array, at: number): void {
    if (this.#size < this.#limit) {
      this.#heap[this.#size] = scores[at]!;
      this.#rise(this.#size++);
      if (this.#size < this.#limit) return;
    } else if (scores[at]! > this.lowest) {
      this.#heap[0] = scores[at]!;
      this.#sink();
    } else return;
    this.lowest = this.#heap[0]!;
  }

  #rise(at: number): void {
    const heap = this.#heap;
    const score = heap[at]!;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]! <= score) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = score;
  }

  #sink(): void {
    const heap = this.#heap;
    const size = this.#size;
    const score = heap[0]!;
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
