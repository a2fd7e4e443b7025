// The server that the tests of a suite share, with a client of it. The suite runs once for each listener and number of
// partitions that it names.
import type { Fields } from './driver.ts';
import type { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';
import { type SharedServer, shareServer } from './shared-server.ts';

export interface HttpSuite {
  readonly http: HttpClient;
  /** Makes a memory and returns its path. */
  readonly memory: (options?: Fields) => Promise<string>;
  readonly shared: SharedServer;
}

/** Shares a server of four shards among the tests of the surrounding `describe`. */
export function serveSuite(
  listener: 'uws' | 'node',
  partitions: number,
  flags: Readonly<Record<string, string>> = {},
): HttpSuite {
  const shared = shareServer({ http: listener, shards: '4', workers: '1', ...flags });
  const { http } = shared;
  return { http, memory: async (options = {}) => `/memories/${await newMemory(http, partitions, options)}`, shared };
}
