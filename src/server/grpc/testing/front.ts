// A front for tests, and a raw HTTP/2 client that exposes everything on the wire.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionOptions,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { GrpcFront, GrpcHandler, GrpcOptions, ListenGrpc } from '../front.ts';

export const ADD = '/memory.v1.MemoryService/Add';
export const echo: GrpcHandler = async ({ bytes }) => ({ bytes });

const opened = new Set<{ close(): void }>();

/** Closes everything that this file opened. */
export function closeAll(): void {
  for (const one of opened) one.close();
  opened.clear();
}

/** Registers a thing for `closeAll`. */
export function toBeClosed<T extends { close(): void }>(one: T): T {
  opened.add(one);
  return one;
}

export type StartFront = (handler: GrpcHandler, options?: Partial<GrpcOptions>) => Promise<GrpcFront>;

/** Starts fronts on free ports with that listener. */
export function startFrontOn(listen: ListenGrpc): StartFront {
  return async (handler, options = {}) => {
    const given: GrpcOptions = {
      host: '127.0.0.1',
      port: 0,
      allowReflection: () => undefined,
      requestIdOf: (id) => id ?? 'req_made',
      ...options,
    };
    return toBeClosed(await listen(given, handler));
  };
}

export async function openSession(port: number, options: ClientSessionOptions = {}): Promise<ClientHttp2Session> {
  // Its own limit would reject answers during large uploads.
  const session = connect(`http://127.0.0.1:${port}`, { maxSessionMemory: 1_000, ...options });
  session.on('error', () => undefined);
  toBeClosed({ close: () => session.destroy() });
  await new Promise((resolve) => session.once('connect', resolve));
  return session;
}

/** A message with its prefix. */
export function frame(message: Uint8Array, flag = 0): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

export interface RawAnswer {
  readonly headers: IncomingHttpHeaders;
  /** Undefined when the status was in the headers. */
  readonly trailers: IncomingHttpHeaders | undefined;
  readonly data: Buffer;
  /** HTTP/2 code of a reset, or 0. */
  readonly rstCode: number;
}

/** Opens a stream; the caller writes and ends the request. */
export function openStream(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': ADD,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  return stream.on('error', () => undefined);
}

export function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders | undefined;
    const data: Buffer[] = [];
    stream.on('response', (given) => {
      headers = given;
    });
    stream.on('trailers', (given) => {
      trailers = given;
    });
    stream.on('data', (chunk: Buffer) => data.push(chunk));
    stream.on('close', () => resolve({ headers, trailers, data: Buffer.concat(data), rstCode: stream.rstCode ?? 0 }));
  });
}

/** Makes one call with its request in these pieces. */
export function ask(
  session: ClientHttp2Session,
  pieces: readonly Uint8Array[],
  headers: OutgoingHttpHeaders = {},
): Promise<RawAnswer> {
  const stream = openStream(session, headers);
  const answer = answerOf(stream);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  return answer;
}

export function statusOf({ headers, trailers }: RawAnswer): number {
  return Number((trailers ?? headers)['grpc-status']);
}

export function messageOf({ headers, trailers }: RawAnswer): string {
  return decodeURI(String((trailers ?? headers)['grpc-message']));
}
