// Flags of a shard's grains by ordinal (removed, superseded, verification): one bit each, in pages stored as entries of
// the log's state. The log contains the changes since the pages were last written, so they are written only at a seal.
import { assert } from '../../base/assert.ts';
import type { Log } from '../../log/log.ts';
import { popcount } from '../docs/docset.ts';
import type { Ordinal } from './part.ts';

const PAGE_WORDS = 1_024;
const PAGE_BITS = PAGE_WORDS * 32;

export type StateEntry = readonly [key: string, value: Uint8Array | null];

/** Flags of PAGE_BITS ordinals: the page's number, and its words. */
export type BitmapPage = readonly [page: number, words: Int32Array];

export class Bitmap {
  readonly #prefix: string;
  readonly #pages: (Int32Array | undefined)[] = [];
  /** Pages changed since their last export. */
  readonly #dirty = new Set<number>();
  /** Pages exported in a transaction that is not committed yet. */
  readonly #exported = new Set<number>();
  #count = 0;

  /** `name` is the middle of its state keys: `bitmap/<name>/<page>`. */
  constructor(name: string) {
    this.#prefix = `bitmap/${name}/`;
  }

  /** A bitmap with copies of the pages of another one. It has no state. */
  static of(pages: readonly BitmapPage[]): Pick<Bitmap, 'get' | 'any' | 'pages'> {
    const copy = new Bitmap('copy');
    for (const [page, words] of pages) copy.#page(page).set(words);
    return copy;
  }

  /** Reads the pages that the log's state has. */
  load(log: Pick<Log, 'scanState'>): void {
    for (const [key, value] of log.scanState(this.#prefix)) {
      const page = Number(key.slice(this.#prefix.length));
      const words = this.#page(page);
      assert(value.length === PAGE_WORDS * 4, 'a page of a bitmap has its size');
      const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
      for (let i = 0; i < PAGE_WORDS; i++) {
        this.#count += popcount(view.getInt32(i * 4)) - popcount(words[i]!);
        words[i] = view.getInt32(i * 4);
      }
    }
  }

  /** Number of set bits. */
  get count(): number {
    return this.#count;
  }

  get(ordinal: Ordinal): boolean {
    const words = this.#pages[Math.floor(ordinal / PAGE_BITS)];
    return words !== undefined && (words[(ordinal % PAGE_BITS) >>> 5]! & (1 << (ordinal & 31))) !== 0;
  }

  /** Sets the bit; false when it was set before. */
  set(ordinal: Ordinal): boolean {
    if (this.get(ordinal)) return false;
    const page = Math.floor(ordinal / PAGE_BITS);
    this.#page(page)[(ordinal % PAGE_BITS) >>> 5]! |= 1 << (ordinal & 31);
    this.#dirty.add(page);
    this.#count += 1;
    return true;
  }

  /** Clears the bit; false when it was clear before. */
  clear(ordinal: Ordinal): boolean {
    if (!this.get(ordinal)) return false;
    const page = Math.floor(ordinal / PAGE_BITS);
    this.#page(page)[(ordinal % PAGE_BITS) >>> 5]! &= ~(1 << (ordinal & 31));
    this.#dirty.add(page);
    this.#count -= 1;
    return true;
  }

  /** True when a bit in first..last is set. */
  any(first: Ordinal, last: Ordinal): boolean {
    for (let ordinal = first; ordinal <= last; ) {
      const words = this.#pages[Math.floor(ordinal / PAGE_BITS)];
      if (words === undefined) {
        ordinal = (Math.floor(ordinal / PAGE_BITS) + 1) * PAGE_BITS;
        continue;
      }
      const word = words[(ordinal % PAGE_BITS) >>> 5]!;
      if (word === 0) ordinal = (Math.floor(ordinal / 32) + 1) * 32;
      else if ((word & (1 << (ordinal & 31))) !== 0) return true;
      else ordinal += 1;
    }
    return false;
  }

  /** The ordinals in first..last whose bit is set, ascending. */
  all(first: Ordinal, last: Ordinal): Ordinal[] {
    const found: Ordinal[] = [];
    for (let ordinal = first; ordinal <= last; ) {
      if (ordinal % 32 === 0 && !this.any(ordinal, Math.min(last, ordinal + 31))) ordinal += 32;
      else {
        if (this.get(ordinal)) found.push(ordinal);
        ordinal += 1;
      }
    }
    return found;
  }

  /** Copies of the pages with flags of first..last. A page may have flags of other ordinals too. */
  pages(first: Ordinal, last: Ordinal): BitmapPage[] {
    const found: BitmapPage[] = [];
    for (let page = Math.floor(first / PAGE_BITS); page * PAGE_BITS <= last; page++) {
      const words = this.#pages[page];
      if (words?.some((word) => word !== 0) === true) found.push([page, words.slice()]);
    }
    return found;
  }

  /** The changed pages as state entries. Call `exportDone` when the transaction that writes them has ended. */
  export(): StateEntry[] {
    const entries: StateEntry[] = [];
    for (const page of [...this.#dirty].sort((a, b) => a - b)) {
      const bytes = new Uint8Array(PAGE_WORDS * 4);
      const view = new DataView(bytes.buffer);
      const words = this.#page(page);
      for (let i = 0; i < PAGE_WORDS; i++) view.setInt32(i * 4, words[i]!);
      entries.push([`${this.#prefix}${page}`, bytes]);
      this.#exported.add(page);
    }
    this.#dirty.clear();
    return entries;
  }

  /** After a failed transaction, marks its pages as changed again. */
  exportDone(committed: boolean): void {
    if (!committed) for (const page of this.#exported) this.#dirty.add(page);
    this.#exported.clear();
  }

  #page(page: number): Int32Array {
    const known = this.#pages[page];
    if (known !== undefined) return known;
    const made = new Int32Array(PAGE_WORDS);
    this.#pages[page] = made;
    return made;
  }
}
