// `granary doctor`: looks at what a server needs of its machine, and says what to do.
import type { Command } from 'commander';
import { optionLines } from '../server/config.ts';

export function registerDoctor(program: Command): void {
  const command = program
    .command('doctor')
    .description('Check keys, permissions, clock, disk, limits, certificates, embedder, listener and a backup')
    .option('--backup <dir>', 'restore this backup, or the newest one below the folder, into a scratch folder')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nRun it as the user of the server, with the same options and variables. Exit code 1: a check failed.',
    );
  for (const { flag, description } of optionLines()) if (flag !== undefined) command.option(flag, description);
  command.action(async ({ backup, json, ...flags }: Record<string, string | true | undefined>) => {
    // Loaded on demand: it imports the engine, which would slow down --help.
    const { doctor } = await import('./doctor/doctor.ts');
    await doctor({
      backup: typeof backup === 'string' ? backup : undefined,
      json: json === true ? true : undefined,
      flags,
      env: process.env,
    });
  });
}
