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
  const node = program.command('node').description('Change what a node of a store does');
  withStoreOptions(node.command('drain <node>'))
    .description('Let a node give its shards to the others, one at a time; calls wait meanwhile')
    .action((id: string, options: StoreOptions) => drain(id, true, options));
  withStoreOptions(node.command('resume <node>'))
    .description('Let a drained node take shards again; a start does that too')
    .action((id: string, options: StoreOptions) => drain(id, false, options));
}

async function list({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { fleetOf } = await import('./store-state.ts');
  const fleet = await fleetOf(url);
  const rows = rowsOf(fleet);
  if (json) return printJson({ nodes: rows });
  if (rows.length === 0)
    return printLine('No node has joined this store: start some with granary serve --node-listen.');
  printTable(
    [{ title: 'node' }, { title: 'address' }, { title: 'version' }, { title: 'weight', align: 'right' }, { title: 'state' }, { title: 'seen', align: 'right' }, { title: 'lease', align: 'right' }, { title: 'not uploaded', align: 'right' }, { title: 'shards' }], // biome-ignore format: one row
    rows.map((row) => [
      row.node,
      row.address,
      row.version,
      row.weight,
      `${row.state}${row.runs_server ? ', runs the server' : ''}`,
      `${row.seen_seconds} s ago`,
      row.lease_seconds === null ? '-' : `${row.lease_seconds} s`,
      row.segments_not_uploaded,
      row.shards.length === 0 ? '-' : row.shards.join(' '),
    ]),
  );
  const free = freeShards(fleet);
  if (free.length > 0) printLine(`Without an owner: ${free.join(' ')}`);
}

/** The shard of the control log is that of the node that runs the server. */
function rowsOf({ nodes, shards, count, behind }: StoreFleet) {
  return nodes.map(({ id, address, version, weight, isDraining, seenMs }) => {
    const held = shards.filter(({ owner, leaseMs }) => owner === id && leaseMs > 0);
    return {
      node: id,
      address,
      version,
      weight,
      state: isDraining ? 'draining' : 'serving',
      runs_server: held.some(({ shard }) => shard >= count),
      seen_seconds: Math.round(seenMs / 1_000),
      lease_seconds: held.length === 0 ? null : Math.round(Math.min(...held.map(({ leaseMs }) => leaseMs)) / 1_000),
      segments_not_uploaded: held.reduce((sum, { shard }) => sum + (behind.get(shard) ?? 0), 0),
      shards: held.map(({ shard }) => shard).filter((shard) => shard < count),
    };
  });
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
    isDraining
      ? `Node ${id} gives its shards away: granary nodes shows how far it is.`
      : `Node ${id} takes shards again.`,
  );
}
