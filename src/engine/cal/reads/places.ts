// Finds the places of the grains that pass a filter, by index, before any is opened.
import type { CallContext } from '../../calls/context.ts';
import type { GrainFilter, GrainView } from '../../calls/grain.ts';
import { isUnknownScope } from '../../govern/scope-tree.ts';
import { intersect } from '../../index/docs/docset.ts';
import type { IndexPart, Ordinal } from '../../index/parts/part.ts';
import { filterPart, type PartFilter } from '../../recall/filter/filter.ts';
import { outdatedDocs, removedDocs } from '../../recall/filter/removed.ts';
import { inTree } from '../../recall/filter/scope.ts';
import type { PartDoc } from '../../recall/legs/ordered.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { viewGrain } from '../../store/view.ts';

/** The docs that pass a filter, for each part of a memory. */
export interface Search {
  readonly store: Store;
  readonly memory: Memory;
  readonly context: CallContext;
  readonly parts: readonly IndexPart[];
  readonly filters: readonly PartFilter[];
  readonly filter: GrainFilter;
  /** True if `filters` have more conditions than `filter`. */
  readonly isTested?: true | undefined;
}

export function searchOf(store: Store, memory: Memory, context: CallContext, asked: GrainFilter): Search {
  const filter = inScope(memory, asked);
  const parts = store.parts(memory.number);
  return {
    store,
    memory,
    context,
    parts,
    filter,
    filters: parts.map((part) => filterPart(store, part, filter, context)),
  };
}

/** Resolves the filter's scope by the memory's scope tree. An unknown path matches nothing. */
export function inScope({ settings }: Memory, filter: GrainFilter): GrainFilter {
  try {
    return inTree(settings, filter);
  } catch (error) {
    if (!isUnknownScope(error)) throw error;
    return { ...filter, anyOf: [...(filter.anyOf ?? []), { facet: 'namespace', values: [] }] };
  }
}

/** Undefined for a grain that is gone. */
export function viewAt({ store, memory, context }: Search, ordinal: Ordinal): GrainView | undefined {
  const stored = store.readShown(memory, ordinal);
  return stored === undefined ? undefined : viewGrain(store, memory, stored, context);
}

/** In the order of their creation. */
export function* allPlaces({ parts, filters }: Search): IterableIterator<PartDoc> {
  for (let part = 0; part < parts.length; part++) {
    const { docs, test } = filters[part]!;
    const count = docs?.length ?? parts[part]!.docCount;
    for (let i = 0; i < count; i++) {
      const doc = docs === undefined ? i : docs[i]!;
      if (test(doc)) yield { part, doc };
    }
  }
}

/** True if no condition of the filter needs a lookup for each doc. */
function isFacetsAlone({ filter, memory, context, isTested }: Search, part: IndexPart): boolean {
  if (isTested === true || !memory.governed.hidesNothingFrom(context)) return false;
  const { excludeTags = [], createdFromMs, createdToMs, timeFromMs, timeToMs, validFromMs, validToMs } = filter;
  const { confidenceMin, importanceMin } = filter;
  const bounds = [
    createdFromMs,
    createdToMs,
    timeFromMs,
    timeToMs,
    validFromMs,
    validToMs,
    confidenceMin,
    importanceMin,
    filter.eitherTime,
    filter.verification,
    filter.either,
    filter.forUser,
    filter.except,
    filter.numbers,
  ];
  return (
    excludeTags.length === 0 && bounds.every((one) => one === undefined) && part.numbers('expiresAtMs') === undefined
  );
}

/** Counts the places without opening a grain. */
export function countAll(search: Search): number {
  const { store, parts, filters, filter } = search;
  let total = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const { docs, test } = filters[i]!;
    const count = docs?.length ?? part.docCount;
    if (isFacetsAlone(search, part)) {
      // Count the listed docs without removed ones: a hundred thousand two-bit tests take a millisecond.
      const gone = filter.includeSuperseded === true ? removedDocs(store, part) : outdatedDocs(store, part);
      total += count - (docs === undefined ? gone.length : gone.length === 0 ? 0 : intersect([docs, gone]).length);
      continue;
    }
    for (let at = 0; at < count; at++) if (test(docs === undefined ? at : docs[at]!)) total += 1;
  }
  return total;
}
