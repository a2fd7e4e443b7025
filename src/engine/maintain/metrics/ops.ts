// Measures the work of a shard and the state of a whole memory's partition.
import { METRIC_AUDIT_ENTRIES_MAX } from '../../base/limits.ts';
import type { OpsMeasures } from '../../calls/metrics.ts';
import type { Memory } from '../../store/memory.ts';
import type { Store } from '../../store/store.ts';
import { type Binding, isBound } from '../../store/within.ts';
import type { WriteQueue } from '../../write/queue.ts';
import { retentionEvidence } from '../compliance/data.ts';
import { vectorState } from '../housekeeping/embed.ts';
import { readInSlices } from '../housekeeping/slices.ts';
import { verifyAudit } from '../reports/verify-audit.ts';

/** The newest audit entries are checked; `verifyAudit` checks all. */
export async function measureOps(
  { store, queue }: { readonly store: Store; readonly queue: WriteQueue },
  memory: Memory,
  { binding, partition }: { readonly binding: Binding; readonly partition: number },
): Promise<OpsMeasures> {
  const pending = { pendingWrites: queue.unanswered, oldestWriteMs: queue.oldestWaitMs };
  if (isBound(binding)) return pending;
  const retention = await readInSlices(store, retentionEvidence(store, memory));
  const audit = await verifyAudit(store, memory.number, partition, METRIC_AUDIT_ENTRIES_MAX);
  return {
    ...pending,
    whole: {
      indexLag: vectorState(store, memory.number).lag,
      auditValid: audit.valid,
      auditChecked: audit.checked,
      hasTimeToLive: retention.hasLimit,
      overdue: retention.expired - retention.held,
    },
  };
}
