// Grains by structure, in any order: the first of an order without opening the others, where indexes know the order and no
// condition needs the grain itself; else by opening what the indexes leave.

import type { CallContext, GrainView } from '../../calls.ts';
import type { Doc, IndexPart, NumberField, Ordinal } from '../../index/part.ts';
import type { Sliced } from '../../index/section.ts';
import { timesOf } from '../../recall/filter.ts';
import { inOrder, type PartDoc } from '../../recall/ordered.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { fieldValue } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';
import type {
  Bounds,
  GroupView,
  PartitionReads,
  RivalReads,
  Selected,
  Selection,
  Spoken,
  Stopped,
} from '../run/asks.ts';
import { needsRivals, pairName, pairOf } from '../run/contested.ts';
import { passes } from '../run/field-test.ts';
import { calGrain } from '../run/grain-of.ts';
import { BY_HASH, compareCodePoints, compareKeys, type Keyed, type Order, orderKey } from '../run/order.ts';
import { repeatKey } from '../run/repeats.ts';
import { allPlaces, countAll, type Search, searchOf, viewAt } from './places.ts';
import { Rivals } from './rivals.ts';

/**
 * The first of an order. Which grains are opened is settled before the first yield, by the indexes as they are then; what is
 * removed on the way is left out.
 */
export function* selectGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['select']['input'],
): Sliced<Selected> {
  const search = searchOf(store, memory, context, input.filter);
  const { order, take, tests, dedup } = input;
  if (dedup !== undefined) return yield* distinct(search, allPlaces(search), { ...input, dedup });
  const first = tests.length > 0 ? undefined : firstPlaces(search, order, take);
  if (first === undefined) return yield* chosen(search, allPlaces(search), input);
  const total = countAll(search);
  // In their order: nothing is left to choose.
  const opened = yield* chosen(search, first, { ...input, order: undefined });
  return opened.stopped === undefined ? { ...opened, total } : opened;
}

export function* countGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['count']['input'],
): Sliced<PartitionReads['count']['output']> {
  const search = searchOf(store, memory, context, input.filter);
  if (input.tests.length === 0) return { total: countAll(search), scanned: 0 };
  let total = 0;
  const opened = yield* openEach(search, allPlaces(search), input, () => {
    total += 1;
  });
  return { total, ...opened };
}

/** The groups of a field's values; of each as many grains as are shown, the first by address. */
export function* groupGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['group']['input'],
): Sliced<PartitionReads['group']['output']> {
  const search = searchOf(store, memory, context, input.filter);
  const { field, shown } = input;
  const groups = new Map<string, { count: number; first: Held[] }>();
  let total = 0;
  const opened = yield* openEach(search, allPlaces(search), input, (grain, ordinal) => {
    total += 1;
    const value = fieldValue(grain, field);
    if (value === undefined) return;
    const key = String(value);
    const held: Held = { hash: grain.hash, key: undefined, ordinal };
    const group = groups.get(key);
    if (group === undefined) {
      groups.set(key, { count: 1, first: [held] });
      return;
    }
    group.count += 1;
    group.first.push(held);
    if (group.first.length >= 2 * shown) group.first = firstOf(group.first, BY_HASH, shown);
  });
  if (opened.stopped !== undefined) return { groups: [], total, ...opened };
  let room = input.shownMax;
  const sorted = [...groups].sort(([a], [b]) => compareCodePoints(a, b));
  const answer: GroupView[] = [];
  for (const [key, { count, first }] of sorted) {
    const held = firstOf(first, BY_HASH, Math.min(shown, room));
    room -= held.length;
    answer.push({ key, count, grains: held.flatMap(({ ordinal }) => viewAt(search, ordinal) ?? []) });
    yield;
  }
  return { groups: answer, total, ...opened };
}

/** What the beliefs that are let through speak of, each pair once. */
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
  });
  return { pairs: opened.stopped === undefined ? [...pairs.values()] : [], ...opened };
}

/** How many grains the index lists for each condition, the caller's own alone where it is bound. */
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

/** The first places of an order that indexes know; undefined: they do not. */
function firstPlaces(search: Search, order: Order, take: number): readonly PartDoc[] | undefined {
  const { store, parts, filters } = search;
  switch (order.by) {
    case 'hash':
      return firstByKey(search, take, (part) => {
        const heads = part.addressHeads;
        return (doc) => heads[doc]!;
      });
    case 'time': {
      const isByCreation = parts.every((part) => part.numbers('timestampMs') === undefined);
      if (isByCreation)
        return inOrder(store, parts, filters, { limit: take, order: order.descending ? 'desc' : 'asc' });
      const sign = order.descending ? -1 : 1;
      return firstByKey(search, take, (part) => {
        const time = timesOf(part);
        return (doc) => sign * time(doc);
      });
    }
    case 'field':
      if (order.field !== 'confidence' && order.field !== 'importance') return undefined;
      return firstByKey(search, take, numberKey(order.field, order.descending));
  }
}

function numberKey(field: NumberField & ('confidence' | 'importance'), descending: boolean) {
  // A grain without confidence shows 1; one without importance stands last.
  const absent = field === 'confidence' ? 1 : undefined;
  const sign = descending ? -1 : 1;
  return (part: IndexPart): ((doc: Doc) => number) => {
    const values = part.numbers(field);
    return (doc) => {
      const value = values === undefined ? Number.NaN : values[doc]!;
      if (!Number.isNaN(value)) return sign * value;
      return absent === undefined ? Number.POSITIVE_INFINITY : sign * absent;
    };
  };
}

interface Place extends PartDoc {
  readonly key: number;
}

/** The `take` places with the smallest keys, ties by address. */
function firstByKey(
  search: Search,
  take: number,
  keysOf: (part: IndexPart) => (doc: Doc) => number,
): readonly PartDoc[] {
  const { store, parts, filters } = search;
  if (take === 0) return [];
  const room = 2 * take + 64;
  let places: Place[] = [];
  let worst = Number.POSITIVE_INFINITY;
  const prune = (): void => {
    places.sort((a, b) => a.key - b.key);
    if (places.length <= take) return;
    worst = places[take - 1]!.key;
    // All that are as good as the last: addresses tell them apart.
    let end = take;
    while (end < places.length && places[end]!.key === worst) end += 1;
    places = places.slice(0, end);
  };
  for (let part = 0; part < parts.length; part++) {
    const { docs, test } = filters[part]!;
    const keyOf = keysOf(parts[part]!);
    const count = docs?.length ?? parts[part]!.docCount;
    let limit = Math.max(room, 2 * places.length);
    for (let at = 0; at < count; at++) {
      const doc = docs === undefined ? at : docs[at]!;
      const key = keyOf(doc);
      if (key > worst || !test(doc)) continue;
      places.push({ part, doc, key });
      if (places.length < limit) continue;
      prune();
      limit = Math.max(room, 2 * places.length);
    }
  }
  prune();
  return tiesByAddress(store, parts, places).slice(0, take);
}

function tiesByAddress(store: Store, parts: readonly IndexPart[], places: readonly Place[]): readonly Place[] {
  const isTie = places.some((place, i) => i > 0 && places[i - 1]!.key === place.key);
  if (!isTie) return places;
  const addresses = new Map<Place, string>();
  for (const place of places) addresses.set(place, store.addressAt(parts[place.part]!.ordinals[place.doc]!) ?? '');
  return places.toSorted((a, b) => a.key - b.key || (addresses.get(a)! < addresses.get(b)! ? -1 : 1));
}

/** Grains that are opened between two yields, and between two looks at the clock. */
const STEP_GRAINS = 16;

type Found = (grain: CalGrain, ordinal: Ordinal, view: GrainView) => void;

/** Opens every place and tells of what passes. More places than may be opened: none is. */
function* openEach(
  search: Search,
  places: Iterable<PartDoc>,
  { tests, contested, scanMax, untilMs }: Pick<Selection, 'tests' | 'contested'> & Bounds,
  found: Found,
): Sliced<Stopped> {
  const ordinals: Ordinal[] = [];
  for (const { part, doc } of places) {
    if (ordinals.length >= scanMax) return { scanned: 0, stopped: 'scan' };
    ordinals.push(search.parts[part]!.ordinals[doc]!);
  }
  const rivals = needsRivals(tests) ? new Rivals(search, scanMax - ordinals.length, contested) : undefined;
  for (const [i, ordinal] of ordinals.entries()) {
    if (i % STEP_GRAINS === 0) {
      if (i > 0) yield;
      if (search.store.clock.nowMs() > untilMs) return { scanned: i, stopped: 'time' };
    }
    const view = viewAt(search, ordinal);
    if (view === undefined) continue;
    let grain = calGrain(view, 1);
    if (rivals !== undefined) {
      const isContested = yield* rivals.isContested(grain);
      if (isContested === undefined) return { scanned: i, stopped: 'scan' };
      // A test asks whether there is somebody, not who.
      if (isContested) grain = { ...grain, contestedBy: [grain.hash] };
    }
    if (tests.every((test) => passes(grain, test))) found(grain, ordinal, view);
  }
  return { scanned: ordinals.length + (rivals?.opened ?? 0) };
}

/** What passes of the places, and of that the first of the order; without an order all of it, as it comes. */
function* chosen(
  search: Search,
  places: Iterable<PartDoc>,
  input: Pick<Selection, 'tests' | 'contested'> & Bounds & { readonly order: Order | undefined; readonly take: number },
): Sliced<Selected> {
  const { order, take } = input;
  let kept: (Keyed & { readonly view: GrainView })[] = [];
  let total = 0;
  const opened = yield* openEach(search, places, input, (grain, _ordinal, view) => {
    total += 1;
    if (take === 0) return;
    kept.push({ view, hash: view.hash, key: order === undefined ? undefined : orderKey(order, grain) });
    if (order !== undefined && kept.length >= 2 * take + 64) kept = firstOf(kept, order, take);
  });
  if (opened.stopped !== undefined) return { grains: [], total, ...opened };
  const grains = order === undefined ? kept : firstOf(kept, order, take);
  return { grains: grains.map(({ view }) => view), total, ...opened };
}

/** As `chosen`, of each value of a field the first alone. Holds places, not grains: there may be as many values as grains. */
function* distinct(
  search: Search,
  places: Iterable<PartDoc>,
  input: PartitionReads['select']['input'] & { readonly dedup: string },
): Sliced<Selected> {
  const { order, take, dedup } = input;
  const firsts = new Map<string, Held>();
  let rest: Held[] = [];
  let total = 0;
  const opened = yield* openEach(search, places, input, (grain, ordinal) => {
    total += 1;
    const held: Held = { hash: grain.hash, key: orderKey(order, grain), ordinal };
    const value = repeatKey(grain, dedup);
    if (value === undefined) {
      rest.push(held);
      if (rest.length >= 2 * take + 64) rest = firstOf(rest, order, take);
      return;
    }
    const known = firsts.get(value);
    if (known === undefined || compareKeys(order, held, known) < 0) firsts.set(value, held);
  });
  if (opened.stopped !== undefined) return { grains: [], total, ...opened };
  const grains: GrainView[] = [];
  for (const { ordinal } of firstOf([...firsts.values(), ...rest], order, take)) {
    const view = viewAt(search, ordinal);
    if (view !== undefined) grains.push(view);
    if (grains.length % STEP_GRAINS === 0) yield;
  }
  return { grains, total, ...opened };
}

interface Held extends Keyed {
  readonly ordinal: Ordinal;
}

function firstOf<K extends Keyed>(all: readonly K[], order: Order, count: number): K[] {
  return all.toSorted((a, b) => compareKeys(order, a, b)).slice(0, count);
}

/** All of the steps at once. */
export function drained<T>(steps: Sliced<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
