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
deployment that is there tells of them; users are known again under whatever keys they had. An erasure of a user whom
that deployment did not know leaves nothing to tell by: ask for it again after a restore. Its other data and keys are
replaced: what was written since the backup is gone, and so are API keys made since; those of the backup work again.`,
    )
    .action(async (directory: string, options: Omit<RestoreOptions, 'env'>) => {
      // It knows the engine, which takes longer to load than help takes to read.
      const { restore } = await import('./restore/restore.ts');
      await restore(directory, { ...options, env: process.env });
    });
}
