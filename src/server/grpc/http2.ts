// The gRPC front on node:http2. It passes raw bytes; their consumers decode messages.
import { readFileSync } from 'node:fs';
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type SecureServerOptions,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { EngineError, ErrorCode } from '../../engine/base/errors.ts';
import {
  ANSWER_MEMORY_MB,
  CONNECTIONS_MAX,
  GRPC_CONNECTION_MEGABYTES_MAX,
  GRPC_LOOK_MS,
  GRPC_STREAM_WINDOW_BYTES,
  GRPC_STREAMS_MAX,
  HEADER_BYTES_MAX,
  HEADERS_TIMEOUT_MS,
  REQUEST_MEMORY_MB,
} from '../../engine/base/limits.ts';
import { answerBudget, requestBudget } from '../byte-budget.ts';
import { Expiry } from '../expiry.ts';
import { firstHeader, onlyHeader } from '../http/header-list.ts';
import { serveHttp2 } from '../http/http2.ts';
import { GRPC_STATUS } from '../status.ts';
import { TLS_OPTIONS } from '../tls.ts';
import { Connection } from './connection.ts';
import { type Carrier, type Head, refuseCall, refuseStream, type Shared } from './exchange.ts';
import type { GrpcFront, GrpcHandler, GrpcOptions, ListenGrpc } from './front.ts';
import { Health } from './health.ts';
import { Inflation } from './inflation.ts';
import type { Method } from './method.ts';
import { methodsOf } from './methods.ts';
import { SERVICES } from './services.ts';
import { StreamingCall } from './streaming-call.ts';
import { asRefusal, ProtocolError, trailersOfError } from './trailers.ts';
import { UnaryCall } from './unary-call.ts';

/** Messages are protobuf in any case; parameters do not matter. */
const CONTENT_TYPE = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

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
  return new Http2Front(server, options, handler);
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

class Http2Front implements GrpcFront {
  readonly port: number;
  private readonly server: Http2Server | Http2SecureServer;
  private readonly options: GrpcOptions;
  private readonly health: Health;
  private readonly methods: ReadonlyMap<string, Method>;
  private readonly shared: Shared;
  private readonly connections = new Set<Connection>();
  private readonly timer: NodeJS.Timeout;
  private isDraining = false;
  /** Called when the last connection has closed. */
  private emptied: (() => void) | undefined;

  constructor(server: Http2Server | Http2SecureServer, options: GrpcOptions, handler: GrpcHandler) {
    this.server = server;
    this.options = options;
    this.health = new Health(SERVICES.map((service) => service.name));
    this.methods = methodsOf(options, handler, this.health);
    this.shared = {
      expiry: new Expiry(),
      inflation: new Inflation(),
      requests: options.requests ?? requestBudget(REQUEST_MEMORY_MB),
      answers: options.answers ?? answerBudget(ANSWER_MEMORY_MB),
      looks: 0,
      requestIdOf: options.requestIdOf,
      onError: options.onError,
    };
    this.port = (server.address() as AddressInfo | null)?.port ?? 0; // it listens on TCP, or not at all
    server.maxConnections = CONNECTIONS_MAX;
    server.on('error', (error) => options.onError?.(error));
    server.on('session', (session: ServerHttp2Session) => this.connected(session));
    this.timer = setInterval(() => this.look(), GRPC_LOOK_MS).unref();
  }

  inject(connection: Socket): void {
    if (this.isDraining || this.connections.size >= CONNECTIONS_MAX) connection.destroy();
    // The injecting listener has decrypted already: a server without TLS accepts any connection.
    else this.server.emit('connection', connection);
  }

  setServing(serving: boolean): void {
    this.health.setServing(serving);
  }

  async drain(deadlineMs: number): Promise<void> {
    this.isDraining = true;
    this.setServing(false);
    const closed = new Promise<void>((resolve) => {
      this.emptied = resolve;
    });
    const force = setTimeout(() => this.close(), deadlineMs);
    for (const connection of this.connections) connection.end();
    this.server.close();
    if (this.connections.size > 0) await closed;
    clearTimeout(force);
    clearInterval(this.timer);
  }

  close(): void {
    clearInterval(this.timer);
    for (const connection of this.connections) connection.destroy();
    this.server.close();
  }

  private connected(session: ServerHttp2Session): void {
    const connection = new Connection(session, this.shared, (carrier, stream, head) =>
      this.accept(carrier, stream, head),
    );
    this.connections.add(connection);
    session.on('close', () => {
      this.connections.delete(connection);
      if (this.connections.size === 0) this.emptied?.();
    });
    if (this.isDraining) connection.end();
  }

  private look(): void {
    this.shared.looks += 1;
    for (const connection of this.connections) connection.look();
  }

  private accept(connection: Connection, stream: ServerHttp2Stream, head: Head): void {
    const { headers, rawHeaders } = head;
    const requestId = (): string => this.shared.requestIdOf(firstHeader(rawHeaders, 'x-request-id'));
    const type = headers['content-type'];
    if (type !== 'application/grpc' && (type === undefined || !CONTENT_TYPE.test(type))) {
      const { otherwise: handler, onError, bodyTimeoutMs } = this.options;
      if (handler === undefined) refuseByStatus(connection, stream, 415, 'VAL-E006', requestId());
      else {
        const cutOff = (): void => connection.cutOff(stream);
        const { requests } = this.shared;
        serveHttp2({ stream, headers, rawHeaders, handler, onError, cutOff, bodyTimeoutMs, requests });
      }
      return;
    }
    if (headers[':method'] !== 'POST') {
      refuseByStatus(connection, stream, 405, 'SYS-E004', requestId());
      return;
    }
    try {
      this.options.checkCaller?.((name) => onlyHeader(rawHeaders, name));
    } catch (caught) {
      const refusal = asRefusal(caught);
      if (refusal !== caught) this.options.onError?.(caught);
      refuse(connection, stream, refusal, requestId());
      return;
    }
    const path = headers[':path'] ?? '';
    const method = this.methods.get(path);
    if (method === undefined) {
      const unknown = `The server does not implement the method ${path}`;
      refuse(connection, stream, new ProtocolError(GRPC_STATUS.UNIMPLEMENTED, 'SYS-E002', unknown), requestId());
    } else if ('run' in method) new UnaryCall(connection, stream, head, method);
    else new StreamingCall(connection, stream, head, method);
  }
}

/** Ends a stream before it becomes a call, with a gRPC status. */
function refuse(
  carrier: Carrier,
  stream: ServerHttp2Stream,
  refusal: EngineError | ProtocolError,
  requestId: string,
): void {
  if (readOver(stream)) refuseCall(carrier, stream, trailersOfError(refusal, { 'x-request-id': requestId }));
}

/** Ends a stream that is not gRPC, with an HTTP status. */
function refuseByStatus(
  carrier: Carrier,
  stream: ServerHttp2Stream,
  status: 405 | 415,
  code: ErrorCode,
  requestId: string,
): void {
  const headers = { ':status': status, 'x-error-code': code, 'x-request-id': requestId };
  if (readOver(stream)) refuseStream(carrier, stream, status === 405 ? { ...headers, allow: 'POST' } : headers);
}

/** Discards the rest of the stream's input; false when the peer has disconnected. */
function readOver(stream: ServerHttp2Stream): boolean {
  stream.on('error', () => undefined);
  stream.resume();
  return !stream.destroyed && !stream.closed;
}
