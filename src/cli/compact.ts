// `granary compact`: reclaims the disk space of removed grains.
import type { Command } from 'commander';
import { execOnMemories, resultsJson } from './deployment.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { bytes, printJson, printTable } from './output.ts';
import { Progress } from './progress.ts';

export function registerCompact(program: Command): void {
  const command = program
    .command('compact')
    .description('Merge the segments of the shards that hold a memory, and reclaim the space of removed grains')
    .option('--all', 'every memory, one after the other');
  withServerOptions(withMemoryOption(command)).action(compact);
}

async function compact(
  options: ServerOptions & { readonly memory: string; readonly all?: true | undefined },
): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const progress = new Progress('compacting', 'memories', options.json !== true && options.all === true);
  const results = await withConnection(
    options,
    (connection) =>
      execOnMemories(connection, options, 'compact', {}, (count, total) => progress.update(count, count / total)),
    { isLong: true },
  ).finally(() => progress.end());
  if (options.json) return printJson(resultsJson(results, options.all));
  printTable(
    [{ title: 'memory' }, { title: 'given back', align: 'right' }],
    results.map(({ memory, result }) => [memory, bytes(Number(result['reclaimed_bytes']))]),
  );
}
