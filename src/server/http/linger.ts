// Closes connections of node:http on which the peer still sends. A socket that is closed with unread bytes sends a reset,
// and a peer that meets it while it sends does not read the answer that it has. So the rest is read and dropped first:
// until the peer ends it, sends nothing for a while, or sends for too long.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { BODY_QUIET_MS } from '../../engine/base/limits.ts';

/** A peer that was refused for how it sends is not read for long. */
const REFUSED_MS = 5_000;

/** Makes node:http close the connection so after its answer. `body` is read meanwhile by its own listeners. */
export function closeGently(socket: Socket, body: IncomingMessage, timeoutMs: number): void {
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => whenQuiet(socket, body, timeoutMs, close);
}

/** Sends the last bytes and closes the connection so. */
export function endGently(socket: Duplex, bytes: string): void {
  socket.end(bytes, () => whenQuiet(socket, socket, REFUSED_MS, () => socket.destroy()));
}

function whenQuiet(socket: Duplex, source: Readable, timeoutMs: number, close: () => void): void {
  let quiet: NodeJS.Timeout | undefined;
  const wait = (): void => {
    clearTimeout(quiet);
    quiet = setTimeout(close, BODY_QUIET_MS);
  };
  const late = setTimeout(() => socket.destroy(), timeoutMs);
  socket.once('close', () => {
    clearTimeout(late);
    clearTimeout(quiet);
  });
  source.on('data', wait);
  source.once('end', close);
  wait();
}
