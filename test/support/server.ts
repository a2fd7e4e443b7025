// A whole server in the test's own process, on free ports of the loopback, over a temporary folder in memory, or over the
// `dataDir` of the flags, which is kept. Its data may lie in a database of its own (store.ts).
import { rmSync } from 'node:fs';
import { readConfig } from '../../src/server/config.ts';
import { makeLog } from '../../src/server/log.ts';
import { startServer } from '../../src/server/main.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import type { ServerDeps } from '../../src/server/start/starting.ts';
import { memoryFolder } from './memory-files.ts';
import { ON_POSTGRES, storeVariables } from './store.ts';
import { USED_THREADS } from './used-threads.ts';

export interface TestServer extends RunningServer {
  /** The first key; empty with `auth` none. */
  readonly key: string;
  /** Errors logged by the server, a JSON line each. */
  readonly errors: readonly string[];
}

/** `flags` have the names of the config. */
export async function startTestServer(
  flags: Record<string, string> = {},
  deps: ServerDeps & { readonly onPostgres?: boolean } = {},
): Promise<TestServer> {
  const dataDir = memoryFolder();
  const onPostgres = deps.onPostgres ?? ON_POSTGRES;
  const errors: string[] = [];
  const config = readConfig(
    { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1', ...flags },
    onPostgres ? await storeVariables(flags['dataDir'] ?? dataDir) : {},
  );
  const log = makeLog('error', { write: (line: string) => void errors.push(line) });
  try {
    const server = await startServer(config, { log, threads: USED_THREADS, ...deps });
    const close = async (): Promise<void> => {
      await server.close();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { ...server, key: config.auth === 'none' ? '' : (server.firstKey ?? ''), errors, close };
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}
