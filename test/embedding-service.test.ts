// Vectors from a service, through a whole server: its failures cost warnings and time, never grains, and it receives
// only texts of memories that chose it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ngramVector } from '../src/embed/ngram.ts';
import { eventually } from './support/eventually.ts';
import { startTestServer, type TestServer } from './support/server.ts';
import { add, call, objectsOf, recall } from './support/vector-calls.ts';

const POISON = 'poisonous';

/** Behaviour of the fake service. */
type Mode = 'works' | 'silent' | 'short' | 'nan' | 'gone';

class Service {
  mode: Mode = 'works';
  readonly asked: string[] = [];
  #server: Server | undefined;
  #port = 0;

  static async open(t: TestContext): Promise<Service> {
    const service = new Service();
    await service.#listen();
    t.after(() => service.#close());
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async become(mode: Mode): Promise<void> {
    if (mode === 'gone') await this.#close();
    else if (this.mode === 'gone') await this.#listen();
    this.mode = mode;
  }

  async #listen(): Promise<void> {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { input } = JSON.parse(Buffer.concat(pieces).toString()) as { input: string[] }; // sent by our own client
        this.#answer(input, response);
      });
    });
    this.#server = server;
    // Another process may use the service's port while the service is gone.
    await eventually('its port is free', async () => {
      server.listen(this.#port, '127.0.0.1');
      return once(server, 'listening').then(
        () => true,
        () => false,
      );
    });
    this.#port = (server.address() as AddressInfo).port; // the server listens on a port, so this is not a string
  }

  #answer(texts: readonly string[], response: ServerResponse): void {
    this.asked.push(...texts);
    if (this.mode === 'silent') return;
    if (texts.some((text) => text.includes(POISON))) {
      response.writeHead(413).end();
      return;
    }
    const vectorOf = (text: string): unknown[] => {
      if (this.mode === 'nan') return new Array<string>(512).fill('NaN');
      return this.mode === 'short' ? [1, 0] : [...(ngramVector(text) ?? new Float32Array(512))];
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data: texts.map((text, index) => ({ index, embedding: vectorOf(text) })) }));
  }

  async #close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  }
}

async function start(t: TestContext, { url }: Service, embedder = 'remote'): Promise<TestServer> {
  const server = await startTestServer({
    auth: 'none',
    embedder,
    shards: '1',
    embeddingUrl: url,
    embeddingModel: 'm',
    embeddingDimensions: '512',
  });
  t.after(() => server.close());
  return server;
}

const hasVectors = (server: TestServer, count: number, memory = 'default') =>
  eventually(`${count} vectors`, async () => (await call(server, `/${memory}/stats`))['vectors'] === count);

test('a service that is silent, gone or answers nonsense loses no grain, and recalls say so', async (t) => {
  const service = await Service.open(t);
  const server = await start(t, service);
  await add(server, ['photographers']);
  await hasVectors(server, 1);
  assert.deepEqual(objectsOf(await recall(server, 'fotographer')), ['photographers']);
  let count = 1;
  for (const mode of ['short', 'nan', 'silent', 'gone'] as const) {
    await service.become(mode);
    const object = `carpenters${count}`;
    await add(server, [object]);
    const found = await recall(server, object);
    assert.deepEqual(objectsOf(found), [object], mode);
    assert.match(String(found['warnings']), /^found by words alone: the embedder/, mode);
    assert.equal((await call(server, '/default/stats'))['vectors'], count, mode);
    await service.become('works');
    // A hanging request is abandoned and retried, at the latest when the server asks again.
    if (mode === 'silent') {
      await service.become('gone');
      await service.become('works');
    }
    await hasVectors(server, ++count);
  }
  assert.deepEqual((await recall(server, 'fotographers'))['warnings'], []);
  assert.deepEqual(server.errors, []);
});

test('a text that the service rejects stays without vectors, the others get theirs', async (t) => {
  const service = await Service.open(t);
  const server = await start(t, service);
  await add(server, ['photographers', POISON, 'carpenters']);
  await hasVectors(server, 2);
  await add(server, ['navigation']);
  await hasVectors(server, 3);
  assert.deepEqual(objectsOf(await recall(server, POISON)), [POISON]);
});

test('texts and questions of memories that did not choose the service never reach it', async (t) => {
  const service = await Service.open(t);
  const server = await start(t, service, 'ngram');
  await call(server, '', { id: 'abroad', vector_backend: 'remote' });
  await add(server, ['kept here'], 'default');
  await add(server, ['sent'], 'abroad');
  await Promise.all([hasVectors(server, 1), hasVectors(server, 1, 'abroad')]);
  await recall(server, 'asked here');
  await recall(server, 'asked abroad', 'abroad');
  assert.deepEqual(service.asked, ['it is sent', 'asked abroad']);
});
