// The gRPC front on node:http2. It passes raw bytes; their consumers decode messages.
import { readFileSync } from 'node:fs';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import {
  CONNECTIONS_MAX,
  GRPC_CONNECTION_MEGABYTES_MAX,
  GRPC_STREAM_WINDOW_BYTES,
  GRPC_STREAMS_MAX,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
} from '../../../engine/base/limits.ts';
import { serveHttp2 } from '../../http/http2.ts';
import { TLS_OPTIONS } from '../../tls.ts';
import { Calls, isGrpc } from '../calls.ts';
import type { GrpcFront, GrpcOptions, ListenGrpc } from '../front.ts';
import { NodeSession } from './session.ts';
import { NodeHead, NodeStream } from './stream.ts';

const SESSIONS: SecureServerOptions = {
  settings: {
    maxConcurrentStreams: GRPC_STREAMS_MAX,
    initialWindowSize: GRPC_STREAM_WINDOW_BYTES,
    maxHeaderListSize: HEADER_BYTES_MAX,
    enablePush: false,
  },
  maxSessionMemory: GRPC_CONNECTION_MEGABYTES_MAX,
};

/** Listens with node:http2. */
export const listenGrpc: ListenGrpc = async (options, handler) => {
  const { tls } = options;
  const server =
    tls === undefined || options.otherwise !== undefined
      ? createServer(SESSIONS)
      : createSecureServer({
          ...SESSIONS,
          ...TLS_OPTIONS,
          handshakeTimeout: HEADERS_TIMEOUT_MS,
          cert: readFileSync(tls.certFile),
          key: readFileSync(tls.keyFile),
        });
  if (options.otherwise === undefined) await listen(server, options);
  return new NodeFront(server, options, new Calls(options, handler));
};

function listen(server: Http2Server | Http2SecureServer, { host, port }: GrpcOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

class NodeFront implements GrpcFront {
  readonly port: number;
  private readonly server: Http2Server | Http2SecureServer;
  private readonly options: GrpcOptions;
  private readonly calls: Calls;

  constructor(server: Http2Server | Http2SecureServer, options: GrpcOptions, calls: Calls) {
    this.server = server;
    this.options = options;
    this.calls = calls;
    this.port = (server.address() as AddressInfo | null)?.port ?? 0; // it listens on TCP, or not at all
    server.maxConnections = CONNECTIONS_MAX;
    server.on('error', (error) => options.onError?.(error));
    server.on('session', (session: ServerHttp2Session) => this.connected(session));
  }

  inject(connection: Socket): void {
    if (!this.calls.hasRoom) connection.destroy();
    // The injecting listener has decrypted already: a server without TLS accepts any connection.
    else this.server.emit('connection', connection);
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

  private connected(session: ServerHttp2Session): void {
    const link = new NodeSession(session);
    session.on(
      'stream',
      (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: string[]) => {
        if (this.options.otherwise !== undefined && !isGrpc(headers['content-type']))
          this.serveOtherwise(link, stream, headers, rawHeaders);
        else this.calls.accept(connection, new NodeStream(link, stream, new NodeHead(headers, rawHeaders)));
      },
    );
    const connection = this.calls.connected(link);
    session.on('close', () => this.calls.disconnected(connection));
  }

  private serveOtherwise(
    link: NodeSession,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): void {
    const { otherwise: handler, onError, bodyTimeoutMs } = this.options;
    if (handler === undefined) return;
    const cutOff = (): void => link.cutOff(stream);
    const { requests } = this.calls.shared;
    serveHttp2({ stream, headers, rawHeaders, handler, onError, cutOff, bodyTimeoutMs, requests });
  }
}
