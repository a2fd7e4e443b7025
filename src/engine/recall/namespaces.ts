import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainFilter } from '../calls/grain.ts';
import { DocSet } from '../index/docs/docset.ts';
import type { Doc } from '../index/parts/part.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { filterPart } from './filter/filter.ts';
import { isInScope } from './filter/scope.ts';

/** Namespaces of the grains that pass the filter, old versions included. */
export function namespaces(
  store: Store,
  memory: Memory,
  context: CallContext,
  filter: GrainFilter,
): MemoryCalls['namespaces']['output'] {
  const { scope, namespace: _, ...rest } = filter;
  const found = new Set<string>();
  for (const part of store.parts(memory.number)) {
    // Once for the part: there may be as many namespaces as grains.
    const { docs, test } = filterPart(store, part, { ...rest, includeSuperseded: true }, context);
    if (docs?.length === 0) continue;
    const listed = docs === undefined ? undefined : DocSet.of(part.docCount, docs);
    const passes = (doc: Doc): boolean => listed?.has(doc) !== false && test(doc);
    for (const [namespace] of part.facetValues('namespace')) {
      if (found.has(namespace) || (scope !== undefined && !isInScope(scope, namespace))) continue;
      if (part.facet('namespace', namespace)?.some(passes) === true) found.add(namespace);
    }
  }
  return { namespaces: [...found] };
}
