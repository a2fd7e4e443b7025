// Watches over the shards of a store: which of them may answer, and which must be opened again.
import { STORE_WATCH_MS } from '../../engine/base/limits.ts';
import type { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import type { DatabaseOptions } from '../../engine/log/postgres/postgres-log.ts';
import type { Logger } from '../log.ts';
import type { StoredShards } from '../start/keyring.ts';

export function storedShards(database: DatabaseOptions, leases: LeaseTable, log: Logger): StoredShards {
  return {
    database,
    lapsed: (shard) =>
      leases.isHeld(shard) || leases.isGivenBack(shard)
        ? undefined
        : `the lease of shard ${shard} ended, and the database did not renew it`,
    ended: (shard) => leases.leave(shard),
    watch: (shards) => {
      const busy = new Set<number>();
      // Shards of a worker that ended are opened by its next thread.
      const closed = new Set<number>();
      const reopen = async (shard: number): Promise<void> => {
        busy.add(shard);
        try {
          // One that cannot be closed cleanly is closed nevertheless, unless its thread takes no orders.
          closed.add(shard);
          if (shards.isOpen(shard)) await shards.closeShard(shard);
          await shards.open(shard);
          closed.delete(shard);
          log.info({ shard }, 'the shard was opened again from the database');
        } catch (error) {
          // The next look tries again.
          log.warn({ shard, err: error }, 'the shard cannot be opened again yet');
        } finally {
          busy.delete(shard);
        }
      };
      const look = (): void => {
        for (let shard = 0; shard < shards.shards; shard++) {
          if (busy.has(shard)) continue;
          const isOpen = shards.isOpen(shard);
          if (isOpen) closed.delete(shard);
          if (isOpen ? leases.isSpoiled(shard) : closed.has(shard)) void reopen(shard);
        }
      };
      const timer = setInterval(look, STORE_WATCH_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}
