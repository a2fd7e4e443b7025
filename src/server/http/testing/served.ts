// Helpers of the listener conformance suite: a listener per test, handlers, and signals.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { EngineError } from '../../../engine/base/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../../engine/base/limits.ts';
import type { HttpHandler, HttpListener, Listen, ListenOptions } from '../listener.ts';
import { SocketClient } from '../socket-client.ts';

/** A test that takes longer hangs. */
export const TIMEOUT_MS = 300_000;
const FIXTURES = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'fixtures', 'tls');
export const TLS = { certFile: join(FIXTURES, 'cert.pem'), keyFile: join(FIXTURES, 'key.pem') };

export const TEXT = [['content-type', 'text/plain']] as const;

/** A promise with the function that resolves it. */
export function signal<T = void>(): { readonly wait: Promise<T>; readonly fire: (value: T) => void } {
  let fire: (value: T) => void = () => undefined;
  const wait = new Promise<T>((resolve) => {
    fire = resolve;
  });
  return { wait, fire };
}

/** Answers with the body's length, or with 413. */
export const bodyLength =
  (bytesMax: number): HttpHandler =>
  async (request) => {
    try {
      request.respond(200, TEXT, String((await request.body(bytesMax)).byteLength));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      assert.equal(error.code, 'LIM-E003');
      request.respond(413, TEXT, error.code);
    }
  };

export const echo: HttpHandler = async (request) => request.respond(200, TEXT, await request.body(MESSAGE_BYTES_MAX));

interface Served {
  readonly listener: HttpListener;
  /** Opens a client that closes with the test. */
  readonly open: () => Promise<SocketClient>;
  readonly reported: unknown[];
}

/**
 * Makes a test that runs `body` against a listener with `handler`. The listener is closed afterwards and must have
 * reported nothing.
 */
export type Serve = (
  handler: HttpHandler,
  body: (server: Served) => Promise<void>,
  options?: Partial<ListenOptions> & { readonly expectReports?: boolean | undefined },
) => () => Promise<void>;

export function serveWith(listen: Listen): Serve {
  return (handler, body, options = {}) =>
    async () => {
      const reported: unknown[] = [];
      const { expectReports, ...listenOptions } = options;
      const listener = await listen(
        { host: '127.0.0.1', port: 0, onError: (error) => reported.push(error), ...listenOptions },
        handler,
      );
      const clients: SocketClient[] = [];
      const open = async (): Promise<SocketClient> => {
        const client = await SocketClient.open(listener.port, { tls: options.tls !== undefined });
        clients.push(client);
        return client;
      };
      try {
        await body({ listener, open, reported });
        if (!expectReports) assert.deepEqual(reported, []);
      } finally {
        for (const client of clients) client.close();
        listener.close();
      }
    };
}

/** Bytes that reveal missing or misplaced pieces. */
export function pattern(bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) buffer.writeUInt32LE(at, at);
  return buffer;
}
