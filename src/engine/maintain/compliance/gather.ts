// Gathers all compliance evidence of a partition, area by area. An area that fails reports its error and does not
// affect others.
import { hash } from 'node:crypto';
import { EngineError } from '../../base/errors.ts';
import type { Area, PartitionEvidence } from '../../calls/compliance.ts';
import type { CallContext } from '../../calls/context.ts';
import type { Sliced } from '../../index/files/section.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { auditPlan } from '../../write/plans.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { readInSlices } from '../housekeeping/slices.ts';
import { accessEvidence } from './access.ts';
import { blobEvidence } from './blobs.ts';
import { runCanaries } from './canary.ts';
import { dataEvidence, retentionEvidence } from './data.ts';
import type { Door } from './door.ts';
import { indexEvidence } from './index-files.ts';
import { erasureEvidence, keyEvidence } from './keys.ts';
import { dropLeftBehind } from './momentary.ts';
import { policyEvidence } from './policy.ts';
import { recallEvidence } from './recalls.ts';
import { drawn, liveOrdinals, seeded } from './sample.ts';
import { walkTrail } from './trail.ts';

/**
 * Grains of the sample; grains of the larger sample, which estimates shares of a memory; envelopes whose nonces are
 * compared.
 */
const SAMPLE = 200;
const SAMPLE_OF_SHARES = 1_000;
const NONCES_MAX = 5_000;

export interface ComplianceServices {
  readonly store: Store;
  readonly queue: WriteQueue;
  readonly door: Door;
}

/** Measures a partition. `runId` names the canaries and seeds the samples. Throws MEM-E003, AUT-E001. */
export async function gatherCompliance(
  services: ComplianceServices,
  caller: CallContext,
  { runId }: { readonly runId: string },
): Promise<PartitionEvidence> {
  if (caller.namespace !== undefined || caller.userId !== undefined)
    throw new EngineError(
      'AUT-E001',
      'compliance checks cover the whole memory, but this call is bound to a namespace or a user',
    );
  // The caller may run the checks, so they measure all of the memory.
  const context: CallContext = { ...caller, owns: true };
  const { store, queue } = services;
  const memory = store.memory(context.memory);
  const seed = Number.parseInt(hash('sha256', runId, 'hex').slice(0, 8), 16);
  const random = seeded(seed);
  const nowMs = store.clock.nowMs();
  // Flush pending read-audit entries before measuring the trail; if the log rejects writes, measure what is stored.
  await tolerant(() => dropLeftBehind(services));
  await tolerant(() => services.door.write('verifyAudit', context, { limit: 1 }));
  const live = await area(() => readInSlices(store, liveOrdinals(store, memory.number)));
  const ordinals = 'error' in live ? [] : live;
  const shares = drawn(ordinals, SAMPLE_OF_SHARES, random);
  const sampled = shares.slice(0, SAMPLE);
  const trail = await area(() => readInSlices(store, walkTrail(store, memory.number, nowMs)));
  const entries = 'error' in trail ? { erased: [], destroyed: new Set<string>(), recalled: new Set<string>() } : trail;
  /** For areas that need the list of grains: without it there is nothing to examine. */
  const ofGrains = <T extends object>(work: () => Sliced<T>): Promise<Area<T>> | Area<T> =>
    'error' in live ? { error: live.error } : area(() => readInSlices(store, work()));
  const evidence: PartitionEvidence = {
    partition: context.partition,
    nowMs,
    seed,
    blobs: await ofGrains(() => blobEvidence(store, memory, sampled, drawn(ordinals, NONCES_MAX, random))),
    keys: await area(() => readInSlices(store, keyEvidence(store, memory))),
    erasures: 'error' in trail ? trail : await ofGrains(() => erasureEvidence(store, memory, ordinals, entries)),
    trail: 'error' in trail ? trail : trail.evidence,
    policy: await area(() => readInSlices(store, policyEvidence(store, memory, random))),
    access: await area(() => readInSlices(store, accessEvidence(store, memory, random))),
    retention: await area(() => readInSlices(store, retentionEvidence(store, memory))),
    data: await ofGrains(() =>
      dataEvidence(store, memory, { live: ordinals, sampled: shares, context }, ruleOf(memory)),
    ),
    index: await ofGrains(() => indexEvidence(store, memory, sampled)),
    recalls: await area(() => recallEvidence(services.door, context, { nowMs, entries: entries.recalled })),
    canary: await area(() => runCanaries(services, memory, { runId, requestId: context.requestId })),
  };
  const details = { run_id: runId, failed: 'error' in evidence.canary };
  const { actor } = context;
  const entry = { event: 'verify.canary', actor, subject: '', details } as const;
  await tolerant(() => queue.push('audit', auditPlan, context, entry));
  return evidence;
}

/** Ignores errors of a shard that refuses writes. They show in the measurements and must not prevent them. */
async function tolerant(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

function ruleOf(memory: Memory): { readonly mode: string; readonly sinceMs: number } {
  const { policy, rules } = memory.governed;
  return { mode: rules['consent.mode'], sinceMs: policy.sealedAt * 1000 };
}

async function area<T extends object>(work: () => Promise<T>): Promise<Area<T>> {
  try {
    return await work();
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
