// A server for the tests of a file that repeat facts: memories, texts remembered in them, and the beliefs that they hold.
// It keeps its data over a restart.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { HttpClient, type Reply } from '../conformance/http-client.ts';
import { startTestServer, type TestServer } from './server.ts';

/** How a request is sent, apart from the server's own key. */
export interface How {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Starts before the tests of the file and ends after them. */
export function factServer(text: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-facts-'));
  let server: TestServer;
  let ownKey: string;
  before(async () => {
    server = await startTestServer({ dataDir, shards: '4' });
    ownKey = server.key;
  });
  after(async () => {
    await server.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Every answer is checked against OpenAPI. */
  const send = (verb: string, path: string, json?: unknown, { key = ownKey, headers }: How = {}) => {
    const { http } = server;
    assert.ok(http !== undefined);
    const options = { ...(json === undefined ? {} : { json }), ...(headers === undefined ? {} : { headers }) };
    return new HttpClient(http, key).call(verb, path, options) as Promise<Reply['json']>;
  };

  let made = 0;
  const memory = async (options: object) => {
    made += 1;
    const id = `facts${made}`;
    await send('POST', '/memories', { id, ...options });
    const at = (verb: string, path: string, json?: unknown, how?: How) =>
      send(verb, `/memories/${id}${path}`, json, how);
    /** The event that a text became, with the answer. */
    const say = async (body: object, how?: How) => {
      const answer = await at('POST', '/remember', { text, extract_mode: 'sync', user_id: 'ada', ...body }, how);
      return { source: answer.source_hash as string, answer };
    };
    const beliefs = async (how?: How) =>
      (await at('GET', '/grains?grain_type=belief&limit=50&include_superseded=true', undefined, how)).grains;
    return { id, at, say, beliefs };
  };

  return {
    send,
    memory,
    restarted: async () => {
      await server.close();
      server = await startTestServer({ dataDir, shards: '4' });
    },
  };
}
