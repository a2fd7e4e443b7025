// `granary nodes` and `granary node drain|resume`: the nodes of a store, and which of them give their shards away.
import type { Command } from 'commander';
import { usage } from './failure.ts';
import { printJson, printLine, printTable } from './output.ts';
import { type StoreOptions, storeUrlOf, withStoreOptions } from './store-options.ts';
import type { StoreFleet } from './store-state.ts';

export function registerNodes(program: Command): void {
  withStoreOptions(program.command('nodes')).description('List the nodes of a store, with their shards').action(list);
}

export function registerNode(program: Command): void {
  const node = program.command('node').description('Drain or resume a node of a store');
  withStoreOptions(node.command('drain <node>'))
    .description('Move the shards of a node to the others, one at a time; calls to a moving shard wait')
    .action((id: string, options: StoreOptions) => drain(id, true, options));
  withStoreOptions(node.command('resume <node>'))
    .description('Let a drained node take shards again; restarting it does the same')
    .action((id: string, options: StoreOptions) => drain(id, false, options));
}

async function list({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { fleetOf } = await import('./store-state.ts');
  const fleet = await fleetOf(url);
  const rows = rowsOf(fleet);
  const free = freeShards(fleet);
  if (json) return printJson({ nodes: rows, shards_without_owner: free });
  if (rows.length === 0)
    return printLine('No node has joined this store: start some with granary serve --node-listen.');
  printTable(
    [{ title: 'node' }, { title: 'address' }, { title: 'version' }, { title: 'weight', align: 'right' }, { title: 'state' }, { title: 'seen', align: 'right' }, { title: 'lease', align: 'right' }, { title: 'control copy', align: 'right' }, { title: 'not uploaded', align: 'right' }, { title: 'shards' }], // biome-ignore format: one row
    rows.map((row) => [
      row.node,
      row.address,
      row.version,
      row.weight,
      `${row.state}${row.runs_server ? ', runs the server' : ''}`,
      `${row.seen_seconds} s ago`,
      seconds(row.lease_seconds),
      seconds(row.control_copy_lag_seconds),
      row.segments_not_uploaded,
      row.shards.length === 0 ? '-' : row.shards.join(' '),
    ]),
  );
  const leases = rows.flatMap(({ node, leases }) => leases.map((lease) => ({ node, ...lease })));
  printTable(
    [{ title: 'shard' }, { title: 'node' }, { title: 'lease', align: 'right' }, { title: 'held for', align: 'right' }, { title: 'local copy', align: 'right' }, { title: 'not uploaded', align: 'right' }], // biome-ignore format: one row
    leases.map((lease) => [
      lease.shard ?? 'control log',
      lease.node,
      seconds(lease.lease_seconds),
      seconds(lease.held_seconds),
      seconds(lease.copy_lag_seconds),
      lease.segments_not_uploaded,
    ]),
  );
  for (const { node, refused } of rows)
    for (const { shard, reason } of refused) printLine(`Node ${node} cannot open shard ${shard}: ${reason}`);
  if (free.length > 0) printLine(`Shards without an owner: ${free.join(' ')}`);
}

/** The owner of the control log is the leader. */
function rowsOf({ nodes, shards, count, behind }: StoreFleet) {
  return nodes.map(({ id, address, version, weight, isDraining, seenMs, copies, refused }) => {
    const held = shards.filter(({ owner, leaseMs }) => owner === id && leaseMs > 0);
    const leases = held.map(({ shard, leaseMs, heldMs }) => ({
      shard: shard < count ? shard : null,
      lease_seconds: toSeconds(leaseMs),
      held_seconds: toSeconds(heldMs),
      copy_lag_seconds: toSeconds(copies?.shardsMs[shard]),
      segments_not_uploaded: behind.get(shard) ?? 0,
    }));
    return {
      node: id,
      address,
      version,
      weight,
      state: isDraining ? 'draining' : 'serving',
      runs_server: leases.some(({ shard }) => shard === null),
      seen_seconds: Math.round(seenMs / 1_000),
      lease_seconds: held.length === 0 ? null : toSeconds(Math.min(...held.map(({ leaseMs }) => leaseMs))),
      control_copy_lag_seconds: toSeconds(copies?.controlMs),
      segments_not_uploaded: leases.reduce((sum, { segments_not_uploaded: count }) => sum + count, 0),
      shards: held.map(({ shard }) => shard).filter((shard) => shard < count),
      leases,
      refused,
    };
  });
}

/** With one digit below ten seconds. */
function toSeconds(ms: number | null | undefined): number | null {
  if (ms === null || ms === undefined) return null;
  return ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1_000);
}

function seconds(count: number | null): string {
  return count === null ? '-' : `${count} s`;
}

function freeShards({ shards, count }: StoreFleet): readonly number[] {
  const held = new Set(
    shards.filter(({ owner, leaseMs }) => owner !== undefined && leaseMs > 0).map(({ shard }) => shard),
  );
  return Array.from({ length: count }, (_, shard) => shard).filter((shard) => !held.has(shard));
}

async function drain(id: string, isDraining: boolean, { store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { drainNodeOf } = await import('./store-state.ts');
  if (!(await drainNodeOf(url, id, isDraining))) throw usage(`the store has no node ${id}: granary nodes lists them`);
  if (json) return printJson({ node: id, draining: isDraining });
  printLine(
    isDraining ? `Node ${id} is draining: granary nodes shows its progress.` : `Node ${id} takes shards again.`,
  );
}
