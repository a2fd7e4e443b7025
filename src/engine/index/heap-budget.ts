// The heap budget of the indexes: decrypted blocks and decoded structures of every open chunk, in one list. Entries beyond
// the budget are dropped and decoded again on demand.
//
// The list is a queue with a second chance (F. J. Corbató's CLOCK, 1968): a use only marks an entry, since a recall uses
// hundreds of them. An entry that is about to be dropped goes to the end instead when it was used since it was last there.
import { assert } from '../base/assert.ts';

/** Decoded structures of one open chunk. A value may be gone at the next `get`: decode it again, then `set` it. */
export interface DecodedCache {
  /** The value last set under `key`, or undefined. The caller knows its type, because it set the same key itself. */
  get<T>(key: string | number): T | undefined;
  /**
   * Caches `value`, which takes about `bytes` of heap. Numeric keys are the container's block keys, so use strings. A
   * holder that also keeps the value, to save the next `get`, must release it when `dropped` is called, and must still
   * call `get` now and then: a value without a `get` is dropped first.
   */
  set(key: string | number, value: unknown, bytes: number, dropped?: () => void): void;
  /** A cache with keys of its own, which is cleared with this one. A key need not be composed for each look-up then. */
  scope(): DecodedCache;
}

interface Entry {
  readonly scope: CacheScope;
  readonly key: string | number;
  readonly value: unknown;
  readonly bytes: number;
  readonly dropped: (() => void) | undefined;
  /** True when it was used since it was last put at the end. */
  isUsed: boolean;
  older: Entry | undefined;
  newer: Entry | undefined;
}

/** Overhead of one entry (map slot, entry, links), added to the size of its value. */
const ENTRY_BYTES = 120;

export class HeapBudget {
  readonly bytesMax: number;
  #bytes = 0;
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  /** The newest value always stays, even if it alone is larger than `bytesMax`. */
  constructor(bytesMax: number) {
    assert(bytesMax >= 0, 'a heap budget is not negative');
    this.bytesMax = bytesMax;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A separate cache within this budget. */
  scope(): CacheScope {
    return new CacheScope(this);
  }

  /** Counts bytes that the caller holds from now on, beside the entries; negative: bytes that it has freed. */
  reserve(bytes: number): void {
    this.#bytes += bytes;
    this.#shrink();
  }

  /** For CacheScope: adds an entry, and drops others beyond the budget. */
  insert(entry: Entry): void {
    this.#append(entry);
    this.#bytes += entry.bytes;
    this.#shrink(entry);
  }

  #shrink(added?: Entry): void {
    while (this.#bytes > this.bytesMax && this.#oldest !== undefined && this.#oldest !== this.#newest) {
      const oldest = this.#oldest;
      if (!oldest.isUsed && oldest !== added) {
        oldest.scope.evict(oldest);
        continue;
      }
      oldest.isUsed = false;
      this.#unlink(oldest);
      this.#append(oldest);
    }
  }

  /** For CacheScope. */
  remove(entry: Entry): void {
    this.#unlink(entry);
    this.#bytes -= entry.bytes;
  }

  #append(entry: Entry): void {
    entry.older = this.#newest;
    entry.newer = undefined;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    if (entry.older === undefined) this.#oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (entry.newer === undefined) this.#newest = entry.older;
    else entry.newer.older = entry.older;
    entry.older = undefined;
    entry.newer = undefined;
  }
}

/** One open chunk's part of the budget. */
export class CacheScope implements DecodedCache {
  readonly #budget: HeapBudget;
  /** Made with the first entry: most chunks of most memories have none. */
  #entries: Map<string | number, Entry> | undefined;
  readonly #scopes: CacheScope[] = [];

  constructor(budget: HeapBudget) {
    this.#budget = budget;
  }

  /** Entries of this cache and of those below it. */
  get size(): number {
    return this.#scopes.reduce((sum, { size }) => sum + size, this.#entries?.size ?? 0);
  }

  scope(): CacheScope {
    const scope = new CacheScope(this.#budget);
    this.#scopes.push(scope);
    return scope;
  }

  get<T>(key: string | number): T | undefined {
    const entry = this.#entries?.get(key);
    if (entry === undefined) return undefined;
    entry.isUsed = true;
    return entry.value as T; // the reader of a key also wrote it
  }

  set(key: string | number, value: unknown, bytes: number, dropped?: () => void): void {
    this.#entries ??= new Map();
    const before = this.#entries.get(key);
    if (before !== undefined) this.evict(before);
    const entry: Entry = {
      scope: this,
      key,
      value,
      bytes: bytes + ENTRY_BYTES,
      dropped,
      isUsed: false,
      older: undefined,
      newer: undefined,
    };
    this.#entries.set(key, entry);
    this.#budget.insert(entry);
  }

  /** Returns all its bytes to the budget. The cache stays usable. */
  clear(): void {
    for (const entry of this.#entries?.values() ?? []) this.evict(entry);
    for (const scope of this.#scopes) scope.clear();
  }

  /** For HeapBudget: drops one entry. */
  evict(entry: Entry): void {
    this.#entries?.delete(entry.key);
    this.#budget.remove(entry);
    entry.dropped?.();
  }
}
