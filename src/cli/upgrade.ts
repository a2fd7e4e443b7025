// `granary upgrade --check`: says what this version would do to a data directory, and changes nothing in it.
import type { Command } from 'commander';
import { optionLines } from '../server/config.ts';
import { usage } from './failure.ts';

const EXITS = `
It takes the options and variables of the server, reads the directory, and changes nothing, also while a server runs on it.
Exit codes: 0 this version opens it and changes no format; 1 it does not open, or the disk has no room; 3 it opens, and the
first start changes formats, after which the earlier version no longer opens it.`;

export function registerUpgrade(program: Command): void {
  const command = program
    .command('upgrade')
    .description('Check what this version would change in a data directory, and whether the earlier one could return')
    .argument('[dir]', 'the data directory; the default is --data-dir')
    .option('--check', 'only look; required, since the first start of the server does the rest')
    .option('--json', 'print JSON')
    .addHelpText('after', EXITS);
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
