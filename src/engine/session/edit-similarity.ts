// The normalised Levenshtein similarity of texts that are compared many times, up to a largest distance.

/** Buckets of the letter counts. Letters that share one only make a text pass that is then aligned. */
const BUCKETS = 64;

/** A text, ready to be compared. */
export interface Letters {
  readonly codes: Uint32Array;
  readonly counts: Uint16Array;
}

export function lettersOf(text: string): Letters {
  const codes = Uint32Array.from(text, (letter) => letter.codePointAt(0)!);
  const counts = new Uint16Array(BUCKETS);
  for (const code of codes) counts[code % BUCKETS]! += 1;
  return { codes, counts };
}

/** Counts the cells of alignments, so that a search can be bounded by its work. */
export interface Work {
  cells: number;
}

/** 1 - distance / length of the longer text; undefined when that is below `threshold`. */
export function similarityOf(a: Letters, b: Letters, threshold: number, work: Work): number | undefined {
  work.cells += BUCKETS;
  const longest = Math.max(a.codes.length, b.codes.length);
  if (longest === 0) return 1;
  const most = Math.floor((1 - threshold) * longest + 1e-9);
  if (Math.abs(a.codes.length - b.codes.length) > most || lettersApart(a.counts, b.counts) > most) return undefined;
  const distance = distanceWithin(a.codes, b.codes, most, work);
  return distance === undefined ? undefined : 1 - distance / longest;
}

/** The distance is never less than the number of letters that one side has and the other lacks. */
function lettersApart(a: Uint16Array, b: Uint16Array): number {
  let onlyA = 0;
  let onlyB = 0;
  for (let i = 0; i < BUCKETS; i++) {
    const more = a[i]! - b[i]!;
    if (more > 0) onlyA += more;
    else onlyB -= more;
  }
  return Math.max(onlyA, onlyB);
}

/**
 * The edit distance if it is at most `most`. Only cells within `most` of the diagonal are computed (Ukkonen): no path
 * of that cost leaves them.
 */
function distanceWithin(a: Uint32Array, b: Uint32Array, most: number, work: Work): number | undefined {
  const far = most + 1;
  let before = new Uint32Array(b.length + 1).fill(far);
  let row = new Uint32Array(b.length + 1).fill(far);
  for (let j = 0; j <= Math.min(b.length, most); j++) before[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    work.cells += Math.max(0, to - from + 1);
    row[from - 1] = from === 1 ? Math.min(i, far) : far;
    let least = row[from - 1]!;
    for (let j = from; j <= to; j++) {
      const changed = before[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const cost = Math.min(changed, before[j]! + 1, row[j - 1]! + 1, far);
      row[j] = cost;
      if (cost < least) least = cost;
    }
    if (to < b.length) row[to + 1] = far;
    if (least > most) return undefined;
    [before, row] = [row, before];
  }
  const distance = before[b.length]!;
  return distance > most ? undefined : distance;
}
