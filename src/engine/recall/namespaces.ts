import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainFilter } from '../calls/grain.ts';
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
  const { scope, ...rest } = filter;
  const found = new Set<string>();
  for (const part of store.parts(memory.number)) {
    for (const [namespace] of part.facetValues('namespace')) {
      if (found.has(namespace) || (scope !== undefined && !isInScope(scope, namespace))) continue;
      const { docs, test } = filterPart(store, part, { ...rest, namespace, includeSuperseded: true }, context);
      if (docs?.some(test) === true) found.add(namespace);
    }
  }
  return { namespaces: [...found] };
}
