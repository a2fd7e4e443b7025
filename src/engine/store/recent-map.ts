/**
 * A Map that keeps the `max` / 2 most recently used keys, and up to as many that were used before them. An entry that
 * was just used is never dropped, whatever else is requested meanwhile.
 */
export class RecentMap<K, V> {
  readonly #half: number;
  #recent = new Map<K, V>();
  #older = new Map<K, V>();

  /** `max`: at least two. */
  constructor(max: number) {
    this.#half = Math.floor(max / 2);
  }

  get(key: K): V | undefined {
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: K, value: V): void {
    if (this.#recent.size >= this.#half && !this.#recent.has(key)) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#older.delete(key);
    this.#recent.set(key, value);
  }

  delete(key: K): void {
    this.#recent.delete(key);
    this.#older.delete(key);
  }
}
