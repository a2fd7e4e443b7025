// The rows of domain ops, from what the process and the shards measured.
import type { Output } from '../../shards/protocol.ts';
import type { Measured, OpsId } from './rows.ts';
import type { RequestWindows } from './windows.ts';

const REQUESTS_MIN = 20;
const ANSWERS_MIN = 50;
const PERCENTILE = 0.95;

const OF_PROCESS = 'it covers the whole server, and this caller is bound to a part of it';
export const OF_MEMORY = 'it covers the whole memory, and this caller sees a part of it';

export interface OpsSources {
  readonly windows: RequestWindows;
  readonly shards: Output<'measureOps'>;
  /** True for a caller that may learn about all memories of the server. */
  readonly seesProcess: boolean;
  readonly hasVectors: boolean;
  /** Deliveries of the memory's webhooks in 24 hours. */
  readonly hooks: HookTally;
  /** The memory's import jobs that ended in seven days. */
  readonly imports: ImportTally;
}

export interface ImportTally {
  readonly ended: number;
  readonly failed: number;
}

export interface HookTally {
  readonly webhooks: number;
  readonly delivered: number;
  readonly dead: number;
}

export function opsRows({
  windows,
  shards,
  seesProcess,
  hasVectors,
  hooks,
  imports,
}: OpsSources): Readonly<Record<OpsId, Measured>> {
  const ofProcess = (measure: () => Measured): Measured => (seesProcess ? measure() : { reason: OF_PROCESS });
  const { whole } = shards;
  const latency = (kind: 'write' | 'recall'): Measured => {
    const { samples, ms } = windows.latency(kind, PERCENTILE);
    return samples < REQUESTS_MIN ? tooFew(`${kind}s in 15 minutes`, samples, REQUESTS_MIN) : { value: ms, samples };
  };
  return {
    'ops.write_latency_p95_ms': ofProcess(() => latency('write')),
    'ops.recall_latency_p95_ms': ofProcess(() => latency('recall')),
    'ops.error_rate_pct': ofProcess(() => {
      const { requests, failures } = windows.requests();
      if (requests < ANSWERS_MIN) return tooFew('requests in 15 minutes', requests, ANSWERS_MIN);
      return { value: (100 * failures) / requests, samples: requests };
    }),
    'ops.write_buffer_depth': ofProcess(() => ({ value: shards.pendingWrites, samples: shards.pendingWrites })),
    'ops.oldest_unflushed_s': ofProcess(() => ({ value: shards.oldestWriteMs / 1000, samples: shards.pendingWrites })),
    'ops.index_lag_grains':
      whole === undefined ? { reason: OF_MEMORY } : { value: hasVectors ? whole.indexLag : 0, samples: 1 },
    'ops.disk_quota_pct': { reason: 'no quota' },
    'ops.audit_chain_valid':
      whole === undefined ? { reason: OF_MEMORY } : { value: whole.auditValid ? 1 : 0, samples: whole.auditChecked },
    'ops.hook_success_pct': whole === undefined ? { reason: OF_MEMORY } : hookSuccess(hooks),
    'ops.hook_dead_letters': whole === undefined ? { reason: OF_MEMORY } : deadLetters(hooks),
    'ops.retention_backlog': retention(whole),
    'ops.import_failure_pct': whole === undefined ? { reason: OF_MEMORY } : importFailures(imports),
  };
}

function hookSuccess({ delivered, dead }: HookTally): Measured {
  const ended = delivered + dead;
  return ended === 0 ? { reason: 'no webhook deliveries' } : { value: (100 * delivered) / ended, samples: ended };
}

function importFailures({ ended, failed }: ImportTally): Measured {
  return ended === 0 ? { reason: 'no import jobs' } : { value: (100 * failed) / ended, samples: ended };
}

function deadLetters({ webhooks, delivered, dead }: HookTally): Measured {
  return webhooks === 0 ? { reason: 'no webhook' } : { value: dead, samples: delivered + dead };
}

function retention(whole: OpsSources['shards']['whole']): Measured {
  if (whole === undefined) return { reason: OF_MEMORY };
  if (!whole.hasTimeToLive) return { reason: 'no time to live: no rule and no grain has one' };
  return { value: whole.overdue, samples: whole.overdue };
}

export function tooFew(what: string, samples: number, min: number): Measured {
  return { reason: `fewer than ${min} ${what}: ${samples}`, samples };
}
