// Grains by structure, in any order: the first of an order without opening the others, where indexes know the order and no
// condition needs the grain itself; else by opening what the indexes leave.

import type { CallContext, GrainFilter, GrainView } from '../../calls.ts';
import { intersect } from '../../index/docset.ts';
import type { Doc, IndexPart, NumberField } from '../../index/part.ts';
import { lowerBound } from '../../index/text/tail.ts';
import { filterPart, type PartFilter, timesOf } from '../../recall/filter.ts';
import { inOrder, type PartDoc } from '../../recall/ordered.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { viewGrain } from '../../store/view.ts';
import type { Bounds, PartitionReads, Selected, Selection } from '../run/asks.ts';
import { passes } from '../run/field-test.ts';
import { calGrain } from '../run/grain-of.ts';
import { compareKeys, type Keyed, type Order, orderKey } from '../run/order.ts';
import { goneDocs } from './gone.ts';

interface Search {
  readonly store: Store;
  readonly memory: Memory;
  readonly parts: readonly IndexPart[];
  readonly filters: readonly PartFilter[];
  readonly filter: GrainFilter;
}

export function selectGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['select']['input'],
): Selected {
  const search = searchOf(store, memory, context, input.filter);
  const places = input.hashes === undefined ? undefined : placesOf(search, input.hashes);
  if (input.tests.length > 0) return openAll(search, places ?? allPlaces(search), input);
  const total = places?.length ?? countAll(search);
  const first = places === undefined ? firstPlaces(search, input.order, input.take) : undefined;
  if (first === undefined) return openAll(search, places ?? allPlaces(search), input);
  const grains = first.flatMap((place) => viewAt(search, place) ?? []);
  return { grains, total, scanned: grains.length };
}

export function countGrains(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: PartitionReads['count']['input'],
): PartitionReads['count']['output'] {
  const search = searchOf(store, memory, context, input.filter);
  const places = input.hashes === undefined ? undefined : placesOf(search, input.hashes);
  if (input.tests.length === 0) return { total: places?.length ?? countAll(search), scanned: 0 };
  const { total, scanned, stopped } = openAll(search, places ?? allPlaces(search), {
    ...input,
    order: { by: 'hash' },
    take: 0,
  });
  return { total, scanned, ...(stopped === undefined ? {} : { stopped }) };
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

function searchOf(store: Store, memory: Memory, context: CallContext, filter: GrainFilter): Search {
  const parts = store.parts(memory.number);
  return { store, memory, parts, filter, filters: parts.map((part) => filterPart(store, part, filter, context)) };
}

function viewAt({ store, memory, parts }: Search, { part, doc }: PartDoc): GrainView | undefined {
  const stored = store.readGrain(memory, parts[part]!.ordinals[doc]!);
  return stored === undefined ? undefined : viewGrain(store, memory, stored);
}

/** Those of these addresses that the filters let through. */
function placesOf({ store, memory, parts, filters }: Search, hashes: readonly string[]): PartDoc[] {
  return hashes.flatMap((hash) => {
    const ordinal = store.findOrdinal(memory.number, hash);
    if (ordinal === undefined) return [];
    for (let part = 0; part < parts.length; part++) {
      const { ordinals, docCount } = parts[part]!;
      const doc = lowerBound(ordinals, ordinal, 0, docCount);
      if (doc >= docCount || ordinals[doc] !== ordinal) continue;
      const { docs, test } = filters[part]!;
      return test(doc) && (docs === undefined || holds(docs, doc)) ? [{ part, doc }] : [];
    }
    return [];
  });
}

function holds(docs: Uint32Array, doc: Doc): boolean {
  const at = lowerBound(docs, doc, 0, docs.length);
  return at < docs.length && docs[at] === doc;
}

function* allPlaces({ parts, filters }: Search): IterableIterator<PartDoc> {
  for (let part = 0; part < parts.length; part++) {
    const { docs, test } = filters[part]!;
    const count = docs?.length ?? parts[part]!.docCount;
    for (let i = 0; i < count; i++) {
      const doc = docs === undefined ? i : docs[i]!;
      if (test(doc)) yield { part, doc };
    }
  }
}

/** True when a filter asks for nothing that has to be looked up doc by doc. */
function isFacetsAlone({ filter }: Search, part: IndexPart): boolean {
  const { excludeTags = [], createdFromMs, createdToMs, timeFromMs, timeToMs, validFromMs, validToMs } = filter;
  const { confidenceMin, importanceMin } = filter;
  const numbers = [
    createdFromMs,
    createdToMs,
    timeFromMs,
    timeToMs,
    validFromMs,
    validToMs,
    confidenceMin,
    importanceMin,
  ];
  return (
    excludeTags.length === 0 && numbers.every((one) => one === undefined) && part.numbers('expiresAtMs') === undefined
  );
}

function countAll(search: Search): number {
  const { store, parts, filters, filter } = search;
  let total = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const { docs, test } = filters[i]!;
    const count = docs?.length ?? part.docCount;
    if (isFacetsAlone(search, part)) {
      // What lists name, less what is gone: a hundred thousand tests of two bits are a millisecond.
      const gone = goneDocs(store, part, filter.includeSuperseded === true);
      total += count - (docs === undefined ? gone.length : gone.length === 0 ? 0 : intersect([docs, gone]).length);
      continue;
    }
    for (let at = 0; at < count; at++) if (test(docs === undefined ? at : docs[at]!)) total += 1;
  }
  return total;
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

/** Grains between two looks at the clock. */
const CLOCK_GRAINS = 64;

/** Opens every place, keeps what passes, and of that the first of the order. */
function openAll(
  search: Search,
  places: Iterable<PartDoc>,
  input: Selection & Bounds & { readonly order: Order; readonly take: number },
): Selected {
  const { tests, order, take, scanMax, untilMs } = input;
  const clock = search.store.clock;
  let kept: (Keyed & { readonly grain: GrainView })[] = [];
  let total = 0;
  let scanned = 0;
  const prune = (): void => {
    kept.sort((a, b) => compareKeys(order, a, b));
    kept = kept.slice(0, take);
  };
  for (const place of places) {
    if (scanned >= scanMax) return { grains: [], total, scanned, stopped: 'scan' };
    if (scanned % CLOCK_GRAINS === 0 && clock.nowMs() > untilMs) return { grains: [], total, scanned, stopped: 'time' };
    scanned += 1;
    const view = viewAt(search, place);
    if (view === undefined) continue;
    const grain = calGrain(view, 1);
    if (!tests.every((test) => passes(grain, test))) continue;
    total += 1;
    if (take === 0) continue;
    kept.push({ grain: view, hash: view.hash, key: orderKey(order, grain) });
    if (kept.length >= 2 * take + 64) prune();
  }
  prune();
  return { grains: kept.map(({ grain }) => grain), total, scanned };
}
