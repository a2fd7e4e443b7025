// Takes HTTP/2 connections from a port shared with gRPC, before HTTP/1.1 parses them.
import type { Server, Socket } from 'node:net';
import { HEADERS_TIMEOUT_MS } from '../../engine/base/limits.ts';

/** The start of every HTTP/2 connection, which no HTTP/1.1 request shares. */
const PREFACE = Buffer.from('PRI ');

/** Passes HTTP/2 connections to `take`, and the others to the existing listeners. */
export function takeHttp2Away(
  server: Server,
  accepted: 'connection' | 'secureConnection',
  take: (connection: Socket) => void,
): void {
  const before = server.listeners(accepted) as ((this: Server, socket: Socket) => void)[]; // listeners of that event
  const keep = (socket: Socket): void => {
    for (const listener of before) listener.call(server, socket);
  };
  server.removeAllListeners(accepted);
  server.on(accepted, (socket: Socket & { readonly alpnProtocol?: string | false | undefined }) => {
    if (accepted === 'secureConnection') (socket.alpnProtocol === 'h2' ? take : keep)(socket);
    else byFirstBytes(socket, take, keep);
  });
}

/** Peeks at the first bytes of a connection without TLS, and puts them back. */
function byFirstBytes(socket: Socket, take: (socket: Socket) => void, keep: (socket: Socket) => void): void {
  let seen: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), HEADERS_TIMEOUT_MS);
  const stop = (): void => clearTimeout(timer);
  const fail = (): void => void socket.destroy();
  const look = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const known = Math.min(seen.length, PREFACE.length);
    const isHttp2 = seen.subarray(0, known).equals(PREFACE.subarray(0, known));
    if (isHttp2 && known < PREFACE.length) return;
    stop();
    socket.off('data', look).off('close', stop).off('error', fail);
    socket.pause();
    socket.unshift(seen);
    if (isHttp2) take(socket);
    else {
      keep(socket);
      socket.resume();
    }
  };
  socket.on('data', look).on('close', stop).on('error', fail);
}
