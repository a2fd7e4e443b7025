// The gRPC front on @grpc/grpc-js. Raw bytes in and out: messages are decoded by who needs them.
import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Server, ServerCredentials, type sendUnaryData, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { assert } from '../../engine/assert.ts';
import { EngineError } from '../../engine/errors.ts';
import { GRPC_CONNECTION_AGE_MS, GRPC_KEEPALIVE_MS, GRPC_STREAMS_MAX, MESSAGE_BYTES_MAX } from '../../engine/limits.ts';
import { serveHttp2 } from '../http/http2.ts';
import type { HttpHandler } from '../http/listener.ts';
import { asEngineError, statusOf, trailersOf } from './answer.ts';
import { type NativeCall, UnaryCall } from './call.ts';
import { SERVICES, type Service } from './descriptor.ts';
import type { GrpcAnswer, GrpcFront, GrpcHandler, GrpcOptions, ListenGrpc } from './front.ts';
import { Probes } from './probes.ts';

/** Listens with grpc-js. */
export const listenGrpc: ListenGrpc = async (options, handler) => {
  const server = new Server({
    // What is somewhat too long is refused here with a code of the contract; what is far too long by grpc-js with none.
    'grpc.max_receive_message_length': 2 * MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': GRPC_STREAMS_MAX,
    'grpc.keepalive_time_ms': GRPC_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': GRPC_KEEPALIVE_MS / 3,
    'grpc.max_connection_age_ms': GRPC_CONNECTION_AGE_MS,
    'grpc.max_connection_age_grace_ms': GRPC_KEEPALIVE_MS * 2,
    'grpc.enable_channelz': 0,
  });
  for (const service of SERVICES) register(server, service, options, handler);
  const probes = new Probes(server, options);
  if (options.otherwise !== undefined) {
    divert(server, options.otherwise, options.onError);
    return new GrpcJsFront(server, probes, undefined);
  }
  const port = await bind(server, options);
  return new GrpcJsFront(server, probes, { host: options.host, port });
};

class GrpcJsFront implements GrpcFront {
  readonly port: number;
  private draining = false;
  private readonly server: Server;
  private readonly probes: Probes;
  private readonly address: string | undefined;
  /** There is none where a port is listened on. */
  private readonly injector: ReturnType<Server['createConnectionInjector']> | undefined;

  /** `bound`: undefined when connections are injected. */
  constructor(server: Server, probes: Probes, bound: { host: string; port: number } | undefined) {
    this.server = server;
    this.probes = probes;
    this.port = bound?.port ?? 0;
    this.address = bound === undefined ? undefined : addressOf(bound.host, bound.port);
    // Whoever injects has decrypted already.
    if (bound === undefined) this.injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  }

  inject(connection: Socket): void {
    assert(this.injector !== undefined, 'connections are injected where no port is listened on');
    if (this.draining) connection.destroy();
    else this.injector.injectConnection(connection);
  }

  setServing(serving: boolean): void {
    this.probes.setServing(serving);
  }

  drain(deadlineMs: number): Promise<void> {
    this.draining = true;
    this.setServing(false);
    this.probes.end();
    // forceShutdown would not do for the deadline: without channelz it knows of no connections and leaves them open.
    if (this.address !== undefined) this.server.drain(this.address, deadlineMs);
    this.injector?.drain(deadlineMs);
    return new Promise((resolve) => this.server.tryShutdown(() => resolve()));
  }

  close(): void {
    if (this.address !== undefined) this.server.drain(this.address, 0);
    this.injector?.drain(0);
    this.server.forceShutdown();
  }
}

type StreamHandler = (this: Server, interceptors: unknown, stream: ServerHttp2Stream, ...rest: unknown[]) => void;

/**
 * Sends what is no gRPC to `handler`. The one place of grpc-js where a stream can be told from another is private to it,
 * and answers 415 to the rest; a second HTTP/2 server in front would make every gRPC call twice as dear.
 */
function divert(server: Server, handler: HttpHandler, onError: ((error: unknown) => void) | undefined): void {
  const internals = server as unknown as { _streamHandler?: StreamHandler }; // checked on the next line
  const serveGrpc = internals._streamHandler;
  assert(typeof serveGrpc === 'function', 'this version of grpc-js hands its streams to _streamHandler');
  internals._streamHandler = function (interceptors, stream, ...rest) {
    const [headers, , rawHeaders] = rest as [IncomingHttpHeaders, number, string[]]; // of the event `stream`
    if (headers['content-type']?.startsWith('application/grpc') === true)
      serveGrpc.call(this, interceptors, stream, ...rest);
    else serveHttp2({ stream, headers, rawHeaders, handler, onError });
  };
}

function bind(server: Server, { host, port, tls }: GrpcOptions): Promise<number> {
  const credentials = tls
    ? ServerCredentials.createSsl(null, [
        { cert_chain: readFileSync(tls.certFile), private_key: readFileSync(tls.keyFile) },
      ])
    : ServerCredentials.createInsecure();
  return new Promise((resolve, reject) => {
    server.bindAsync(addressOf(host, port), credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const asItIs = (bytes: Buffer): Buffer => bytes;
const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Methods that are not registered are UNIMPLEMENTED by grpc-js itself. */
function register(server: Server, service: Service, options: GrpcOptions, handler: GrpcHandler): void {
  const definition = Object.fromEntries(
    service.methods.map((method) => [
      method,
      {
        path: `/${service.name}/${method}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: asItIs,
        requestDeserialize: asItIs,
        responseSerialize: asBuffer,
        responseDeserialize: asItIs,
      },
    ]),
  );
  const handlers: UntypedServiceImplementation = Object.fromEntries(
    service.methods.map((method) => [
      method,
      (native: NativeCall, send: sendUnaryData<Uint8Array>) => {
        const call = new UnaryCall(service.name, method, native);
        answer(call, handler).then(
          (given) => reply(call, given, send, options),
          (caught: unknown) => {
            if (!(caught instanceof EngineError)) options.onError?.(caught);
            reply(call, { error: asEngineError(caught) }, send, options);
          },
        );
      },
    ]),
  );
  server.addService(definition, handlers);
}

/** A handler that throws before its first await is as good as one that rejects. */
async function answer(call: UnaryCall, handler: GrpcHandler): Promise<GrpcAnswer> {
  if (call.bytes.length > MESSAGE_BYTES_MAX) {
    throw new EngineError('LIM-E003', `the message is larger than ${MESSAGE_BYTES_MAX} bytes`);
  }
  return handler(call);
}

function reply(call: UnaryCall, given: GrpcAnswer, send: sendUnaryData<Uint8Array>, options: GrpcOptions): void {
  if ('bytes' in given) {
    if (given.headers === undefined) send(null, given.bytes);
    else send(null, given.bytes, trailersOf(given.headers));
    return;
  }
  const headers = given.headers ?? {};
  const id = headers['x-request-id'] ?? options.requestIdOf(call.header('x-request-id'));
  send(statusOf(given.error, { ...headers, 'x-request-id': id }));
}
