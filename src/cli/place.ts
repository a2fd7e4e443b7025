// Finds a command's server and the key for it. In order: the server named on the command line, the server that has the
// data directory open, or one that this process starts for the duration of the command.
//
// The bootstrap key has admin rights. It is sent only to the server of its own data directory: to an address in that
// directory's server.json, on this machine, after the server has proved that it wrote the file.
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
/** Time limit for a server that holds the directory to publish its address or release the lock. */
const WAIT_MS_MAX = 10_000;
/** A killed server may leave a stale file until the next server removes it, so a few mismatches are tolerated. */
const STRANGERS_MAX = 5;

export interface ConnectOptions {
  /** Create the data directory when it does not exist; for commands that may be the first ones. */
  readonly mayCreate?: boolean | undefined;
  /** A server opened for the work repeats earlier removals without checking policies. */
  readonly repeats?: boolean | undefined;
  /** The work may keep several cores busy. A server opened for it has worker threads, as a server that serves. */
  readonly isLong?: boolean | undefined;
  /** The work goes on as long as its caller wants. A server opened for it computes vectors. */
  readonly isLongLived?: boolean | undefined;
  /** The variables of a server opened for the work; default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The work asks about a running server: this process opens no data directory. */
  readonly mustRun?: boolean | undefined;
}

/** At least one address is set; the server there reports the other. */
export interface Place {
  readonly grpc: string | undefined;
  readonly http: string | undefined;
  readonly isTls: boolean;
  readonly key: string | undefined;
  /** The server must prove that it knows this secret before anything else is sent. */
  readonly secret?: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly close?: (() => Promise<void>) | undefined;
}

/** Why the server could not be identified as the one that has the data directory open. */
export interface Doubt {
  readonly reason: string;
  /** A different server answered. */
  readonly isStranger?: true | undefined;
}

/** Checks the server at a file's address. Resolves to undefined when it wrote the file. */
type Doubting = (file: ServerFile) => Promise<Doubt | undefined>;

export async function placeOf(options: ServerOptions, connect: ConnectOptions, doubtOf: Doubting): Promise<Place> {
  if (options.url !== undefined || options.httpUrl !== undefined) return named(options, doubtOf);
  const { dataDir } = options;
  const isThere = existsSync(join(dataDir, LOCK_FILE)) || hasData(dataDir, connect);
  if (!isThere && connect.mayCreate !== true)
    throw new Failure(
      'NO-SERVER',
      `no server is running and there is no data in ${dataDir}: start one (granary serve), or name one with --data-dir or --url`,
    );
  let doubt: Doubt = { reason: 'its server has not published an address yet' };
  const endMs = performance.now() + WAIT_MS_MAX;
  for (let strangers = 0; strangers < STRANGERS_MAX && performance.now() < endMs; ) {
    const lock = tryLockDirectory(dataDir);
    if (lock !== undefined && connect.mustRun === true) {
      lock.release();
      throw new Failure('NO-SERVER', `no server is running on ${dataDir}: start one (granary serve)`, true);
    }
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

/** `host:port` or `grpc(s)://host:port` is a gRPC address, `http(s)://…` an HTTP one, with the base path of a proxy. */
async function named(options: ServerOptions, doubtOf: Doubting): Promise<Place> {
  const { url, httpUrl, apiKey, dataDir } = options;
  const http = httpUrl ?? (url !== undefined && /^https?:/.test(url) ? url : undefined);
  const grpc = url === undefined || url === http ? undefined : url;
  if (http !== undefined && !/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/.test(http))
    throw usage(
      `${httpUrl === undefined ? '--url' : '--http-url'} must be http://host:port or https://host/base, not ${http}`,
    );
  const match = grpc === undefined ? undefined : /^(?:(grpc|grpcs):\/\/)?([^/\s]+:\d{1,5})\/?$/.exec(grpc);
  if (match === null) throw usage(`--url must be host:port or http://host:port, not ${grpc}`);
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

/**
 * True for a loopback address or an address of this machine. Host names may resolve to anything, so they do not count.
 */
function isOwnAddress(host: string): boolean {
  if (host === 'localhost') return true;
  const bare = host.replace(/^\[|\]$/g, '');
  if (bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'))) return true;
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === bare) === true);
}

async function ownServer(options: ServerOptions, connect: ConnectOptions, lock: DirectoryLock): Promise<Place> {
  const { dataDir } = options;
  const { repeats, isLong, isLongLived, env = process.env } = connect;
  try {
    // An interrupted first start leaves only a lock file.
    if (connect.mayCreate !== true && !hasData(dataDir, connect))
      throw new Failure(
        'NO-SERVER',
        `no server is running and there is no data in ${dataDir}: start one (granary serve)`,
      );
    const { openOwnServer } = await import('./own-server.ts');
    const server = await openOwnServer(dataDir, {
      repeats: repeats === true,
      isLong: isLong === true,
      isLongLived: isLongLived === true,
      env,
      lock,
    });
    if (server.firstKey !== undefined) printNote(`Created a new data directory: ${dataDir}`);
    const key = options.apiKey ?? bootstrapKey(dataDir);
    const { grpc, http } = server;
    return { grpc, http, isTls: false, key, dataDirectory: dataDir, close: () => server.close() };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** True when a server opened here has data: its own, or those of a store. */
function hasData(dataDir: string, { env = process.env }: ConnectOptions): boolean {
  return (
    env['GRANARY_STORE'] !== undefined || ['layout.json', 'node.json'].some((name) => existsSync(join(dataDir, name)))
  );
}

function bootstrapKey(directory: string): string | undefined {
  const given = process.env['GRANARY_BOOTSTRAP_KEY'];
  if (given !== undefined && given !== '') return given;
  try {
    return readFileSync(join(directory, 'keys', 'bootstrap.key'), 'utf8').trim();
  } catch {
    // The file does not exist or is not readable for this user. The server decides about calls without a key.
    return undefined;
  }
}
