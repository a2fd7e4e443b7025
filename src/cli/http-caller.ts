// HTTP requests for what gRPC does not offer. node:http instead of fetch: it accepts custom CA certificates and streams
// in both directions.
import { randomBytes } from 'node:crypto';
import type { Agent, IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { defined } from '../engine/base/defined.ts';
import { headerText } from '../engine/base/header-text.ts';
import { http, https } from '../engine/base/node-http.ts';
import { parseJson, stringifyJson } from '../engine/grain/api/json.ts';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { CHALLENGE_HEADER, isProof, PROOF_HEADER, randomHex } from '../server/identity.ts';
import { Failure } from './failure.ts';

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Asked {
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> | undefined;
  readonly json?: unknown;
  readonly reason?: string | undefined;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Ends the request, and the stream of its answer. */
  readonly signal?: AbortSignal | undefined;
  /** Send no API key, and use a short timeout. */
  readonly isAnonymous?: boolean | undefined;
}

const RETRYABLE: ReadonlySet<string> = new Set(['LIM-E001', 'STO-E002', 'NO-SERVER']);
/** Maximum bytes of an error body to show. */
const ERROR_BYTES_MAX = 65_536;

/** Time limit for a server to prove its identity. A busy server may take seconds. */
const PROOF_MS_MAX = 10_000;

export class HttpCaller {
  readonly #base: string;
  readonly #key: string | undefined;
  readonly #tlsRoots: Buffer | undefined;
  readonly #agent: Agent;

  /** `base`: `http://host:port`, without `/api`. */
  constructor(options: { base: string; key: string | undefined; tlsRoots: Buffer | undefined }) {
    this.#base = options.base.replace(/\/+$/, '');
    this.#key = options.key;
    this.#tlsRoots = options.tlsRoots;
    this.#agent = this.#base.startsWith('https:')
      ? new (https().Agent)({ keepAlive: true })
      : new http.Agent({ keepAlive: true });
  }

  /**
   * Resolves to a JSON answer. Rejects with Failure: the contract's code, or NO-SERVER. `path` is relative to `/api`.
   */
  async json(verb: Verb, path: string, asked: Asked = {}): Promise<JsonObject> {
    const { headers, body } = sentJson(asked);
    return this.#object(await this.#send(verb, path, asked, headers, body));
  }

  /** Uploads one file as form part `file`. */
  async upload(path: string, fileName: string, bytes: Buffer): Promise<JsonObject> {
    const boundary = `granary-${randomBytes(12).toString('hex')}`;
    const head =
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${fileName.replace(/["\r\n\\]/g, '_')}"\r\n` +
      'content-type: application/octet-stream\r\n\r\n';
    const body = Buffer.concat([Buffer.from(head, 'utf8'), bytes, Buffer.from(`\r\n--${boundary}--\r\n`, 'ascii')]);
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': body.length };
    return this.#object(await this.#send('POST', path, {}, headers, body));
  }

  /** Streams the body of a 2xx answer to a GET; with `json`, to a POST. A reader that stops early ends the request. */
  async *download(path: string, asked: Asked = {}): AsyncGenerator<Buffer> {
    const { headers, body } = sentJson(asked);
    const response = await this.#send(body === undefined ? 'GET' : 'POST', path, asked, headers, body);
    if (!isOk(response)) throw await failureOf(response);
    try {
      for await (const chunk of response) yield chunk as Buffer; // chunks are buffers because no encoding is set
    } catch (error) {
      // The server closes the connection when it cannot complete an answer that it has begun.
      throw new Failure('STO-E002', `the answer ended early: ${String(error)}`, true);
    }
    if (!response.complete) throw new Failure('STO-E002', 'the answer ended early', true);
  }

  /**
   * Resolves to whether the server here knows `secret`. Sends no API key. Rejects with Failure NO-SERVER when no server
   * answers.
   */
  async proves(secret: string): Promise<boolean> {
    const challenge = randomHex();
    const response = await this.#send(
      'GET',
      '/health',
      { isAnonymous: true },
      { [CHALLENGE_HEADER]: challenge },
      undefined,
    );
    response.resume();
    const proof = response.headers[PROOF_HEADER];
    return isProof(secret, challenge, typeof proof === 'string' ? proof : undefined);
  }

  async #object(response: IncomingMessage): Promise<JsonObject> {
    if (!isOk(response)) throw await failureOf(response);
    const bytes = await buffer(response).catch((error: unknown) => {
      throw new Failure('NO-SERVER', `the answer ended early: ${String(error)}`, true);
    });
    const value = parseJson(bytes.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Failure('SYS-E001', "the server's answer is not a JSON object");
    return value;
  }

  #send(
    verb: Verb,
    path: string,
    asked: Asked,
    headers: Readonly<Record<string, string | number>>,
    body: Buffer | undefined,
  ): Promise<IncomingMessage> {
    const url = new URL(`${this.#base}/api${path}`);
    for (const [name, value] of Object.entries(asked.query ?? {}))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) url.searchParams.append(name, String(one));
    const authorization = this.#key === undefined || asked.isAnonymous === true ? undefined : `Bearer ${this.#key}`;
    const { request: send } = url.protocol === 'https:' ? https() : http;
    return new Promise((resolve, reject) => {
      const request = send(
        url,
        {
          method: verb,
          agent: this.#agent,
          signal: asked.isAnonymous === true ? AbortSignal.timeout(PROOF_MS_MAX) : asked.signal,
          ca: this.#tlsRoots,
          headers: {
            ...headers,
            ...defined({ authorization, 'x-reason': asked.reason && headerText(asked.reason), ...asked.headers }),
          },
        },
        resolve,
      );
      request.on('error', (error) =>
        reject(new Failure('NO-SERVER', `no server answers at ${this.#base}: ${error.message}`, true)),
      );
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function sentJson({ json }: Asked): {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer | undefined;
} {
  if (json === undefined) return { headers: {}, body: undefined };
  const body = Buffer.from(stringifyJson(json), 'utf8');
  return { headers: { 'content-type': 'application/json', 'content-length': body.length }, body };
}

function isOk({ statusCode }: IncomingMessage): boolean {
  return statusCode !== undefined && statusCode >= 200 && statusCode < 300;
}

async function failureOf(response: IncomingMessage): Promise<Failure> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    pieces.push(chunk);
    bytes += chunk.length;
    if (bytes > ERROR_BYTES_MAX) break;
  }
  const body = Buffer.concat(pieces).toString('utf8');
  try {
    const { error } = JSON.parse(body) as { error: { code: string; message: string } & Record<string, unknown> }; // checked on the next lines
    const text = error.message.startsWith(`${error.code}: `)
      ? error.message.slice(error.code.length + 2)
      : error.message;
    return new Failure(error.code, text, RETRYABLE.has(error.code), error);
  } catch {
    // /health reports an unavailable server in a body of its own.
    const words = body === '' ? '' : `: ${body.slice(0, 500)}`;
    return new Failure('SYS-E001', `the server answered ${response.statusCode}${words}`);
  }
}
