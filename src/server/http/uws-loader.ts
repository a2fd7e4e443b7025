// Finds the uWebSockets.js binary that loads here, or says why none does. On an older C library that is the patched
// copy that scripts/patch-uws.mjs made; nothing is written here.

import type { HttpRequest, HttpResponse, us_listen_socket } from 'uWebSockets.js';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { HEADER_BYTES_MAX } from '../../engine/limits.ts';

/** What is used of the module. Its own types lack the form of `listen` that takes a host, a port and options. */
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
}

export type LoadedUws = { readonly uws: UwsModule } | { readonly reason: string };

let loaded: LoadedUws | undefined;

/** The native module, or one line for the log about why there is none. The same answer for the process's life. */
export function loadUws(): LoadedUws {
  loaded ??= load();
  return loaded;
}

function load(): LoadedUws {
  const require = createRequire(import.meta.url);
  // The library reads its header limit (4 KiB unless told, too little for a long bearer token) while it loads.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEADER_BYTES_MAX);
  try {
    const folder = dirname(require.resolve('uWebSockets.js'));
    const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
    const published = join(folder, name);
    if (!existsSync(published)) return { reason: `uWebSockets.js has no ${name}` };
    const patched = join(folder, '..', '.cache', 'granary', name);
    // The binary itself, not the package's entry: that one knows only the published files.
    const uws: UwsModule = require(existsSync(patched) ? patched : published);
    return { uws };
  } catch (error) {
    const words = error instanceof Error ? error.message.split('\n')[0] : String(error);
    return { reason: `uWebSockets.js does not load: ${words}` };
  }
}
