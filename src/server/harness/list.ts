// A page of the harnesses of a memory.
import type { GrainPlace } from '../../engine/calls/grain.ts';
import { slugOfNamespace } from '../../engine/govern/harness-namespace.ts';
import { AnswerRoom } from '../../engine/grain/api/answer-room.ts';
import type { GrainView } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { definitionOf, type HarnessDefinition } from './definition.ts';
import { boundedList, callOn, defNamespaces, HARNESS_TAG } from './store.ts';

/** Harnesses whose tools are held at the same time. */
const GROUP = 16;

/**
 * A page of harnesses as `view` shows them, in the order of their goal grains, so those first whose settings were changed
 * last. It ends early when the answer is full. `total` is null where access tuples hide some harnesses.
 */
export async function listHarnesses<T>(
  context: Context,
  page: { limit: number; order: 'asc' | 'desc'; offset: number; after: GrainPlace | undefined },
  view: (harness: HarnessDefinition) => T,
): Promise<{ readonly harnesses: T[]; readonly total: number | null; readonly next: GrainPlace | undefined }> {
  const { memory } = context;
  const namespaces = await defNamespaces(context, memory);
  if (namespaces.length === 0) return { harnesses: [], total: 0, next: undefined };
  const all = namespaces.flatMap((namespace) => slugOfNamespace(namespace) ?? []);
  const { usable } = await context.call('usableHarnesses', { slugs: all });
  const shown = namespaces.filter((_, at) => usable[at] === true);
  const { limit, order, after, offset } = page;
  const { grains, total, more, next } = await callOn(context, memory, 'list', {
    filter: { grainTypes: ['goal'], tags: [HARNESS_TAG], anyOf: [{ facet: 'namespace', values: shown }] },
    limit,
    order,
    after,
    offset: offset === 0 ? undefined : offset,
  });
  const { harnesses, last } = await viewsOf(context, grains, view);
  const isCut = last !== undefined && last !== grains.at(-1);
  const rest = isCut ? { createdAtMs: last.createdAtMs, hash: last.hash } : next;
  return { harnesses, total: shown.length < all.length ? null : total, next: isCut || more ? rest : undefined };
}

/** The harnesses of these goals, as far as one answer holds them, and the goal of the last one. */
async function viewsOf<T>(
  context: Context,
  goals: readonly GrainView[],
  view: (harness: HarnessDefinition) => T,
): Promise<{ readonly harnesses: T[]; readonly last: GrainView | undefined }> {
  const harnesses: T[] = [];
  const room = new AnswerRoom();
  let last: GrainView | undefined;
  for (let at = 0; at < goals.length; at += GROUP) {
    const group = goals.slice(at, at + GROUP);
    const members = await membersOf(context, new Set(group.map(({ namespace }) => namespace)));
    for (const goal of group) {
      const slug = slugOfNamespace(goal.namespace) ?? '';
      const harness = definitionOf(slug, [goal, ...(members.get(goal.namespace) ?? [])]);
      const shown = harness === undefined ? undefined : view(harness);
      if (shown !== undefined && !room.takes(shown)) return { harnesses, last };
      if (shown !== undefined) harnesses.push(shown);
      last = goal;
    }
  }
  return { harnesses, last };
}

/** Workflows and tools, newest first, by namespace. */
async function membersOf(
  context: Context,
  namespaces: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly GrainView[]>> {
  const facet = { facet: 'namespace', values: [...namespaces] } as const;
  const filter = { grainTypes: ['workflow', 'action'], anyOf: [facet] };
  return Map.groupBy(await boundedList(context, context.memory, filter), ({ namespace }) => namespace);
}
