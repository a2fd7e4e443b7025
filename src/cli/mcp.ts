// `granary mcp`: serves the Model Context Protocol on stdin and stdout, for one client that starts it.
import type { Command } from 'commander';
import { usage } from './failure.ts';
import type { InstallOptions, Running } from './mcp/install/install.ts';
import { type McpOptions, withMcpOptions } from './mcp/options.ts';

export function registerMcp(program: Command): void {
  const command = program
    .command('mcp')
    .description('Serve the Model Context Protocol on stdin and stdout')
    .addHelpText(
      'after',
      `
Examples:
  granary mcp --memory default --project auto
  granary mcp --url https://memory.example --read-only
  granary mcp install claude-code --data-dir ./data --project auto
  granary mcp uninstall claude-code

Clients start this command.`,
    );
  withMcpOptions(command).action(serveMcp);
  const clients = 'claude-code, claude-desktop, cursor, vscode, codex or zed';
  const installing = command
    .command('install')
    .description("Add it to a client's configuration, and recall once through it")
    .argument('<client>', clients)
    .option('--file <path>', "the configuration; default: the client's own of this user")
    .option('--dry-run', 'show the change and write nothing');
  withMcpOptions(installing).action(async (client: string, _: unknown, own: Command) => {
    const { install } = await import('./mcp/install/install.ts');
    // Options that both commands have are those of the outer one.
    await install(client, own.optsWithGlobals<InstallOptions>(), running());
  });
  const removing = command
    .command('uninstall')
    .description("Take it out of a client's configuration, which is restored if nothing else has changed")
    .argument('<client>', clients)
    .option('--file <path>', "the configuration; default: the client's own of this user")
    .option('--dry-run', 'show the change and write nothing');
  removing.action(async (client: string, _: unknown, own: Command) => {
    const { uninstall } = await import('./mcp/install/install.ts');
    uninstall(client, own.optsWithGlobals<InstallOptions>(), running());
  });
}

function running(): Running {
  return { node: process.execPath, script: process.argv[1] ?? '', variables: process.env };
}

async function serveMcp(options: McpOptions): Promise<void> {
  if (options.project !== undefined && options.namespace !== undefined)
    throw usage('give --project or --namespace: a project is a namespace');
  const { serveOnStdio } = await import('./mcp/stdio.ts');
  await serveOnStdio(options, process.env);
}
