/**
 * Normalised Levenshtein similarity of two strings: 1 - distance / length of the longer, in code points; 1 for two
 * empty ones. Wagner and Fischer's recurrence over two rows. Only the first `SIMILARITY_CHARS_MAX` code points are
 * compared.
 */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const left = [...a].slice(0, SIMILARITY_CHARS_MAX);
  const right = [...b].slice(0, SIMILARITY_CHARS_MAX);
  const longest = Math.max(left.length, right.length);
  if (longest === 0) return 1;
  let previous = Uint16Array.from({ length: right.length + 1 }, (_, i) => i);
  let current = new Uint16Array(right.length + 1);
  for (let i = 1; i <= left.length; i++) {
    current[0] = i;
    for (let j = 1; j <= right.length; j++) {
      const substitution = previous[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1);
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution);
    }
    [previous, current] = [current, previous];
  }
  return 1 - previous[right.length]! / longest;
}

/** Quadratic time: 2,000 code points compare in about 10 ms. */
export const SIMILARITY_CHARS_MAX = 2_000;

/**
 * True when `similarity` is at least `threshold`. Strings that differ too much in length or letters are rejected
 * without an alignment: the distance is never less than the number of letters that one side has and the other lacks.
 */
export function isSimilar(a: string, b: string, threshold: number): boolean {
  if (a === b) return true;
  const left = [...a].slice(0, SIMILARITY_CHARS_MAX);
  const right = [...b].slice(0, SIMILARITY_CHARS_MAX);
  const longest = Math.max(left.length, right.length);
  if (longest > 0 && 1 - lettersApart(left, right) / longest < threshold) return false;
  return similarity(a, b) >= threshold;
}

/** For each side, counts the letters that the other side lacks, with repetitions; returns the larger count. */
function lettersApart(left: readonly string[], right: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const letter of left) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  for (const letter of right) counts.set(letter, (counts.get(letter) ?? 0) - 1);
  let onlyLeft = 0;
  let onlyRight = 0;
  for (const count of counts.values())
    if (count > 0) onlyLeft += count;
    else onlyRight -= count;
  return Math.max(onlyLeft, onlyRight);
}
