// The server that the tests of a suite share, with a client of it. The suite runs once for each listener and number of
// partitions that it names.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import type { Fields } from './driver.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

export interface HttpSuite {
  /** Sends requests with the first key. It has an address once the suite's tests run. */
  readonly http: HttpClient;
  /** Makes a memory and returns its path. */
  readonly memory: (options?: Fields) => Promise<string>;
}

/**
 * Starts a server before the tests of the surrounding `describe`, and closes it after them. The suite fails when the
 * server logged an error.
 */
export function serveSuite(listener: 'uws' | 'node', partitions: number): HttpSuite {
  const http = new HttpClient('', '');
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ http: listener, shards: '4', workers: '1' });
    http.moveTo(server.http, server.key);
  });
  after(async () => {
    await server.close();
    assert.deepEqual(server.errors, []);
  });
  return { http, memory: async (options = {}) => `/memories/${await newMemory(http, partitions, options)}` };
}
