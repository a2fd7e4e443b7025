// Requirements for every HTTP listener when a peer disconnects.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Listen, RequestAborted } from '../listener.ts';
import { serveWith, signal, TEXT, TIMEOUT_MS } from './served.ts';

export function peersConform(name: string, listen: Listen): void {
  const served = serveWith(listen);
  suite(`${name}: peers that disconnect`, { timeout: TIMEOUT_MS }, () => {
    test(
      'during their body: the body fails and the signal fires',
      served(
        async (request) => {
          const { aborted } = request;
          const body = request.body(1_000);
          arrived.fire();
          await assert.rejects(body, RequestAborted);
          if (!aborted.aborted) await new Promise((resolve) => aborted.addEventListener('abort', resolve));
          assert.ok(request.aborted.reason instanceof RequestAborted);
          request.respond(200, TEXT, 'to nobody');
          over.fire();
        },
        async ({ open }) => {
          const client = await open();
          client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc');
          await arrived.wait;
          client.close();
          await over.wait;
        },
      ),
    );
    const arrived = signal();
    const over = signal();

    test(
      'while a handler runs: the signal fires, and answers are dropped',
      served(
        async (request) => {
          begun.fire();
          await new Promise((resolve) => request.aborted.addEventListener('abort', resolve));
          if (request.path === '/respond') request.respond(200, TEXT, 'to nobody');
          else {
            const stream = request.stream(200, TEXT);
            await assert.rejects(stream.write('to nobody'), RequestAborted);
            stream.end();
          }
          ended.fire();
        },
        async ({ open }) => {
          for (const path of ['/respond', '/stream']) {
            [begun, ended] = [signal(), signal()];
            const client = await open();
            client.request('GET', path);
            await begun.wait;
            client.close();
            await ended.wait;
          }
        },
      ),
    );
    let begun = signal();
    let ended = signal();

    test(
      'during a streamed answer: the write rejects',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          const chunk = Buffer.alloc(100_000);
          await assert.rejects(async () => {
            for (let at = 0; at < 10_000; at++) await stream.write(chunk);
          }, RequestAborted);
          assert.ok(request.aborted.aborted);
          stopped.fire();
        },
        async ({ open }) => {
          const client = await open();
          client.request('GET', '/');
          await new Promise((resolve) => client.socket.once('data', resolve));
          client.close();
          await stopped.wait;
        },
      ),
    );
    const stopped = signal();

    test(
      'a finished request’s signal stays silent',
      served(
        async (request) => {
          request.respond(200, TEXT, 'done');
          signals.push(request.aborted);
        },
        async ({ open }) => {
          const client = await open();
          await client.exchange('GET', '/');
          client.close();
          await (await open()).exchange('GET', '/');
          assert.deepEqual(
            signals.map(({ aborted }) => aborted),
            [false, false],
          );
        },
      ),
    );
    const signals: AbortSignal[] = [];
  });
}
