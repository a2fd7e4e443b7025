// `granary store check|migrate`: looks at the database that holds the data, and brings its tables to this version.
import type { Command } from 'commander';
import { printJson, printLine, printTable } from './output.ts';
import { type StoreOptions, storeUrlOf, withStoreOptions } from './store-options.ts';

export function registerStore(program: Command): void {
  const command = program
    .command('store')
    .description('Look at the database of a server with --store, and change its tables');
  withStoreOptions(command.command('check'))
    .description('Say which version the tables have, and which nodes serve them')
    .action(check);
  withStoreOptions(command.command('migrate'))
    .description('Bring the tables to the version that this program needs; no node may run meanwhile')
    .action(migrate);
}

async function check({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { storeState } = await import('./store-state.ts');
  const { version, shards, nodes } = await storeState(url);
  if (json)
    return printJson({
      version,
      shards,
      nodes: nodes.map(({ leaseSeconds, ...node }) => ({ ...node, lease_seconds: leaseSeconds })),
    });
  if (version === 0)
    return printLine('The database is reached, and has no tables yet: the first granary serve makes them.');
  printLine(`Tables of version ${version}, as this program needs them, with ${shards} shards.`);
  if (nodes.length === 0) return printLine('No node serves them.');
  printTable(
    [{ title: 'node' }, { title: 'shards', align: 'right' }, { title: 'lease ends in', align: 'right' }],
    nodes.map((one) => [one.node, one.shards, `${one.leaseSeconds} s`]),
  );
}

async function migrate({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { SCHEMA_VERSION } = await import('../engine/log/postgres/schema.ts');
  const { migrateStore } = await import('./store-state.ts');
  const from = await migrateStore(url);
  if (json) return printJson({ from, to: SCHEMA_VERSION });
  if (from === SCHEMA_VERSION) return printLine(`The tables have version ${from} already: nothing was changed.`);
  printLine(`The tables were brought from version ${from} to ${SCHEMA_VERSION}.`);
}
