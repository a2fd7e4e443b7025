/**
 * The first index below `count` whose value is at least `value`, or `count`, where the values rise about evenly, as
 * ordinals do. It begins where the value would lie if they rose evenly and doubles its steps from there: a bisection of a
 * large array waits for memory at most of its steps.
 */
export function evenLowerBound(at: (index: number) => number, value: number, count: number): number {
  if (count === 0 || value <= at(0)) return 0;
  const last = at(count - 1);
  if (value > last) return count;
  let low = Math.floor(((value - at(0)) / (last - at(0))) * (count - 1));
  let high = low;
  for (let step = 1; at(low) >= value; step *= 2) low = Math.max(0, low - step);
  for (let step = 1; at(high) < value; step *= 2) high = Math.min(count - 1, high + step);
  // The value at `low` is below the wanted one, that at `high` is not.
  while (low + 1 < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) < value) low = middle;
    else high = middle;
  }
  return high;
}
