// Reads and writes the grains of definitions. The caller's relation to the harness decides, not its binding: a definition
// belongs to no person and to no namespace of a caller, and a bound caller may talk to a harness of its memory.
import { defined } from '../../engine/base/defined.ts';
import { EngineError } from '../../engine/base/errors.ts';
import { HARNESS_PAGES_MAX, HARNESSES_MAX } from '../../engine/base/limits.ts';
import type { HarnessRelation } from '../../engine/govern/access/tuple.ts';
import { defNamespaceOf, slugOfNamespace } from '../../engine/govern/harness-namespace.ts';
import type { GrainFilter, GrainView, Input, JsonObject, MemoryCalls, Output } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { MemoryContext } from '../shards.ts';
import { definitionOf, type HarnessDefinition, type HarnessParts, partsOf } from './definition.ts';
import { checkSlug } from './slug.ts';

/** The members of an operation's context that a definition needs. */
export type HarnessCaller = Pick<Context, 'principal' | 'requestId' | 'deadlineMs' | 'reason'> & {
  readonly services: Pick<Context['services'], 'shards'>;
};

const PAGE = 500;
/** Goals that define harnesses have it, so that the index lists them. */
export const HARNESS_TAG = 'granary:harness';
const TYPES = ['goal', 'workflow', 'action'];

/**
 * The definition of a harness of this memory. HRN-E001, HRN-E002. The caller's relation to the harness is not asked for:
 * see `requireHarness`.
 */
export async function readHarness(
  caller: HarnessCaller,
  memory: MemoryRecord,
  slug: string,
): Promise<HarnessDefinition> {
  const found = await findHarness(caller, memory, checkSlug(slug));
  if (found !== undefined) return found;
  throw new EngineError('HRN-E002', `the memory has no harness ${slug}`, {
    details: [{ field: 'slug', issue: 'not found' }],
  });
}

export async function findHarness(
  caller: HarnessCaller,
  memory: MemoryRecord,
  slug: string,
): Promise<HarnessDefinition | undefined> {
  return definitionOf(slug, await grainsOf(caller, memory, slug));
}

/** The definition, if there is one, and the workflow and tools that its namespace holds with or without it. */
export async function findParts(
  caller: HarnessCaller,
  memory: MemoryRecord,
  slug: string,
): Promise<{ readonly before: HarnessDefinition | undefined; readonly parts: HarnessParts }> {
  const grains = await grainsOf(caller, memory, slug);
  return { before: definitionOf(slug, grains), parts: partsOf(grains) };
}

/** AUT-E001 where access tuples decide and give the caller no such relation to the harness. */
export async function requireHarness(context: Context, slug: string, relation: HarnessRelation): Promise<void> {
  await context.call('requireHarness', { slug: checkSlug(slug), relation });
}

/** The current grains of the definition's namespace, newest first. */
function grainsOf(caller: HarnessCaller, memory: MemoryRecord, slug: string): Promise<readonly GrainView[]> {
  return boundedList(caller, memory, { namespace: defNamespaceOf(slug), grainTypes: TYPES });
}

/** Current grains, newest first, as many as the server holds at once: any writer may put grains into these namespaces. */
export async function boundedList(
  caller: HarnessCaller,
  memory: MemoryRecord,
  filter: GrainFilter,
): Promise<readonly GrainView[]> {
  const grains: GrainView[] = [];
  let after: Output<'list'>['next'];
  for (let pages = 0; pages < HARNESS_PAGES_MAX; pages += 1) {
    const page = await callOn(caller, memory, 'list', { filter, limit: PAGE, order: 'desc', after });
    grains.push(...page.grains);
    if (!page.more || page.next === undefined) break;
    after = page.next;
  }
  return grains;
}

/** Throws what the policy says against new grains of the definition, before any of them is written. */
export async function checkGrains(
  caller: HarnessCaller,
  memory: MemoryRecord,
  slug: string,
  grains: readonly Pick<PutGrain, 'grainType' | 'fields'>[],
): Promise<void> {
  for (const { grainType, fields } of grains) {
    const placed = { ...fields, namespace: defNamespaceOf(slug) };
    await callOn(caller, memory, 'add', { grainType, fields: placed, sync: false, check: true });
  }
}

/** Adds a grain to the definition, or replaces the one that it has. Resolves to the hash of the current one. */
export async function putGrain(
  caller: HarnessCaller,
  memory: MemoryRecord,
  { slug, grainType, fields, replaces }: PutGrain,
): Promise<string> {
  if (replaces !== undefined) {
    const { newHash } = await callOn(caller, memory, 'supersede', { oldHash: replaces, fields });
    return newHash;
  }
  const added: JsonObject = { ...fields, namespace: defNamespaceOf(slug) };
  if (grainType === 'goal') added['tags'] = [HARNESS_TAG];
  return (await callOn(caller, memory, 'add', { grainType, fields: added, sync: false })).hash;
}

export interface PutGrain {
  readonly slug: string;
  readonly grainType: 'goal' | 'workflow' | 'action';
  /** Of a grain that is replaced, null drops a field. */
  readonly fields: JsonObject;
  readonly replaces: string | undefined;
}

/** The namespaces in which definitions lie. */
export async function defNamespaces(caller: HarnessCaller, memory: MemoryRecord): Promise<readonly string[]> {
  const filter = { grainTypes: ['goal'], tags: [HARNESS_TAG] };
  const { namespaces } = await callOn(caller, memory, 'namespaces', { filter });
  return namespaces.filter((namespace) => slugOfNamespace(namespace) !== undefined);
}

/** LIM-E002 if the memory has as many harnesses as it may have. */
export async function requireRoom(caller: HarnessCaller, memory: MemoryRecord): Promise<void> {
  if ((await defNamespaces(caller, memory)).length < HARNESSES_MAX) return;
  throw new EngineError('LIM-E002', `a memory has at most ${HARNESSES_MAX} harnesses`);
}

/**
 * Forgets every version of every grain of the definition, the goal last: until it is gone, the harness is there and can be
 * deleted again. The policy's refusals come before anything is removed. The access tuples of the harness go too: another
 * one of the same slug begins without them.
 */
export async function forgetHarness(caller: HarnessCaller, memory: MemoryRecord, slug: string): Promise<void> {
  const filter = { namespace: defNamespaceOf(slug), grainTypes: TYPES, includeSuperseded: true };
  const goals: string[] = [];
  const others: string[] = [];
  let after: Output<'list'>['next'];
  do {
    const page = await callOn(caller, memory, 'list', { filter, limit: PAGE, order: 'desc', after });
    for (const { hash, grainType } of page.grains) (grainType === 'goal' ? goals : others).push(hash);
    after = page.more ? page.next : undefined;
  } while (after !== undefined);
  const batches: string[][] = [];
  const hashes = [...others, ...goals];
  for (let at = 0; at < hashes.length; at += PAGE) batches.push(hashes.slice(at, at + PAGE));
  for (const batch of batches) await callOn(caller, memory, 'forget', { hashes: batch, check: true });
  await revokeTuples(caller, memory, slug);
  for (const batch of batches) await callOn(caller, memory, 'forget', { hashes: batch, check: false });
}

async function revokeTuples(caller: HarnessCaller, memory: MemoryRecord, slug: string): Promise<void> {
  const object = `harness:${slug}`;
  for (;;) {
    const { tuples } = await callOn(caller, memory, 'tuples', { object, order: 'asc', offset: 0, limit: PAGE });
    if (tuples.length === 0) return;
    for (const { subject, relation } of tuples)
      await callOn(caller, memory, 'revokeTuple', { tuple: { subject, relation, object } });
  }
}

/** A call on the memory without the caller's binding; tuples do not narrow it. */
export function callOn<M extends keyof MemoryCalls>(
  { services, principal, requestId, deadlineMs, reason }: HarnessCaller,
  memory: MemoryRecord,
  method: M,
  input: Input<M>,
): Promise<Output<M>> {
  const context: MemoryContext = defined({
    memory: memory.number,
    actor: principal.actor,
    requestId,
    deadlineMs,
    owns: true,
    agentId: principal.agentId,
    reason,
  });
  return services.shards.call(method, context, input);
}
