// The server that a command talks to: the one that was named, the one that runs on the data directory, or, where none
// runs, one that this process starts for as long as the command takes. So a command has one way to do its work.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '../engine/grain/api-json.ts';
import type { DeepPartial } from '../server/gen/memory/v1/memory.ts';
import { Failure, usage } from './failure.ts';
import { type CallOptions, GrpcCaller, type Method } from './grpc-caller.ts';
import { type Asked, HttpCaller, type Verb } from './http-caller.ts';
import type { ServerOptions } from './options.ts';
import { printNote } from './output.ts';
import { RPC } from './rpcs.ts';

const START_WAIT_MS = 100;
/** Ten seconds; then opening the directory says who has it. */
const START_TRIES_MAX = 100;

export interface Connection {
  /** The data directory when the server is one of this machine that was found there. */
  readonly dataDirectory: string | undefined;
  /** True when this process opened the data directory itself. */
  readonly isOwn: boolean;
  call<Req, Res>(method: Method<Req, Res>, message: DeepPartial<Req>, options?: CallOptions): Promise<Res>;
  /** HTTP; `path` begins after `/api`. */
  json(verb: Verb, path: string, asked?: Asked): Promise<JsonObject>;
  upload(path: string, fileName: string, bytes: Buffer): Promise<JsonObject>;
  download(path: string, asked?: Asked): AsyncGenerator<Buffer>;
  /** A command of app/exec on a memory; its result. */
  exec(memory: string, command: string, args?: JsonObject): Promise<JsonValue>;
}

export interface ConnectOptions {
  /** Make the data directory when there is none: for commands that begin something. */
  readonly mayCreate?: boolean;
  /** A server that is opened for the work removes what was removed before, whatever policies say. */
  readonly repeats?: boolean;
}

/** Runs `work` with a connection and closes it. Rejects with Failure, EngineError or what `work` throws. */
export async function withConnection<T>(
  options: ServerOptions,
  work: (connection: Connection) => Promise<T>,
  connect: ConnectOptions = {},
): Promise<T> {
  // Before a server of our own may have been opened, which nobody would close.
  const tlsRoots = options.tlsCa === undefined ? undefined : readCertificates(options.tlsCa);
  const place = await placeOf(options, connect);
  const callers = new Callers(place, tlsRoots);
  try {
    return await work(connectionOf(place, callers));
  } finally {
    callers.close();
    await place.close?.();
  }
}

/** One of the two addresses is there; the server that answers there tells the other. */
interface Place {
  readonly grpc: string | undefined;
  readonly http: string | undefined;
  readonly isTls: boolean;
  readonly key: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly close?: () => Promise<void>;
}

/** Both ways to a server, each made when it is first needed. */
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
    this.#grpc ??=
      this.#place.grpc === undefined ? this.#findGrpc() : Promise.resolve(this.#makeGrpc(this.#place.grpc));
    return this.#grpc;
  }

  http(): Promise<HttpCaller> {
    this.#http ??=
      this.#place.http === undefined ? this.#findHttp() : Promise.resolve(this.#makeHttp(this.#place.http));
    return this.#http;
  }

  async #findGrpc(): Promise<GrpcCaller> {
    const { features } = await (await this.http()).json('GET', '/config');
    const port = isObject(features) ? features['grpc_port'] : undefined;
    if (typeof port !== 'number') throw usage('the server does not tell its gRPC port: give it as --url host:port');
    return this.#makeGrpc(`${new URL(this.#place.http!).hostname}:${port}`); // one of the two is there
  }

  async #findHttp(): Promise<HttpCaller> {
    let port: string | undefined;
    const caller = await this.grpc();
    await caller.call(RPC.health, {}, {}, (trailers) => {
      port = trailers.get('x-http-port')[0]?.toString();
    });
    if (port === undefined) throw usage('the server does not tell its HTTP port: say --http-url too');
    const host = this.#place.grpc!.replace(/:\d+$/, ''); // one of the two is there
    return this.#makeHttp(`${this.#place.isTls ? 'https' : 'http'}://${host}:${port}`);
  }

  #makeGrpc(address: string): GrpcCaller {
    const tlsRoots = this.#place.isTls ? (this.#tlsRoots ?? true) : undefined;
    return this.#keep(new GrpcCaller({ address, key: this.#place.key, tlsRoots }));
  }

  #makeHttp(base: string): HttpCaller {
    return this.#keep(new HttpCaller({ base, key: this.#place.key, tlsRoots: this.#tlsRoots }));
  }

  #keep<T extends { close(): void }>(caller: T): T {
    this.#made.push(caller);
    return caller;
  }

  close(): void {
    for (const caller of this.#made) caller.close();
  }
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
      const json = { command, ...(args === undefined ? {} : { args }) };
      const caller = await callers.http();
      const answer = await caller.json('POST', `/memories/${encodeURIComponent(memory)}/app/exec`, { json });
      return answer['result'] ?? null;
    },
  };
}

async function placeOf(options: ServerOptions, connect: ConnectOptions): Promise<Place> {
  if (options.url !== undefined || options.httpUrl !== undefined) return named(options);
  const running = runningServer(options.dataDir) ?? (await startingServer(options.dataDir));
  if (running === undefined) return ownServer(options, connect);
  return { ...running, key: keyOf(options, options.dataDir), dataDirectory: options.dataDir };
}

/** A server that holds the directory and has not yet said where it listens is waited for. */
async function startingServer(directory: string): Promise<ReturnType<typeof runningServer>> {
  for (let tries = 0; tries < START_TRIES_MAX && isHeld(directory); tries += 1) {
    await sleep(START_WAIT_MS);
    const running = runningServer(directory);
    if (running !== undefined) return running;
  }
  return undefined;
}

function isHeld(directory: string): boolean {
  try {
    const { pid } = JSON.parse(readFileSync(join(directory, 'granary.lock'), 'utf8')) as { pid?: unknown }; // checked
    return typeof pid === 'number' && pid !== process.pid && isAlive(pid);
  } catch {
    // No lock, or one that a crash left half-written: opening the directory tells more.
    return false;
  }
}

/** `host:port` or `grpc(s)://host:port` is the gRPC address, `http(s)://…` the HTTP one. */
function named({ url, httpUrl, apiKey, dataDir }: ServerOptions): Place {
  const http = httpUrl ?? (url !== undefined && /^https?:/.test(url) ? url : undefined);
  const grpc = url === undefined || url === http ? undefined : url;
  if (http !== undefined && !/^https?:\/\/[^/\s]+\/?$/.test(http)) throw usage(`${http} is not http://host:port`);
  const match = grpc === undefined ? undefined : /^(?:(grpc|grpcs):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(grpc);
  if (match === null) throw usage(`--url wants host:port or http://host:port, not ${grpc}`);
  const isTls = match?.[1] === undefined ? http?.startsWith('https:') === true : match[1] === 'grpcs';
  return { grpc: match?.[2], http, isTls, key: apiKey ?? bootstrapKey(dataDir), dataDirectory: undefined };
}

/** What `<data-dir>/server.json` says, when the process that wrote it still runs. */
export function runningServer(directory: string): Omit<Place, 'key' | 'dataDirectory' | 'close'> | undefined {
  const path = join(directory, 'server.json');
  if (!existsSync(path)) return undefined;
  try {
    const { http, grpc, pid } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>; // each is checked
    if (typeof http !== 'string' || typeof grpc !== 'string' || typeof pid !== 'number') return undefined;
    return isAlive(pid) ? { http, grpc, isTls: http.startsWith('https:') } : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function ownServer(options: ServerOptions, { mayCreate, repeats }: ConnectOptions): Promise<Place> {
  const { dataDir } = options;
  if (mayCreate !== true && !existsSync(join(dataDir, 'layout.json')))
    throw new Failure(
      'NO-SERVER',
      `no server runs and there is no data in ${dataDir}: start one (granary serve), or name one with --data-dir or --url`,
    );
  const { openOwnServer } = await import('./own-server.ts');
  const server = await openOwnServer(dataDir, repeats === true);
  if (server.firstKey !== undefined) printNote(`A new data directory was made: ${dataDir}`);
  try {
    const key = keyOf(options, dataDir);
    return {
      grpc: server.grpc,
      http: server.http,
      isTls: false,
      key,
      dataDirectory: dataDir,
      close: () => server.close(),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

function keyOf(options: ServerOptions, directory: string): string | undefined {
  return options.apiKey ?? bootstrapKey(directory);
}

function bootstrapKey(directory: string): string | undefined {
  const given = process.env['GRANARY_BOOTSTRAP_KEY'];
  if (given !== undefined && given !== '') return given;
  try {
    return readFileSync(join(directory, 'keys', 'bootstrap.key'), 'utf8').trim();
  } catch {
    // Not there, or not for this user: the server says what it thinks of a call without a key.
    return undefined;
  }
}

function readCertificates(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Failure('FILE', `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
