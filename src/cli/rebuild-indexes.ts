// `granary rebuild-indexes`: rebuilds every index from the grains.
import type { Command } from 'commander';
import { execOnMemories, resultsJson } from './deployment.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { duration, printJson, printTable } from './output.ts';
import { Progress } from './progress.ts';

export function registerRebuildIndexes(program: Command): void {
  const command = program
    .command('rebuild-indexes')
    .description('Rebuild the indexes of a memory from its grains; reads and writes continue meanwhile')
    .option('--all', 'every memory, one after the other');
  withServerOptions(withMemoryOption(command)).action(rebuildIndexes);
}

async function rebuildIndexes(
  options: ServerOptions & { readonly memory: string; readonly all?: true | undefined },
): Promise<void> {
  const { withConnection } = await import('./connection.ts');
  const progress = new Progress('rebuilding', 'memories', options.json !== true && options.all === true);
  const results = await withConnection(
    options,
    (connection) =>
      execOnMemories(connection, options, 'rebuild_indexes', {}, (count, total) =>
        progress.update(count, count / total),
      ),
    { isLong: true },
  ).finally(() => progress.end());
  if (results.some(({ result }) => Number(result['errors']) > 0)) process.exitCode = EXIT.failed;
  if (options.json) return printJson(resultsJson(results, options.all));
  printTable(
    [
      { title: 'memory' },
      { title: 'grains', align: 'right' },
      { title: 'errors', align: 'right' },
      { title: 'took', align: 'right' },
    ],
    results.map(({ memory, result }) => [
      memory,
      Number(result['grains_scanned']),
      Number(result['errors']),
      duration(Number(result['elapsed_ms'])),
    ]),
  );
}
