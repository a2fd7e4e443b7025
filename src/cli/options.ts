// Options that every command which talks to a server has.
import { type Command, InvalidArgumentError, Option } from 'commander';

/** As commander gives them. */
export interface ServerOptions {
  readonly dataDir: string;
  readonly url?: string;
  readonly httpUrl?: string;
  readonly apiKey?: string;
  readonly tlsCa?: string;
  readonly json?: true;
}

/** Adds them, and returns the command. */
export function withServerOptions(command: Command): Command {
  return command
    .addOption(new Option('--data-dir <dir>', 'data directory').default('./data').env('GRANARY_DATA_DIR'))
    .addOption(
      new Option('--url <address>', 'a server: host:port of gRPC, or http://host:port; in place of the local one').env(
        'GRANARY_URL',
      ),
    )
    .addOption(
      new Option('--http-url <url>', 'its HTTP address, where it does not tell a right one itself').env(
        'GRANARY_HTTP_URL',
      ),
    )
    .addOption(
      new Option(
        '--api-key <key>',
        'API key; by default the bootstrap key of the data directory, for the server of that directory alone',
      ).env('GRANARY_API_KEY'),
    )
    .addOption(new Option('--tls-ca <file>', 'certificates (PEM) to trust beside the system').env('GRANARY_TLS_CA'))
    .option('--json', 'print JSON for programs');
}

export function withMemoryOption(command: Command): Command {
  return command.addOption(new Option('-m, --memory <id>', 'the memory').default('default').env('GRANARY_MEMORY'));
}

/** A parser of whole numbers in a range. */
export function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`It wants an integer from ${min} to ${max}.`);
    return value;
  };
}

/** Gathers an option that may be given several times. */
export function gather(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}
