// The keys of a map in order, for looks at all that begin alike. New keys wait until the next look: a few are put in their
// places, many are sorted together. So a burst of writes without a look costs a push for each key.

/** Up to this many waiting keys are put in one by one; each moves the keys behind it. */
const ONE_BY_ONE_MAX = 32;

export class SortedKeys {
  readonly #map: ReadonlyMap<string, unknown>;
  #sorted: string[] = [];
  #waiting: string[] = [];
  /** True after keys were deleted from the map that are still here. */
  #hasGone = false;

  /** `map` is the owner of the keys. */
  constructor(map: ReadonlyMap<string, unknown>) {
    this.#map = map;
  }

  /** To be called for a key before the map has it. */
  add(key: string): void {
    this.#waiting.push(key);
  }

  /** To be called after keys were deleted from the map. */
  deleted(): void {
    this.#hasGone = true;
    // Without a look, keys that are gone would pile up.
    if (this.size > 2 * this.#map.size) {
      this.#sorted = [];
      this.#waiting = [...this.#map.keys()];
      this.#hasGone = false;
    }
  }

  /** How many keys are kept here, with those that are gone from the map: after `deleted` at most twice the map's. */
  get size(): number {
    return this.#sorted.length + this.#waiting.length;
  }

  /** The keys that begin with `prefix`, ascending. */
  *startingWith(prefix: string): IterableIterator<string> {
    this.#settle();
    for (let i = this.#placeOf(prefix); i < this.#sorted.length && this.#sorted[i]!.startsWith(prefix); i++)
      yield this.#sorted[i]!;
  }

  #settle(): void {
    if (this.#hasGone) {
      // A key that was deleted and came again is both here and waiting.
      this.#sorted = [...new Set([...this.#sorted, ...this.#waiting])].filter((key) => this.#map.has(key)).sort();
      this.#waiting = [];
      this.#hasGone = false;
    }
    if (this.#waiting.length > ONE_BY_ONE_MAX) this.#sorted = [...this.#sorted, ...this.#waiting].sort();
    else for (const key of this.#waiting) this.#sorted.splice(this.#placeOf(key), 0, key);
    this.#waiting = [];
  }

  /** The place of the first key that is not before `key`. */
  #placeOf(key: string): number {
    let [low, high] = [0, this.#sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sorted[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
