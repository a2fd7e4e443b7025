// One server for the tests of a file or of a `describe`: it starts before the first of them and ends after the last.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { ask, type HttpAnswer } from '../support/server-process.ts';
import { GrpcClient } from './grpc-client.ts';
import { HttpClient } from './http-client.ts';

export interface SharedServer {
  /** Clients with the first key. They have an address once the tests run. */
  readonly http: HttpClient;
  readonly grpc: GrpcClient;
  readonly server: TestServer;
  /** A request with the first key; any answer. */
  send(verb: string, path: string, json?: unknown, headers?: Readonly<Record<string, string>>): Promise<HttpAnswer>;
}

/** The surrounding suite fails when the server logged an error. */
export function shareServer(...start: Parameters<typeof startTestServer>): SharedServer {
  const http = new HttpClient('', '');
  let server: TestServer;
  let grpc: GrpcClient | undefined;
  before(async () => {
    server = await startTestServer(...start);
    http.moveTo(server.http, server.key);
  });
  after(async () => {
    grpc?.close();
    await server.close();
    assert.deepEqual(server.errors, []);
  });
  return {
    http,
    get grpc() {
      grpc ??= GrpcClient.open(server.grpc, server.key);
      return grpc;
    },
    get server() {
      return server;
    },
    send: (verb, path, json, headers) => ask(server, verb, path, json, headers),
  };
}
