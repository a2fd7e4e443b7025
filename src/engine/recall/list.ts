// A page of grains by structure, in order of creation, ties by address.

import { defined } from '../base/defined.ts';
import type { MemoryCalls } from '../calls/calls.ts';
import type { CallContext } from '../calls/context.ts';
import type { GrainView } from '../calls/grain.ts';
import { AnswerRoom, partOfGrain } from '../grain/api/answer-room.ts';
import type { Memory } from '../store/memory.ts';
import type { Store } from '../store/store.ts';
import { filterPart, type PartFilter, placeOf } from './filter/filter.ts';
import { viewWithSources } from './filter/further-sources.ts';
import { inOrder } from './legs/ordered.ts';

export function list(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: MemoryCalls['list']['input'],
): MemoryCalls['list']['output'] {
  const parts = store.parts(memory.number);
  const filters = parts.map((part) => filterPart(store, part, input.filter, context));
  const offset = input.offset ?? 0;
  // Read one more than requested to know whether there is another page.
  const places = inOrder(store, parts, filters, {
    limit: offset + input.limit + 1,
    order: input.order,
    after: input.after,
  }).slice(offset);
  const grains: GrainView[] = [];
  const room = new AnswerRoom(input.bytesMax);
  let end = 0;
  for (; end < Math.min(input.limit, places.length); end += 1) {
    const { part, doc } = places[end]!;
    const stored = store.readShown(memory, parts[part]!.ordinals[doc]!);
    if (stored === undefined) continue;
    const grain = viewWithSources(store, memory, context, stored);
    if (!room.takes(partOfGrain(grain))) break;
    grains.push(grain);
  }
  const last = places[end - 1];
  const more = places.length > end;
  return defined({
    grains,
    total: parts.reduce((sum, part, i) => sum + countPassing(part.docCount, filters[i]!), 0),
    more,
    // Continue after the last place even if its grain cannot be shown: a damaged grain must not end the list.
    next: more && last !== undefined ? placeOf(store, parts[last.part]!, last.doc) : undefined,
  });
}

function countPassing(docCount: number, { docs, test }: PartFilter): number {
  let count = 0;
  if (docs === undefined) for (let doc = 0; doc < docCount; doc++) count += test(doc) ? 1 : 0;
  else for (const doc of docs) count += test(doc) ? 1 : 0;
  return count;
}
