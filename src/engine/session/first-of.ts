// The first of many in an order, without sorting the rest.

/** True if `a` comes before `b`. No two may be equal. */
export type Before = (a: number, b: number) => boolean;

/** The numbers from 0 to `count - 1` that have the places `from` to `to - 1` in the order, in that order. */
export function placesBetween(count: number, from: number, to: number, before: Before): number[] {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const end = Math.min(to, count);
  bringFirst(order, count, end, before);
  bringFirst(order, end, from, before);
  return Array.from(order.subarray(from, end)).sort((a, b) => (before(a, b) ? -1 : 1));
}

/** Moves the `first` of the first `count` numbers to the beginning, in any order: quickselect. */
function bringFirst(order: Uint32Array, count: number, first: number, before: Before): void {
  let low = 0;
  let high = count - 1;
  while (low < high && first > low && first <= high) {
    const pivot = middleOf(order[low]!, order[(low + high) >>> 1]!, order[high]!, before);
    let left = low - 1;
    let right = high + 1;
    for (;;) {
      do left += 1;
      while (before(order[left]!, pivot));
      do right -= 1;
      while (before(pivot, order[right]!));
      if (left >= right) break;
      const swapped = order[left]!;
      order[left] = order[right]!;
      order[right] = swapped;
    }
    // All up to `right` come before all after it.
    if (first <= right) high = right;
    else low = right + 1;
  }
}

function middleOf(a: number, b: number, c: number, before: Before): number {
  if (before(a, b)) return before(b, c) ? b : before(a, c) ? c : a;
  return before(a, c) ? a : before(b, c) ? c : b;
}
