// A whole server in the test's own process, on free ports of the loopback, over a temporary folder in memory, or over the
// `dataDir` of the flags, which is kept. With TEST_STORE=postgres in the environment its data lie in a database of its own.
import { rmSync } from 'node:fs';
import { readConfig } from '../../src/server/config.ts';
import { makeLog } from '../../src/server/log.ts';
import { startServer } from '../../src/server/main.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import type { ServerDeps } from '../../src/server/start/starting.ts';
import { memoryFolder } from './memory-files.ts';
import { sharedPostgres } from './postgres.ts';
import { USED_THREADS } from './used-threads.ts';

export interface TestServer extends RunningServer {
  /** The first key; empty with `auth` none. */
  readonly key: string;
  /** Errors logged by the server, a JSON line each. */
  readonly errors: readonly string[];
}

/** A setting of the run, in place of a directory. */
const ON_POSTGRES = process.env['TEST_STORE'] === 'postgres';
/** Databases by data directory, for servers that are started again. */
const databases = new Map<string, Promise<string>>();

/** The variables of a server whose data lie in a database. */
export async function storeVariables(dataDir: string): Promise<Readonly<Record<string, string>>> {
  const url = databases.get(dataDir) ?? sharedPostgres().then(async (postgres) => (await postgres.database()).url);
  databases.set(dataDir, url);
  return { GRANARY_STORE: await url, GRANARY_MASTER_KEY: MASTER };
}

/** Random bytes, which no warning takes for a pattern. */
const MASTER = 'd1c7a54fbe0f6b7d6a1fbe0f5c0a3f1e9b8d7c6a5f4e3d2c1b0a99887766554f';

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
