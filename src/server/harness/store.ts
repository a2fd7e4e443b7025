// Reads and writes the grains of definitions. The caller's relation to the harness decides, not its binding: a definition
// belongs to no person and to no namespace of a caller, and a bound caller may talk to a harness of its memory.
import { EngineError } from '../../engine/base/errors.ts';
import { HARNESS_GRAINS_MAX } from '../../engine/base/limits.ts';
import type { HarnessRelation } from '../../engine/govern/access/tuple.ts';
import type { GrainView, Input, JsonObject, MemoryCalls, Output } from '../../shards/protocol.ts';
import type { Context } from '../context.ts';
import type { MemoryRecord } from '../control/records.ts';
import type { MemoryContext } from '../shards.ts';
import { definitionOf, type HarnessDefinition } from './definition.ts';
import { checkSlug, defNamespaceOf } from './slug.ts';

/** The members of an operation's context that a definition needs. */
export type HarnessCaller = Pick<Context, 'principal' | 'requestId' | 'deadlineMs' | 'reason'> & {
  readonly services: Pick<Context['services'], 'shards'>;
};

const PAGE = 500;
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

/** AUT-E001 where access tuples decide and give the caller no such relation to the harness. */
export async function requireHarness(context: Context, slug: string, relation: HarnessRelation): Promise<void> {
  await context.call('requireHarness', { slug: checkSlug(slug), relation });
}

/** The current grains of the definition's namespace, newest first. */
async function grainsOf(caller: HarnessCaller, memory: MemoryRecord, slug: string): Promise<readonly GrainView[]> {
  const filter = { namespace: defNamespaceOf(slug), grainTypes: TYPES };
  const grains: GrainView[] = [];
  let after: Output<'list'>['next'];
  do {
    const page = await callOn(caller, memory, 'list', { filter, limit: PAGE, order: 'desc', after });
    grains.push(...page.grains);
    after = page.more ? page.next : undefined;
  } while (after !== undefined && grains.length < HARNESS_GRAINS_MAX);
  return grains;
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
  const added = { ...fields, namespace: defNamespaceOf(slug) };
  return (await callOn(caller, memory, 'add', { grainType, fields: added, sync: false })).hash;
}

export interface PutGrain {
  readonly slug: string;
  readonly grainType: 'goal' | 'workflow' | 'action';
  /** Of a grain that is replaced, null drops a field. */
  readonly fields: JsonObject;
  readonly replaces: string | undefined;
}

/** A call on the memory without the caller's binding; tuples do not narrow it. */
export function callOn<M extends keyof MemoryCalls>(
  { services, principal, requestId, deadlineMs, reason }: HarnessCaller,
  memory: MemoryRecord,
  method: M,
  input: Input<M>,
): Promise<Output<M>> {
  const context: MemoryContext = {
    memory: memory.number,
    actor: principal.actor,
    requestId,
    deadlineMs,
    owns: true,
    ...(principal.agentId === undefined ? {} : { agentId: principal.agentId }),
    ...(reason === undefined ? {} : { reason }),
  };
  return services.shards.call(method, context, input);
}
