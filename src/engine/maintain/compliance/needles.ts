// Searches bytes for many texts in one pass. A table by pairs of bytes says how far the search may jump. In
// random-looking bytes, as sealed ones are, it reads only one in as many bytes as the shortest text has. (S. Wu, U.
// Manber: A fast algorithm for multi-pattern searching, 1994.)
import { assert } from '../../base/assert.ts';

/** A jump fits a byte. */
const WINDOW_MAX = 255;

export class Needles {
  readonly #needles: readonly Uint8Array[];
  /** Bytes of each needle that determine the jumps: as many as the shortest needle has. */
  readonly #window: number;
  /** By pair of bytes: the distance from the window's end to the next place where that pair could occur in a needle. */
  readonly #jumps: Uint8Array;
  /** Needles by the last pair of their window. */
  readonly #byEnd = new Map<number, number[]>();

  /** Each needle has at least two bytes. */
  constructor(needles: readonly Uint8Array[]) {
    this.#needles = needles;
    this.#window = Math.min(WINDOW_MAX, ...needles.map(({ length }) => length));
    assert(this.#window >= 2, 'a needle has two bytes');
    const last = this.#window - 2;
    this.#jumps = new Uint8Array(65_536).fill(this.#window - 1);
    needles.forEach((needle, i) => {
      for (let at = 0; at <= last; at++) {
        const pair = (needle[at]! << 8) | needle[at + 1]!;
        this.#jumps[pair] = Math.min(this.#jumps[pair]!, last - at);
      }
      const end = (needle[last]! << 8) | needle[last + 1]!;
      const sharing = this.#byEnd.get(end);
      if (sharing === undefined) this.#byEnd.set(end, [i]);
      else sharing.push(i);
    });
  }

  /** Adds to `found` the indexes, in the given list, of the needles that occur in `bytes`. */
  search(bytes: Uint8Array, found: Set<number>): void {
    const jumps = this.#jumps;
    const last = this.#window - 2;
    for (let at = last; at + 1 < bytes.length; ) {
      const pair = (bytes[at]! << 8) | bytes[at + 1]!;
      const jump = jumps[pair]!;
      if (jump === 0) this.#compare(bytes, at - last, pair, found);
      at += jump === 0 ? 1 : jump;
    }
  }

  #compare(bytes: Uint8Array, from: number, end: number, found: Set<number>): void {
    for (const i of this.#byEnd.get(end) ?? []) {
      const needle = this.#needles[i]!;
      if (found.has(i) || from + needle.length > bytes.length) continue;
      let same = 0;
      while (same < needle.length && bytes[from + same] === needle[same]) same += 1;
      if (same === needle.length) found.add(i);
    }
  }
}
