// Finds a loadable uWebSockets.js binary, or the reason why there is none. With an older C library that is the patched
// copy made by scripts/patch-uws.mjs. The digest is checked before the binary runs. Nothing is written here.

import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { HEADER_BYTES_MAX } from '../../engine/base/limits.ts';

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

/** SHA-256 of a binary in hex, from scripts/patch-uws.mjs. */
interface Digests {
  readonly published: string;
  readonly patched?: string | undefined;
}

export type LoadedUws = { readonly uws: UwsModule } | { readonly reason: string };

let loaded: LoadedUws | undefined;

/** The native module, or a line for the log with the reason. Cached for the process's life. */
export function loadUws(): LoadedUws {
  loaded ??= loadUwsFrom(createRequire(import.meta.url).resolve('uWebSockets.js'));
  return loaded;
}

/** The same for the package with entry file `entry`. Binaries with an unexpected digest are not loaded. */
export function loadUwsFrom(entry: string): LoadedUws {
  const require = createRequire(import.meta.url);
  // The library reads its header limit while it loads. The default of 4 KiB is too small for a long bearer token.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BYTES_MAX);
  try {
    const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
    const published = join(dirname(entry), name);
    if (!existsSync(published)) return { reason: `uWebSockets.js has no ${name}` };
    const patched = join(dirname(entry), '..', '.cache', 'granary', name);
    const isPatched = existsSync(patched);
    const path = isPatched ? patched : published;
    const digests: Readonly<Record<string, Digests>> = require('../../../scripts/uws-digests.json');
    const expected = isPatched ? digests[name]?.patched : digests[name]?.published;
    const found = hash('sha256', readFileSync(path), 'hex');
    if (found !== expected)
      return { reason: `uWebSockets.js is not loaded: ${path} is not the expected file (its SHA-256 is ${found})` };
    // Load the binary itself: the package's entry knows only the published files.
    const uws: UwsModule = require(path);
    return { uws };
  } catch (error) {
    const words = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { reason: `uWebSockets.js does not load: ${words}` };
  }
}
