// Starts a server in this process, on loopback with ephemeral ports, for a command that found none running.
import { readConfig } from '../server/config.ts';
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

/** Opens a data directory. Rejects with EngineError. */
export function openOwnServer(
  dataDirectory: string,
  { isLong, isLongLived, env, ...options }: OwnServerOptions,
): Promise<RunningServer> {
  // The environment may hold the master key, which is needed. Its listen and TLS settings do not apply here.
  const { GRANARY_TLS_CERT: _cert, GRANARY_TLS_KEY: _key, GRANARY_AUTH: _auth, ...listening } = env;
  // The name of a model is refused beside another embedder.
  const { GRANARY_EMBEDDER_MODEL: _model, ...modelless } = listening;
  const flags = {
    dataDir: dataDirectory,
    host: '127.0.0.1',
    httpPort: 0,
    grpcPort: 0,
    logLevel: 'error',
    // Most commands end before embeddings could be computed; the next server computes them.
    embedder: isLongLived ? undefined : 'none',
    rateLimit: 0,
    workers: isLong ? undefined : 0,
  };
  return startServer(readConfig(flags, isLongLived ? listening : modelless), { ...options, sendsWebhooks: false });
}
