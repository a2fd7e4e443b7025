// A whole server in the test's own process, on free ports of the loopback, over a temporary folder in memory, or over the
// `dataDir` of the flags, which is kept. Its data may lie in a database of its own (store.ts).
import { rmSync } from 'node:fs';
import type { Config } from '../../src/server/config.ts';
import { readConfig } from '../../src/server/config.ts';
import { makeLog } from '../../src/server/log.ts';
import { startServer } from '../../src/server/main.ts';
import type { RunningServer } from '../../src/server/running-server.ts';
import type { ServerDeps } from '../../src/server/start/starting.ts';
import { eventually } from './eventually.ts';
import { memoryFolder } from './memory-files.ts';
import { ON_POSTGRES, storeVariables } from './store.ts';
import { USED_THREADS } from './used-threads.ts';

export interface TestServer extends RunningServer {
  /** The first key; empty with `auth` none. */
  readonly key: string;
  /** Errors logged by the server, a JSON line each. */
  readonly errors: readonly string[];
}

/** `flags` have the names of the config. `throughCopy`: a node that answers by its copy of the control log of another one. */
export async function startTestServer(
  flags: Record<string, string> = {},
  deps: ServerDeps & { readonly onPostgres?: boolean; readonly throughCopy?: boolean } = {},
): Promise<TestServer> {
  const dataDir = memoryFolder();
  const onPostgres = deps.onPostgres ?? (ON_POSTGRES || deps.throughCopy === true);
  const errors: string[] = [];
  const config = readConfig(
    { dataDir, embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1', ...flags },
    onPostgres ? await storeVariables(flags['dataDir'] ?? dataDir) : {},
  );
  const log = makeLog('error', { write: (line: string) => void errors.push(line) });
  try {
    const beside = deps.throughCopy === true ? await startBeside(config, flags, deps) : undefined;
    const server = await startServer(beside?.config ?? config, { log, threads: USED_THREADS, ...deps });
    await beside?.answersByCopy(server);
    const close = async (): Promise<void> => {
      await server.close();
      await beside?.close();
      rmSync(dataDir, { recursive: true, force: true });
    };
    return { ...server, key: config.auth === 'none' ? '' : (beside?.firstKey ?? server.firstKey ?? ''), errors, close };
  } catch (error) {
    rmSync(dataDir, { recursive: true, force: true });
    throw error;
  }
}

/** Starts another node of the same store, which runs the server of the deployment: the node after it answers by its copy. */
async function startBeside(config: Config, flags: Record<string, string>, deps: ServerDeps) {
  const nodeListen = '127.0.0.1:0';
  const leaderDir = memoryFolder();
  const { dataDir: _, ...others } = flags;
  const variables = await storeVariables(config.dataDir);
  const all = { embedder: 'none', httpPort: '0', grpcPort: '0', shards: '2', workers: '1', nodeListen, ...others };
  const leader = await startServer(readConfig({ ...all, dataDir: leaderDir }, variables), {
    log: makeLog('silent'),
    threads: USED_THREADS,
    ...deps,
  });
  return {
    config: readConfig({ ...all, dataDir: config.dataDir }, variables),
    firstKey: leader.firstKey,
    answersByCopy: (server: RunningServer) =>
      eventually('the node answers by its copy', async () => {
        const response = await fetch(`${server.http}/metrics`, {
          headers: leader.firstKey === undefined ? {} : { authorization: `Bearer ${leader.firstKey}` },
        });
        return /^granary_control_copy_up 1$/m.test(await response.text());
      }),
    close: async () => {
      await leader.close();
      rmSync(leaderDir, { recursive: true, force: true });
    },
  };
}
