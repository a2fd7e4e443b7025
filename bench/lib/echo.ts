// Minimal servers, to measure what a transport costs without any work.
import { Server, ServerCredentials, type sendUnaryData } from '@grpc/grpc-js';
import { loadUws } from '../../src/server/http/uws-loader.ts';

export interface Listening {
  readonly port: number;
  stop(): void;
}

/** grpc-js with raw bytes as messages; `answer` maps a request to a reply. */
export function grpcEcho(answer: (request: Buffer) => Buffer): Promise<Listening> {
  const server = new Server({ 'grpc.enable_channelz': 0 });
  const asItIs = (bytes: Buffer): Buffer => bytes;
  const definition = (rpc: string) => ({
    path: `/memory.v1.MemoryService/${rpc}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asItIs,
    requestDeserialize: asItIs,
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  });
  const echo = ({ request }: { request: Buffer }, send: sendUnaryData<Buffer>): void => send(null, answer(request));
  server.addService({ Add: definition('Add'), Recall: definition('Recall') }, { Add: echo, Recall: echo });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error === null) resolve({ port, stop: () => server.forceShutdown() });
      else reject(error);
    });
  });
}

/** uWebSockets.js with a JSON body, parsed and serialised as the reply. Rejects when the library does not load. */
export async function uwsEcho(): Promise<Listening> {
  const found = loadUws();
  if ('reason' in found) throw new Error(found.reason);
  const { uws } = found;
  const app = uws.App();
  app.any('/*', (response) => {
    let gone = false;
    response.onAborted(() => {
      gone = true;
    });
    const chunks: Buffer[] = [];
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (!isLast || gone) return;
      const text = JSON.stringify(JSON.parse(Buffer.concat(chunks).toString()));
      response.cork(() => {
        response.writeStatus('200 OK').writeHeader('content-type', 'application/json').end(text);
      });
    });
  });
  return new Promise((resolve, reject) => {
    app.listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket === false) reject(new Error('uWebSockets.js cannot listen'));
      else resolve({ port: uws.us_socket_local_port(socket), stop: () => void app.close() });
    });
  });
}
