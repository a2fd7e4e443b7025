// Normalised Levenshtein similarity with a budget, which bounds the work of one request whatever it contains.

/** Number of leading code points to compare. */
export const SIMILARITY_CHARS_MAX = 512;
/** Cells of Wagner and Fischer's table that one request may fill: some tens of milliseconds. */
export const SIMILARITY_CELLS_MAX = 3_000_000;

/** Compares texts for one request. Once its cells are spent, only equal texts are similar. */
export class Similarity {
  #cells: number;
  /** Code points of each text, cached because a text is compared with many others. */
  readonly #letters = new Map<string, readonly string[]>();

  constructor(cells: number = SIMILARITY_CELLS_MAX) {
    this.#cells = cells;
  }

  /** True if `1 - distance / length of the longer text` is at least `threshold`, measured in code points. */
  atLeast(a: string, b: string, threshold: number): boolean {
    if (a === b) return true;
    if (this.#cells <= 0) return false;
    const left = this.#lettersOf(a);
    const right = this.#lettersOf(b);
    const longest = Math.max(left.length, right.length);
    // The largest allowed distance. The epsilon absorbs rounding, as in 1 - 0.85.
    const distanceMax = Math.floor((1 - threshold) * longest + 1e-9);
    this.#cells--;
    if (Math.abs(left.length - right.length) > distanceMax) return false;
    return this.#within(left, right, distanceMax);
  }

  #lettersOf(text: string): readonly string[] {
    const known = this.#letters.get(text);
    if (known !== undefined) return known;
    const split = letters(text);
    this.#cells -= split.length;
    this.#letters.set(text, split);
    return split;
  }

  /** Ukkonen's band: a cell further from the diagonal than the bound cannot be on a path within it. */
  #within(left: readonly string[], right: readonly string[], bound: number): boolean {
    const band = Math.min(right.length, 2 * bound + 1);
    this.#cells -= left.length * band;
    if (this.#cells < 0) return false;
    const far = bound + 1;
    let previous = new Uint16Array(right.length + 1).fill(far);
    let current = new Uint16Array(right.length + 1).fill(far);
    for (let j = 0; j <= Math.min(right.length, bound); j++) previous[j] = j;
    for (let i = 1; i <= left.length; i++) {
      const first = Math.max(1, i - bound);
      const last = Math.min(right.length, i + bound);
      current[first - 1] = first === 1 ? Math.min(far, i) : far;
      let best = current[first - 1]!;
      for (let j = first; j <= last; j++) {
        const substitution = previous[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
        const cell = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution, far);
        current[j] = cell;
        if (cell < best) best = cell;
      }
      if (last < right.length) current[last + 1] = far;
      if (best > bound) return false;
      [previous, current] = [current, previous];
    }
    return previous[right.length]! <= bound;
  }
}

function letters(text: string): string[] {
  // Slice before spreading, to avoid an array of a whole megabyte for its first letters.
  return [...text.slice(0, SIMILARITY_CHARS_MAX * 2)].slice(0, SIMILARITY_CHARS_MAX);
}
