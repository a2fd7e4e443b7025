// The interface of the package for programs: a server in the process of the program. `granary serve` runs the same server
// in a process of its own. The types here name no other file, so that the package has one file of declarations.
import { EngineError } from './engine/base/errors.ts';
import { optionLines, readConfig } from './server/config.ts';
import { startServer as start } from './server/main.ts';

/** The options of `granary serve` by their names in camelCase: `dataDir`, `httpPort`. `granary serve --help` lists them. */
export type ServerOptions = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Server {
  /** `http://host:port` or `https://host:port`, without `/api`. */
  readonly http: string;
  /** `host:port`. */
  readonly grpc: string;
  /** The first API key, when this start made it. It is also kept in `keys/bootstrap.key` of the data directory. */
  readonly firstKey: string | undefined;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
  /** Answers what has come in and closes everything. */
  close(): Promise<void>;
}

/**
 * Starts a server. `environment` holds the variables that options fall back to, and the secrets that are no options, such
 * as `GRANARY_MASTER_KEY`; by default there are none. Rejects with an Error that has a `code` of the contract.
 */
export async function startServer(
  options: ServerOptions = {},
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<Server> {
  const known: ReadonlySet<string> = new Set(
    optionLines().flatMap(({ name, flag }) => (flag === undefined ? [] : [name])),
  );
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown !== undefined) throw new EngineError('VAL-E001', `there is no option \`${unknown}\``);
  const { http, grpc, firstKey, warnings, close } = await start(readConfig(options, environment));
  return { http, grpc, firstKey, warnings, close };
}
