// Tests of the wire beyond the suite: HTTP on both listeners, and gRPC beside one of them.
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { grpcWire } from './grpc-wire.ts';
import { guards, ORIGIN } from './guards.ts';
import { HttpClient } from './http-client.ts';
import { deploymentRoutes } from './http-deployment.ts';
import { grainRoutes } from './http-grains.ts';

for (const listener of ['uws', 'node'])
  describe(`HTTP by ${listener}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ http: listener, corsOrigins: ORIGIN });
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });
    const client = (): HttpClient => new HttpClient(server.http, server.key);
    grainRoutes(client);
    deploymentRoutes(client);
    guards(client);
    if (listener === 'uws') grpcWire(() => server);
  });
