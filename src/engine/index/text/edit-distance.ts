// Counts the typing errors between two words: insertions, deletions, substitutions, and swapped neighbours (the optimal
// string alignment form of Damerau-Levenshtein).

/** The distance, or `max + 1` when it is larger than `max`. Counts UTF-16 units; both are short words. */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1;
  const width = b.length + 1;
  let twoAbove = new Uint16Array(width);
  let above = Uint16Array.from({ length: width }, (_, i) => i);
  let row = new Uint16Array(width);
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    let smallest = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let distance = same ? above[j - 1]! : Math.min(above[j - 1]!, above[j]!, row[j - 1]!) + 1;
      if (
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      ) {
        distance = Math.min(distance, twoAbove[j - 2]! + 1);
      }
      row[j] = distance;
      smallest = Math.min(smallest, distance);
    }
    if (smallest > max) return max + 1;
    [twoAbove, above, row] = [above, row, twoAbove];
  }
  return Math.min(above[b.length]!, max + 1);
}
