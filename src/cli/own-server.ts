// A server in this process, on loopback and ports of its own, for a command that found none.
import { readConfig } from '../server/config.ts';
import type { DirectoryLock } from '../server/directory-lock.ts';
import { type RunningServer, startServer } from '../server/main.ts';

export interface OwnServerOptions {
  /** What is removed was removed before: policies are not asked again. */
  readonly repeats: boolean;
  /** Of the data directory. The server gives it back when it closes. */
  readonly lock: DirectoryLock;
}

/** Opens a data directory. Rejects with EngineError. */
export function openOwnServer(dataDirectory: string, options: OwnServerOptions): Promise<RunningServer> {
  // The environment may hold the master key; where to listen is this command's own matter.
  const { GRANARY_TLS_CERT: _cert, GRANARY_TLS_KEY: _key, GRANARY_AUTH: _auth, ...environment } = process.env;
  const flags = {
    dataDir: dataDirectory,
    host: '127.0.0.1',
    httpPort: 0,
    grpcPort: 0,
    logLevel: 'error',
    // Vectors follow when a server serves the directory: a command ends before they could.
    embedder: 'none',
    rateLimit: 0,
  };
  return startServer(readConfig(flags, environment), options);
}
