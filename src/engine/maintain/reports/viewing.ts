import type { MemoryCalls } from '../../calls/calls.ts';
import { subjectOf } from '../../govern/access/caller.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';

/** Whether the tuples alone let each principal view the memory or a namespace with grains. Yields after each check. */
export function* viewing(
  store: Store,
  memory: Memory,
  { actors }: MemoryCalls['viewing']['input'],
): Generator<void, MemoryCalls['viewing']['output'], void> {
  const { access } = memory.governed;
  const namespaces = new Set<string>();
  for (const part of store.parts(memory.number))
    for (const [name] of part.facetValues('namespace')) namespaces.add(name);
  const views: boolean[] = [];
  for (const actor of actors) {
    const subject = subjectOf({ actor });
    const view = subject === undefined ? undefined : access.view(subject, 'viewer');
    let isViewing = view?.hasAll === true;
    for (const namespace of view === undefined || isViewing ? [] : namespaces) {
      isViewing = view?.has(namespace) === true;
      yield;
      if (isViewing) break;
    }
    views.push(isViewing);
  }
  return { views };
}
