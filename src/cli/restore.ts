// `granary restore DIR`: restores a backup into a data directory. Erasures, forgets, deletions and revocations since
// the backup stay in force.
import { type Command, Option } from 'commander';
import { EXIT } from './exit-codes.ts';
import { counted, printJson, printLine } from './output.ts';
import type { RestoreOptions } from './restore/restore.ts';

type Options = Omit<RestoreOptions, 'env'> & { readonly dryRun?: true | undefined };

export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description('Restore a backup into a data directory that no server has open')
    .argument('<dir>', 'folder that `granary backup` wrote')
    .addOption(new Option('--data-dir <dir>', 'directory to restore into').default('./data').env('GRANARY_DATA_DIR'))
    .option('--keys <dir>', 'keys of the backup, if stored elsewhere (default: DIR/keys)')
    .option('--yes', 'replace the existing deployment')
    .option('--force', 'continue even if parts of the existing deployment cannot be read')
    .option('--dry-run', 'restore into a scratch folder, check everything there, and change nothing')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The restore keeps what was removed since the backup: erased users, forgotten grains, deleted memories and revoked API
keys, as far as the existing deployment records them. Users are matched under any key version they had. An erased user
whom the existing deployment never knew leaves no record: erase them again after the restore. All other data and keys
are replaced. Grains and API keys created since the backup are lost; API keys of the backup work again.`,
    )
    .action(async (directory: string, { dryRun, ...options }: Options) => {
      if (dryRun === true) return dryRunOf(directory, options);
      // Loaded on demand: it imports the engine, which would slow down --help.
      const { restore } = await import('./restore/restore.ts');
      await restore(directory, { ...options, env: process.env });
    });
}

/** Exit code 1 when the restored deployment has problems. */
async function dryRunOf(directory: string, { dataDir, keys, json }: Options): Promise<void> {
  const { rehearse } = await import('./restore/rehearsal.ts');
  const { shards, grains, findings } = await rehearse(directory, { dataDir, keys, env: process.env });
  if (findings > 0) process.exitCode = EXIT.failed;
  if (json) return printJson({ shards, grains, finding_count: findings });
  printLine(
    `The backup can be restored: ${counted(grains, 'grain')} in ${counted(shards, 'shard')}, ${counted(findings, 'problem')} found.`,
  );
}
