import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Resolve } from '../outgoing/addresses.ts';
import { type Delivery, retryAfterMs, Sender, verdictOf } from './sender.ts';

const NOW_MS = 1_750_000_000_000;
const LOOPBACK_TOO = { privateToo: false, loopbackToo: true };

/** A receiver on loopback. */
async function receiver(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`; // it listens on a port
}

function senderOf(t: TestContext, rule = LOOPBACK_TOO, resolve?: Resolve, timeoutMs?: number): Sender {
  const sender = new Sender({ rule, nowMs: () => NOW_MS, resolve, timeoutMs });
  t.after(() => sender.close());
  return sender;
}

function delivery(url: string, more: Partial<Delivery> = {}): Delivery {
  const ids = { memoryId: 'm', hookId: 'hook_a', deliveryId: 'hook_a.7' };
  return { url, ...ids, kind: 'grain_created', attempt: 2, body: '{"sequence":7}', ...more };
}

/** HMAC-SHA256 by Web Crypto, as a receiver may have it. */
async function hmac(secret: string, text: string): Promise<string> {
  const encoder = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign']);
  return Buffer.from(await crypto.subtle.sign('HMAC', key, encoder.encode(text))).toString('hex');
}

test('a delivery is a signed POST of the payload', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ headers: NodeJS.Dict<string | string[]>; body: string }>();
  const url = await receiver(t, (request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      resolve({ headers: request.headers, body: `${request.method} ${request.url} ${body}` });
      response.end('thank you');
    });
  });
  const verdict = await senderOf(t).send(delivery(url, { secret: 'whsec_1' }));
  assert.deepEqual(verdict, { outcome: 'delivered' });
  const { headers, body } = await promise;
  assert.equal(body, 'POST /hook {"sequence":7}');
  assert.equal(headers['content-type'], 'application/json');
  assert.match(String(headers['user-agent']), /^Granary\//);
  assert.deepEqual(
    ['x-memory-event', 'x-memory-delivery', 'x-memory-hook', 'x-memory-attempt'].map((name) => headers[name]),
    ['grain_created', 'hook_a.7', 'hook_a', '2'],
  );
  const seconds = NOW_MS / 1000;
  assert.equal(headers['x-memory-signature'], `t=${seconds},v1=${await hmac('whsec_1', `${seconds}.{"sequence":7}`)}`);
});

test('an answer of any length decides by its status, and redirects are not followed', async (t) => {
  let asked = 0;
  const url = await receiver(t, (request, response) => {
    asked += 1;
    request.resume();
    if (request.url === '/redirect') {
      response.writeHead(302, { location: '/hook' }).end();
      return;
    }
    // Endless, as far as this side is concerned.
    const write = (): void => {
      while (response.write(Buffer.alloc(65_536)));
      response.once('drain', write);
    };
    write();
  });
  const sender = senderOf(t);
  assert.deepEqual(await sender.send(delivery(url)), { outcome: 'delivered' });
  assert.deepEqual(await sender.send(delivery(new URL('/redirect', url).href)), {
    outcome: 'refused',
    reason: 'it answered 302',
  });
  assert.equal(asked, 2);
});

test('a connection that is reset or refused is tried again, and its reason names no address', async (t) => {
  const reset = await receiver(t, (request) => request.socket.destroy());
  const sender = senderOf(t);
  for (const url of [reset, 'http://127.0.0.1:1/']) {
    const verdict = await sender.send(delivery(url));
    assert.ok(verdict.outcome === 'retry' && !verdict.reason.includes('127.0.0.1'), JSON.stringify(verdict));
  }
});

test('no answer in time is tried again, whether it never comes, comes late or comes a byte at a time', async (t) => {
  const late = Promise.withResolvers<void>();
  const url = await receiver(t, ({ url: path, socket }, response) => {
    if (path === '/late') void late.promise.then(() => response.end());
    if (path !== '/slow') return;
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x-more: 1\r\n'), 20);
    socket.once('close', () => clearInterval(timer));
  });
  const sender = senderOf(t, LOOPBACK_TOO, undefined, 400);
  const verdicts = ['/never', '/late', '/slow'].map((path) => sender.send(delivery(new URL(path, url).href)));
  for (const verdict of await Promise.all(verdicts))
    assert.deepEqual(verdict, { outcome: 'retry', reason: 'no answer within 0.4 seconds' });
  late.resolve();
  // A late answer does not count for the next event, which has a connection of its own.
  assert.equal((await sender.send(delivery(new URL('/never', url).href))).outcome, 'retry');
});

test('a name that moves to a private address between check and connection is not reached', async (t) => {
  let asked = 0;
  const url = new URL(
    await receiver(t, (_, response) => {
      asked += 1;
      response.end();
    }),
  );
  url.hostname = 'rebinding.example';
  const resolve: Resolve = (_, answer) => answer(null, [{ address: '127.0.0.1', family: 4 }]);
  const guarded = senderOf(t, { privateToo: false, loopbackToo: false }, resolve);
  const verdict = await guarded.send(delivery(url.href));
  assert.deepEqual(verdict, {
    outcome: 'retry',
    reason: 'rebinding.example has an address that webhooks may not reach',
  });
  assert.equal(asked, 0);
  // The name alone is no reason: where loopback is allowed, it is reached by the address that was checked.
  assert.deepEqual(await senderOf(t, LOOPBACK_TOO, resolve).send(delivery(url.href)), { outcome: 'delivered' });
  const literal = await guarded.send(delivery('http://127.0.0.1:9/'));
  assert.equal(literal.outcome, 'retry');
});

test('a sender that closes aborts what is under way', async (t) => {
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const url = await receiver(t, () => resolve());
  const sender = senderOf(t);
  const sending = sender.send(delivery(url));
  await arrived;
  await sender.close();
  assert.deepEqual(await sending, { outcome: 'stopped' });
});

test('a status says whether an event is tried again', () => {
  const outcome = (status: number) => verdictOf(status, undefined, NOW_MS).outcome;
  for (const status of [200, 201, 204, 299]) assert.equal(outcome(status), 'delivered', String(status));
  for (const status of [408, 425, 429, 500, 502, 503, 504, 599]) assert.equal(outcome(status), 'retry', String(status));
  for (const status of [301, 302, 307, 400, 401, 403, 404, 422])
    assert.equal(outcome(status), 'refused', String(status));
  assert.equal(outcome(410), 'gone');
});

test('a receiver may ask for a wait of up to an hour', () => {
  assert.equal(retryAfterMs('120', NOW_MS), 120_000);
  assert.equal(retryAfterMs('999999', NOW_MS), 3_600_000);
  assert.equal(retryAfterMs(new Date(NOW_MS + 5_000).toUTCString(), NOW_MS), 5_000);
  assert.equal(retryAfterMs(new Date(NOW_MS - 5_000).toUTCString(), NOW_MS), 0);
  for (const value of [undefined, '', 'soon', '-5', ['1', '2']]) assert.equal(retryAfterMs(value, NOW_MS), undefined);
});
