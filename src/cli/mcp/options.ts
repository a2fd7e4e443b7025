// The options of `granary mcp`: the server, whose data, and which tools.
import { type Command, Option } from 'commander';
import { type ServerOptions, withServerOptions } from '../options.ts';

export interface McpOptions extends ServerOptions {
  readonly memory?: string | undefined;
  readonly namespace?: string | undefined;
  readonly user?: string | undefined;
  readonly project?: string | undefined;
  readonly readOnly?: true | undefined;
  readonly tools?: string | undefined;
  readonly profile: 'default' | 'full';
}

/** The options of a connection: whose data, and which tools. */
export function withMcpOptions(command: Command): Command {
  return withServerOptions(command)
    .addOption(
      new Option('-m, --memory <id>', "the memory; default: the key's own, else default").env('GRANARY_MEMORY'),
    )
    .option('--namespace <name>', 'namespace that every call is limited to')
    .option('--user <id>', 'user that every call is limited to')
    .option(
      '--project <name>',
      "namespace of a project; auto: that of the repository in the client's folder, not in this process's",
    )
    .option('--read-only', 'offer only tools that read')
    .option('--tools <names>', 'offer only these tools, separated by commas')
    .addOption(
      new Option('--profile <name>', 'tools to offer: full adds CAL, sessions and goals')
        .choices(['default', 'full'])
        .default('default'),
    );
}
