// The client against servers that fail: retries, timeouts, aborts, broken streams, and events after a kill.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ConnectionError, Granary, LimitError, ServerError, TimeoutError } from '../../src/client/index.ts';
import { FrameReader } from '../../src/client/sse.ts';
import { backoffMs } from '../../src/client/wait.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer } from '../support/server.ts';
import { temporaryDirectory } from '../support/temporary.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A server that gives these answers, one after the other; the last one for the rest. */
async function scripted(t: TestContext, answers: readonly Answer[]) {
  const requests: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)]!;
    requests.push({ ...request.headers, ':path': request.url ?? '' });
    request.resume().on('end', () => answer(response, request));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const client = new Granary({ url: `http://127.0.0.1:${port}/`, apiKey: 'k', timeoutMs: 2_000 });
  return { client, memory: client.memory('m'), requests };
}

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const busy = json(
  503,
  { error: { code: 'STO-E002', message: 'busy', details: [], request_id: 'req_1' } },
  { 'retry-after': '0' },
);
const ADDED = json(200, { blob_hash: 'a'.repeat(64), status: 'added' });

test('a call is tried again after 503 and a lost connection, a change with one key', async (t) => {
  const { memory, requests } = await scripted(t, [busy, (response) => response.destroy(), ADDED]);
  await memory.add({ type: 'event', content: 'x' });
  assert.equal(requests.length, 3);
  const keys = new Set(requests.map((headers) => headers['idempotency-key']));
  assert.equal(keys.size, 1);
  assert.match([...keys][0] as string, /^[0-9a-f-]{36}$/);
  await memory.add({ type: 'event', content: 'y' });
  assert.notEqual(requests[3]?.['idempotency-key'], requests[0]?.['idempotency-key']);
});

test('retries end, wait as long as Retry-After says, and are made only where they help', async (t) => {
  const { memory, requests } = await scripted(t, [busy]);
  await assert.rejects(
    memory.recall('x', {}, { retries: 1 }),
    (error) => error instanceof ServerError && error.retryable,
  );
  assert.equal(requests.length, 2);
  const refused = await scripted(t, [json(400, { error: { code: 'VAL-E001', message: 'no' } })]);
  await assert.rejects(refused.memory.recall('x'), /no/);
  assert.equal(refused.requests.length, 1);
  const limited = json(429, { error: { code: 'LIM-E001', message: 'slow' } }, { 'retry-after': '1' });
  const slow = await scripted(t, [limited, json(200, { results: [] })]);
  const before = performance.now();
  await slow.memory.recall('x');
  assert.ok(performance.now() - before >= 990);
  const asked = await scripted(t, [limited]);
  await assert.rejects(asked.memory.recall('x', {}, { retries: 0 }), (error) => {
    assert.ok(error instanceof LimitError);
    assert.equal(error.retryAfterMs, 1_000);
    return true;
  });
  const query = await scripted(t, [json(429, { error: { code: 'CAL-E030', message: 'too much' } })]);
  await assert.rejects(query.memory.operations.cal({ query: 'x' }), /too much/);
  assert.equal(query.requests.length, 1);
  const proxy = await scripted(t, [(response) => response.writeHead(502).end('<html>')]);
  await assert.rejects(
    proxy.memory.recall('x', {}, { retries: 0 }),
    (error) => error instanceof ServerError && error.code === 'HTTP-502',
  );
});

test('the error of a server that is unavailable has its reasons', async (t) => {
  const reasons = ['the disk of the data directory is nearly full', 'shard 0: writes are refused'];
  const { client } = await scripted(t, [json(503, { status: 'unavailable', version: '0.1.0', reasons })]);
  await assert.rejects(client.operations.health({}, { retries: 0 }), (error) => {
    assert.ok(error instanceof ServerError);
    assert.equal(error.message, `the server answered 503: ${reasons.join('; ')}`);
    return true;
  });
});

test('a call with a time beyond the longest timer waits for its answer', async (t) => {
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    const late: Answer = (response, request) => void setTimeout(() => ADDED(response, request), 50);
    const { memory } = await scripted(t, [late]);
    const { blobHash } = await memory.operations.add({ grainType: 'event', fields: { content: 'x' } }, { timeoutMs });
    assert.equal(blobHash, 'a'.repeat(64));
  }
});

test('a timeout and an abort end a call, and an abort ends the wait between tries', async (t) => {
  const silent: Answer = () => undefined;
  const timed = await scripted(t, [silent]);
  await assert.rejects(timed.memory.recall('x', {}, { timeoutMs: 50 }), TimeoutError);
  // It may have ended before its request arrived.
  assert.ok(timed.requests.length <= 1, 'it is not tried again');
  const { memory, requests } = await scripted(t, [silent]);
  const stopper = new AbortController();
  const stopped = assert.rejects(memory.recall('x', {}, { signal: stopper.signal }), /stopped/);
  await eventually('the request arrives', () => requests.length === 1);
  stopper.abort(new Error('stopped'));
  await stopped;
  await assert.rejects(memory.recall('x', {}, { signal: stopper.signal }), /stopped/);
  assert.equal(requests.length, 1, 'nothing is sent under a signal that has come');
  const later = json(503, {}, { 'retry-after': '30' });
  const waiting = await scripted(t, [later]);
  const before = performance.now();
  await assert.rejects(waiting.memory.recall('x', {}, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' });
  assert.ok(performance.now() - before < 10_000);
});

test('a broken answer and a broken stream are errors of the connection', async (t) => {
  const cut: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"a');
    setTimeout(() => response.destroy(), 20);
  };
  const { memory } = await scripted(t, [cut]);
  await assert.rejects(memory.recall('x', {}, { retries: 0 }), ConnectionError);
  const stream: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: text\ndata: {"delta":"a"}\n\n');
    setTimeout(() => response.destroy(), 20);
  };
  const chat = (await scripted(t, [stream])).memory;
  const seen: unknown[] = [];
  await assert.rejects(async () => {
    for await (const { data } of chat.operations.chatStream({ messages: [{ role: 'user', content: 'x' }] }))
      seen.push(data);
  }, ConnectionError);
  assert.deepEqual(seen, [{ delta: 'a' }]);
});

test('events go on with the last id, and end when the server refuses', async (t) => {
  const part =
    (...parts: readonly string[]): Answer =>
    (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(parts.join(''));
  const event = (id: number): string =>
    `id: ${id}\nevent: grain_created\ndata: {"event_type":"grain_created","sequence":${id}}\n\n`;
  const { memory, requests } = await scripted(t, [
    part('id: 4\nevent: ready\ndata: {}\n\n', event(5), 'id: 6\nevent: grain_cre'),
    busy,
    part(
      'id: 7\nevent: gap\ndata: {"reason":"expired","oldest":8}\n\n',
      event(8),
      'event: end\ndata: {"reason":"refused"}\n\n',
    ),
  ]);
  const steps = [];
  for await (const step of memory.events({ since: '0' })) steps.push(step);
  assert.deepEqual(
    steps.map((step) => (step.kind === 'event' ? step.event.sequence : step.reason)),
    [5, 'expired', 8],
  );
  assert.deepEqual(
    requests.map((headers) => [headers['last-event-id'], /since=0/.test(String(headers[':path']))]),
    [
      [undefined, true],
      ['5', false],
      ['5', false],
    ],
  );
});

test('a stream that ends without a frame is opened again after a pause', async (t) => {
  const { memory, requests } = await scripted(t, [
    (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
  ]);
  const aborting = new AbortController();
  const next = memory.events({}, { signal: aborting.signal }).next();
  await Promise.race([next, new Promise((resolve) => setTimeout(resolve, 1_000))]);
  aborting.abort();
  await assert.rejects(next);
  // The pauses double: some 200, 400 and 800 ms.
  assert.ok(requests.length <= 6, `${requests.length} requests in a second`);
});

test('a lost stream is opened again after the time that the server gave, until it gives another one', async (t) => {
  const times: number[] = [];
  const part =
    (text: string): Answer =>
    (response) => {
      times.push(performance.now());
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    };
  const { memory } = await scripted(t, [
    part('retry: 900\n\n'),
    part(': nothing\n\n'),
    part('retry: 0\n\n'),
    part('event: end\ndata: {"reason":"refused"}\n\n'),
  ]);
  for await (const step of memory.events()) assert.fail(JSON.stringify(step));
  const pauses = times.slice(1).map((at, before) => at - times[before]!);
  assert.equal(pauses.length, 3);
  assert.ok(
    pauses.slice(0, 2).every((pauseMs) => pauseMs >= 900),
    `${pauses}`,
  );
});

test('events go on after the server was ended and started again, each once', async (t) => {
  const dataDir = temporaryDirectory(t);
  const first = await startTestServer({ dataDir });
  const port = new URL(first.http).port;
  const memory = new Granary({ url: first.http, apiKey: first.key, retries: 20 }).memory('default');
  await memory.add({ type: 'event', content: 'one' });
  const events = memory.events({ since: '0', types: ['grain_created'] });
  const numbers: unknown[] = [];
  const take = async (): Promise<void> => {
    const { value } = await events.next();
    assert.ok(value?.kind === 'event');
    numbers.push(value.event.sequence);
  };
  await take();
  const next = take();
  await first.close();
  const second = await startTestServer({ dataDir, httpPort: port });
  t.after(() => second.close());
  await memory.add({ type: 'event', content: 'two' });
  await next;
  await events.return();
  assert.equal(new Set(numbers).size, 2);
});

test('frames are read across chunks, line ends and characters', () => {
  const text =
    '\ufeff: comment\r\nid: 1\r\ndata: {"a":\ndata: "ü🦆"}\r\n\r\nretry: 5\nevent: x\ndata:{}\r\rdata\n\nid: 2\n\n';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const reader = new FrameReader();
    const frames = [];
    for (let at = 0; at < bytes.length; at += size) frames.push(...reader.read(bytes.subarray(at, at + size)));
    assert.deepEqual(frames, [
      { id: '1', event: 'message', data: { a: 'ü🦆' } },
      { id: '1', event: 'x', data: {} },
      { id: '1', event: 'message', data: {} },
    ]);
    assert.equal(reader.retryMs, 5);
  }
});

test('reading a long line takes time in proportion to its length', () => {
  const piece = new TextEncoder().encode('x'.repeat(1_024));
  const cpuMs = (pieces: number): number => {
    const reader = new FrameReader();
    const before = process.cpuUsage();
    reader.read(new TextEncoder().encode('data: '));
    for (let at = 0; at < pieces; at++) reader.read(piece);
    assert.equal(reader.read(new TextEncoder().encode('\n\n')).length, 1);
    return process.cpuUsage(before).user / 1_000;
  };
  cpuMs(256);
  const [short, long] = [cpuMs(256), cpuMs(2_048)];
  assert.ok(long <= 16 * short + 100, `${short} ms, and ${long} ms for eight times as much`);
});

test('a frame that is too long ends the stream, also in many lines', () => {
  const line = new TextEncoder().encode(`data: ${'x'.repeat(1_048_576)}\n`);
  const reader = new FrameReader();
  for (let at = 0; at < 31; at++) reader.read(line);
  assert.throws(() => reader.read(line), RangeError);
  // A finished frame counts no more.
  const other = new FrameReader();
  for (let at = 0; at < 64; at++) {
    other.read(line);
    other.read(new TextEncoder().encode('\n'));
  }
});

test('tries wait longer each time, never all the same, and no less than the server asked for', () => {
  const at = (random: number) => [1, 2, 3, 10].map((attempt) => backoffMs(attempt, 0, () => random));
  assert.deepEqual(at(0), [100, 200, 400, 5_000]);
  assert.deepEqual(at(1), [200, 400, 800, 10_000]);
  assert.ok(backoffMs(1, 3_000, () => 0) >= 3_000 && backoffMs(1, 1e12, () => 1) <= 60_200);
});

test('a name that would be taken for encoded text is encoded', async (t) => {
  const { client, requests } = await scripted(t, [json(200, { results: [] })]);
  await client.memory('m', { user: "utf-8'de'zoe" }).recall('x');
  assert.equal(requests[0]?.['x-user-id'], "UTF-8''utf-8'de'zoe");
});

test('an address and parts of paths are checked before anything is sent', async (t) => {
  const { memory, requests } = await scripted(t, [json(200, {})]);
  assert.throws(() => new Granary({ url: 'nowhere' }), TypeError);
  assert.throws(() => new Granary({ url: 'http://x', apiKey: 'a\nb' }), TypeError);
  await assert.rejects(memory.get('..'), TypeError);
  await assert.rejects(memory.get(''), TypeError);
  assert.equal(requests.length, 0);
  await memory.get('a/b?c#d');
  assert.equal(requests[0]?.[':path'], '/api/memories/m/grains/a%2Fb%3Fc%23d');
});
