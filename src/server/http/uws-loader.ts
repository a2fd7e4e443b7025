// Finds a loadable uWebSockets.js binary, or the reason why there is none. The built package has binaries that are patched
// for older C libraries (uws-patch.ts). From the sources and such a library, a patched copy is made at each start: that
// takes some 25 ms, needs no script at installation, and leaves no file that anyone could exchange. The digest is checked
// before a binary runs.

import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { hash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeFully } from '../../engine/base/durable-file.ts';
import { HEADER_BYTES_MAX } from '../../engine/base/limits.ts';
import { DIGESTS } from './uws-digests.ts';
import { NEWER, patchElf } from './uws-patch.ts';

/** The parts of the module in use. Its own types lack the form of `listen` that takes a host, a port and options. */
export interface UwsModule {
  App(): UwsApp;
  SSLApp(options: { key_file_name: string; cert_file_name: string; ssl_ciphers: string }): UwsApp;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
}

type Register = (pattern: string, handler: (response: HttpResponse, request: HttpRequest) => void) => UwsApp;

export interface UwsApp {
  get: Register;
  post: Register;
  put: Register;
  patch: Register;
  del: Register;
  any: Register;
  filter(callback: (response: HttpResponse, change: number) => void): UwsApp;
  listen(host: string, port: number, options: number, callback: (socket: us_listen_socket | false) => void): UwsApp;
  close(): UwsApp;
  /** Seconds until a connection is closed that sends no request, or a body too slowly. */
  setIdleTimeout(seconds: number): void;
  /** Seconds until a connection is closed that sends no further request after an answer. */
  setResponseTimeout(seconds: number): void;
}

export type LoadedUws = { readonly uws: UwsModule } | { readonly reason: string };

/** The binary for this version of Node on this platform. */
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

let loaded: LoadedUws | undefined;

/** The native module, or a line for the log with the reason. Cached for the process's life. */
export function loadUws(): LoadedUws {
  loaded ??= loadUwsFrom(ownFolder());
  return loaded;
}

/**
 * The build places the binaries for the version of Node that this package brings beside this module. For another version,
 * the package can be installed.
 */
function ownFolder(): string {
  const here = fileURLToPath(new URL('.', import.meta.url));
  if (existsSync(join(here, BINARY))) return here;
  try {
    return dirname(createRequire(import.meta.url).resolve('uWebSockets.js'));
  } catch {
    return here;
  }
}

/**
 * The same for a folder with binaries. Binaries with an unexpected digest are not loaded. A patched copy is
 * written below the first of `folders` that allows it.
 */
export function loadUwsFrom(folder: string, folders = FOLDERS): LoadedUws {
  // The library reads its header limit while it loads. The default of 4 KiB is too small for a long bearer token.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BYTES_MAX);
  try {
    const path = join(folder, BINARY);
    if (!existsSync(path)) return { reason: `${folder} has no ${BINARY}, the binary of uWebSockets.js` };
    const bytes = readFileSync(path);
    const found = hash('sha256', bytes, 'hex');
    const digests = DIGESTS[BINARY];
    if (digests?.patched === found) return { uws: open(path) };
    if (digests?.published !== found)
      return { reason: `uWebSockets.js is not loaded: ${path} is not the expected file (its SHA-256 is ${found})` };
    try {
      // Load the binary itself: the package's entry has other checks of its own.
      return { uws: open(path) };
    } catch (error) {
      if (digests.patched === undefined || !words(error).includes(NEWER)) throw error;
      return { uws: openPatched(bytes, digests.patched, folders) };
    }
  } catch (error) {
    return { reason: `uWebSockets.js cannot be loaded: ${words(error)}` };
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message.split('\n')[0]! : String(error); // split returns one element at least
}

function open(path: string): UwsModule {
  const module = { exports: {} };
  process.dlopen(module, path);
  return module.exports as UwsModule; // the digest of the file is known
}

/**
 * Folders for the patched copy: each may be read-only, or on a file system that runs no code. A user without an account has
 * no home, and then the call throws.
 */
const FOLDERS: readonly (() => string)[] = [tmpdir, homedir];

/** Throws with the reason for each folder. */
function openPatched(published: Uint8Array, digest: string, folders: readonly (() => string)[]): UwsModule {
  const patched = patchElf(published);
  const made = hash('sha256', patched, 'hex');
  if (made !== digest) throw new Error(`the patched copy is not the expected file (its SHA-256 is ${made})`);
  const reasons: string[] = [];
  for (const folder of folders)
    try {
      return openWritten(patched, folder());
    } catch (error) {
      reasons.push(words(error));
    }
  throw new Error(`no folder takes the patched copy (${reasons.join('; ')})`);
}

/**
 * Other users may write in `folder`. So the file is new, has this user's access alone and loses its name before it is
 * loaded: nobody can exchange it, and nothing stays behind.
 */
function openWritten(bytes: Uint8Array, folder: string): UwsModule {
  const path = join(folder, `.granary-uws-${randomUUID()}.node`);
  const descriptor = openSync(path, 'wx+', 0o600);
  try {
    rmSync(path);
    writeFully(descriptor, bytes, 0);
    return open(`/proc/self/fd/${descriptor}`);
  } finally {
    closeSync(descriptor);
  }
}
