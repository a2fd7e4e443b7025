// HTTP over the wire, on both listeners.
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { HttpClient } from './http-client.ts';
import { deploymentRoutes } from './http-deployment.ts';
import { grainRoutes } from './http-grains.ts';

for (const listener of ['uws', 'node'])
  describe(`HTTP by ${listener}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer({ http: listener });
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });
    const client = (): HttpClient => new HttpClient(server.http, server.key);
    grainRoutes(client);
    deploymentRoutes(client);
  });
