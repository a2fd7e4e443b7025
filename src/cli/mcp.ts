// `granary mcp`: serves the Model Context Protocol on stdin and stdout, for one client that starts it.
import type { Command } from 'commander';
import { usage } from './failure.ts';
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

Clients start this command; docs/mcp.md shows how.`,
    );
  withMcpOptions(command).action(serveMcp);
}

async function serveMcp(options: McpOptions): Promise<void> {
  if (options.project !== undefined && options.namespace !== undefined)
    throw usage('give --project or --namespace: a project is a namespace');
  const { serveOnStdio } = await import('./mcp/stdio.ts');
  await serveOnStdio(options, process.env);
}
