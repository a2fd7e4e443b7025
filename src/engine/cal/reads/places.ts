// Where the grains lie that a filter lets through: found by the indexes, before any is opened.
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

/** What a filter lets through of a memory, part by part. */
export interface Search {
  readonly store: Store;
  readonly memory: Memory;
  readonly context: CallContext;
  readonly parts: readonly IndexPart[];
  readonly filters: readonly PartFilter[];
  readonly filter: GrainFilter;
  /** True where `filters` ask for more than `filter` says. */
  readonly isTested?: true;
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

/** The filter as the memory's tree has its scope; a path that the tree does not have holds nothing. */
export function inScope({ settings }: Memory, filter: GrainFilter): GrainFilter {
  try {
    return inTree(settings, filter);
  } catch (error) {
    if (!isUnknownScope(error)) throw error;
    return { ...filter, anyOf: [...(filter.anyOf ?? []), { facet: 'namespace', values: [] }] };
  }
}

/** Undefined for one that is gone. */
export function viewAt({ store, memory }: Search, ordinal: Ordinal): GrainView | undefined {
  const stored = store.readGrain(memory, ordinal);
  return stored === undefined ? undefined : viewGrain(store, memory, stored);
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

/** True when a filter asks for nothing that has to be looked up doc by doc. */
function isFacetsAlone({ filter, memory, isTested }: Search, part: IndexPart): boolean {
  if (isTested === true || !memory.governed.hidesNothing) return false;
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
    filter.except,
    filter.numbers,
  ];
  return (
    excludeTags.length === 0 && bounds.every((one) => one === undefined) && part.numbers('expiresAtMs') === undefined
  );
}

/** How many places there are; no grain is opened. */
export function countAll(search: Search): number {
  const { store, parts, filters, filter } = search;
  let total = 0;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    const { docs, test } = filters[i]!;
    const count = docs?.length ?? part.docCount;
    if (isFacetsAlone(search, part)) {
      // What lists name, less what is gone: a hundred thousand tests of two bits are a millisecond.
      const gone = filter.includeSuperseded === true ? removedDocs(store, part) : outdatedDocs(store, part);
      total += count - (docs === undefined ? gone.length : gone.length === 0 ? 0 : intersect([docs, gone]).length);
      continue;
    }
    for (let at = 0; at < count; at++) if (test(docs === undefined ? at : docs[at]!)) total += 1;
  }
  return total;
}
