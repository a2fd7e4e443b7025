// The services that are not the contract's: grpc.health.v1, open to everybody, and reflection, for whom `admit` lets in.
// Some of their calls stream as long as the caller likes, so they are ended by hand when the server drains.
import type { Server, ServerDuplexStream, UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { HealthImplementation } from 'grpc-health-check';
import { asEngineError, statusOf } from './answer.ts';
import { peerOf } from './call.ts';
import { FILES, SERVICES } from './descriptor.ts';
import type { GrpcOptions } from './front.ts';

type Stream = ServerDuplexStream<unknown, unknown>;
type Contract = ConstructorParameters<typeof ReflectionService>[0];
type StreamHandler = (stream: Stream) => void;

export class Probes {
  private readonly health = new HealthImplementation();
  private readonly streams = new Set<Stream>();

  constructor(server: Server, options: Pick<GrpcOptions, 'allowReflection' | 'requestIdOf'>) {
    this.setServing(true);
    this.health.addToServer({
      addService: (service, handlers) => {
        const { watch, ...unary } = handlers as UntypedServiceImplementation; // its types are a copy of grpc-js's
        assertHandler(watch);
        server.addService(service, { ...unary, watch: (stream: Stream) => this.run(stream, watch) });
      },
    });
    // Of a package definition reflection reads the encoded files and nothing else.
    const contract = { contract: { fileDescriptorProtos: FILES } } as unknown as Contract;
    new ReflectionService(contract).addToServer({
      addService: (service, { ServerReflectionInfo: info }) => {
        assertHandler(info);
        server.addService(service, {
          ServerReflectionInfo: async (stream: Stream) => {
            const header = (name: string): string | undefined => stream.metadata.get(name)[0]?.toString();
            try {
              await options.allowReflection(header, peerOf(stream));
              this.run(stream, info);
            } catch (caught) {
              const headers = { 'x-request-id': options.requestIdOf(header('x-request-id')) };
              stream.emit('error', statusOf(asEngineError(caught), headers));
            }
          },
        });
      },
    });
  }

  setServing(serving: boolean): void {
    for (const name of ['', ...SERVICES.map((service) => service.name)]) {
      this.health.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING');
    }
  }

  /** Ends the calls that stream. */
  end(): void {
    for (const stream of this.streams) stream.end();
  }

  private run(stream: Stream, handler: StreamHandler): void {
    this.streams.add(stream);
    const forget = (): void => {
      this.streams.delete(stream);
    };
    stream.on('cancelled', forget);
    stream.on('finish', forget);
    handler(stream);
  }
}

function assertHandler(handler: unknown): asserts handler is StreamHandler {
  if (typeof handler !== 'function') throw new TypeError('the service has no such handler');
}
