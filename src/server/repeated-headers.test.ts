// Headers about identity must not repeat: a proxy may have checked one value and the server used the other.
import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../../test/support/server.ts';
import { SocketClient } from './http/socket-client.ts';

const M = '/api/memories/default';

for (const flags of [{ http: 'uws' }, { http: 'node' }, { singlePort: 'true' }] as Record<string, string>[])
  describe(`repeated headers, ${JSON.stringify(flags)}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(flags);
    });
    after(async () => {
      await server.close();
      assert.deepEqual(server.errors, []);
    });

    /** The code of an error, or the status. */
    async function outcomeOf(
      lines: readonly string[],
      path = `${M}/recall`,
      body = '{"query":"tea"}',
    ): Promise<string> {
      const client = await SocketClient.open(server.httpPort);
      client.send(
        `POST ${path} HTTP/1.1\r\n${lines.map((line) => `${line}\r\n`).join('')}Content-Length: ${body.length}\r\n\r\n${body}`,
      );
      const answer = await client.response();
      client.close();
      return /"code":"([^"]+)"/.exec(String(answer?.body))?.[1] ?? String(answer?.status);
    }

    test('over HTTP', async () => {
      const key = `Authorization: Bearer ${server.key}`;
      const plain = ['Host: localhost', key, 'Content-Type: application/json'];
      assert.equal(await outcomeOf([...plain, 'X-Namespace: a', 'X-User-Id: b']), '200');
      for (const twice of [
        ['X-Namespace: a', 'x-namespace: b'],
        ['X-Namespace: a', 'X-Namespace: a'],
        ['X-Namespace: a', 'X-Namespace:'],
        ['X-User-Id: a', 'X-USER-ID: b'],
        ['X-Purpose: storage', 'X-Purpose: other'],
        ['x-api-key: a', 'x-api-key: b'],
        [key],
        ['authorization: Bearer other'],
        ['Content-Type: text/plain'],
        ['content-type: application/json'],
      ])
        assert.equal(await outcomeOf([...plain, ...twice]), 'VAL-E001', twice.join());
      assert.equal(await outcomeOf([...plain, `X-API-Key: ${server.key}`]), '200');
      assert.equal(await outcomeOf([...plain, 'X-API-Key: another']), 'VAL-E001');
      // Headers that only name the request may repeat.
      assert.equal(
        await outcomeOf([...plain, 'X-Request-Id: a', 'X-Request-Id: b', 'X-Other: 1', 'X-Other: 2']),
        '200',
      );
    });

    test('over MCP', async () => {
      const key = `Authorization: Bearer ${server.key}`;
      const plain = [
        'Host: localhost',
        key,
        'Content-Type: application/json',
        'Accept: application/json, text/event-stream',
      ];
      const asked = (...more: string[]): Promise<string> =>
        outcomeOf([...plain, ...more], '/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
      assert.notEqual(await asked('X-Memory-Id: default'), 'VAL-E001');
      assert.equal(await asked('X-Memory-Id: default', 'x-memory-id: default'), 'VAL-E001');
      assert.equal(await asked('X-Namespace: a', 'x-namespace: a'), 'VAL-E001');
    });

    test('a repeated challenge is rejected like other headers', async () => {
      const client = await SocketClient.open(server.httpPort);
      const twice = [`X-Granary-Challenge: ${'0'.repeat(64)}`, `X-Granary-Challenge: ${'1'.repeat(64)}`];
      client.send(['GET /api/health HTTP/1.1', 'Host: localhost', ...twice, '', ''].join('\r\n'));
      const answer = await client.response();
      client.close();
      assert.equal(answer?.status, 400);
      assert.match(String(answer?.body), /"code":"VAL-E001"/);
    });

    test('over gRPC, reflection included', async () => {
      const session = connect(`http://${server.grpc}`);
      const code = (path: string, headers: readonly string[]): Promise<unknown> =>
        new Promise((resolve, reject) => {
          // A list allows repeated names.
          const stream = session.request([
            ...[':method', 'POST', ':path', path, ':scheme', 'http', ':authority', 'localhost'],
            ...['content-type', 'application/grpc', 'te', 'trailers', ...headers],
          ]);
          let found: unknown;
          const look = (given: Record<string, unknown>): void => {
            found =
              given['x-error-code'] ?? (given['grpc-status'] === undefined ? found : Number(given['grpc-status']));
          };
          stream.on('response', look).on('trailers', look).on('error', reject);
          stream.on('close', () => resolve(found)).resume();
          stream.end(Buffer.alloc(5));
        });
      // The client cannot send this one twice; it is read like the others.
      const key = ['authorization', `Bearer ${server.key}`];
      const health = '/memory.v1.MemoryService/Health';
      const recall = '/memory.v1.MemoryService/Recall';
      assert.equal(await code(health, key), 0);
      for (const path of [health, recall, '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'])
        assert.equal(await code(path, [...key, 'x-api-key', server.key, 'x-api-key', server.key]), 'VAL-E001', path);
      const challenge = ['x-granary-challenge', '0'.repeat(64)];
      assert.equal(await code(health, [...key, ...challenge, ...challenge]), 'VAL-E001');
      for (const name of ['x-memory-id', 'x-namespace', 'x-user-id', 'x-purpose', 'x-reason'])
        assert.equal(await code(recall, [...key, name, 'default', name, 'default']), 'VAL-E001', name);
      assert.equal(await code(recall, [...key, 'x-request-id', 'a', 'x-request-id', 'b', 'x-memory-id', 'default']), 0);
      session.close();
    });
  });
