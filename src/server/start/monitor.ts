// Starts the monitor of bursts: an alarm becomes an audit entry, with its event, and a line of the log.
import { SYSTEM_ACTOR } from '../../engine/govern/trail/audit.ts';
import type { Router } from '../../shards/router.ts';
import type { ControlStore } from '../control/store.ts';
import { type Alarm, Monitor } from '../monitor/monitor.ts';
import { monitoredShards } from '../monitor/monitored-shards.ts';
import type { Shards } from '../shards.ts';
import type { Starting } from './starting.ts';

export interface Monitoring {
  readonly monitor: Monitor;
  readonly shards: Shards;
}

export function startMonitor({ clock, log }: Starting, router: Router, control: ControlStore): Monitoring {
  const write = async ({ burst, memory, count, severity }: Alarm): Promise<void> => {
    const event = `monitor.${burst}` as const;
    const details = { count, severity };
    log.warn({ memory, burst, count, severity }, 'the monitor counted unusually many operations of one kind');
    try {
      if (event === 'monitor.failed_keys' || memory === undefined)
        await control.commit((change) => change.audit({ event, actor: SYSTEM_ACTOR, subject: '', details }));
      else await router.call('note', { memory, actor: SYSTEM_ACTOR, requestId: burst }, { event, details });
    } catch (error) {
      log.error({ err: error, memory, burst }, 'an alarm of the monitor cannot be written to the audit trail');
    }
  };
  const monitor = new Monitor({ nowMs: () => clock.nowMs(), raise: (alarm) => void write(alarm) });
  return { monitor, shards: monitoredShards(router, monitor) };
}
