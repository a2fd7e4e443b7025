/**
 * A Map that drops its oldest entry when it is full. For values that are cheap to compute again; it does not track use.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  /**
   * Gives the oldest key: entries leave at the front, and new ones come behind. A new iterator would walk over the holes
   * that earlier ones left in the table.
   */
  #oldest = this.#entries.keys();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    if (this.#entries.size >= this.#max && !this.#entries.has(key)) {
      const oldest = this.#oldest.next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(key, value);
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = this.#entries.keys();
  }

  get size(): number {
    return this.#entries.size;
  }
}
