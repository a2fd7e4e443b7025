// Chooses the gRPC listener.
import type { ListenGrpc } from './front.ts';
import { listenNative } from './native/front.ts';
import { listenGrpc } from './node/front.ts';

/** `node` is node:http2; `native` is HTTP/2 of our own, over node:net and node:tls. */
export type GrpcListener = 'node' | 'native';

export function grpcListener(kind: GrpcListener): ListenGrpc {
  return kind === 'native' ? listenNative : listenGrpc;
}
