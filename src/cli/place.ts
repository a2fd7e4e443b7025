// Where a command's server is, and which key it may have: the one that was named, the one that has the data directory,
// or, where none has it, one that this process starts for as long as the command takes.
//
// The bootstrap key is an admin's. It goes to the server of its own data directory alone: to the addresses in that
// directory's server.json, when they are this machine's, after the server has proved that it wrote the file.
import { existsSync, readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DirectoryLock, LOCK_FILE, tryLockDirectory } from '../server/directory-lock.ts';
import { holderOf, readServerFile, type ServerFile } from '../server/server-file.ts';
import { Failure, usage } from './failure.ts';
import type { ServerOptions } from './options.ts';
import { printNote } from './output.ts';

const LOOK_MS = 100;
/** For a server that has the directory to say where it listens, or to give it back. */
const WAIT_MS_MAX = 10_000;
/** One is a file that a killed server left, in the moment before the next server removes it. */
const STRANGERS_MAX = 5;

export interface ConnectOptions {
  /** Make the data directory when there is none: for commands that begin something. */
  readonly mayCreate?: boolean;
  /** A server that is opened for the work removes what was removed before, whatever policies say. */
  readonly repeats?: boolean;
}

/** One of the two addresses is there; the server that answers there tells the other. */
export interface Place {
  readonly grpc: string | undefined;
  readonly http: string | undefined;
  readonly isTls: boolean;
  readonly key: string | undefined;
  /** The server has to prove that it knows this, before anything is sent there. */
  readonly secret?: string;
  readonly dataDirectory: string | undefined;
  readonly close?: () => Promise<void>;
}

/** Why a server could not be told to be the one that has the data directory. */
export interface Doubt {
  readonly reason: string;
  /** Something answered that is another. */
  readonly isStranger?: true;
}

/** Asks at a file's address; undefined when the server that wrote the file is the one that answers. */
type Doubting = (file: ServerFile) => Promise<Doubt | undefined>;

export async function placeOf(options: ServerOptions, connect: ConnectOptions, doubtOf: Doubting): Promise<Place> {
  if (options.url !== undefined || options.httpUrl !== undefined) return named(options, doubtOf);
  const { dataDir } = options;
  const isThere = [LOCK_FILE, 'layout.json'].some((name) => existsSync(join(dataDir, name)));
  if (!isThere && connect.mayCreate !== true)
    throw new Failure(
      'NO-SERVER',
      `no server runs and there is no data in ${dataDir}: start one (granary serve), or name one with --data-dir or --url`,
    );
  let doubt: Doubt = { reason: 'it has not said where it listens' };
  const endMs = performance.now() + WAIT_MS_MAX;
  for (let strangers = 0; strangers < STRANGERS_MAX && performance.now() < endMs; ) {
    const lock = tryLockDirectory(dataDir);
    if (lock !== undefined) return ownServer(options, connect, lock);
    const file = readServerFile(dataDir);
    if (file !== undefined) {
      const found = await doubtOf(file);
      if (found === undefined) return localPlace(file, options);
      doubt = found;
      if (found.isStranger === true) strangers += 1;
    }
    await sleep(LOOK_MS);
  }
  throw new Failure(
    'NO-SERVER',
    `${dataDir} is in use by ${holderOf(dataDir)}; no key was sent: ${doubt.reason}`,
    true,
  );
}

function localPlace(file: ServerFile, { apiKey, dataDir }: ServerOptions): Place {
  const { http, grpc, secret } = file;
  const isHere = [new URL(http).hostname, new URL(`http://${grpc}`).hostname].every(isOwnAddress);
  const key = apiKey ?? (isHere ? bootstrapKey(dataDir) : undefined);
  return { http, grpc, isTls: http.startsWith('https:'), key, secret, dataDirectory: dataDir };
}

/** `host:port` or `grpc(s)://host:port` is the gRPC address, `http(s)://…` the HTTP one. */
async function named(options: ServerOptions, doubtOf: Doubting): Promise<Place> {
  const { url, httpUrl, apiKey, dataDir } = options;
  const http = httpUrl ?? (url !== undefined && /^https?:/.test(url) ? url : undefined);
  const grpc = url === undefined || url === http ? undefined : url;
  if (http !== undefined && !/^https?:\/\/[^/\s]+\/?$/.test(http)) throw usage(`${http} is not http://host:port`);
  const match = grpc === undefined ? undefined : /^(?:(grpc|grpcs):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(grpc);
  if (match === null) throw usage(`--url wants host:port or http://host:port, not ${grpc}`);
  const local = readServerFile(dataDir);
  const isLocal =
    local !== undefined &&
    (http === undefined || http.replace(/\/$/, '') === local.http) &&
    (match === undefined || match[2] === local.grpc);
  if (isLocal && apiKey === undefined && (await doubtOf(local)) === undefined)
    return { ...localPlace(local, options), dataDirectory: undefined };
  const isTls = match?.[1] === undefined ? http?.startsWith('https:') === true : match[1] === 'grpcs';
  return { grpc: match?.[2], http, isTls, key: apiKey, dataDirectory: undefined };
}

/** Loopback, or an address that this machine has. A name may lead anywhere. */
function isOwnAddress(host: string): boolean {
  if (host === 'localhost') return true;
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'))) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === bare) === true);
}

async function ownServer(
  options: ServerOptions,
  { mayCreate, repeats }: ConnectOptions,
  lock: DirectoryLock,
): Promise<Place> {
  const { dataDir } = options;
  try {
    // A first start that was cut off has left a lock file and nothing else.
    if (mayCreate !== true && !existsSync(join(dataDir, 'layout.json')))
      throw new Failure('NO-SERVER', `no server runs and there is no data in ${dataDir}: start one (granary serve)`);
    const { openOwnServer } = await import('./own-server.ts');
    const server = await openOwnServer(dataDir, { repeats: repeats === true, lock });
    if (server.firstKey !== undefined) printNote(`A new data directory was made: ${dataDir}`);
    const key = options.apiKey ?? bootstrapKey(dataDir);
    const { grpc, http } = server;
    return { grpc, http, isTls: false, key, dataDirectory: dataDir, close: () => server.close() };
  } catch (error) {
    lock.release();
    throw error;
  }
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
