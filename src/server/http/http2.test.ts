// HTTP over HTTP/2 on a port shared with gRPC: peers that send or read too slowly.
import assert from 'node:assert/strict';
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';
import { createServer } from 'node:net';
import { after, test } from 'node:test';
import { listenGrpc } from '../grpc/node/front.ts';
import { answerOf, closeAll, echo, openSession, startFrontOn, toBeClosed } from '../grpc/testing/front.ts';
import { type HttpHandler, RequestAborted } from './listener.ts';

after(closeAll);

/** A connection to a front with `handler` and short timeouts. */
async function connected(handler: HttpHandler): Promise<{ session: ClientHttp2Session; reported: unknown[] }> {
  const reported: unknown[] = [];
  const onError = (error: unknown): void => void reported.push(error);
  const front = await startFrontOn(listenGrpc)(echo, { otherwise: handler, onError, bodyTimeoutMs: 50 });
  const server = toBeClosed(createServer((socket) => front.inject(socket)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { session: await openSession(address.port), reported };
}

function post(session: ClientHttp2Session): ClientHttp2Stream {
  return session.request({ ':method': 'POST', ':path': '/', 'content-type': 'application/json' });
}

test('an incomplete body is 408, and its connection continues', async () => {
  const asked: Promise<Uint8Array>[] = [];
  const { session, reported } = await connected(async (request) => {
    const body = request.body(1_000);
    asked.push(body);
    request.respond(200, [], await body.catch(() => 'too late'));
  });
  const stalled = post(session);
  const answer = answerOf(stalled);
  stalled.write('{"a":');
  const { headers, data } = await answer;
  assert.equal(headers[':status'], 408);
  const { error } = JSON.parse(String(data)) as { error: Record<string, unknown> }; // an error of the contract
  assert.deepEqual([error['code'], error['request_id']], ['SYS-E005', headers['x-request-id']]);
  await assert.rejects(asked[0]!, RequestAborted);

  const whole = post(session);
  const second = answerOf(whole);
  whole.end('{}');
  assert.equal(String((await second).data), '{}');
  assert.deepEqual(reported, []);
});

test('a peer that does not read its answer is disconnected', async () => {
  const { session } = await connected((request) => request.respond(200, [], Buffer.alloc(8 << 20)));
  const stream = session.request({ ':path': '/' });
  const closed = new Promise<number>((resolve) => stream.on('close', () => resolve(stream.rstCode ?? 0)));
  stream.on('error', () => undefined);
  // Nothing reads it.
  stream.pause();
  stream.end();
  assert.equal(await closed, constants.NGHTTP2_CANCEL);
});
