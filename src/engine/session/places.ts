// Finds the grains of a session by index. Grains that the caller may not see are filtered out, as in every search.
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import type { SessionQuery } from '../calls/session.ts';
import { DocSet, intersect } from '../index/docs/docset.ts';
import type { Doc, Facet, IndexPart } from '../index/parts/part.ts';
import { filterPart, type PartFilter } from '../recall/filter/filter.ts';
import { viewWithSources } from '../recall/filter/further-sources.ts';
import type { PartDoc } from '../recall/legs/ordered.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';

/** The current grains of a session that the caller may see, as places in the index. */
export interface SessionPlaces {
  readonly store: Store;
  readonly memory: Memory;
  readonly context: CallContext;
  readonly parts: readonly IndexPart[];
  /** For each part its docs of the session. */
  readonly filters: readonly PartFilter[];
}

export function sessionPlaces(
  store: Store,
  memory: Memory,
  context: CallContext,
  sessionId: string,
  only: SessionQuery['only'] = {},
): SessionPlaces {
  const parts = store.parts(memory.number);
  const filters = parts.map((part) => filterPart(store, part, { ...only, sessionId }, context));
  return { store, memory, context, parts, filters };
}

const NOTHING = new Uint32Array(0);

/** The session's docs with one of the values, for each part. Costs the smaller of the two lists. */
export function withValue(places: SessionPlaces, facet: Facet, value: string): readonly PartFilter[] {
  return places.filters.map(({ docs = NOTHING, test }, at) => {
    // Most parts hold nothing of the session.
    const listed = docs.length === 0 ? undefined : places.parts[at]!.facet(facet, value);
    return { docs: listed === undefined ? NOTHING : intersect([docs, listed]), test };
  });
}

/** The docs of the filters that do not have the value. */
export function without(
  { parts }: SessionPlaces,
  filters: readonly PartFilter[],
  facet: Facet,
  value: string,
): readonly PartFilter[] {
  return filters.map(({ docs, test }, at) => {
    const listed = docs?.length === 0 ? undefined : parts[at]!.facet(facet, value);
    if (listed === undefined) return { docs, test };
    const set = DocSet.of(parts[at]!.docCount, listed);
    return { docs, test: (doc: Doc) => !set.has(doc) && test(doc) };
  });
}

/** The session's docs that pass a further test, for each part. */
export function passing(
  { parts, filters }: SessionPlaces,
  testOf: (part: IndexPart) => ((doc: Doc) => boolean) | undefined,
): readonly PartFilter[] {
  return filters.map(({ docs = NOTHING, test }, at) => {
    const further = docs.length === 0 ? undefined : testOf(parts[at]!);
    return further === undefined ? { docs: NOTHING, test } : { docs, test: (doc: Doc) => further(doc) && test(doc) };
  });
}

/** Every place of the filters, in the order of the log. */
export function* placesOf(filters: readonly PartFilter[]): IterableIterator<PartDoc> {
  for (const [part, { docs = NOTHING, test }] of filters.entries())
    for (const doc of docs) if (test(doc)) yield { part, doc };
}

export function countPlaces(filters: readonly PartFilter[]): number {
  let count = 0;
  for (const { docs = NOTHING, test } of filters) for (const doc of docs) if (test(doc)) count += 1;
  return count;
}

/** Undefined for a grain that cannot be read. */
export function viewPlace({ store, memory, context, parts }: SessionPlaces, place: PartDoc): GrainView | undefined {
  const stored = store.readShown(memory, parts[place.part]!.ordinals[place.doc]!);
  return stored === undefined ? undefined : viewWithSources(store, memory, context, stored);
}
