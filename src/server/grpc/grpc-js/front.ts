// The gRPC front on @grpc/grpc-js: the reference that the other listeners are compared with. It is loaded only when it is
// chosen, and gives up some of what they do: see docs/configuration.md.
import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { assert } from '../../../engine/base/assert.ts';
import {
  GRPC_CONNECTION_AGE_MS,
  GRPC_KEEPALIVE_MS,
  GRPC_STREAMS_MAX,
  MESSAGE_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import { Calls } from '../calls.ts';
import type { GrpcFront, GrpcOptions, ListenGrpc } from '../front.ts';
import { type BareCall, BareStream } from './stream.ts';

/** Listens with grpc-js. It does not serve HTTP on the same port (`otherwise`). */
export const listenGrpcJs: ListenGrpc = async (options, handler) => {
  const calls = new Calls(options, handler);
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_concurrent_streams': GRPC_STREAMS_MAX,
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': GRPC_KEEPALIVE_MS,
    'grpc.keepalive_timeout_ms': GRPC_KEEPALIVE_MS / 3,
    'grpc.max_connection_age_ms': GRPC_CONNECTION_AGE_MS,
  });
  for (const path of calls.methods.keys())
    server.register(path, (call: BareCall) => serve(calls, call), asItIs, asItIs, 'bidi');
  try {
    return new GrpcJsFront(server, calls, await bound(server, options));
  } catch (error) {
    calls.close();
    server.forceShutdown();
    throw error;
  }
};

const asItIs = (bytes: Buffer): Buffer => bytes;

function serve(calls: Calls, call: BareCall): void {
  const stream = new BareStream(call);
  const connection = calls.connected(stream);
  calls.accept(connection, stream);
  call.once('close', () => calls.disconnected(connection));
}

function bound(server: Server, { host, port, tls }: GrpcOptions): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { cert_chain: readFileSync(tls.certFile), private_key: readFileSync(tls.keyFile) },
        ]);
  const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, found) => {
      if (error === null) resolve(found);
      else reject(error);
    });
  });
}

class GrpcJsFront implements GrpcFront {
  readonly port: number;
  private readonly server: Server;
  private readonly calls: Calls;

  constructor(server: Server, calls: Calls, port: number) {
    this.server = server;
    this.calls = calls;
    this.port = port;
  }

  inject(): void {
    assert(false, 'a shared port is served by node:http2');
  }

  setServing(serving: boolean): void {
    this.calls.setServing(serving);
  }

  async drain(deadlineMs: number): Promise<void> {
    const stopped = new Promise<void>((resolve) => this.server.tryShutdown(() => resolve()));
    const force = setTimeout(() => this.server.forceShutdown(), deadlineMs);
    await this.calls.drain(deadlineMs);
    await stopped;
    clearTimeout(force);
  }

  close(): void {
    this.calls.close();
    this.server.forceShutdown();
  }
}
