// A chat over a real connection, on both listeners: a client that stops reading bounds what the model sends, and one that goes away ends
// the model's work.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { MODEL_RESPONSE_BYTES_MAX } from '../src/engine/base/limits.ts';
import { HttpClient } from './conformance/http-client.ts';
import { eventually } from './support/eventually.ts';
import { startOpenAi } from './support/models/openai.ts';
import type { ModelServer } from './support/models/server.ts';
import { startTestServer, type TestServer } from './support/server.ts';

/** An answer in single characters, of which each becomes an event; together more than the server reads of an answer. */
const PIECES: readonly string[] = Array.from({ length: 250_000 }, () => 'a');
const LOOK_MS = 100;
/** So often in a row the model has sent nothing more. */
const STILL_LOOKS = 5;

for (const listener of ['uws', 'node'])
  describe(`chats over connections, ${listener}`, { concurrency: false }, () => {
    let models: ModelServer;
    let server: TestServer;
    before(async () => {
      models = await startOpenAi(() => ({ text: PIECES }));
      server = await startTestServer({ http: listener, modelUrl: models.url, model: 'scripted' });
    });
    after(async () => {
      await server.close();
      await models.close();
    });

    /** Sends the request and takes the first bytes of the answer, then nothing more. */
    async function asked(): Promise<Socket> {
      const { hostname, port } = new URL(server.http);
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      const body = JSON.stringify({ messages: [{ role: 'user', content: 'Say a lot.' }], tools_enabled: false });
      const head = [
        'POST /api/memories/default/chat/stream HTTP/1.1',
        `host: ${hostname}:${port}`,
        `authorization: Bearer ${server.key}`,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
      const [first] = (await once(socket, 'data')) as [Buffer];
      socket.pause();
      assert.match(first.toString('latin1'), /^HTTP\/1\.1 200/);
      return socket;
    }

    test('a client that stops reading bounds the model, and its end is the end of the call', async () => {
      const socket = await asked();
      const seen = await models.chat(1);
      let last = -1;
      let still = 0;
      await eventually('the model waits', async () => {
        await delay(LOOK_MS);
        still = seen.sentBytes === last && last > 0 ? still + 1 : 0;
        last = seen.sentBytes;
        return still >= STILL_LOOKS;
      });
      // The model waits, or has reached the bound of an answer, depending on how much the connection's buffers took.
      assert.notEqual(seen.ended, 'whole');
      assert.ok(seen.sentBytes < 2 * MODEL_RESPONSE_BYTES_MAX);
      const http = new HttpClient(server.http, server.key);
      // 503 while its shards answer late.
      await eventually('the server answers others', async () => (await http.ask('GET', '/health')).status === 200);
      socket.destroy();
      await seen.gone;
      assert.equal(seen.ended, 'gone');
      await eventually('the entry of the turn', async () => {
        const { entries } = await http.get('/memories/default/audit?event_type=chat.turn');
        return entries.some(({ details }: { details: { ended: string } }) => /^(?:gone|LLM-E002)$/.test(details.ended));
      });
      assert.deepEqual(server.errors, []);
    });
  });
