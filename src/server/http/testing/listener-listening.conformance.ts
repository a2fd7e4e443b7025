// Requirements for every HTTP listener's start, connection limit and end.
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { HttpRequest, Listen } from '../listener.ts';
import { SocketClient } from '../socket-client.ts';
import { echo, pattern, serveWith, signal, TEXT, TIMEOUT_MS, TLS } from './served.ts';

export function listeningConform(name: string, listen: Listen): void {
  const served = serveWith(listen);
  suite(`${name}: listening`, { timeout: TIMEOUT_MS }, () => {
    test(
      'a port in use is an error',
      served(echo, async ({ listener }) => {
        await assert.rejects(listen({ host: '127.0.0.1', port: listener.port }, echo));
      }),
    );

    test(
      'connections over the limit are closed, and a closed one makes room',
      served(
        echo,
        async ({ open }) => {
          const first = await open();
          const second = await open();
          assert.equal(String((await first.exchange('POST', '/', { body: 'a' }))?.body), 'a');
          assert.equal(String((await second.exchange('POST', '/', { body: 'b' }))?.body), 'b');
          const third = await open();
          await third.closed;
          assert.equal(String((await first.exchange('POST', '/', { body: 'c' }))?.body), 'c');
          first.close();
          let answer: string | undefined;
          while (answer === undefined)
            answer = (await (await open()).exchange('POST', '/', { body: 'd' }))?.body.toString();
          assert.equal(answer, 'd');
        },
        { connectionsMax: 2 },
      ),
    );

    test(
      'TLS behaves the same',
      served(
        echo,
        async ({ open }) => {
          const client = await open();
          const body = pattern(3 << 20);
          assert.ok((await client.exchange('POST', '/', { body }))?.body.equals(body));
          assert.equal(String((await client.exchange('POST', '/', { body: 'again' }))?.body), 'again');
        },
        { tls: TLS },
      ),
    );

    test('unreadable TLS files are rejected', async () => {
      await assert.rejects(
        listen({ host: '127.0.0.1', port: 0, tls: { ...TLS, keyFile: 'nowhere.pem' } }, echo),
        /ENOENT/,
      );
    });

    test(
      'a drain rejects new connections, closes idle ones and lets requests finish',
      served(
        async (request) => {
          inside.fire(request);
          await release.wait;
          request.respond(200, TEXT, await request.body(100));
        },
        async ({ listener, open }) => {
          const idle = await open();
          const busy = await open();
          busy.request('POST', '/', { body: 'in flight' });
          await inside.wait;
          const drained = listener.drain(30_000);
          await assert.rejects(SocketClient.open(listener.port));
          release.fire();
          assert.equal(String((await busy.response())?.body), 'in flight');
          await drained;
          await Promise.all([idle.closed, busy.closed]);
        },
      ),
    );
    const inside = signal<HttpRequest>();
    const release = signal();

    test(
      'a drain delivers the rest to a slow reader',
      served(
        async (request) => {
          const stream = request.stream(200, TEXT);
          writing.fire();
          for (let at = 0; at < 200; at++) await stream.write(pattern(100_000));
          stream.end();
        },
        async ({ listener, open }) => {
          const client = await open();
          client.request('GET', '/');
          await writing.wait;
          const drained = listener.drain(30_000);
          assert.equal((await client.response())?.body.length, 20_000_000);
          client.close();
          await Promise.all([drained, client.closed]);
        },
      ),
    );
    const writing = signal();

    test(
      'a drain ends what is unfinished at its deadline',
      served(
        async (request) => {
          working.fire();
          await new Promise((resolve) => request.aborted.addEventListener('abort', resolve));
        },
        async ({ listener, open }) => {
          const client = await open();
          client.request('GET', '/');
          await working.wait;
          await listener.drain(1);
          assert.equal(await client.response(), undefined);
        },
      ),
    );
    const working = signal();
  });
}
