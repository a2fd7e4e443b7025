// The gRPC front on HTTP/2 frames of our own, over node:net and node:tls.
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { CONNECTIONS_MAX, HEADERS_TIMEOUT_MS } from '../../../engine/base/limits.ts';
import { TLS_OPTIONS } from '../../tls.ts';
import { Calls } from '../calls.ts';
import type { GrpcFront, GrpcOptions, ListenGrpc } from '../front.ts';
import { NativeSession } from './session.ts';

/** Listens with HTTP/2 frames of our own. It does not serve HTTP on the same port (`otherwise`). */
export const listenNative: ListenGrpc = async (options, handler) => {
  const calls = new Calls(options, handler);
  const server = serverOf(options, (socket) => serve(calls, socket));
  try {
    await listen(server, options);
  } catch (error) {
    calls.close();
    throw error;
  }
  server.maxConnections = CONNECTIONS_MAX;
  server.on('error', (error) => options.onError?.(error));
  return new NativeFront(server, calls);
};

function serverOf({ tls }: GrpcOptions, connected: (socket: Socket) => void): Server {
  if (tls === undefined) return createServer({ noDelay: true }, connected);
  const server = createTlsServer({
    ...TLS_OPTIONS,
    ALPNProtocols: ['h2'],
    noDelay: true,
    handshakeTimeout: HEADERS_TIMEOUT_MS,
    cert: readFileSync(tls.certFile),
    key: readFileSync(tls.keyFile),
  });
  return server.on('secureConnection', (socket: TLSSocket) => {
    // RFC 9113, section 3.2: HTTP/2 over TLS is agreed on in the handshake.
    if (socket.alpnProtocol === 'h2') connected(socket);
    else socket.destroy();
  });
}

function listen(server: Server, { host, port }: GrpcOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function serve(calls: Calls, socket: Socket): void {
  const session = new NativeSession(socket, (stream) => calls.accept(connection, stream), calls.shared.unread);
  const connection = calls.connected(session);
  socket.on('close', () => calls.disconnected(connection));
}

class NativeFront implements GrpcFront {
  readonly port: number;
  private readonly server: Server;
  private readonly calls: Calls;

  constructor(server: Server, calls: Calls) {
    this.server = server;
    this.calls = calls;
    this.port = (server.address() as AddressInfo).port; // it listens on TCP
  }

  inject(connection: Socket): void {
    if (this.calls.hasRoom) serve(this.calls, connection);
    else connection.destroy();
  }

  setServing(serving: boolean): void {
    this.calls.setServing(serving);
  }

  drain(deadlineMs: number): Promise<void> {
    const drained = this.calls.drain(deadlineMs);
    this.server.close();
    return drained;
  }

  close(): void {
    this.calls.close();
    this.server.close();
  }
}
