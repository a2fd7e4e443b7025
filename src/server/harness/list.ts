// A page of the harnesses of a memory.
import type { GrainPlace } from '../../engine/calls/grain.ts';
import type { GrainView } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import { definitionOf, type HarnessDefinition } from './definition.ts';
import { slugOfNamespace } from './slug.ts';
import { callOn, defNamespaces, HARNESS_TAG } from './store.ts';

const TOOLS_PAGE = 500;

/**
 * Harnesses in the order of their goal grains, so those first whose settings were changed last. `total` is null where
 * access tuples hide some of them.
 */
export async function listHarnesses(
  context: Context,
  page: { limit: number; order: 'asc' | 'desc'; offset: number; after: GrainPlace | undefined },
): Promise<{
  readonly harnesses: readonly HarnessDefinition[];
  readonly total: number | null;
  readonly next: GrainPlace | undefined;
}> {
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
  const members = await membersOf(context, new Set(grains.map(({ namespace }) => namespace)));
  const harnesses = grains.flatMap((goal) => {
    const slug = slugOfNamespace(goal.namespace) ?? '';
    return definitionOf(slug, [goal, ...(members.get(goal.namespace) ?? [])]) ?? [];
  });
  return { harnesses, total: shown.length < all.length ? null : total, next: more ? next : undefined };
}

/** Workflows and tools, newest first, by namespace. */
async function membersOf(
  context: Context,
  namespaces: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly GrainView[]>> {
  const grains: GrainView[] = [];
  const filter = {
    grainTypes: ['workflow', 'action'],
    anyOf: [{ facet: 'namespace', values: [...namespaces] }],
  } as const;
  let after: GrainPlace | undefined;
  do {
    const page = await callOn(context, context.memory, 'list', { filter, limit: TOOLS_PAGE, order: 'desc', after });
    grains.push(...page.grains);
    after = page.more ? page.next : undefined;
  } while (after !== undefined);
  return Map.groupBy(grains, ({ namespace }) => namespace);
}
