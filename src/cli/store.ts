// `granary store check|migrate|import|export`: looks at the database that holds the data, brings its tables to this version, and
// moves deployments into it and out of it.
import type { Command } from 'commander';
import { counted, printJson, printLine, printNote, printTable } from './output.ts';
import { keyStoreUrlOf, type StoreOptions, storeUrlOf, withStoreOptions } from './store-options.ts';

export function registerStore(program: Command): void {
  const command = program
    .command('store')
    .description('Check and migrate the database of a server with --store, or move a deployment into or out of it');
  withStoreOptions(command.command('check'))
    .description('Show the version of the tables, and the nodes that serve them')
    .action(check);
  withStoreOptions(command.command('migrate'))
    .description('Migrate the tables to the version that this program needs; for some versions, stop all nodes first')
    .action(migrate);
  withStoreOptions(command.command('import <DIR>'))
    .description('Move the deployment of a data directory into an empty database; stop its server first')
    .option(
      '--master-key-file <FILE>',
      'file with the master key; default: GRANARY_MASTER_KEY, or that of the directory',
    )
    .option('--key-store <URL>', 'second database for the keys; default: GRANARY_KEY_STORE')
    .action((directory: string, options: MoveFlags) => move('import', directory, options));
  withStoreOptions(command.command('export <DIR>'))
    .description('Move the deployment of a database into a new data directory; stop all nodes first')
    .option('--master-key-file <FILE>', 'file with the master key; default: GRANARY_MASTER_KEY')
    .option('--key-store <URL>', 'second database with the keys; default: GRANARY_KEY_STORE')
    .action((directory: string, options: MoveFlags) => move('export', directory, options));
}

interface MoveFlags extends StoreOptions {
  readonly keyStore?: string | undefined;
  readonly masterKeyFile?: string | undefined;
}

async function move(way: 'import' | 'export', directory: string, options: MoveFlags): Promise<void> {
  const url = storeUrlOf(options.store);
  const { moveIntoStore } = await import('../server/store/into-store.ts');
  const { moveOutOfStore } = await import('../server/store/out-of-store.ts');
  const moved: {
    readonly log: string;
    readonly records: number;
    readonly audit_heads: number;
    readonly keys: number;
    readonly checksum: string;
  }[] = [];
  await (way === 'import' ? moveIntoStore : moveOutOfStore)({
    directory,
    url,
    keyUrl: keyStoreUrlOf(options.keyStore),
    masterKey: process.env['GRANARY_MASTER_KEY'],
    masterKeyFile: options.masterKeyFile ?? process.env['GRANARY_MASTER_KEY_FILE'],
    onMoved: (log, { records, auditHeads, keys, checksum }, of) => {
      moved.push({ log, records, audit_heads: auditHeads, keys, checksum });
      if (options.json !== true)
        printNote(`${moved.length} of ${of}: ${log}, ${counted(records, 'record')}, ${counted(keys, 'key')}`);
    },
  });
  if (options.json) return printJson({ logs: moved });
  printTable(
    [
      { title: 'log' },
      { title: 'records', align: 'right' },
      { title: 'audit heads', align: 'right' },
      { title: 'keys', align: 'right' },
      { title: 'checksum, equal on both sides' },
    ],
    moved.map((one) => [one.log, one.records, one.audit_heads, one.keys, one.checksum.slice(0, 16)]),
  );
  if (way === 'import') {
    printLine(`The deployment is in the database now. ${directory} keeps its data, but servers refuse to start on it.`);
    printLine(
      'Start nodes with the same master key: GRANARY_MASTER_KEY, or --master-key-file outside of their data directories.',
    );
  } else printLine(`The deployment is in ${directory} now. Drop the database, and start no node on it again.`);
}

async function check({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { storeState } = await import('./store-state.ts');
  const { version, shards, hasKeyStore, nodes } = await storeState(url, keyStoreUrlOf(undefined));
  if (json)
    return printJson({
      version,
      shards,
      key_store: hasKeyStore,
      nodes: nodes.map(({ node, shards: held, hasControlLog, leaseSeconds }) => ({
        node,
        shards: held,
        control_log: hasControlLog,
        lease_seconds: leaseSeconds,
      })),
    });
  if (version === 0)
    return printLine('The database is reachable and has no tables yet: the first granary serve creates them.');
  printLine(`Tables of version ${version}, which this program can use, with ${counted(shards, 'shard')}.`);
  if (hasKeyStore) printLine('The keys are in a key store, which is reachable and belongs to this store.');
  if (nodes.length === 0) return printLine('No node serves them.');
  printTable(
    [
      { title: 'node' },
      { title: 'shards', align: 'right' },
      { title: 'control log' },
      { title: 'lease ends in', align: 'right' },
    ],
    nodes.map((one) => [one.node, one.shards, one.hasControlLog ? 'yes' : 'no', `${one.leaseSeconds} s`]),
  );
}

async function migrate({ store, json }: StoreOptions): Promise<void> {
  const url = storeUrlOf(store);
  const { SCHEMA_VERSION } = await import('../engine/log/postgres/schema.ts');
  const { migrateStore } = await import('./store-state.ts');
  const from = await migrateStore(url);
  if (json) return printJson({ from, to: SCHEMA_VERSION });
  if (from === SCHEMA_VERSION) return printLine(`The tables have version ${from} already: nothing was changed.`);
  printLine(`The tables were migrated from version ${from} to ${SCHEMA_VERSION}.`);
}
