// `granary restore DIR`: a backup into a data directory. What the deployment that is there has erased, forgotten,
// deleted or revoked since the backup stays so.
import { type Command, Option } from 'commander';
import type { RestoreOptions } from './restore/restore.ts';

export function registerRestore(program: Command): void {
  program
    .command('restore')
    .description('Bring a backup back into a data directory that no server has open')
    .argument('<dir>', 'the folder that `granary backup` wrote')
    .addOption(new Option('--data-dir <dir>', 'where to').default('./data').env('GRANARY_DATA_DIR'))
    .option('--keys <dir>', 'the keys of the backup, where they are kept apart (default: DIR/keys)')
    .option('--yes', 'really replace the deployment that is there')
    .option('--force', 'go on where something of the deployment that is there cannot be read')
    .option('--json', 'print JSON for programs')
    .addHelpText(
      'after',
      `
Users erased, grains forgotten, memories deleted and API keys revoked since the backup stay gone, as far as the
deployment that is there tells of them. Its other data and keys are replaced.`,
    )
    .action(async (directory: string, options: Omit<RestoreOptions, 'env'>) => {
      // It knows the engine, which takes longer to load than help takes to read.
      const { restore } = await import('./restore/restore.ts');
      await restore(directory, { ...options, env: process.env });
    });
}
