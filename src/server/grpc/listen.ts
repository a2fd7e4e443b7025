// Chooses the gRPC listener.
import type { ListenGrpc } from './front.ts';
import { listenNative } from './native/front.ts';

/**
 * `node` is node:http2; `native` is HTTP/2 of our own, over node:net and node:tls; `grpc-js` is the reference that both are
 * compared with. `native` is the default; the others are loaded only here.
 */
export type GrpcListener = 'node' | 'native' | 'grpc-js';

export async function grpcListener(kind: GrpcListener): Promise<ListenGrpc> {
  switch (kind) {
    case 'node':
      return (await import('./node/front.ts')).listenGrpc;
    case 'native':
      return listenNative;
    case 'grpc-js':
      return (await import('./grpc-js/front.ts')).listenGrpcJs;
  }
}
