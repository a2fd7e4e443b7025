// The order of grains: the same in a partition, over several partitions, and for a list in memory.
import type { Keyed, Order, OrderKey, SortKey } from '../../calls/cal.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';

export const BY_HASH: Order = { by: 'hash' };

/** The sort keys of a grain. */
export function keyed(order: Order, grain: CalGrain): Keyed {
  const { hash } = grain;
  if (order.by === 'hash') return { hash, key: undefined };
  const key = orderKey(order, grain);
  return order.next === undefined ? { hash, key } : { hash, key, next: orderKey(order.next, grain) };
}

function orderKey(order: SortKey, grain: CalGrain): OrderKey {
  if (order.by === 'created') return grain.createdAtMs;
  const value = fieldValue(grain, order.by === 'time' ? 'time' : order.field);
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}

/** The order without the score, which is the same for all grains where nothing is searched for. */
export function withoutScore(order: Order): Order {
  if (order.by === 'hash') return order;
  const { next, ...first } = order;
  const keys = [first, ...(next === undefined ? [] : [next])].filter(
    (key) => key.by !== 'field' || key.field !== 'score',
  );
  const [main, second] = keys;
  if (main === undefined) return BY_HASH;
  return second === undefined ? main : { ...main, next: second };
}

/** Compares by key, then by address ascending. Negative if `a` comes before `b`. */
export function compareKeys(order: Order, a: Keyed, b: Keyed): number {
  if (order.by !== 'hash') {
    const difference = compareValues(a.key, b.key, order.descending);
    if (difference !== 0) return difference;
    const next = order.next === undefined ? 0 : compareValues(a.next, b.next, order.next.descending);
    if (next !== 0) return next;
  }
  return a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0;
}

function compareValues(a: OrderKey, b: OrderKey, descending: boolean): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  const ascending = typeof a === 'number' && typeof b === 'number' ? a - b : compareCodePoints(String(a), String(b));
  return descending ? -ascending : ascending;
}

/** Compares by code point. Code unit order differs above U+D800. */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const isPairX = x >= 0xd800 && x <= 0xdfff;
    const isPairY = y >= 0xd800 && y <= 0xdfff;
    return isPairX === isPairY ? x - y : isPairX ? 1 : -1;
  }
  return a.length - b.length;
}

/** Sorts grains. */
export function ordered(order: Order, grains: readonly CalGrain[]): CalGrain[] {
  return grains
    .map((grain) => ({ grain, ...keyed(order, grain) }))
    .sort((a, b) => compareKeys(order, a, b))
    .map(({ grain }) => grain);
}

/** The default order: score descending, ties by address. */
export function byScore<T extends Pick<CalGrain, 'hash' | 'score'>>(grains: readonly T[]): T[] {
  return grains.toSorted((a, b) => b.score - a.score || (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0));
}
