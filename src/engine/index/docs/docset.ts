// Sets of docs of one part: ascending lists as the indexes give them, and bitsets to combine many of them.
//
// Contract of every walk: `next(doc)` gives the first member at or after `doc`, and END when there is none. END is larger
// than every doc, so `next(END)` is END too, and a loop `for (let d = next(0); d !== END; d = next(d + 1))` visits
// each member once, ascending.
import { assert } from '../../base/assert.ts';

/** The sentinel after the last doc. */
export const END = 0xffff_ffff;

export class DocSet {
  readonly docCount: number;
  /** Bit d & 31 of word d >>> 5 represents doc d. Bits from docCount on are always 0. */
  readonly words: Int32Array;

  constructor(docCount: number) {
    this.docCount = docCount;
    this.words = new Int32Array((docCount + 31) >>> 5);
  }

  static full(docCount: number): DocSet {
    const set = new DocSet(docCount);
    set.words.fill(-1);
    set.#trim();
    return set;
  }

  /** The docs of an ascending (or any) list, all below docCount. */
  static of(docCount: number, docs: ArrayLike<number>): DocSet {
    const set = new DocSet(docCount);
    set.or(docs);
    return set;
  }

  has(doc: number): boolean {
    return doc < this.docCount && (this.words[doc >>> 5]! & (1 << (doc & 31))) !== 0;
  }

  add(doc: number): void {
    assert(doc < this.docCount, 'a doc is inside its part');
    this.words[doc >>> 5]! |= 1 << (doc & 31);
  }

  delete(doc: number): void {
    if (doc < this.docCount) this.words[doc >>> 5]! &= ~(1 << (doc & 31));
  }

  /** Number of members. */
  count(): number {
    let total = 0;
    for (let i = 0; i < this.words.length; i++) total += popcount(this.words[i]!);
    return total;
  }

  isEmpty(): boolean {
    for (let i = 0; i < this.words.length; i++) if (this.words[i] !== 0) return false;
    return true;
  }

  /** First member at or after `doc`, or END. */
  next(doc: number): number {
    if (doc >= this.docCount) return END;
    let at = doc >>> 5;
    let word = this.words[at]! & (-1 << (doc & 31));
    while (word === 0) {
      at += 1;
      if (at === this.words.length) return END;
      word = this.words[at]!;
    }
    return at * 32 + (31 - Math.clz32(word & -word));
  }

  /** Adds the members of `other`. */
  or(other: DocSet | ArrayLike<number>): this {
    if (other instanceof DocSet) {
      assert(other.docCount === this.docCount, 'sets of one part are combined');
      for (let i = 0; i < this.words.length; i++) this.words[i]! |= other.words[i]!;
    } else {
      const words = this.words;
      for (let i = 0; i < other.length; i++) words[other[i]! >>> 5]! |= 1 << (other[i]! & 31);
    }
    return this;
  }

  /** Keeps only members of `other`. */
  and(other: DocSet | ArrayLike<number>): this {
    const set = other instanceof DocSet ? other : DocSet.of(this.docCount, other);
    assert(set.docCount === this.docCount, 'sets of one part are combined');
    for (let i = 0; i < this.words.length; i++) this.words[i]! &= set.words[i]!;
    return this;
  }

  /** Removes the members of `other`. */
  andNot(other: DocSet | ArrayLike<number>): this {
    if (other instanceof DocSet) {
      assert(other.docCount === this.docCount, 'sets of one part are combined');
      for (let i = 0; i < this.words.length; i++) this.words[i]! &= ~other.words[i]!;
    } else {
      const words = this.words;
      for (let i = 0; i < other.length; i++) words[other[i]! >>> 5]! &= ~(1 << (other[i]! & 31));
    }
    return this;
  }

  /** The members, ascending. */
  toArray(): Uint32Array {
    const docs = new Uint32Array(this.count());
    let count = 0;
    for (let i = 0; i < this.words.length; i++) {
      let word = this.words[i]!;
      while (word !== 0) {
        docs[count++] = i * 32 + (31 - Math.clz32(word & -word));
        word &= word - 1;
      }
    }
    return docs;
  }

  /** The docs of a list that are members, in the order of the list. */
  among(docs: Uint32Array): Uint32Array {
    const { words } = this;
    const found = new Uint32Array(docs.length);
    let count = 0;
    for (let i = 0; i < docs.length; i++) {
      const doc = docs[i]!;
      found[count] = doc;
      count += (words[doc >>> 5]! >>> (doc & 31)) & 1;
    }
    return found.subarray(0, count);
  }

  #trim(): void {
    const used = this.docCount & 31;
    if (used !== 0) this.words[this.words.length - 1]! &= (1 << used) - 1;
  }
}

/** Docs that are in all of `lists` (each ascending, without duplicates), ascending. `lists` has at least one list. */
export function intersect(lists: readonly Uint32Array[]): Uint32Array {
  assert(lists.length > 0, 'an intersection has a list');
  const sorted = [...lists].sort((a, b) => a.length - b.length);
  let found = sorted[0]!;
  for (let i = 1; i < sorted.length && found.length > 0; i++) found = intersectTwo(found, sorted[i]!);
  return found;
}

/** `short` is the shorter list; its docs are looked up in `long` by galloping from the last place. */
function intersectTwo(short: Uint32Array, long: Uint32Array): Uint32Array {
  const found = new Uint32Array(short.length);
  let count = 0;
  let at = 0;
  for (let i = 0; i < short.length && at < long.length; i++) {
    const doc = short[i]!;
    at = gallop(long, doc, at);
    if (at < long.length && long[at] === doc) found[count++] = doc;
  }
  return found.subarray(0, count);
}

/** First index at or after `from` whose doc is >= `doc`; docs.length when there is none. Cost: log of the distance. */
export function gallop(docs: Uint32Array, doc: number, from: number): number {
  if (from >= docs.length || docs[from]! >= doc) return from;
  let step = 1;
  while (from + step < docs.length && docs[from + step]! < doc) step *= 2;
  let low = from + (step >>> 1);
  let high = Math.min(from + step, docs.length);
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (docs[middle]! < doc) low = middle;
    else high = middle;
  }
  return high;
}

/**
 * Docs in at least one of two ascending lists, ascending, without duplicates. If one list is empty, returns the other
 * list itself.
 */
export function union(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged = new Uint32Array(a.length + b.length);
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = i < a.length ? a[i]! : END;
    const right = j < b.length ? b[j]! : END;
    merged[count++] = Math.min(left, right);
    if (left <= right) i += 1;
    if (right <= left) j += 1;
  }
  return merged.subarray(0, count);
}

/** Set bits of a 32-bit word. */
export function popcount(word: number): number {
  word -= (word >>> 1) & 0x5555_5555;
  word = (word & 0x3333_3333) + ((word >>> 2) & 0x3333_3333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
