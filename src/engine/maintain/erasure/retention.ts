// Expired grains: counted by namespace, and removed. An expired grain is hidden at once, enforced or not; enforcing
// retention frees its space.

import { defined } from '../../base/defined.ts';
import { EngineError } from '../../base/errors.ts';
import { RETENTION_BATCH_MAX } from '../../base/limits.ts';
import type { MemoryCalls } from '../../calls/calls.ts';
import type { CallContext } from '../../calls/context.ts';
import type { RetentionNamespace } from '../../calls/govern.ts';
import type { Governed } from '../../govern/governed.ts';
import { namespaceTtlDays } from '../../govern/policy/retention.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Doc, IndexPart, Ordinal } from '../../index/parts/part.ts';
import { docsOfUsers, timesToLive } from '../../recall/filter/hidden.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { isBound } from '../../store/within.ts';
import { expireGoals } from '../../write/expire-goals.ts';
import { auditPlan, dropOutlivedPlan, enforcedPlan, expirePlan } from '../../write/plans.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { readInSlices } from '../housekeeping/slices.ts';
import { dueGoals } from './due-goals.ts';
import { outlivedTurns } from './outlived-turns.ts';

/** State entry with the time of the last enforcement in the whole memory: milliseconds, 6 bytes. */
export function enforcedState(memory: number): string {
  return `enforced/${memory}`;
}

type Status = MemoryCalls['retentionStatus'];

export function retentionStatus(
  store: Store,
  memory: Memory,
  context: CallContext,
  input: Status['input'],
): Promise<Status['output']> {
  refuseBound(context);
  return readInSlices(store, statusSteps(store, memory, input));
}

function* statusSteps(store: Store, memory: Memory, input: Status['input']): Sliced<Status['output']> {
  const { governed } = memory;
  const { rules } = governed;
  const nowMs = store.clock.nowMs();
  const found = new Map<string, { -readonly [K in keyof RetentionNamespace]: RetentionNamespace[K] }>();
  for (const part of store.parts(memory.number)) {
    const endOf = endsIn(part, governed);
    const frozen = docsOfUsers(part, governed.restrictions.keys());
    for (const [namespace] of part.facetValues('namespace')) {
      if (input.namespace !== undefined && namespace !== input.namespace) continue;
      const row = found.get(namespace) ?? { ...limitOf(governed, namespace), grains: 0, expired: 0, held: 0 };
      found.set(namespace, row);
      for (const doc of part.facet('namespace', namespace) ?? []) {
        if (store.index.removed.get(part.ordinals[doc]!)) continue;
        const createdAtMs = part.createdAtMs[doc]!;
        const endMs = endOf(doc);
        row.grains += 1;
        row.oldestCreatedMs = Math.min(row.oldestCreatedMs ?? createdAtMs, createdAtMs);
        if (endMs <= nowMs) {
          row.expired += 1;
          if (frozen?.has(doc) === true) row.held += 1;
        } else if (endMs < (row.nextExpiryMs ?? Number.POSITIVE_INFINITY)) row.nextExpiryMs = endMs;
      }
      yield;
    }
  }
  const rows = [...found.values()].filter(({ grains }) => grains > 0);
  if (rules['deletion.hold']) for (const row of rows) row.held = row.expired;
  rows.sort((one, other) => (one.namespace < other.namespace ? -1 : 1));
  const enforced = store.log.getState(enforcedState(memory.number));
  return defined({
    namespaces: rows,
    defaultTtlDays: rules['retention.default_ttl_days'],
    lastEnforcedMs: enforced === undefined ? undefined : Buffer.from(enforced).readUIntBE(0, 6),
  });
}

function limitOf({ rules }: Governed, namespace: string): Pick<RetentionNamespace, 'namespace' | 'ttlDays' | 'source'> {
  const own = namespaceTtlDays(namespace, rules);
  const byDefault = rules['retention.default_ttl_days'];
  if (own !== undefined && (byDefault === null || own <= byDefault))
    return { namespace, ttlDays: own, source: 'namespace' };
  return { namespace, ttlDays: byDefault, source: byDefault === null ? '' : 'default' };
}

/** The expiry of each doc in milliseconds; infinite: never. */
function endsIn(part: IndexPart, governed: Governed): (doc: Doc) => number {
  const { createdAtMs } = part;
  const expires = part.numbers('expiresAtMs');
  const own = (doc: Doc): number => {
    const at = expires?.[doc] ?? Number.NaN;
    return Number.isNaN(at) ? Number.POSITIVE_INFINITY : at;
  };
  const ttlMs = timesToLive(part, governed);
  return (doc) => Math.min(own(doc), createdAtMs[doc]! + ttlMs[doc]!);
}

type Enforce = MemoryCalls['enforceRetention'];
type Counts = { expired: number; forgotten: number; held: number };

/**
 * Removes expired grains, a bounded number in one transaction. Nothing is removed under a hold, nor any grain of a
 * restricted person. After an interruption, calling again continues.
 */
export async function enforceRetention(
  { store, queue }: { readonly store: Store; readonly queue: WriteQueue },
  context: CallContext,
  { namespace, dryRun }: Enforce['input'],
): Promise<Enforce['output']> {
  refuseBound(context);
  const memory = store.memory(context.memory);
  const expired = await readInSlices(store, expiredIn(store, memory, namespace));
  const isHeld = memory.governed.rules['deletion.hold'];
  const byNamespace: Record<string, Counts> = {};
  const total: Counts = { expired: 0, forgotten: 0, held: 0 };
  for (const [name, { ordinals, frozen }] of expired) {
    const all = ordinals.length + frozen;
    const counts: Counts = { expired: all, forgotten: 0, held: isHeld ? all : frozen };
    for (let from = 0; !dryRun && !isHeld && from < ordinals.length; from += RETENTION_BATCH_MAX) {
      const batch = ordinals.slice(from, from + RETENTION_BATCH_MAX);
      const { idempotency: _, ...plain } = context;
      counts.forgotten += (await queue.push('expire', expirePlan, plain, { ordinals: batch })).removed;
    }
    // A name may be any text, including names of built-in object members.
    Object.defineProperty(byNamespace, name, { value: counts, enumerable: true });
    total.expired += counts.expired;
    total.forgotten += counts.forgotten;
    total.held += counts.held;
  }
  if (!dryRun && !isHeld) await dropOutlived({ store, queue }, context, memory, namespace);
  const due = await readInSlices(store, dueGoals(store, memory, namespace));
  const goals = dryRun ? due.length : (await expireGoals(queue, context, due)).moved;
  if (!dryRun) await recordRun(queue, context, total, namespace === undefined);
  return { ...total, goals, byNamespace };
}

/** The records of turns and conversations go when the events of theirs would. They count as no grains. */
async function dropOutlived(
  { store, queue }: { readonly store: Store; readonly queue: WriteQueue },
  context: CallContext,
  memory: Memory,
  namespace: string | undefined,
): Promise<void> {
  const states = await readInSlices(store, outlivedTurns(store, memory, namespace));
  const { idempotency: _, ...plain } = context;
  for (let from = 0; from < states.length; from += RETENTION_BATCH_MAX)
    await queue.push('dropOutlived', dropOutlivedPlan, plain, {
      states: states.slice(from, from + RETENTION_BATCH_MAX),
    });
}

async function recordRun(
  queue: WriteQueue,
  context: CallContext,
  { forgotten, held }: Counts,
  ofAll: boolean,
): Promise<void> {
  const { idempotency: _, ...plain } = context;
  const { actor } = context;
  if (held > 0)
    await queue.push('audit', auditPlan, plain, { event: 'retention.held', actor, subject: '', details: { held } });
  if (forgotten > 0 || actor !== 'system')
    await queue.push('enforced', enforcedPlan, plain, {
      key: ofAll ? enforcedState(context.memory) : undefined,
      forgotten,
    });
}

/** Expired grains of one namespace: how many can be removed, and how many belong to restricted users. */
interface Expired {
  readonly ordinals: readonly Ordinal[];
  readonly frozen: number;
}

function* expiredIn(store: Store, memory: Memory, only: string | undefined): Sliced<ReadonlyMap<string, Expired>> {
  const nowMs = store.clock.nowMs();
  const found = new Map<string, { ordinals: Ordinal[]; frozen: number }>();
  for (const part of store.parts(memory.number)) {
    if (memory.governed.hidesNothing && part.numbers('expiresAtMs') === undefined) continue;
    const endOf = endsIn(part, memory.governed);
    const frozen = docsOfUsers(part, memory.governed.restrictions.keys());
    for (const [namespace] of part.facetValues('namespace')) {
      if (only !== undefined && namespace !== only) continue;
      for (const doc of part.facet('namespace', namespace) ?? []) {
        const ordinal = part.ordinals[doc]!;
        // A grain that was written since this began has no end here.
        if (!(endOf(doc) <= nowMs) || store.index.removed.get(ordinal)) continue;
        const known = found.get(namespace) ?? { ordinals: [], frozen: 0 };
        found.set(namespace, known);
        if (frozen?.has(doc) === true) known.frozen += 1;
        else known.ordinals.push(ordinal);
      }
      yield;
    }
  }
  return found;
}

function refuseBound(context: CallContext): void {
  if (isBound(context))
    throw new EngineError('AUT-E001', 'retention covers the whole memory, but this caller may see only a part of it');
}
