// A model server on the loopback, without an interface of its own: it reads requests, plays the script, and sends what
// the interface makes of the answer. It waits for a slow reader, so an answer of 100 MB costs it no memory.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Answer, Play, type Script } from './script.ts';
import type { Endpoint, Seen } from './seen.ts';

export interface ModelServerOptions {
  /** The server's `close` runs after this test, and fails it with the first failed expectation. */
  readonly owner?: TestContext;
  /** Requests without this key are refused with status 401. Default: any. */
  readonly key?: string;
  /** Ids that the list of models has. */
  readonly models?: readonly string[];
  /** Dimensions of the embeddings that are made when the script has none. */
  readonly dimensions?: number;
  /** Scripts of the other endpoints. Without one, they answer by themselves. */
  readonly embeddings?: Script;
  readonly rerank?: Script;
  readonly list?: Script;
}

export interface ModelServer {
  /** The base URL that a provider gets. */
  readonly url: string;
  /** Requests so far, oldest first. */
  readonly seen: readonly Seen[];
  /** The requests for an answer of the model. */
  readonly chats: readonly Seen[];
  /** Resolves with the n-th chat request (from 1), when it has come. */
  readonly chat: (count: number) => Promise<Seen>;
  /** Ends the server; throws the first failed expectation, or that steps were not played. */
  readonly close: () => Promise<void>;
}

export interface Interface {
  /** The path of the base URL. */
  readonly base: string;
  endpointOf(verb: string, path: string): Endpoint | undefined;
  /** The key that the request brings. */
  keyOf(headers: IncomingMessage['headers']): string | undefined;
  /** Throws what the real service would refuse. */
  check(request: Seen): void;
  /** The answer of an endpoint that has no script. */
  own(request: Seen, options: ModelServerOptions): Answer;
  send(answer: Answer, request: Seen, sink: Sink): Promise<void>;
  refusal(status: number, message: string): unknown;
}

/** The response that an interface writes to. Every write waits until the connection takes more. */
export interface Sink {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  write(text: string): Promise<void>;
  cut(): Promise<void>;
  readonly isGone: boolean;
}

class Request implements Seen, Sink {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  readonly gone: Promise<void>;
  ended: Seen['ended'];
  sentBytes = 0;
  readonly #response: ServerResponse;

  constructor(endpoint: Endpoint, request: IncomingMessage, body: unknown, response: ServerResponse) {
    this.endpoint = endpoint;
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.body = body;
    this.#response = response;
    this.gone = new Promise((resolve) => {
      response.on('close', () => {
        if (this.ended === 'whole') return;
        this.ended = 'gone';
        resolve();
      });
    });
  }

  get isGone(): boolean {
    return this.ended === 'gone';
  }

  head(status: number, headers: Readonly<Record<string, string>>): void {
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  async write(text: string): Promise<void> {
    if (this.isGone) return;
    this.sentBytes += Buffer.byteLength(text);
    if (this.#response.write(text)) return;
    await Promise.race([new Promise((resolve) => this.#response.once('drain', resolve)), this.gone]);
  }

  /** Waits until what was written has left, so that the reader gets it before the end. */
  async cut(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#response.write(' ', () => resolve());
    });
    this.#response.destroy();
    await this.gone;
  }

  end(): void {
    if (this.isGone) return;
    this.ended = 'whole';
    this.#response.end();
  }
}

export async function startModelServer(
  face: Interface,
  script: Script,
  options: ModelServerOptions,
): Promise<ModelServer> {
  const seen: Request[] = [];
  const chats: Request[] = [];
  const waiting = new Set<() => void>();
  const plays: Partial<Record<Endpoint, Play>> = { chat: new Play(script) };
  for (const [endpoint, other] of [
    ['embeddings', options.embeddings],
    ['rerank', options.rerank],
    ['models', options.list],
  ] as const)
    if (other !== undefined) plays[endpoint] = new Play(other);
  const misuses: unknown[] = [];

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = (status: number, message: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(face.refusal(status, message)));
    };
    const bytes = await bodyOf(incoming);
    const endpoint = face.endpointOf(incoming.method ?? '', (incoming.url ?? '').replace(/\?.*$/, ''));
    if (endpoint === undefined) return refuse(404, 'no such route');
    if (options.key !== undefined && face.keyOf(incoming.headers) !== options.key) return refuse(401, 'invalid key');
    const request = new Request(endpoint, incoming, bytes === '' ? undefined : JSON.parse(bytes), response);
    try {
      face.check(request);
    } catch (error) {
      misuses.push(error);
      return refuse(400, 'the request is not valid');
    }
    seen.push(request);
    if (endpoint === 'chat') chats.push(request);
    for (const look of waiting) look();
    const answer = (await plays[endpoint]?.answerTo(request)) ?? face.own(request, options);
    await sendAnswer(face, answer, request);
    request.end();
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      misuses.push(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    for (const play of Object.values(plays)) play.end();
    if (misuses.length > 0) throw misuses[0];
  };
  options.owner?.after(close);
  const chat = (count: number): Promise<Seen> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = chats[count - 1];
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return { url: `http://127.0.0.1:${port}${face.base}`, seen, chats, chat, close };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer); // no encoding is set
  return Buffer.concat(chunks).toString('utf8');
}

/** Sends what is the same in every interface; the rest is the interface's own. */
async function sendAnswer(face: Interface, answer: Answer, request: Request): Promise<void> {
  if ('body' in answer) {
    request.head(200, { 'content-type': answer.contentType ?? 'application/json' });
    await request.write(answer.body);
  } else if ('status' in answer) {
    const { status, retryAfter, message = 'the service refuses', bytes = 0 } = answer;
    request.head(status, {
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    });
    await writeFilled(request, JSON.stringify(face.refusal(status, `${message}${FILLER}`)), bytes);
  } else await face.send(answer, request, request);
}

/** Stands for the filler in a text that `writeFilled` writes. */
export const FILLER = '\u2026';
const BLOCK = 'lorem ipsum '.repeat(5_461);

/** Writes a text with so many bytes in the place of FILLER. */
export async function writeFilled(sink: Sink, text: string, bytes: number): Promise<void> {
  const [before = '', ...after] = text.split(FILLER);
  await sink.write(before);
  for (const part of blocksOf(bytes)) {
    if (sink.isGone) return;
    await sink.write(part);
  }
  await sink.write(after.join(''));
}

/** Text of so many bytes, in blocks of 64 KiB. */
export function* blocksOf(bytes: number): Generator<string> {
  for (let left = bytes; left > 0; left -= BLOCK.length) yield left < BLOCK.length ? BLOCK.slice(0, left) : BLOCK;
}
