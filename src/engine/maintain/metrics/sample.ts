// Opens the grains of the samples and takes what other partitions need to compare them.
import { DAY_MS } from '../../base/clock.ts';
import { defined } from '../../base/defined.ts';
import type { SampledBelief, SampledGrain } from '../../calls/metrics.ts';
import { DEFAULT_PURPOSE, EVERY_PURPOSE, isOtherBasis } from '../../govern/consent/consent.ts';
import { triple } from '../../grain/api/text.ts';
import { identityBytes } from '../../grain/codec/identity.ts';
import type { Grain } from '../../grain/grain.ts';
import type { Value } from '../../grain/value.ts';
import type { Sliced } from '../../index/files/section.ts';
import { nameIn } from '../../record/grain-name.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import type { Drawn } from './lowest.ts';

/** Age from which a grain that no recall has found counts as stale. */
const STALE_MS = 180 * DAY_MS;

/** `partition` is the one that holds the grains. */
export function* openGrains(
  store: Store,
  memory: Memory,
  { drawn, partition }: { readonly drawn: readonly Drawn[]; readonly partition: number },
): Sliced<SampledGrain[]> {
  const nowMs = store.clock.nowMs();
  const grains: SampledGrain[] = [];
  for (const { head, ordinal } of drawn) {
    yield;
    const stored = store.readGrain(memory, ordinal);
    if (stored === undefined) continue;
    const createdAtMs = Number(stored.grain.fields['created_at']);
    grains.push(
      defined({
        head,
        identity: identityBytes(stored.blob),
        oldName: nowMs - createdAtMs > STALE_MS ? nameInRecords(stored.name, partition) : undefined,
        covered: isCovered(memory, stored.grain, nowMs),
      }),
    );
  }
  return grains;
}

/** Recall records are in partition 0 and name the grains of others with their partition. */
function nameInRecords(name: string, partition: number): string {
  return partition === 0 ? name : nameIn(partition, name);
}

/** Whether the person of a grain consents, or another basis holds; undefined for a grain about nobody. */
function isCovered({ governed }: Memory, { type, fields }: Grain, nowMs: number): boolean | undefined {
  const user = fields['user_id'];
  if (type === 'consent' || typeof user !== 'string' || user === '') return undefined;
  const isGranted = [DEFAULT_PURPOSE, EVERY_PURPOSE].some((purpose) => governed.isGranted(user, purpose, nowMs));
  return isGranted || isOtherBasis(fields['processing_basis']);
}

export function* openBeliefs(store: Store, memory: Memory, drawn: readonly Drawn[]): Sliced<SampledBelief[]> {
  const beliefs: SampledBelief[] = [];
  for (const { head, ordinal } of drawn) {
    yield;
    const stored = store.readGrain(memory, ordinal);
    if (stored === undefined) continue;
    const { subject, relation, object } = triple(stored.grain);
    if (subject === undefined || relation === undefined || object === undefined) continue;
    const { fields } = stored.grain;
    const state = store.status.verification(ordinal);
    const contested = state === 'contested' || state === 'retracted';
    const [namespace, user] = [textOf(fields['namespace']), textOf(fields['user_id'])];
    beliefs.push({ head, namespace, user, subject, relation, object, contested });
  }
  return beliefs;
}

function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}
