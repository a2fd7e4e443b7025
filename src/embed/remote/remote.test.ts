import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { EMBED_ATTEMPTS_MAX, EMBED_RESPONSE_BYTES_MAX, EMBED_TEXT_CHARS_MAX } from '../../engine/base/limits.ts';
import { type Embedder, EmbedError } from '../embedder.ts';
import { openRemoteEmbedder, type RemoteOptions } from './remote.ts';

const KEY = 'sk-secret-0123456789';

interface Asked {
  readonly model: string;
  readonly input: string[];
  readonly encoding_format?: string;
  readonly dimensions?: number;
}

type Misbehave = (asked: Asked, response: ServerResponse, request: IncomingMessage, call: number) => unknown;

interface Fake {
  readonly url: string;
  readonly asked: Asked[];
  readonly requests: IncomingMessage[];
}

const servers: Server[] = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A fake service that handles each request as `misbehave` says. */
async function fake(misbehave: Misbehave): Promise<Fake> {
  const asked: Asked[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Asked; // sent by our own client
      asked.push(body);
      requests.push(request);
      misbehave(body, response, request, asked.length);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // the server listens on a port, so this is not a string
  return { url: `http://127.0.0.1:${port}`, asked, requests };
}

function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A vector that encodes its text: [length, 1, 0]. */
const numbersOf = (text: string): number[] => [text.length, 1, 0];

function base64(numbers: readonly number[]): string {
  const bytes = Buffer.alloc(4 * numbers.length);
  numbers.forEach((value, i) => {
    bytes.writeFloatLE(value, 4 * i);
  });
  return bytes.toString('base64');
}

function good(asked: Asked, response: ServerResponse): void {
  const data = asked.input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: asked.encoding_format === 'base64' ? base64(numbersOf(text)) : numbersOf(text),
  }));
  json(response, { object: 'list', data, model: asked.model });
}

function unit(numbers: readonly number[]): number[] {
  const norm = Math.hypot(...numbers);
  return numbers.map((value) => Math.fround(value / norm));
}

function assertUnit(vector: Float32Array | undefined, text: string): void {
  assert.ok(vector !== undefined);
  const wanted = unit(numbersOf(text));
  assert.equal(vector.length, wanted.length);
  assert.equal(vector.byteLength, vector.buffer.byteLength);
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(vector[i]! - value) < 1e-6);
  });
}

interface Opened {
  readonly embedder: Embedder;
  /** Requested waits before each retry, in ms. */
  readonly waits: number[];
}

/** Three dimensions, one request at a time, no real waits, maximum jitter. */
async function open(url: string, options: Partial<RemoteOptions> = {}): Promise<Opened> {
  const waits: number[] = [];
  const embedder = await openRemoteEmbedder({
    baseUrl: url,
    model: 'm',
    apiKey: KEY,
    dimensions: 3,
    concurrency: 1,
    random: () => 1,
    wait: async (ms) => {
      waits.push(ms);
    },
    ...options,
  });
  return { embedder, waits };
}

/** The error of a call that must fail. It must not contain the key or a text. */
async function failure(promise: Promise<unknown>): Promise<EmbedError> {
  const error: unknown = await promise.then(
    () => assert.fail('it should have failed'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof EmbedError, String(error));
  const printed = `${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
  assert.ok(!printed.includes(KEY) && !printed.includes('private words'), printed);
  return error;
}

test('texts become unit vectors in order; the request asks for base64 and sends the key in its header', async () => {
  const service = await fake(good);
  const { embedder } = await open(service.url);
  const texts = ['one', 'three', 'a', ''];
  const vectors = await embedder.embed(texts);
  assert.equal(vectors.length, 4);
  for (let i = 0; i < 3; i++) assertUnit(vectors[i], texts[i]!);
  assert.equal(vectors[3], undefined);
  assert.deepEqual(service.asked, [{ model: 'm', input: ['one', 'three', 'a'], encoding_format: 'base64' }]);
  assert.equal(service.requests[0]!.url, '/v1/embeddings');
  assert.equal(service.requests[0]!.headers.authorization, `Bearer ${KEY}`);
  assert.equal(embedder.name, 'remote:m-3/1');
  assert.equal(embedder.dimensions, 3);
});

test('a base URL that ends in /v1 is not doubled, and no key sends no header', async () => {
  const service = await fake(good);
  const embedder = await openRemoteEmbedder({ baseUrl: `${service.url}/v1/`, model: 'm', dimensions: 3 });
  await embedder.embed(['word']);
  assert.equal(service.requests[0]!.url, '/v1/embeddings');
  assert.equal(service.requests[0]!.headers.authorization, undefined);
});

test('missing dimensions are requested once', async () => {
  const service = await fake(good);
  const embedder = await openRemoteEmbedder({ baseUrl: service.url, model: 'm' });
  assert.equal(embedder.dimensions, 3);
  assert.equal(service.asked.length, 1);
  await embedder.embed(['word']);
  assert.equal(service.asked.length, 2);
});

test('shortened vectors are requested by length', async () => {
  const service = await fake(good);
  const { embedder } = await open(service.url, { shorten: true });
  await embedder.embed(['word']);
  assert.equal(service.asked[0]!.dimensions, 3);
});

test('texts are split into requests by count and bytes, and long texts are truncated', async () => {
  const service = await fake(good);
  const { embedder } = await open(service.url, { batch: 2, concurrency: 3 });
  const texts = ['a', 'bb', 'ccc', 'dddd', 'eeeee'];
  const vectors = await embedder.embed(texts);
  vectors.forEach((vector, i) => {
    assertUnit(vector, texts[i]!);
  });
  assert.deepEqual(service.asked.map(({ input }) => input.length).sort(), [1, 2, 2]);

  const wide = await open(service.url);
  service.asked.length = 0;
  const long = 'ü'.repeat(EMBED_TEXT_CHARS_MAX + 5);
  await wide.embedder.embed(new Array<string>(20).fill(long));
  assert.deepEqual(
    service.asked.map(({ input }) => input.length),
    [16, 4],
  );
  assert.equal(service.asked[0]!.input[0]!.length, EMBED_TEXT_CHARS_MAX);
});

test('half a surrogate pair is replaced, and a text without words is not sent', async () => {
  const service = await fake(good);
  const { embedder } = await open(service.url);
  const vectors = await embedder.embed(['a\ud800b', '  \n', '🙂', '...']);
  assert.deepEqual(service.asked[0]!.input, ['a\ufffdb']);
  assert.deepEqual(
    vectors.map((vector) => vector === undefined),
    [false, true, true, true],
  );
  assert.deepEqual(await embedder.embed([]), []);
  assert.equal(service.asked.length, 1);
});

test('after a service rejects base64, arrays are requested at once', async () => {
  const service = await fake((asked, response) => {
    if (asked.encoding_format === undefined) return good(asked, response);
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"encoding_format"}');
  });
  const { embedder } = await open(service.url);
  assertUnit((await embedder.embed(['word']))[0], 'word');
  assertUnit((await embedder.embed(['other']))[0], 'other');
  assert.deepEqual(
    service.asked.map(({ encoding_format }) => encoding_format),
    ['base64', undefined, undefined],
  );
});

test('a service that has answered base64 gets no second request after a rejection', async () => {
  const service = await fake((asked, response, _request, call) => {
    if (call === 1) return good(asked, response);
    response.writeHead(400).end();
  });
  const { embedder } = await open(service.url);
  await embedder.embed(['word']);
  assert.equal((await failure(embedder.embed(['private words']))).retryable, false);
  assert.equal(service.asked.length, 2);
});

test('vectors follow their index, or the order of the answer if no index is given', async () => {
  const shuffled = await fake((asked, response) => {
    const data = asked.input.map((text, index) => ({ index, embedding: numbersOf(text) }));
    json(response, { data: data.reverse() });
  });
  const bare = await fake((asked, response) => {
    json(response, { data: asked.input.map((text) => ({ embedding: numbersOf(text) })) });
  });
  for (const { url } of [shuffled, bare]) {
    const { embedder } = await open(url);
    const vectors = await embedder.embed(['a', 'bb', 'ccc']);
    ['a', 'bb', 'ccc'].forEach((text, i) => {
      assertUnit(vectors[i], text);
    });
  }
});

test('extreme numbers are normalised, and zeros have no vector', async () => {
  const service = await fake((_asked, response) => {
    json(response, '{"data":[{"embedding":[1e300,1e300,0]},{"embedding":[0,0,0]},{"embedding":[1e-20,0,0]}]}');
  });
  const { embedder } = await open(service.url);
  const [large, zero, small] = await embedder.embed(['a', 'b', 'c']);
  assert.deepEqual([...large!], [Math.fround(Math.SQRT1_2), Math.fround(Math.SQRT1_2), 0]);
  assert.equal(zero, undefined);
  assert.deepEqual([...small!], [1, 0, 0]);
});

const BROKEN_ANSWERS: Readonly<Record<string, (texts: readonly string[]) => unknown>> = {
  'too few vectors': () => ({ data: [{ index: 0, embedding: [1, 2, 3] }] }),
  'too many vectors': () => ({ data: [0, 1, 2].map((index) => ({ index, embedding: [1, 2, 3] })) }),
  'wrong dimensions': () => ({ data: [0, 1].map((index) => ({ index, embedding: [1, 2] })) }),
  'mixed dimensions': () => ({ data: [0, 1].map((index) => ({ index, embedding: index ? [1, 2] : [1, 2, 3] })) }),
  'an index twice': () => ({ data: [0, 0].map((index) => ({ index, embedding: [1, 2, 3] })) }),
  'an index out of range': () => ({ data: [0, 2].map((index) => ({ index, embedding: [1, 2, 3] })) }),
  'an index below zero': () => ({ data: [0, -1].map((index) => ({ index, embedding: [1, 2, 3] })) }),
  'an index for some': () => ({ data: [{ index: 0, embedding: [1, 2, 3] }, { embedding: [1, 2, 3] }] }),
  'an index of a string': () => ({ data: ['0', '1'].map((index) => ({ index, embedding: [1, 2, 3] })) }),
  'NaN in base64': () => ({ data: [0, 1].map((index) => ({ index, embedding: base64([Number.NaN, 0, 1]) })) }),
  'Infinity in base64': () => ({ data: [0, 1].map((index) => ({ index, embedding: base64([-1 / 0, 0, 1]) })) }),
  'NaN in JSON': () => '{"data":[{"index":0,"embedding":[NaN,0,1]},{"index":1,"embedding":[1,0,1]}]}',
  'Infinity in JSON': () => '{"data":[{"index":0,"embedding":[1e999,0,1]},{"index":1,"embedding":[1,0,1]}]}',
  'null in JSON': () => ({ data: [0, 1].map((index) => ({ index, embedding: [null, 0, 1] })) }),
  'base64 of no floats': () => ({ data: [0, 1].map((index) => ({ index, embedding: 'AAAAAAA=' })) }),
  'base64 of too few floats': () => ({ data: [0, 1].map((index) => ({ index, embedding: base64([1, 2]) })) }),
  'no base64': () => ({ data: [0, 1].map((index) => ({ index, embedding: '????private words' })) }),
  'vectors of nothing': () => ({ data: [0, 1].map((index) => ({ index, embedding: [] })) }),
  'a vector that is an object': () => ({ data: [0, 1].map((index) => ({ index, embedding: {} })) }),
  'items that are no objects': () => ({ data: [null, 1] }),
  'no data': (texts) => ({ error: texts }),
  'JSON that is no object': () => 'null',
  'JSON that is cut off': () => '{"data":[{"index":0,"embed',
  'the texts instead of JSON': (texts) => texts.join(' '),
};

test('an invalid answer is rejected as a whole and not retried', async (context) => {
  for (const [name, answer] of Object.entries(BROKEN_ANSWERS)) {
    await context.test(name, async () => {
      const service = await fake((asked, response) => json(response, answer(asked.input)));
      const { embedder, waits } = await open(service.url);
      const error = await failure(embedder.embed(['private words', 'two']));
      assert.equal(error.retryable, false);
      assert.deepEqual(waits, []);
      assert.equal(service.asked.length, 1);
    });
  }
});

test('content types other than JSON are rejected', async () => {
  const service = await fake((_asked, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>private words</h1>');
  });
  const { embedder } = await open(service.url);
  assert.match((await failure(embedder.embed(['private words']))).message, /something other than JSON/);
});

test('a body over the limit is rejected, with or without content-length', async () => {
  const declared = await fake((_asked, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(EMBED_RESPONSE_BYTES_MAX + 1),
    });
    response.write('{"data":[');
  });
  const chunked = await fake((_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const piece = Buffer.alloc(4 * 1_048_576, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  for (const { url } of [declared, chunked]) {
    const { embedder } = await open(url);
    const error = await failure(embedder.embed(['word']));
    assert.match(error.message, /more than \d+ bytes/);
    assert.equal(error.retryable, false);
  }
});

test('a redirect is not followed', async () => {
  const target = await fake(good);
  for (const status of [301, 302, 307, 308]) {
    const service = await fake((_asked, response) => {
      response.writeHead(status, { location: `${target.url}/v1/embeddings` }).end();
    });
    const { embedder } = await open(service.url);
    assert.match((await failure(embedder.embed(['private words']))).message, /redirect/);
  }
  assert.equal(target.asked.length, 0);
});

test('transient errors are retried with doubling waits, or with the wait that the service requested', async () => {
  const service = await fake((asked, response, _request, call) => {
    if (call === 1) return response.writeHead(500).end('private words');
    if (call === 2) return response.writeHead(429, { 'retry-after': '7' }).end();
    if (call === 3) return response.writeHead(408).end();
    if (call === 4) return response.writeHead(409, { 'retry-after': 'soon' }).end();
    return good(asked, response);
  });
  const { embedder, waits } = await open(service.url);
  assertUnit((await embedder.embed(['word']))[0], 'word');
  assert.deepEqual(waits, [250, 7000, 1000, 2000]);
});

test('a requested wait may be a date', async () => {
  const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  const service = await fake((asked, response, _request, call) => {
    if (call === 1) return response.writeHead(503, { 'retry-after': 'Fri, 02 Jan 2026 03:04:15 GMT' }).end();
    return good(asked, response);
  });
  const { embedder, waits } = await open(service.url, { clock: { nowMs: () => nowMs } });
  await embedder.embed(['word']);
  assert.deepEqual(waits, [10_000]);
});

test('retries end', async () => {
  const service = await fake((_asked, response) => response.writeHead(500).end());
  const { embedder, waits } = await open(service.url);
  const error = await failure(embedder.embed(['word']));
  assert.equal(error.retryable, true);
  assert.equal(service.asked.length, EMBED_ATTEMPTS_MAX);
  assert.equal(waits.length, EMBED_ATTEMPTS_MAX - 1);
});

test('a requested wait over the limit is passed on, and a query does not wait past its timeout', async () => {
  const service = await fake((_asked, response) => response.writeHead(429, { 'retry-after': '3600' }).end());
  const { embedder, waits } = await open(service.url);
  assert.equal((await failure(embedder.embed(['word']))).retryable, true);
  const shorter = await fake((_asked, response) => response.writeHead(429, { 'retry-after': '20' }).end());
  const query = await open(shorter.url, { timeoutMs: 10_000 });
  assert.equal((await failure(query.embedder.embed(['word'], { priority: 'query' }))).retryable, true);
  assert.deepEqual([...waits, ...query.waits], []);
  assert.equal(service.asked.length + shorter.asked.length, 2);
});

test('permanent errors are not retried', async () => {
  for (const status of [400, 401, 403, 404, 413, 422]) {
    const service = await fake((_asked, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(`{"error":"${KEY} private words"}`);
    });
    const { embedder, waits } = await open(service.url);
    const error = await failure(embedder.embed(['private words']));
    assert.equal(error.retryable, false);
    assert.match(error.message, new RegExp(String(status)));
    assert.deepEqual(waits, []);
  }
});

test('a connection that breaks before or during the answer is retried', async () => {
  const service = await fake((asked, response, request, call) => {
    if (call === 1) return request.socket.destroy();
    if (call === 2) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      return response.write('{"data":[', () => request.socket.destroy());
    }
    if (call === 3) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.write('{"data":[', () => request.socket.end());
    }
    return good(asked, response);
  });
  const { embedder, waits } = await open(service.url);
  assertUnit((await embedder.embed(['word']))[0], 'word');
  assert.equal(waits.length, 3);
});

test('an unreachable service is a retryable error that names the reason', async () => {
  const service = await fake(good);
  const gone = servers.pop()!;
  gone.closeAllConnections();
  await new Promise((resolve) => gone.close(resolve));
  const { embedder } = await open(service.url);
  const error = await failure(embedder.embed(['word']));
  assert.equal(error.retryable, true);
  assert.match(error.message, /ECONNREFUSED/);
});

test('a slow service, before or during its answer, is abandoned after the timeout', async () => {
  const silent = await fake(() => undefined);
  const stuck = await fake((_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"data":[');
  });
  for (const service of [silent, stuck]) {
    const { embedder, waits } = await open(service.url, { timeoutMs: 30 });
    const error = await failure(embedder.embed(['word']));
    assert.equal(error.retryable, true);
    assert.match(error.message, /within 30 ms/);
    assert.equal(waits.length, EMBED_ATTEMPTS_MAX - 1);
  }
});

test('an aborted call rejects with its reason, whether running, waiting or not begun', async () => {
  const pending: ServerResponse[] = [];
  let arrived = (): void => undefined;
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const service = await fake((_asked, response) => {
    pending.push(response);
    arrived();
  });
  const { embedder } = await open(service.url);
  const running = new AbortController();
  const waiting = new AbortController();
  const one = embedder.embed(['one'], { signal: running.signal });
  const two = embedder.embed(['two'], { signal: waiting.signal });
  await first;
  waiting.abort(new Error('not any more'));
  await assert.rejects(two, /not any more/);
  running.abort(new Error('enough'));
  await assert.rejects(one, /enough/);
  await assert.rejects(embedder.embed(['three'], { signal: running.signal }), /enough/);
  assert.equal(service.asked.length, 1);
});

test('an abort ends a wait between two attempts', async () => {
  const service = await fake((_asked, response) => response.writeHead(500).end());
  const controller = new AbortController();
  const embedder = await openRemoteEmbedder({
    baseUrl: service.url,
    model: 'm',
    dimensions: 3,
    random: () => {
      // The wait begins right after this call; the default wait listens to the signal.
      queueMicrotask(() => controller.abort(new Error('enough')));
      return 1;
    },
  });
  await assert.rejects(embedder.embed(['word'], { signal: controller.signal }), /enough/);
  assert.equal(service.asked.length, 1);
});

test('queries overtake the backlog, which leaves them a slot', async () => {
  const pending: { asked: Asked; response: ServerResponse }[] = [];
  let wanted = 0;
  let arrived = (): void => undefined;
  const arrival = (count: number): Promise<void> => {
    wanted = count;
    return new Promise((resolve) => {
      arrived = () => {
        if (pending.length >= wanted) resolve();
      };
      arrived();
    });
  };
  const service = await fake((asked, response) => {
    pending.push({ asked, response });
    arrived();
  });
  const { embedder } = await open(service.url, { concurrency: 2 });
  const backlog = ['b1', 'b2'].map((text) => embedder.embed([text]));
  // Two connections opened together may be reported in either order.
  await arrival(1);
  const queries = ['q1', 'q2', 'q3'].map((text) => embedder.embed([text], { priority: 'query' }));
  for (let count = 2; count <= 5; count++) {
    await arrival(count);
    const { asked, response } = pending[count - 1]!;
    if (count === 2) assert.deepEqual([pending[0]!.asked.input[0], asked.input[0]], ['b1', 'q1']);
    good(asked, response);
    if (count === 3) good(pending[0]!.asked, pending[0]!.response);
  }
  await Promise.all([...backlog, ...queries]);
  assert.deepEqual(
    service.asked.map(({ input }) => input[0]),
    ['b1', 'q1', 'q2', 'q3', 'b2'],
  );
});

test('no text is sent without permission; a denial or an error keeps it', async () => {
  const service = await fake(good);
  const seen: string[][] = [];
  const { embedder } = await open(service.url, {
    allowEgress: (texts) => {
      seen.push([...texts]);
      if (texts.includes('throw')) throw new Error('policy is gone');
      return !texts.includes('private words');
    },
  });
  assert.equal((await failure(embedder.embed(['private words']))).retryable, false);
  assert.equal((await failure(embedder.embed(['throw']))).retryable, true);
  assert.equal(service.asked.length, 0);
  await embedder.embed(['fine']);
  assert.equal(service.asked.length, 1);
  assert.deepEqual(seen, [['private words'], ['throw'], ['fine']]);
  await assert.rejects(
    openRemoteEmbedder({ baseUrl: service.url, model: 'm', allowEgress: async () => false }),
    EmbedError,
  );
  assert.equal(service.asked.length, 1);
});

test('closing rejects running and later calls', async () => {
  let arrived = (): void => undefined;
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const service = await fake(() => arrived());
  const { embedder } = await open(service.url);
  const call = failure(embedder.embed(['word']));
  await arrival;
  await embedder.close();
  assert.match((await call).message, /closed/);
  assert.match((await failure(embedder.embed(['word']))).message, /closed/);
});

test('a failed request fails its call and frees its slot', async () => {
  const service = await fake((asked, response) => {
    if (asked.input[0] === 'bad') return response.writeHead(401).end();
    return good(asked, response);
  });
  const { embedder } = await open(service.url, { batch: 1 });
  await failure(embedder.embed(['ok', 'bad', 'never']));
  assert.deepEqual(
    service.asked.map(({ input }) => input[0]),
    ['ok', 'bad'],
  );
  assertUnit((await embedder.embed(['word']))[0], 'word');
});

test('invalid options are rejected without revealing the key', async () => {
  const refused: Partial<RemoteOptions>[] = [
    { baseUrl: 'ftp://host' },
    { baseUrl: 'nothing' },
    { baseUrl: `http://user:${KEY}@host` },
    { baseUrl: 'http://host/?a=b' },
    { apiKey: `${KEY}\r\nx: y` },
    { apiKey: '' },
    { model: '' },
    { dimensions: 0 },
    { dimensions: 1.5 },
    { batch: 0 },
    { batch: 1_000_000 },
    { concurrency: 0 },
    { timeoutMs: 0 },
  ];
  for (const options of refused) assert.equal((await failure(open('http://127.0.0.1:1', options))).retryable, false);
});
