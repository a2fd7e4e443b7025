// Watches over the shards of a store: which of them may answer, and which must be opened again.
import { STORE_WATCH_MS } from '../../engine/base/limits.ts';
import type { LeaseTable } from '../../engine/log/postgres/lease-table.ts';
import type { DatabaseOptions } from '../../engine/log/postgres/postgres-log.ts';
import { type Route, RoutedShard } from '../../shards/nodes/routed-shard.ts';
import { calledBy } from '../../shards/transport/shard-set.ts';
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
    serve: (shards) => {
      const routes = Array.from({ length: shards.shards }, (_, shard) => new RoutedShard(shard));
      const serves = (route: RoutedShard): void => route.set({ kind: 'here', caller: shards.caller(route.shard) });
      routes.forEach(serves);
      const busy = new Set<number>();
      // Shards of a worker that ended are opened by its next thread.
      const closed = new Set<number>();
      const reopen = async (route: RoutedShard): Promise<void> => {
        const { shard } = route;
        busy.add(shard);
        // Calls of one that could not be opened again wait for no further attempt.
        if (shards.isOpen(shard)) route.set({ kind: 'held' });
        try {
          // One that cannot be closed cleanly is closed nevertheless, unless its thread takes no orders.
          closed.add(shard);
          if (shards.isOpen(shard)) await shards.closeShard(shard);
          await shards.open(shard);
          closed.delete(shard);
          log.info({ shard }, 'the shard was reopened from the database');
        } catch (error) {
          // The next look tries again.
          log.warn({ shard, err: error }, 'the shard cannot be reopened yet');
        } finally {
          busy.delete(shard);
          if (shards.isOpen(shard)) serves(route);
          else route.set(NOT_YET);
        }
      };
      const look = (): void => {
        for (const route of routes) {
          const { shard } = route;
          if (busy.has(shard)) continue;
          const isOpen = shards.isOpen(shard);
          if (isOpen && closed.delete(shard)) serves(route);
          if (isOpen ? leases.isSpoiled(shard) : closed.has(shard)) void reopen(route);
        }
      };
      const timer = setInterval(look, STORE_WATCH_MS);
      timer.unref();
      const stop = (): void => {
        clearInterval(timer);
        // No call waits for what comes later.
        for (const route of routes) if (busy.has(route.shard)) route.set(NOT_YET);
      };
      return {
        set: calledBy(
          shards,
          routes.map(({ caller }) => caller),
        ),
        stop,
      };
    },
  };
}

const NOT_YET: Route = { kind: 'nowhere', retryAfterSeconds: STORE_WATCH_MS / 1_000 };
