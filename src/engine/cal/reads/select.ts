// Selects grains by structure, in any order. If indexes know the order and no condition needs the grain itself, opens
// only the first grains. Otherwise opens all grains that the indexes select.

import { CAL_HELD_BYTES_MAX } from '../../base/limits.ts';
import type { Bounds, Keyed, Order, PartitionReads, RivalReads, Selected, Selection, Spoken } from '../../calls/cal.ts';
import type { CallContext } from '../../calls/context.ts';
import type { GrainView } from '../../calls/grain.ts';
import { AnswerRoom } from '../../grain/api/answer-room.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import type { PartDoc } from '../../recall/legs/ordered.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { pairName, pairOf } from '../run/contested.ts';
import { BY_HASH, compareKeys, keyed } from '../run/order.ts';
import { repeatKey } from '../run/repeats.ts';
import { firstPlaces } from './first.ts';
import { openEach, STEP_GRAINS } from './open-each.ts';
import { allPlaces, countAll, type Search, searchOf, viewAt } from './places.ts';
import { searchFor, TOO_MANY } from './tested.ts';

/**
 * The first grains of an order. The indexes select the grains before the first yield. Grains that are removed later are
 * left out.
 */
export function* selectGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['select']['input'],
): Sliced<Selected> {
  const asked = searchFor(store, memory, context, input);
  if (asked === undefined) return { grains: [], total: 0, ...TOO_MANY };
  const { search, tests } = asked;
  const { order, take, dedup } = input;
  const left = { ...input, tests };
  if (dedup !== undefined) return yield* distinct(search, allPlaces(search), { ...left, dedup });
  const first = tests.length > 0 ? undefined : firstPlaces(search, order, take);
  if (first === undefined) return yield* chosen(search, allPlaces(search), left);
  const total = countAll(search);
  // The places are the final ones, in order.
  const opened = yield* chosen(search, first, { ...left, order: undefined });
  return opened.stopped === undefined ? { ...opened, total } : opened;
}

export function* countGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['count']['input'],
): Sliced<PartitionReads['count']['output']> {
  const asked = searchFor(store, memory, context, input);
  if (asked === undefined) return { total: 0, ...TOO_MANY };
  const { search, tests } = asked;
  if (tests.length === 0) return { total: countAll(search), scanned: 0 };
  let total = 0;
  const opened = yield* openEach(search, allPlaces(search), { ...input, tests }, () => {
    total += 1;
    return undefined;
  });
  return { total, ...opened };
}

/** The pairs of the matching beliefs, each once. */
export function* spokenPairs(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: RivalReads['pairs']['input'],
): Sliced<RivalReads['pairs']['output']> {
  const search = searchOf(store, memory, context, input.filter);
  const pairs = new Map<string, Spoken>();
  const opened = yield* openEach(search, allPlaces(search), input, (grain) => {
    const pair = pairOf(grain);
    if (pair !== undefined) pairs.set(pairName(pair), pair);
    return undefined;
  });
  return { pairs: opened.stopped === undefined ? [...pairs.values()] : [], ...opened };
}

/** Number of grains that the index lists for each condition. A bound caller gets only the count of its own grains. */
export function estimateGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  { filters }: PartitionReads['estimate']['input'],
): PartitionReads['estimate']['output'] {
  return {
    counts: filters.map(({ name, filter }) => ({
      name,
      grains: countAll(searchOf(store, memory, context, filter)),
    })),
  };
}

/** The first grains in order among those that pass the tests. Without an order, all that pass, in the given order. */
function* chosen(
  search: Search,
  places: Iterable<PartDoc>,
  input: Pick<Selection, 'tests' | 'contested'> & Bounds & { readonly order: Order | undefined; readonly take: number },
): Sliced<Selected> {
  const { order, take, heldMax = CAL_HELD_BYTES_MAX } = input;
  let kept: (Keyed & { readonly view: GrainView })[] = [];
  let heldBytes = 0;
  let total = 0;
  const opened = yield* openEach(search, places, input, (grain, _ordinal, view) => {
    total += 1;
    if (take === 0) return undefined;
    kept.push({ view, ...keyed(order ?? BY_HASH, grain) });
    heldBytes += view.sizeBytes;
    if (order !== undefined && (kept.length >= 2 * take + 64 || heldBytes > heldMax)) {
      kept = firstOf(kept, order, take);
      heldBytes = kept.reduce((sum, one) => sum + one.view.sizeBytes, 0);
    }
    return heldBytes > heldMax ? 'full' : undefined;
  });
  if (opened.stopped !== undefined) return { grains: [], total, ...opened };
  const grains = order === undefined ? kept : firstOf(kept, order, take);
  return { grains: grains.map(({ view }) => view), total, ...opened };
}

/**
 * Like `chosen`, but keeps only the first grain for each value of a field. Holds places instead of grains, because
 * there may be as many values as grains.
 */
function* distinct(
  search: Search,
  places: Iterable<PartDoc>,
  input: PartitionReads['select']['input'] & { readonly dedup: string },
): Sliced<Selected> {
  const { order, take, dedup, heldMax = CAL_HELD_BYTES_MAX } = input;
  const firsts = new Map<string, Sorted>();
  let rest: Sorted[] = [];
  let total = 0;
  const opened = yield* openEach(search, places, input, (grain, ordinal) => {
    total += 1;
    const entry: Sorted = { ...keyed(order, grain), ordinal };
    const value = repeatKey(grain, dedup);
    if (value === undefined) {
      rest.push(entry);
      if (rest.length >= 2 * take + 64) rest = firstOf(rest, order, take);
      return undefined;
    }
    const known = firsts.get(value);
    if (known === undefined || compareKeys(order, entry, known) < 0) firsts.set(value, entry);
    return undefined;
  });
  if (opened.stopped !== undefined) return { grains: [], total, ...opened };
  const grains: GrainView[] = [];
  const room = new AnswerRoom(heldMax);
  for (const { ordinal } of firstOf([...firsts.values(), ...rest], order, take)) {
    const view = viewAt(search, ordinal);
    if (view !== undefined && !room.takesBytes(view.sizeBytes))
      return { grains: [], total, ...opened, stopped: 'bytes' };
    if (view !== undefined) grains.push(view);
    if (grains.length % STEP_GRAINS === 0) yield;
  }
  return { grains, total, ...opened };
}

export interface Sorted extends Keyed {
  readonly ordinal: Ordinal;
}

export function firstOf<K extends Keyed>(all: readonly K[], order: Order, count: number): K[] {
  return all.toSorted((a, b) => compareKeys(order, a, b)).slice(0, count);
}
