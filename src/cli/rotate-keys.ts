// `granary rotate-keys`: starts a new version of a memory's key, or wraps all keys under a new master key.
import { type Command, Option } from 'commander';
import { execOnDeployment, execOnMemories, resultsJson } from './deployment.ts';
import { usage } from './failure.ts';
import { type ServerOptions, withMemoryOption, withServerOptions } from './options.ts';
import { printJson, printTable } from './output.ts';

interface RotateOptions extends ServerOptions {
  readonly memory: string;
  readonly all?: true | undefined;
  readonly scope: 'memory' | 'kek';
}

export function registerRotateKeys(program: Command): void {
  const command = program
    .command('rotate-keys')
    .description('Start a new version of a memory key, or wrap every key under a new master key')
    .addOption(
      new Option(
        '--scope <scope>',
        "which key to rotate: the memory's own, or kek for the master key of the deployment",
      )
        .choices(['memory', 'kek'])
        .default('memory'),
    )
    .option('--all', 'every memory, one after the other');
  withServerOptions(withMemoryOption(command)).action(rotateKeys);
}

async function rotateKeys(options: RotateOptions): Promise<void> {
  const { scope, all } = options;
  if (scope === 'kek' && all) throw usage('--scope kek concerns the whole deployment: leave --all out');
  const { withConnection } = await import('./connection.ts');
  const results = await withConnection(
    options,
    async (connection) =>
      scope === 'kek'
        ? [{ memory: '(deployment)', result: await execOnDeployment(connection, 'rotate_keys', { scope }) }]
        : await execOnMemories(connection, options, 'rotate_keys', { scope }),
    { isLong: true },
  );
  if (options.json) return printJson(scope === 'kek' ? results[0]!.result : resultsJson(results, all));
  printTable(
    [{ title: 'memory' }, { title: 'keys', align: 'right' }, { title: 'fingerprint' }],
    results.map(({ memory, result }) => [memory, Number(result['rotated']), String(result['fingerprint'])]),
  );
}
