// Finds the first places of an order that indexes know, without opening a grain.

import type { Order, SortKey } from '../../calls/cal.ts';
import { type Doc, fieldKey, type IndexPart, NOT_TEXT, VERIFICATIONS } from '../../index/parts/part.ts';
import { timesOf } from '../../recall/filter/filter.ts';
import { inOrder, type PartDoc } from '../../recall/legs/ordered.ts';
import { isListed } from '../../store/indexed-fields.ts';
import type { Store } from '../../store/store.ts';
import { compareCodePoints } from '../run/order.ts';
import type { Search } from './places.ts';

/** Sort keys of docs, ascending. */
type Keys = (part: IndexPart) => (doc: Doc) => number;

/** The first places of the order; undefined if no index knows it. */
export function firstPlaces(search: Search, order: Order, take: number): readonly PartDoc[] | undefined {
  const { store, parts, filters } = search;
  if (order.by === 'hash') return firstByKeys(search, take, []);
  const isByCreation =
    order.by === 'created' || (order.by === 'time' && parts.every((part) => part.numbers('timestampMs') === undefined));
  if (isByCreation && order.next === undefined)
    return inOrder(store, parts, filters, { limit: take, order: order.descending ? 'desc' : 'asc' });
  const keys = [order, ...(order.next === undefined ? [] : [order.next])].map((one) => keysOf(search, one));
  return keys.every((one) => one !== undefined) ? firstByKeys(search, take, keys) : undefined;
}

function keysOf(search: Search, order: SortKey): Keys | undefined {
  const sign = order.descending ? -1 : 1;
  if (order.by === 'created') return (part) => (doc) => sign * part.createdAtMs[doc]!;
  if (order.by === 'time')
    return (part) => {
      const time = timesOf(part);
      return (doc) => sign * time(doc);
    };
  const { field } = order;
  if (field === 'confidence' || field === 'importance') return numberKeys(field, sign);
  if (field === 'verification_status') return verificationKeys(search, sign);
  return isListed(field) ? wordKeys(search, field, sign) : undefined;
}

function numberKeys(field: 'confidence' | 'importance', sign: 1 | -1): Keys {
  // A missing confidence counts as 1; grains without importance come last.
  const absent = field === 'confidence' ? sign : Number.POSITIVE_INFINITY;
  return (part) => {
    const values = part.numbers(field);
    return (doc) => {
      const value = values === undefined ? Number.NaN : values[doc]!;
      return Number.isNaN(value) ? absent : sign * value;
    };
  };
}

function verificationKeys({ store }: Search, sign: 1 | -1): Keys {
  const bitmaps = VERIFICATIONS.toSorted().map((word) => store.index.verification[word]);
  return ({ ordinals }) =>
    (doc) => {
      const rank = bitmaps.findIndex((bitmap) => bitmap.get(ordinals[doc]!));
      return rank === -1 ? Number.POSITIVE_INFINITY : sign * rank;
    };
}

/** Keys by the rank of a grain's word among all words of the field; undefined if some grain's value is no text. */
function wordKeys({ parts }: Search, field: string, sign: 1 | -1): Keys | undefined {
  const words = new Set(parts.flatMap((part) => part.fieldValues(field)));
  if (words.has(NOT_TEXT)) return undefined;
  const ranks = new Map([...words].sort(compareCodePoints).map((word, rank) => [word, rank]));
  return (part) => {
    const keys = new Float64Array(part.docCount).fill(Number.POSITIVE_INFINITY);
    for (const word of part.fieldValues(field))
      for (const doc of part.facet('field', fieldKey(field, word)) ?? []) keys[doc] = sign * ranks.get(word)!;
    return (doc) => keys[doc]!;
  };
}

interface Place extends PartDoc {
  readonly first: number;
  readonly second: number;
  /** The first 32 bits of its address, which decides between equal keys. */
  readonly head: number;
}

/** Compares places by up to two keys and the head of the address. */
function comparePlaces(a: Place, b: Place): number {
  if (a.first !== b.first) return a.first < b.first ? -1 : 1;
  if (a.second !== b.second) return a.second < b.second ? -1 : 1;
  return a.head - b.head;
}

/** The `take` places with the smallest keys, ties by address. */
function firstByKeys(search: Search, take: number, [firstOf, secondOf]: readonly Keys[]): readonly PartDoc[] {
  const { store, parts, filters } = search;
  if (take === 0) return [];
  const kept = new FirstPlaces(take);
  for (let part = 0; part < parts.length; part++) {
    const { docs, test } = filters[part]!;
    const { addressHeads } = parts[part]!;
    const first = firstOf?.(parts[part]!);
    const second = secondOf?.(parts[part]!);
    const count = docs?.length ?? parts[part]!.docCount;
    for (let at = 0; at < count; at++) {
      const doc = docs === undefined ? at : docs[at]!;
      const key = first === undefined ? 0 : first(doc);
      if (key > kept.worst.first) continue;
      const head = addressHeads[doc]!;
      const then = second === undefined ? 0 : second(doc);
      if (kept.isBehind(key, then, head) || !test(doc)) continue;
      kept.add({ part, doc, first: key, second: then, head });
    }
  }
  return kept.inOrder(store, parts);
}

/**
 * Up to this number, places are kept sorted. Above it they are sorted in batches, because insertion would cost more.
 */
const KEPT_SORTED_MAX = 64;

/** Collects places and keeps the first ones by keys and address. */
export class FirstPlaces {
  readonly #take: number;
  #places: Place[] = [];
  #limit: number;
  /** Places after this one are no longer needed. */
  worst: Pick<Place, 'first' | 'second' | 'head'> = {
    first: Number.POSITIVE_INFINITY,
    second: Number.POSITIVE_INFINITY,
    head: Number.POSITIVE_INFINITY,
  };

  constructor(take: number) {
    this.#take = take;
    this.#limit = 2 * take + 64;
  }

  isBehind(first: number, second: number, head: number): boolean {
    const { worst } = this;
    if (first !== worst.first) return first > worst.first;
    return second === worst.second ? head > worst.head : second > worst.second;
  }

  add(place: Place): void {
    if (this.#take <= KEPT_SORTED_MAX) {
      this.#insert(place);
      return;
    }
    this.#places.push(place);
    if (this.#places.length < this.#limit) return;
    this.#prune();
    this.#limit = Math.max(2 * this.#take + 64, 2 * this.#places.length);
  }

  #insert(place: Place): void {
    const places = this.#places;
    let at = places.length;
    for (; at > 0 && comparePlaces(places[at - 1]!, place) > 0; at--) places[at] = places[at - 1]!;
    places[at] = place;
    const last = places[this.#take - 1];
    if (last === undefined) return;
    this.worst = last;
    // Keep places that tie with the last one: whole addresses break the tie later.
    while (comparePlaces(places[places.length - 1]!, last) > 0) places.pop();
  }

  #prune(): void {
    const places = this.#places.sort(comparePlaces);
    const last = places[this.#take - 1];
    if (last === undefined) return;
    this.worst = last;
    // Keep all places that tie with the last one: whole addresses break the tie later.
    let end = this.#take;
    while (end < places.length && comparePlaces(places[end]!, last) === 0) end += 1;
    this.#places = places.slice(0, end);
  }

  inOrder(store: Store, parts: readonly IndexPart[]): readonly PartDoc[] {
    this.#prune();
    const places = this.#places;
    if (!places.some((place, i) => i > 0 && comparePlaces(places[i - 1]!, place) === 0)) return places;
    const address = ({ part, doc }: Place): string => store.addressAt(parts[part]!.ordinals[doc]!) ?? '';
    const addresses = new Map(places.map((place) => [place, address(place)]));
    return places
      .toSorted((a, b) => comparePlaces(a, b) || (addresses.get(a)! < addresses.get(b)! ? -1 : 1))
      .slice(0, this.#take);
  }
}
