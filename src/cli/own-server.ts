// Starts a server in this process, on loopback with ephemeral ports, for a command that found none running.
import { type Config, optionLines, readConfig } from '../server/config.ts';
import type { DirectoryLock } from '../server/directory-lock.ts';
import { startServer } from '../server/main.ts';
import type { RunningServer } from '../server/running-server.ts';

export interface OwnServerOptions {
  /** The work repeats removals that were allowed before, so policies are not checked again. */
  readonly repeats: boolean;
  /** Starts worker threads. Without them the command takes half the time, unless it has work for several. */
  readonly isLong: boolean;
  /** Computes vectors, as a server that serves. */
  readonly isLongLived: boolean;
  /** The variables that a server would read. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Lock of the data directory. The server releases it on close. */
  readonly lock: DirectoryLock;
}

/**
 * How a server listens, whom it lets in and how its process runs. A command listens on loopback for itself alone, so their variables
 * say nothing of it: a port may be taken by the server that they are meant for.
 */
const OF_SERVE: ReadonlySet<string> = new Set<keyof Config>([
  'host',
  'httpPort',
  'grpcPort',
  'http10Port',
  'singlePort',
  'http',
  'grpc',
  'nodeListen',
  'advertise',
  'nodeWeight',
  'auth',
  'oidcIssuer',
  'oidcAudience',
  'oidcClient',
  'oidcScopes',
  'basePath',
  'trustedProxies',
  'insecure',
  'tlsCert',
  'tlsKey',
  'rateLimit',
  'corsOrigins',
  'allowedHosts',
  'mcp',
  'mcpUrl',
  'console',
  'docs',
  'logLevel',
  'stopMs',
]);

/** The other variables are read: they may hold the master key or name the store. Throws as `readConfig`. */
export function ownConfig(
  dataDir: string,
  env: OwnServerOptions['env'],
  { isLong, isLongLived }: Pick<OwnServerOptions, 'isLong' | 'isLongLived'>,
): Config {
  const others = { ...env };
  for (const { name, env: variable } of optionLines()) if (OF_SERVE.has(name)) delete others[variable];
  // The name of a model is refused beside another embedder.
  if (!isLongLived) delete others['GRANARY_EMBEDDER_MODEL'];
  const flags = {
    dataDir,
    host: '127.0.0.1',
    httpPort: 0,
    grpcPort: 0,
    logLevel: 'error',
    // Most commands end before embeddings could be computed; the next server computes them.
    embedder: isLongLived ? undefined : 'none',
    workers: isLong ? undefined : 0,
  };
  return readConfig(flags, others);
}

/** Opens a data directory. Rejects with EngineError. */
export function openOwnServer(
  dataDirectory: string,
  { isLong, isLongLived, env, ...options }: OwnServerOptions,
): Promise<RunningServer> {
  return startServer(ownConfig(dataDirectory, env, { isLong, isLongLived }), { ...options, sendsWebhooks: false });
}
