import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import { subjectOf } from '../../govern/access/caller.ts';
import type { Ordinal } from '../../index/parts/part.ts';
import { viewWithSources } from '../../recall/filter/further-sources.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { bindingOf, isViewed, isWithin } from '../../store/within.ts';

type Input = MemoryCalls['personPage']['input'];
type Output = MemoryCalls['personPage']['output'];

/**
 * Grains of one person in the order of writing, all versions, after `after`, until they reach `limitBytes`. The person
 * has a right to them, so neither a restriction, a withdrawn consent nor an expired time to live hides any. Access
 * tuples narrow every other caller.
 */
export function* personPage(
  store: Store,
  memory: Memory,
  context: CallContext,
  { userId, after, limitBytes }: Input,
): Generator<void, Output, void> {
  const grains: Output['grains'][number][] = [];
  let bytes = 0;
  let last = after;
  const isSelf = subjectOf(context) === `user:${userId}`;
  const binding = bindingOf(memory, context);
  for (const ordinal of ordinalsOf(store, memory, userId, after)) {
    if (bytes >= limitBytes) return { grains, last, done: false };
    last = ordinal;
    const stored = store.readGrain(memory, ordinal);
    if (stored === undefined || !isWithin(context, stored.grain)) continue;
    if (!isSelf && !isViewed(binding, stored.grain)) continue;
    grains.push({ view: viewWithSources(store, memory, undefined, stored), blob: stored.blob });
    bytes += stored.blob.length;
    yield;
  }
  return { grains, last, done: true };
}

/** Uses only the list of the user's grains, because filters would apply what hides them. */
function ordinalsOf(store: Store, memory: Memory, userId: string, after: Ordinal): Ordinal[] {
  const ordinals: Ordinal[] = [];
  for (const part of store.parts(memory.number))
    for (const doc of part.facet('user', userId) ?? []) {
      const ordinal = part.ordinals[doc]!;
      if (ordinal > after && !store.index.removed.get(ordinal)) ordinals.push(ordinal);
    }
  return ordinals.sort((a, b) => a - b);
}
