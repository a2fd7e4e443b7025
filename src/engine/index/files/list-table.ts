// Lists of numbers by (owner, key), for the tails of one shard: the docs of a facet value, or the records of a key. One
// table serves every memory, so that a memory with one grain costs a few entries and no table of its own. The state is
// in growing integer arrays and one array of keys; a posting is two integers.
import { randomInt } from 'node:crypto';
import { assert } from '../../base/assert.ts';

/** An entry: hash of owner and key, owner, first and last node, count, next entry of the owner. */
const HASH = 0;
const OWNER = 1;
const HEAD = 2;
const LAST = 3;
const COUNT = 4;
const NEXT = 5;
const ENTRY_INTS = 6;
/** Ends a chain of entries or nodes. */
export const NONE = -1;
/** Lists that are cached as arrays after they were read. Beyond this, all are dropped and built again on demand. */
const VIEWS_MAX = 1_024;
/** Mask of the owner's low bits that index the recent entries. */
const RECENT_MASK = 255;

/** Random, so that nobody can choose colliding keys. */
const seed = randomInt(2 ** 32);

/** The integers of a table's entries and nodes. */
export interface ListColumns {
  readonly entries: Int32Array<ArrayBuffer>;
  readonly nodes: Int32Array<ArrayBuffer>;
}

interface View {
  docs: Uint32Array;
  count: number;
  last: number;
}

export class ListTable {
  #entries = new Int32Array(ENTRY_INTS * 64);
  #keys: (string | number)[] = [];
  /** Open addressing; entry number + 1, 0 is free. At most half full. */
  #slots = new Int32Array(128);
  /** (value, next) pairs. Unsigned values keep their 32 bits. */
  #nodes = new Int32Array(2 * 256);
  #nodeCount = 0;
  readonly #views = new Map<number, View>();
  /** The last used entry, by the low bits of its owner. */
  readonly #recent = new Int32Array(RECENT_MASK + 1);

  /** Lists in the form in which `columns` and `key` gave them. They can be read, but neither found by key nor added to. */
  static of({ entries, nodes }: ListColumns, keys: (string | number)[]): ListTable {
    const table = new ListTable();
    table.#entries = entries;
    table.#nodes = nodes;
    table.#keys = keys;
    return table;
  }

  /** Copies of the entries and nodes so far. */
  columns(): ListColumns {
    return {
      entries: this.#entries.slice(0, this.size * ENTRY_INTS),
      nodes: this.#nodes.slice(0, this.#nodeCount * 2),
    };
  }

  /** The keys of the entries `from` to `to - 1`. */
  keys(from: number, to: number): (string | number)[] {
    return this.#keys.slice(from, to);
  }

  /** Entries so far. */
  get size(): number {
    return this.#keys.length;
  }

  /**
   * Appends `value` to the list of (owner, key), unless it is the last value already. `newestOfOwner` is the owner's
   * newest entry, or NONE. The owner passes the returned entry to the next call.
   */
  append(owner: number, key: string | number, value: number, newestOfOwner: number): number {
    const { size } = this;
    const entry = this.enter(owner, key, newestOfOwner);
    this.push(entry, value);
    return this.size > size ? entry : newestOfOwner;
  }

  /** The entry of (owner, key). A new entry becomes the owner's newest, before `newestOfOwner`. */
  enter(owner: number, key: string | number, newestOfOwner: number): number {
    // Most facets of a grain have the same value as in the previous grain.
    const recent = this.#recent[owner & RECENT_MASK]!;
    if (recent < this.size && this.#entries[recent * ENTRY_INTS + OWNER] === owner && this.#keys[recent] === key)
      return recent;
    const hash = hashOf(owner, key);
    let entry = this.#find(hash, owner, key);
    if (entry === NONE) entry = this.#insert(hash, owner, key, newestOfOwner);
    this.#recent[owner & RECENT_MASK] = entry;
    return entry;
  }

  /** Appends `value` to the list of an entry, unless it is the last value already: a grain may have a tag twice. */
  push(entry: number, value: number): void {
    const base = entry * ENTRY_INTS;
    const last = this.#entries[base + LAST]!;
    if (last !== NONE && this.#nodes[last * 2]! >>> 0 === value) return;
    const node = this.#node(value);
    if (last === NONE) this.#entries[base + HEAD] = node;
    else this.#nodes[last * 2 + 1] = node;
    this.#entries[base + LAST] = node;
    this.#entries[base + COUNT]! += 1;
  }

  /** The entry of (owner, key), or NONE. */
  find(owner: number, key: string | number): number {
    return this.#find(hashOf(owner, key), owner, key);
  }

  /** The previous entry of the same owner, or NONE. */
  nextOfOwner(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + NEXT]!;
  }

  key(entry: number): string | number {
    return this.#keys[entry]!;
  }

  owner(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + OWNER]!;
  }

  count(entry: number): number {
    return this.#entries[entry * ENTRY_INTS + COUNT]!;
  }

  /** The first value of the list. */
  first(entry: number): number {
    return this.#nodes[this.#entries[entry * ENTRY_INTS + HEAD]! * 2]! >>> 0;
  }

  /**
   * The list, in the order of its appends. Read-only, valid until the next append. A repeated call costs only the new
   * values.
   */
  list(entry: number): Uint32Array {
    const count = this.count(entry);
    let view = this.#views.get(entry);
    if (view === undefined) {
      if (this.#views.size >= VIEWS_MAX) this.#views.clear();
      view = { docs: new Uint32Array(count), count: 0, last: NONE };
      this.#views.set(entry, view);
    }
    if (view.count < count) this.#extend(view, entry, count);
    return view.docs.length === count ? view.docs : view.docs.subarray(0, count);
  }

  /** Copies the list into `into`, which must have room for it, without caching an array. Returns its length. */
  copy(entry: number, into: Uint32Array): number {
    let at = 0;
    for (let node = this.#entries[entry * ENTRY_INTS + HEAD]!; node !== NONE; node = this.#nodes[node * 2 + 1]!)
      into[at++] = this.#nodes[node * 2]!; // a Uint32Array takes it as unsigned
    return at;
  }

  #extend(view: View, entry: number, count: number): void {
    if (view.docs.length < count) {
      const grown = new Uint32Array(Math.max(count, view.docs.length * 2));
      grown.set(view.docs.subarray(0, view.count));
      view.docs = grown;
    }
    let node = view.last === NONE ? this.#entries[entry * ENTRY_INTS + HEAD]! : this.#nodes[view.last * 2 + 1]!;
    for (; node !== NONE; node = this.#nodes[node * 2 + 1]!) {
      view.docs[view.count++] = this.#nodes[node * 2]!;
      view.last = node;
    }
    assert(view.count === count, 'a list is as long as its count');
  }

  #find(hash: number, owner: number, key: string | number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot]! - 1;
      if (entry < 0) return NONE;
      const base = entry * ENTRY_INTS;
      if (this.#entries[base + HASH] === hash && this.#entries[base + OWNER] === owner && this.#keys[entry] === key)
        return entry;
    }
  }

  #insert(hash: number, owner: number, key: string | number, newestOfOwner: number): number {
    const entry = this.#keys.length;
    if (entry * 2 >= this.#slots.length) this.#rehash();
    if ((entry + 1) * ENTRY_INTS > this.#entries.length) this.#entries = grow(this.#entries);
    this.#keys.push(key);
    const base = entry * ENTRY_INTS;
    const entries = this.#entries;
    entries[base + HASH] = hash;
    entries[base + OWNER] = owner;
    entries[base + HEAD] = NONE;
    entries[base + LAST] = NONE;
    entries[base + COUNT] = 0;
    entries[base + NEXT] = newestOfOwner;
    this.#place(hash, entry);
    return entry;
  }

  #place(hash: number, entry: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = entry + 1;
  }

  #rehash(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let entry = 0; entry < this.#keys.length; entry++)
      this.#place(this.#entries[entry * ENTRY_INTS + HASH]!, entry);
  }

  #node(value: number): number {
    const node = this.#nodeCount++;
    if (node * 2 + 2 > this.#nodes.length) this.#nodes = grow(this.#nodes);
    this.#nodes[node * 2] = value;
    this.#nodes[node * 2 + 1] = NONE;
    return node;
  }
}

/** Twice the array. */
export function grow<T extends Int32Array | Uint32Array | Float64Array>(array: T): T {
  // The constructor of a typed array creates its own kind, which the type system does not know.
  const grown = new (array.constructor as new (length: number) => T)(Math.max(4, array.length * 2));
  grown.set(array);
  return grown;
}

/**
 * A signed 32-bit hash: FNV-1a over UTF-16 units in two lanes, which the processor runs in parallel, and a final mix.
 */
function hashOf(owner: number, key: string | number): number {
  let hash = Math.imul(seed ^ owner, 0x0100_0193);
  let other = hash;
  if (typeof key === 'number') {
    hash = Math.imul(hash ^ key, 0x0100_0193);
    other ^= key / 0x1_0000_0000;
  } else {
    const even = key.length & ~1;
    for (let i = 0; i < even; i += 2) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 0x0100_0193);
      other = Math.imul(other ^ key.charCodeAt(i + 1), 0x0100_0193);
    }
    if (even < key.length) hash = Math.imul(hash ^ key.charCodeAt(even), 0x0100_0193);
  }
  hash = Math.imul(hash ^ (hash >>> 15) ^ Math.imul(other, 0x85eb_ca6b), 0x2c1b_3c6d);
  return hash ^ (hash >>> 13);
}
