// Options shared by all commands that talk to a server.
import { type Command, InvalidArgumentError, Option } from 'commander';

/** As parsed by commander. */
export interface ServerOptions {
  readonly dataDir: string;
  readonly url?: string | undefined;
  readonly httpUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly json?: true | undefined;
}

/** Adds the options and returns the command. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--data-dir <dir>', 'data directory').default('./data').env('GRANARY_DATA_DIR'))
    .addOption(
      new Option('--url <address>', 'server: host:port for gRPC, or http://host:port; default: the local one').env(
        'GRANARY_URL',
      ),
    )
    .addOption(
      new Option('--http-url <url>', 'HTTP address of the server, when it cannot report a reachable one').env(
        'GRANARY_HTTP_URL',
      ),
    )
    .addOption(
      new Option(
        '--api-key <key>',
        'API key; default: the bootstrap key of the data directory, sent only to its own server',
      ).env('GRANARY_API_KEY'),
    )
    .addOption(
      new Option('--tls-ca <file>', "PEM certificates to trust in addition to the system's").env('GRANARY_TLS_CA'),
    )
    .option('--json', 'print JSON');
}

export function withMemoryOption(command: Command): Command {
  return command.addOption(new Option('-m, --memory <id>', 'the memory').default('default').env('GRANARY_MEMORY'));
}

/** Makes a parser for integers in a range. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
    return value;
  };
}

/** Collects an option that may be repeated. */
export function gather(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
