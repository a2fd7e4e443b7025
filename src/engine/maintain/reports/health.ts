// The health report of a shard.
import type { ShardHealth } from '../../calls/shard.ts';
import type { Store } from '../../store/store.ts';
import type { WriteQueue } from '../../write/queue.ts';
import type { CopyCare } from '../housekeeping/copy-care.ts';

/** Maximum number of detailed reasons; counts and repairs follow in any case. */
const REASONS_NAMED_MAX = 400;

export interface HealthSources {
  readonly shard: number;
  readonly store: Store;
  readonly queue: WriteQueue;
  /** Problems that were repaired since the shard was opened. */
  readonly repairs: readonly string[];
  /** The reason why the shard stopped after an internal error. */
  readonly fatal: string | undefined;
  /** Of the copy of a shard in a database. */
  readonly care: Pick<CopyCare, 'isMending' | 'reasons'> | undefined;
}

export function shardHealth({ shard, store, queue, repairs, fatal, care }: HealthSources): ShardHealth {
  const { index, log, quarantine, quarantined, unopened, vectors } = store;
  const reasons: string[] = [];
  const refusing = log.poisoned ?? log.lapsed ?? log.refusing;
  if (refusing !== undefined) reasons.push(`writes are refused: ${refusing}`);
  if (fatal !== undefined) reasons.push(fatal);
  for (const [memory, reason] of unopened) reasons.push(`memory ${memory} cannot be opened: ${reason}`);
  // They are whole in a moment.
  const isMending = care?.isMending(store) === true;
  if (!isMending) {
    for (const [sequence, reason] of quarantine) reasons.push(`record ${sequence} is quarantined: ${reason}`);
    if (quarantined > quarantine.size) reasons.push(`${quarantined - quarantine.size} more records are quarantined`);
  }
  for (const memory of store.damage.memories()) {
    if (reasons.length >= REASONS_NAMED_MAX) break;
    if (!unopened.has(memory)) reasons.push(damageReason(store, memory));
  }
  if (!isMending) reasons.push(...index.problems);
  reasons.push(...repairs);
  if (!isMending) reasons.push(...vectors.problems);
  reasons.push(...(care?.reasons ?? []), ...(store.uploads?.problems ?? []));
  const { lost } = queue.trail;
  if (lost > 0) reasons.push(`${lost} reads are missing from audit trails: the log accepted no writes for too long`);
  return {
    shard,
    ok: refusing === undefined && fatal === undefined,
    reasons,
    pendingWrites: queue.pending,
    tailGrains: index.tailGrains,
    segments: index.segments,
    sequence: log.nextSequence - 1,
    sealedSequence: index.sealedSequence,
  };
}

export function damageReason({ damage }: Store, memory: number): string {
  return `the index of memory ${memory} is damaged: ${damage.reason(memory)}`;
}
