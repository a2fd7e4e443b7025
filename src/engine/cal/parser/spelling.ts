// Suggests known words for an unknown word in a query.

/** The nearest words of `candidates`, best first, at most three. Empty if all are too far. Words are in lower case. */
export function nearest(word: string, candidates: Iterable<string>): readonly string[] {
  // Allow one edit up to four letters, two up to eight, three above.
  const most = word.length <= 4 ? 1 : word.length <= 8 ? 2 : 3;
  const found: { readonly candidate: string; readonly distance: number }[] = [];
  if (word.length > LENGTH_MAX) return [];
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = editDistance(word, candidate.toLowerCase());
    if (distance <= most) found.push({ candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  return [...new Set(found.map(({ candidate }) => candidate))].slice(0, 3);
}

/** No word of CAL is longer. Bounds the work for a hostile word. */
const LENGTH_MAX = 40;

/** Restricted Damerau-Levenshtein distance: insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let best = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        best = Math.min(best, older[column - 2]! + 1);
      current.push(best);
    }
    older = last;
    last = current;
  }
  return last[b.length]!;
}

/** `Did you mean a or b?`; undefined if no candidate is near. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const found = nearest(word.toLowerCase(), candidates);
  return found.length === 0 ? undefined : `Did you mean ${joined(found)}?`;
}

/** `a`, `a or b`, `a, b or c`. */
export function joined(words: readonly string[], last = 'or'): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
