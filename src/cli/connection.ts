// The server that a command talks to: the one that was named, the one that runs on the data directory, or, where none
// runs, one that this process starts for as long as the command takes. So a command has one way to do its work.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '../engine/grain/api-json.ts';
import type { DeepPartial } from '../server/gen/memory/v1/memory.ts';
import { Failure, usage } from './failure.ts';
import { type CallOptions, GrpcCaller, type Method } from './grpc-caller.ts';
import { type Asked, HttpCaller, type Verb } from './http-caller.ts';
import type { ServerOptions } from './options.ts';
import { printNote } from './output.ts';

export interface Connection {
  /** The data directory when the server is one of this machine that was found there. */
  readonly dataDirectory: string | undefined;
  /** True when this process opened the data directory itself. */
  readonly isOwn: boolean;
  call<Req, Res>(method: Method<Req, Res>, message: DeepPartial<Req>, options?: CallOptions): Promise<Res>;
  /** HTTP; `path` begins after `/api`. USAGE when only a gRPC address was given. */
  json(verb: Verb, path: string, asked?: Asked): Promise<JsonObject>;
  upload(path: string, fileName: string, bytes: Buffer): Promise<JsonObject>;
  download(path: string, asked?: Asked): AsyncGenerator<Buffer>;
  /** A command of app/exec on a memory; its result. */
  exec(memory: string, command: string, args?: JsonObject): Promise<JsonValue>;
}

export interface ConnectOptions {
  /** Make the data directory when there is none: for commands that begin something. */
  readonly mayCreate?: boolean;
}

/** Runs `work` with a connection and closes it. Rejects with Failure, EngineError or what `work` throws. */
export async function withConnection<T>(
  options: ServerOptions,
  work: (connection: Connection) => Promise<T>,
  connect: ConnectOptions = {},
): Promise<T> {
  const place = await placeOf(options, connect.mayCreate === true);
  try {
    const tlsRoots = options.tlsCa === undefined ? undefined : readCertificates(options.tlsCa);
    const http = place.http === undefined ? undefined : new HttpCaller({ base: place.http, key: place.key, tlsRoots });
    const grpc = new GrpcCaller({
      address: place.grpc,
      key: place.key,
      tlsRoots: place.isTls ? (tlsRoots ?? true) : undefined,
    });
    try {
      return await work(connectionOf(place, grpc, http));
    } finally {
      grpc.close();
      http?.close();
    }
  } finally {
    await place.close?.();
  }
}

interface Place {
  readonly grpc: string;
  readonly http: string | undefined;
  readonly isTls: boolean;
  readonly key: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly close?: () => Promise<void>;
}

function connectionOf(place: Place, grpc: GrpcCaller, http: HttpCaller | undefined): Connection {
  const overHttp = (): HttpCaller => {
    if (http === undefined) throw usage('this goes over HTTP: say --http-url too, or --data-dir instead of --url');
    return http;
  };
  return {
    dataDirectory: place.dataDirectory,
    isOwn: place.close !== undefined,
    call: (method, message, options) => grpc.call(method, message, options),
    json: (verb, path, asked) => overHttp().json(verb, path, asked),
    upload: (path, fileName, bytes) => overHttp().upload(path, fileName, bytes),
    download: (path, asked) => overHttp().download(path, asked),
    exec: async (memory, command, args) => {
      const json = { command, ...(args === undefined ? {} : { args }) };
      const answer = await overHttp().json('POST', `/memories/${encodeURIComponent(memory)}/app/exec`, { json });
      return answer['result'] ?? null;
    },
  };
}

async function placeOf(options: ServerOptions, mayCreate: boolean): Promise<Place> {
  if (options.url !== undefined || options.httpUrl !== undefined) return named(options);
  const running = runningServer(options.dataDir);
  if (running === undefined) return ownServer(options, mayCreate);
  return { ...running, key: keyOf(options, options.dataDir), dataDirectory: options.dataDir };
}

/** `host:port`, or with a scheme that says whether it is TLS. */
function named({ url, httpUrl, apiKey, dataDir }: ServerOptions): Place {
  if (url === undefined) throw usage('--http-url goes with --url, the gRPC address');
  const match = /^(?:(grpc|grpcs|http|https):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(url);
  if (match === null) throw usage(`--url wants host:port, not ${url}`);
  if (httpUrl !== undefined && !/^https?:\/\/[^/\s]+\/?$/.test(httpUrl))
    throw usage(`--http-url wants http://host:port, not ${httpUrl}`);
  const isTls = match[1] === undefined ? httpUrl?.startsWith('https:') === true : match[1].endsWith('s');
  return { grpc: match[2]!, http: httpUrl, isTls, key: apiKey ?? bootstrapKey(dataDir), dataDirectory: undefined };
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

async function ownServer(options: ServerOptions, mayCreate: boolean): Promise<Place> {
  const { dataDir } = options;
  if (!mayCreate && !existsSync(join(dataDir, 'layout.json')))
    throw new Failure(
      'NO-SERVER',
      `no server runs and there is no data in ${dataDir}: start one (granary serve), or name one with --data-dir or --url`,
    );
  const { openOwnServer } = await import('./own-server.ts');
  const server = await openOwnServer(dataDir);
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
