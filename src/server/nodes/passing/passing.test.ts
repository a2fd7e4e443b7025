// Requests that one node passes on to another: both sides, joined by messages that are delivered one turn later.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import {
  ANSWER_SHARED_BYTES_MIN,
  LOST_REPEATS_MAX,
  PASS_RETRY_MS,
  PASSED_PIECE_BYTES,
  UPLOAD_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import type { Channel, ChannelSend } from '../../../shards/nodes/link/channel.ts';
import { answerBudget, ByteBudget, requestBudget } from '../../byte-budget.ts';
import type { GrpcCall } from '../../grpc/front.ts';
import { fakeRequest } from '../../http/fake-request.ts';
import { type HttpRequest, RequestAborted } from '../../http/listener.ts';
import type { PassedOn } from '../../http.ts';
import { readPassed } from './messages.ts';
import { PassedRequests } from './passed-requests.ts';
import { type Handlers, Passer } from './passer.ts';

const UNEXPECTED: Handlers = {
  requests: requestBudget(64),
  http: () => Promise.reject(new Error('no request of HTTP was expected')),
  grpc: () => Promise.reject(new Error('no call of gRPC was expected')),
};

const on = (request: HttpRequest, taken?: Promise<Uint8Array>, isKnownPage = false): PassedOn => ({
  isKnownPage,
  request,
  taken,
  always: [['vary', 'origin']],
  answers: answerBudget(64),
  mayRepeat: false,
});

function setUp(handlers: Partial<Handlers> | undefined, own?: () => Handlers | undefined) {
  const errors: unknown[] = [];
  const owner = new PassedRequests({ error: (fields: unknown) => void errors.push(fields) } as never); // only errors are logged
  if (handlers !== undefined) owner.serve({ ...UNEXPECTED, ...handlers });
  const passer = new Passer({ own: own ?? (() => undefined), waitMs: 1_000 });
  let most = 0;
  let opened = 0;
  const link: { near?: Channel; far?: Channel } = {};
  const deliver =
    (to: 'near' | 'far'): ChannelSend =>
    (kind, ...parts) => {
      const bytes = Buffer.concat(parts);
      most = Math.max(most, bytes.length);
      if (readPassed(bytes)?.kind === 'open') opened += 1;
      setImmediate(() => link[to]?.receive(kind, bytes));
    };
  const target = passer.target();
  const join = (): void => {
    link.far = owner.open(deliver('near'));
    link.near = target.open(deliver('far'));
  };
  const cut = (): void => {
    const { near, far } = link;
    link.near = undefined as never;
    link.far = undefined as never;
    near?.ended();
    far?.ended();
  };
  return { owner, passer, join, cut, errors, most: () => most, opened: () => opened };
}

test('a request goes to the owner with its headers and address, and its answer comes back', async () => {
  let seen: HttpRequest | undefined;
  const { passer, join, most } = setUp({
    http: async (request) => {
      seen = request;
      const bytes = await request.body(UPLOAD_BYTES_MAX);
      request.respond(201, [['x-a', 'b']], Buffer.from(bytes).reverse());
    },
  });
  join();
  const body = Buffer.alloc(3 * PASSED_PIECE_BYTES + 5, 'abcdefg');
  const request = { ...fakeRequest({ path: '/x%20y', headers: { host: 'h', 'x-two': '1' }, body }), query: 'q=1' };
  const asked = { ...request, headerList: ['Host', 'h', 'X-Two', '1', 'x-two', '2'] };
  let answered: { status: number; headers: unknown; body: Buffer } | undefined;
  asked.respond = (status, headers, sent = '') => {
    answered = { status, headers, body: Buffer.from(sent as Uint8Array) };
  };
  await passer.http(on(asked));
  assert.deepEqual([answered?.status, answered?.headers], [201, [['x-a', 'b']]]);
  assert.deepEqual(answered?.body, Buffer.from(body).reverse());
  assert.deepEqual(
    [seen?.method, seen?.path, seen?.query, seen?.authority, seen?.remoteAddress],
    ['POST', '/x%20y', 'q=1', 'h', '127.0.0.1'],
  );
  assert.equal(seen?.joined('x-two'), '1, 2');
  assert.throws(() => seen?.only('x-two'), { code: 'VAL-E001' });
  assert.ok(most() <= PASSED_PIECE_BYTES + 16, 'long bodies go in pieces');
});

test('a body is asked for once the owner admits the caller, and one that is too long is refused there', async () => {
  let reads = 0;
  const { passer, join } = setUp({
    http: async (request) => {
      if (request.path === '/no') return request.respond(401, []);
      await request.body(4).then(
        () => request.respond(200, []),
        (error: unknown) => request.respond(413, [], String((error as EngineError).code)),
      );
    },
  });
  join();
  for (const [path, status, count] of [
    ['/no', 401, 0],
    ['/long', 413, 1],
  ] as const) {
    const request = fakeRequest({ path, body: 'too long' });
    const read = request.body.bind(request);
    request.body = (max) => {
      reads += 1;
      return read(max);
    };
    await passer.http(on(request));
    assert.deepEqual([request.response?.status, reads], [status, count]);
  }
  // One that this node has read before counts by what the owner allows.
  const request = fakeRequest({ path: '/long' });
  await passer.http(on(request, Promise.resolve(Buffer.from('too long'))));
  assert.deepEqual([request.response?.status, String(request.response?.body)], [413, 'LIM-E003']);
});

/** A request whose stream is read as fast as `take` is called. */
function streamed(t: TestContext) {
  const gone = new AbortController();
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  const state = { isEnded: false, isCut: false };
  const request: HttpRequest = {
    ...fakeRequest({}),
    aborted: gone.signal,
    cut: () => {
      state.isCut = true;
    },
    stream: () => ({
      unreportedBytes: 0,
      write: (chunk) => {
        written.push(Buffer.from(chunk as Uint8Array).toString());
        return new Promise((resolve) => waiting.push(resolve));
      },
      end: () => {
        state.isEnded = true;
      },
    }),
  };
  t.after(() => gone.abort());
  return { request, written, state, leave: () => gone.abort(), take: () => waiting.shift()?.() };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test('a stream goes as fast as its caller reads, and ends with its caller', async (t) => {
  let sent = 0;
  let isAborted = false;
  const { passer, join } = setUp({
    http: async (request) => {
      request.aborted.addEventListener('abort', () => {
        isAborted = true;
      });
      const stream = request.stream(200, [['content-type', 'text/event-stream']]);
      while (!request.aborted.aborted) {
        await stream.write(`event ${sent}`);
        sent += 1;
      }
    },
  });
  join();
  const { request, written, take, leave } = streamed(t);
  const passing = passer.http(on(request));
  await turns();
  assert.deepEqual([sent, written], [0, ['event 0']]);
  take();
  await turns();
  assert.deepEqual([sent, written.length], [1, 2]);
  leave();
  await passing;
  await turns();
  assert.equal(isAborted, true);
});

test('a request that was not run waits for the next owner, and one that may have run is refused', async (t) => {
  let served: Handlers | undefined;
  const { owner, passer, join, cut, opened } = setUp(undefined, () => served);
  const early = fakeRequest({});
  const passing = passer.http(on(early));
  await turns();
  assert.equal(early.response?.status, undefined);
  join();
  await turns();
  assert.equal(early.response?.status, undefined, 'the other node does not run the server yet');
  await eventually('it is asked', () => opened() > 0);
  await new Promise((resolve) => setTimeout(resolve, 3 * PASS_RETRY_MS));
  assert.equal(opened(), 1, 'not again, before it says that it does');
  owner.serve({ ...UNEXPECTED, http: (request) => request.respond(200, []) });
  await passing;
  assert.equal(early.response?.status, 200);

  owner.serve({ ...UNEXPECTED, http: () => new Promise(() => undefined) });
  const late = fakeRequest({});
  const streaming = streamed(t);
  const both = [passer.http(on(late))];
  await turns();
  owner.serve({
    ...UNEXPECTED,
    http: (request) =>
      void request
        .stream(200, [])
        .write('x')
        .catch(() => undefined),
  });
  both.push(passer.http(on(streaming.request)));
  await turns();
  cut();
  await Promise.all(both);
  assert.equal(late.response?.status, 503);
  assert.match(String(late.response?.body), /STO-E002.*may or may not have run/);
  assert.equal(streaming.state.isCut, true, 'an answer that has begun is cut off');

  // This node runs the server itself.
  served = { ...UNEXPECTED, http: async (request) => request.respond(200, [], await request.body(100)) };
  const own = fakeRequest({});
  await passer.http(on(own, Promise.resolve(Buffer.from('read before'))));
  assert.equal(String(own.response?.body), 'read before');
});

test('a request whose connection broke is passed on again if it can do no harm, with the same body, a few times', async () => {
  const seen: string[] = [];
  const { passer, join, cut, opened } = setUp({
    http: async (request) => {
      seen.push(Buffer.from(await request.body(100)).toString());
      if (seen.length === 3) request.respond(200, [], 'done');
    },
    grpc: async ({ bytes }) => {
      seen.push(Buffer.from(bytes).toString());
      return seen.length === 3 ? { bytes: Buffer.from('done') } : new Promise(() => undefined);
    },
  });
  join();
  const breakAt = async (times: number): Promise<void> => {
    await eventually('it has run again', () => seen.length === times);
    cut();
    join();
  };
  const request = fakeRequest({ body: 'once' });
  let reads = 0;
  const read = request.body.bind(request);
  request.body = (max) => {
    reads += 1;
    return read(max);
  };
  const passing = passer.http({ ...on(request), mayRepeat: true });
  await breakAt(1);
  await breakAt(2);
  await passing;
  assert.deepEqual([request.response?.status, String(request.response?.body)], [200, 'done']);
  assert.deepEqual([seen, reads, passer.count], [['once', 'once', 'once'], 1, 1]);

  seen.length = 0;
  const calling = passer.grpc(grpcCall('Get', Buffer.from('call')), true);
  await breakAt(1);
  await breakAt(2);
  assert.deepEqual(await calling, { bytes: Buffer.from('done'), headers: {} });

  // It is never answered, and given up.
  const before = opened();
  const endless = fakeRequest({ body: 'again' });
  const giving = passer.http({ ...on(endless), mayRepeat: true });
  for (let time = 1; time <= 1 + LOST_REPEATS_MAX; time++) await breakAt(3 + time);
  await giving;
  assert.equal(opened() - before, 1 + LOST_REPEATS_MAX);
  assert.equal(endless.response?.status, 503);
  assert.match(String(endless.response?.body), /STO-E002.*may or may not have run/);
});

test('an owner that ends answers what it has, and takes no more', async () => {
  let finish: () => void = () => undefined;
  const { owner, passer, join } = setUp({
    http: async (request) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      request.respond(200, []);
    },
  });
  join();
  const first = fakeRequest({});
  const passing = passer.http(on(first));
  await turns();
  let isDrained = false;
  const draining = owner.drain(60_000).then(() => {
    isDrained = true;
  });
  const second = fakeRequest({});
  const waiting = passer.http(on(second));
  await turns();
  assert.equal(isDrained, false);
  finish();
  await Promise.all([passing, draining]);
  assert.equal(first.response?.status, 200);
  await waiting;
  assert.equal(second.response?.status, 503, 'nobody came in time');
  assert.match(String(second.response?.body), /no node runs the server/);
  assert.deepEqual(
    second.response?.headers.find(([name]) => name === 'vary'),
    ['vary', 'origin'],
    'as in each answer',
  );
});

test('a connection to a former owner that opens again takes no request', async () => {
  const passer = new Passer({ own: () => undefined, waitMs: 1_000 });
  const owner = new PassedRequests({ error: () => undefined } as never); // nothing is logged
  owner.serve({ ...UNEXPECTED, http: (request) => request.respond(200, []) });
  const former = passer.target();
  const ended = former.open(() => undefined);
  void former.leave(1_000);
  const present = passer.target();
  const far = owner.open((kind, ...parts) => setImmediate(() => near.receive(kind, Buffer.concat(parts))));
  const near = present.open((kind, ...parts) => setImmediate(() => far.receive(kind, Buffer.concat(parts))));
  // It breaks, opens again before it is closed for good, and ends.
  ended.ended();
  const again = former.open(() => assert.fail('nothing is sent to a former owner'));
  const during = fakeRequest({});
  await passer.http(on(during));
  assert.equal(during.response?.status, 200);
  again.ended();
  const after = fakeRequest({});
  await passer.http(on(after));
  assert.equal(after.response?.status, 200, 'the connection to the present one is known still');
});

test('a bug in the owner is a bare error for the caller, and a line of its log', async () => {
  const { passer, join, errors } = setUp({ http: () => Promise.reject(new Error('a bug')) });
  join();
  const request = fakeRequest({});
  await passer.http(on(request));
  assert.deepEqual([request.response?.status, errors.length], [500, 1]);
});

function grpcCall(method: string, bytes: Buffer, deadlineMs?: number): GrpcCall {
  return {
    service: 's',
    method,
    bytes,
    deadlineMs,
    remoteAddress: '1.2.3.4',
    aborted: new AbortController().signal,
    identity: undefined,
    headerList: ['authorization', 'Bearer k', 'x-bin', 'AA'],
    header: () => undefined,
    only: () => undefined,
    joined: () => undefined,
  };
}

test('a bug in a call of gRPC is an error for its caller, and no empty answer', async () => {
  const { passer, join, errors } = setUp({ grpc: () => Promise.reject(new Error('a bug')) });
  join();
  const answer = await passer.grpc(grpcCall('Add', Buffer.from('abc')), false);
  assert.ok('error' in answer && answer.error.code === 'SYS-E001', JSON.stringify(answer));
  assert.equal(errors.length, 1);
});

test('a call of gRPC takes its metadata, deadline and bytes along, and brings answer or error back', async () => {
  let seen: GrpcCall | undefined;
  const { passer, join } = setUp({
    grpc: async (call) => {
      seen = call;
      if (call.method === 'Get') return { error: new EngineError('MEM-E001'), headers: { 'x-request-id': 'r' } };
      return { bytes: Buffer.from(call.bytes).reverse(), headers: { 'x-warnings': 'w' } };
    },
  });
  join();
  const bytes = Buffer.alloc(PASSED_PIECE_BYTES + 3, 'xyz');
  const deadlineMs = performance.timeOrigin + performance.now() + 5_000;
  const call = (method: string): GrpcCall => grpcCall(method, bytes, deadlineMs);
  const answer = await passer.grpc(call('Add'), false);
  assert.deepEqual(answer, { bytes: Buffer.from(bytes).reverse(), headers: { 'x-warnings': 'w' } });
  assert.deepEqual(
    [seen?.only('authorization'), seen?.remoteAddress, seen?.header('x-bin')],
    ['Bearer k', '1.2.3.4', undefined],
  );
  assert.ok(Math.abs((seen?.deadlineMs ?? 0) - deadlineMs) < 1_000);
  const refused = await passer.grpc(call('Get'), false);
  assert.ok('error' in refused && refused.error.code === 'MEM-E001' && refused.headers?.['x-request-id'] === 'r');
});

test('bodies of other nodes count in the budget of the owner until their requests are handled', async () => {
  const requests = new ByteBudget({ bytesMax: 3 * PASSED_PIECE_BYTES, message: 'too many bytes' });
  const going: (() => void)[] = [];
  const { passer, join } = setUp({
    requests,
    http: async (request) => {
      const bytes = await request.body(UPLOAD_BYTES_MAX).catch((error: unknown) => error as EngineError);
      if (bytes instanceof EngineError) return request.respond(429, [], bytes.code);
      await new Promise<void>((resolve) => going.push(resolve));
      request.respond(200, [], String(bytes.length));
    },
    grpc: () => Promise.reject(new Error('a call without room is refused before')),
  });
  join();
  const body = Buffer.alloc(2 * PASSED_PIECE_BYTES, 'x');
  const first = fakeRequest({ body });
  const passing = passer.http(on(first));
  await eventually('the first body is there', () => going.length === 1);
  assert.equal(requests.heldBytes, body.length);
  const second = fakeRequest({ body });
  await passer.http(on(second));
  assert.deepEqual([second.response?.status, String(second.response?.body)], [429, 'LIM-E001']);
  const refused = await passer.grpc(grpcCall('Add', body), false);
  assert.ok('error' in refused && refused.error.code === 'LIM-E001', JSON.stringify(refused));
  assert.equal(requests.heldBytes, body.length);
  going[0]!();
  await passing;
  assert.deepEqual([first.response?.status, String(first.response?.body)], [200, String(body.length)]);
  await turns();
  assert.equal(requests.heldBytes, 0);
});

test('a long answer counts in the budget of the passing node until its caller has read it', async (t) => {
  const long = 4 * ANSWER_SHARED_BYTES_MIN;
  const answers = new ByteBudget({ bytesMax: 2 * long, message: 'too many bytes', spareMs: 60_000 });
  const { passer, join } = setUp({
    http: async (request) => {
      if (request.path !== '/stream') return request.respond(200, [], Buffer.alloc(long));
      const stream = request.stream(200, []);
      await stream.write(Buffer.alloc(10));
    },
  });
  join();
  const asked = (path = '/') => {
    const state = { isCut: false, read: (): void => undefined, ...streamed(t) };
    const request: HttpRequest = {
      ...fakeRequest({ path }),
      aborted: state.request.aborted,
      stream: state.request.stream,
      respond: (status) => void Object.assign(state, { status }),
      whenOver: (over) => void Object.assign(state, { read: over }),
      cut: () => void Object.assign(state, { isCut: true }),
    };
    return {
      state: state as typeof state & { readonly status?: number },
      passing: passer.http({ ...on(request), answers }),
    };
  };
  const slow = asked();
  await slow.passing;
  assert.deepEqual([slow.state.status, answers.heldBytes], [200, long]);
  const quick = asked();
  await quick.passing;
  quick.state.read();
  assert.equal(answers.heldBytes, long);
  await asked().passing;
  const refused = asked();
  await refused.passing;
  assert.equal(refused.state.status, 429, 'there is no room, and the others are too young to be cut off');
  slow.state.read();
  const stream = asked('/stream');
  await turns();
  assert.equal(answers.heldBytes, long + 10);
  stream.state.take();
  await turns();
  assert.equal(answers.heldBytes, long);
});

test('what the caller leaves is over for both nodes', async () => {
  let isAborted = false;
  const { passer, join } = setUp({
    http: (request) =>
      new Promise((_, reject) => {
        request.aborted.addEventListener('abort', () => {
          isAborted = true;
          reject(new RequestAborted());
        });
      }),
  });
  join();
  const gone = new AbortController();
  const request: HttpRequest = { ...fakeRequest({}), aborted: gone.signal };
  const passing = passer.http(on(request));
  await turns();
  gone.abort();
  await passing;
  await turns();
  assert.equal(isAborted, true);
});
