// `granary upgrade --check`: says what this version would do to a data directory, and changes nothing in it.
import type { Command } from 'commander';
import { optionLines } from '../server/config.ts';
import { exitCodesText } from './exit-codes.ts';
import { usage } from './failure.ts';

const AFTER_HELP = `
It takes the options and variables of the server, reads the directory, and changes nothing, also while a server runs on it.
${exitCodesText('upgrade --check')}`;

export function registerUpgrade(program: Command): void {
  const command = program
    .command('upgrade')
    .description(
      'Check what this version would change in a data directory, and whether the earlier version could open it afterwards',
    )
    .argument('[dir]', 'the data directory; the default is --data-dir')
    .option('--check', 'only check; required, because the first start of the server does the upgrade')
    .option('--json', 'print JSON')
    .addHelpText('after', AFTER_HELP);
  for (const { flag, description } of optionLines()) if (flag !== undefined) command.option(flag, description);
  command.action(
    async (dir: string | undefined, { check, json, ...flags }: Record<string, string | true | undefined>) => {
      if (check !== true) throw usage('give --check: a new version upgrades the directory when its server starts');
      // Loaded on demand: it imports the engine, which would slow down --help.
      const { upgradeCheck } = await import('./upgrade/check.ts');
      await upgradeCheck({
        flags: dir === undefined ? flags : { ...flags, dataDir: dir },
        json: json === true,
        env: process.env,
      });
    },
  );
}
