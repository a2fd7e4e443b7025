// A command's connection to its server, over gRPC and HTTP. Commands use the same calls for local and remote servers.
import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../engine/grain/api/json-value.ts';
import type { DeepPartial } from '../server/gen/memory/v1/memory.ts';
import { isProof, PROOF_HEADER, randomHex } from '../server/identity.ts';
import type { ServerFile } from '../server/server-file.ts';
import { Failure, usage } from './failure.ts';
import { type CallOptions, GrpcCaller, type Method } from './grpc-caller.ts';
import { type Asked, HttpCaller, type Verb } from './http-caller.ts';
import type { ServerOptions } from './options.ts';
import { type ConnectOptions, type Doubt, type Place, placeOf } from './place.ts';
import { RPC } from './rpcs.ts';

export interface Connection {
  /** The data directory, when a local server was found through it. */
  readonly dataDirectory: string | undefined;
  /** True when this process opened the data directory itself. */
  readonly isOwn: boolean;
  call<Req, Res>(method: Method<Req, Res>, message: DeepPartial<Req>, options?: CallOptions): Promise<Res>;
  /** Sends an HTTP request. `path` is relative to `/api`. */
  json(verb: Verb, path: string, asked?: Asked): Promise<JsonObject>;
  upload(path: string, fileName: string, bytes: Buffer): Promise<JsonObject>;
  download(path: string, asked?: Asked): AsyncGenerator<Buffer>;
  /** Runs an app/exec command on a memory and resolves to its result. */
  exec(memory: string, command: string, args?: JsonObject): Promise<JsonValue>;
}

/**
 * Runs `work` with a connection, then closes the connection. Rejects with Failure, EngineError or whatever `work`
 * throws.
 */
export async function withConnection<T>(
  options: ServerOptions,
  work: (connection: Connection) => Promise<T>,
  connect: ConnectOptions = {},
): Promise<T> {
  const { connection, close } = await openConnection(options, connect);
  try {
    return await work(connection);
  } finally {
    await close();
  }
}

export interface OpenConnection {
  readonly connection: Connection;
  /** Closes the connection, and the server if this process opened it. */
  readonly close: () => Promise<void>;
}

/** A connection that the caller closes. Rejects with Failure or EngineError. */
export async function openConnection(options: ServerOptions, connect: ConnectOptions = {}): Promise<OpenConnection> {
  // Read the file before a server is opened: an error after that would leave the server open.
  const tlsRoots = options.tlsCa === undefined ? undefined : await trustedWith(options.tlsCa);
  const place = await placeOf(options, connect, (file) => doubtOf(file, tlsRoots));
  const callers = new Callers(place, tlsRoots);
  return {
    connection: connectionOf(place, callers),
    close: async () => {
      callers.close();
      await place.close?.();
    },
  };
}

/** The gRPC and HTTP callers of one server, each created on first use. */
class Callers {
  readonly #place: Place;
  readonly #tlsRoots: Buffer | undefined;
  #grpc: Promise<GrpcCaller> | undefined;
  #http: Promise<HttpCaller> | undefined;
  readonly #made: { close(): void }[] = [];

  constructor(place: Place, tlsRoots: Buffer | undefined) {
    this.#place = place;
    this.#tlsRoots = tlsRoots;
  }

  grpc(): Promise<GrpcCaller> {
    this.#grpc ??= this.#place.grpc === undefined ? this.#findGrpc() : this.#makeGrpc(this.#place.grpc);
    return this.#grpc;
  }

  http(): Promise<HttpCaller> {
    this.#http ??= this.#place.http === undefined ? this.#findHttp() : this.#makeHttp(this.#place.http);
    return this.#http;
  }

  async #findGrpc(): Promise<GrpcCaller> {
    const { hostname, port: own, pathname, protocol } = new URL(this.#place.http!); // a Place has at least one address
    // With a path or without a port it is the address of a proxy, which passes gRPC on the same port.
    if (pathname !== '/' || own === '')
      return this.#makeGrpc(`${hostname}:${own === '' ? (protocol === 'https:' ? 443 : 80) : own}`);
    const { features } = await (await this.http()).json('GET', '/config');
    const port = isObject(features) ? features['grpc_port'] : undefined;
    if (typeof port !== 'number') throw usage('the server does not report its gRPC port: give it as --url host:port');
    return this.#makeGrpc(`${hostname}:${port}`);
  }

  async #findHttp(): Promise<HttpCaller> {
    let port: string | undefined;
    const caller = await this.grpc();
    await caller.call(RPC.health, {}, {}, (trailers) => {
      port = trailers.get('x-http-port')[0]?.toString();
    });
    if (port === undefined) throw usage('the server does not report its HTTP port: give --http-url as well');
    const host = this.#place.grpc!.replace(/:\d+$/, ''); // a Place has at least one address
    return this.#makeHttp(`${this.#place.isTls ? 'https' : 'http'}://${host}:${port}`);
  }

  async #makeGrpc(address: string): Promise<GrpcCaller> {
    const { isTls, key, secret } = this.#place;
    const tlsRoots = isTls ? (this.#tlsRoots ?? true) : undefined;
    const isLocal = this.#place.close !== undefined || secret !== undefined;
    const caller = this.#keep(new GrpcCaller({ address, key, tlsRoots, isLocal }));
    if (secret !== undefined && !(await provesOverGrpc(caller, secret))) throw stranger(address);
    return caller;
  }

  async #makeHttp(base: string): Promise<HttpCaller> {
    const { key, secret } = this.#place;
    const caller = this.#keep(new HttpCaller({ base, key, tlsRoots: this.#tlsRoots }));
    if (secret !== undefined && !(await caller.proves(secret))) throw stranger(base);
    return caller;
  }

  #keep<T extends { close(): void }>(caller: T): T {
    this.#made.push(caller);
    return caller;
  }

  close(): void {
    for (const caller of this.#made) caller.close();
  }
}

function stranger(address: string): Failure {
  return new Failure(
    'NO-SERVER',
    `the server at ${address} is not the one that has the data directory open; no key was sent to it`,
  );
}

/** Explains why the server at the HTTP address in `file` is not the one that wrote the file. Undefined when it is. */
async function doubtOf({ http, secret }: ServerFile, tlsRoots: Buffer | undefined): Promise<Doubt | undefined> {
  const caller = new HttpCaller({ base: http, key: undefined, tlsRoots });
  try {
    return (await caller.proves(secret))
      ? undefined
      : { reason: `a different server answers at ${http}`, isStranger: true };
  } catch (error) {
    // Connection errors pass while a server starts or stops, so retry them. An untrusted certificate stays untrusted.
    if (error instanceof Failure && /ECONNREFUSED|ECONNRESET|hang up|timeout/.test(error.message))
      return { reason: error.message };
    throw error;
  } finally {
    caller.close();
  }
}

/** HttpCaller.proves over gRPC. */
async function provesOverGrpc(caller: GrpcCaller, secret: string): Promise<boolean> {
  const challenge = randomHex();
  let proof: string | undefined;
  try {
    await caller.call(RPC.health, {}, { challenge }, (trailers) => {
      proof = trailers.get(PROOF_HEADER)[0]?.toString();
    });
  } catch (error) {
    // The proof comes with an authentication error too, so only NO-SERVER is a failure here.
    if (!(error instanceof Failure) || error.code === 'NO-SERVER') throw error;
  }
  return isProof(secret, challenge, proof);
}

function connectionOf(place: Place, callers: Callers): Connection {
  return {
    dataDirectory: place.dataDirectory,
    isOwn: place.close !== undefined,
    call: async (method, message, options) => (await callers.grpc()).call(method, message, options),
    json: async (verb, path, asked) => (await callers.http()).json(verb, path, asked),
    upload: async (path, fileName, bytes) => (await callers.http()).upload(path, fileName, bytes),
    download: async function* (path, asked) {
      yield* (await callers.http()).download(path, asked);
    },
    exec: async (memory, command, args) => {
      const json = { command, args };
      const caller = await callers.http();
      const answer = await caller.json('POST', `/memories/${encodeURIComponent(memory)}/app/exec`, { json });
      return answer['result'] ?? null;
    },
  };
}

/** The certificates of a file and those of the system: a list that is given to TLS replaces its own. */
async function trustedWith(path: string): Promise<Buffer> {
  const given = readCertificates(path);
  const { getCACertificates } = await import('node:tls');
  return Buffer.from([...getCACertificates(), given].join('\n'));
}

function readCertificates(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure('FILE', `cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
