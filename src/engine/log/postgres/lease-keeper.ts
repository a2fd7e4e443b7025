// Renews the leases of all shards that a process has, in a thread that does nothing else: the threads of the logs may be busy for
// seconds. It stops for a shard whose thread has been silent for long, since that one may never answer again.
import { LEASE_SILENT_MS } from '../../base/limits.ts';
import type { Database } from './database.ts';
import { heldMs, renewLease } from './lease.ts';
import { type KeptLease, type LeaseTable, moment } from './lease-table.ts';

export interface KeeperOptions {
  readonly database: Database;
  readonly table: LeaseTable;
  readonly node: string;
  readonly leaseMs: number;
  /** Default: LEASE_SILENT_MS. */
  readonly silentMs?: number | undefined;
}

export class LeaseKeeper {
  readonly #options: KeeperOptions;
  readonly #timer: NodeJS.Timeout;
  /** By shard: renewals that were sent and have no answer. */
  readonly #unanswered = new Map<number, number>();

  constructor(options: KeeperOptions) {
    this.#options = options;
    // Each renewal is sent on time, whether or not the one before was answered.
    this.#timer = setInterval(() => this.#renewAll(), options.leaseMs / 3);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #renewAll(): void {
    const { table, silentMs = LEASE_SILENT_MS } = this.#options;
    for (const lease of table.kept(silentMs)) void this.#renew(lease);
  }

  async #renew(lease: KeptLease): Promise<void> {
    const { database, table, node, leaseMs } = this.#options;
    const unanswered = this.#unanswered.get(lease.shard) ?? 0;
    this.#unanswered.set(lease.shard, unanswered + 1);
    const sent = moment();
    const renew = (sql: Parameters<typeof renewLease>[0]) => renewLease(sql, { ...lease, node, leaseMs });
    try {
      // Connections may die in silence, and would be given up later than the lease ends.
      const renewed = await (unanswered > 0 ? database.askAfresh(renew) : database.ask(renew));
      if (renewed.length === 0) table.lose(lease);
      else table.renewed(lease, sent, heldMs(leaseMs));
    } catch {
      // The next attempt comes within a third of the time; without it, the lease ends.
    } finally {
      this.#unanswered.set(lease.shard, (this.#unanswered.get(lease.shard) ?? 1) - 1);
    }
  }
}
