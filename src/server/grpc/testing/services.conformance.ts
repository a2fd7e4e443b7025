// The standard services, and a real client under load.
import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http2';
import { join } from 'node:path';
import { after, suite } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import {
  Client,
  compressionAlgorithms,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer, loadSync } from '@grpc/proto-loader';
import { GRPC_PROBE_BYTES_MAX, GRPC_WATCHES_MAX } from '../../../engine/base/limits.ts';
import { GRPC_STATUS } from '../../status.ts';
import {
  ADD,
  answerOf,
  ask,
  closeAll,
  echo,
  frame,
  messageOf,
  openSession,
  openStream,
  startFrontOn,
  statusOf,
  toBeClosed,
} from './front.ts';
import { type ListenerUnderTest, testsOf } from './under-test.ts';

export function servicesConform(under: ListenerUnderTest): void {
  suite(`${under.name}: services`, () => {
    const test = testsOf(under);
    after(closeAll);
    const startFront = startFrontOn(under.listen);

    const modules = join(import.meta.dirname, '..', '..', '..', '..', 'node_modules');
    // Messages of a package loaded at run time have no static type.
    type Loose = Record<string, never> & { readonly [name: string]: never };

    function definition(file: string, path: readonly string[]): ServiceClientConstructor {
      let found: unknown = loadPackageDefinition(loadSync(join(modules, file), { keepCase: true, enums: String }));
      for (const name of path) found = (found as Record<string, unknown>)[name]; // packages are objects by name
      return found as ServiceClientConstructor; // the last is the service
    }

    const Health = definition('grpc-health-check/proto/health/v1/health.proto', ['grpc', 'health', 'v1', 'Health']);
    const reflections = ['v1', 'v1alpha'].map((version) => {
      const file = `@grpc/reflection/build/proto/grpc/reflection/${version}/reflection.proto`;
      return definition(file, ['grpc', 'reflection', version, 'ServerReflection']);
    });

    interface Conversation {
      write(message: object): void;
      end(): void;
      on(event: string, listener: (given: never) => void): Conversation;
    }

    /** Sends all questions on one stream and returns the answers in order. */
    async function reflect(
      Service: ServiceClientConstructor,
      port: number,
      questions: readonly object[],
    ): Promise<unknown[]> {
      const client = toBeClosed(new Service(`127.0.0.1:${port}`, credentials.createInsecure()));
      const open = client['serverReflectionInfo'] as unknown as () => Conversation; // by the proto file
      const stream = open.call(client);
      const answers: unknown[] = [];
      return new Promise((resolve, reject) => {
        stream.on('data', (answer: unknown) => answers.push(answer));
        stream.on('error', reject);
        stream.on('end', () => resolve(answers));
        for (const question of questions) stream.write(question);
        stream.end();
      });
    }

    interface FilesAnswer {
      readonly file_descriptor_response?: { readonly file_descriptor_proto: readonly Uint8Array[] };
      readonly error_response?: { readonly error_code: number; readonly error_message: string };
      readonly valid_host: string;
      readonly original_request: unknown;
    }

    test('reflection of both versions returns files by name and symbol, and reports missing ones', async () => {
      const { port } = await startFront(echo);
      for (const Service of reflections) {
        const symbols = [
          'memory.v1.MemoryService',
          'memory.v1.MemoryService.Add',
          'memory.v1.AddRequest',
          'memory.v1.AddRequest.grain_type',
          'memory.v1.MemoryBatchService',
        ];
        const questions = [
          { host: 'here', file_by_filename: 'memory/v1/memory.proto' },
          ...symbols.map((symbol) => ({ host: '', file_containing_symbol: symbol })),
        ];
        const found = (await reflect(Service, port, questions)) as FilesAnswer[]; // as their proto file has them
        assert.equal(found.length, questions.length);
        for (const [at, { file_descriptor_response: files }] of found.entries()) {
          const [first] = files?.file_descriptor_proto ?? [];
          assert.ok(first, JSON.stringify(questions[at]));
          const file = fromBinary(FileDescriptorProtoSchema, first);
          assert.equal(file.package, 'memory.v1');
          assert.ok(file.service.some(({ name }) => name === 'MemoryService'));
        }
        assert.equal(found[0]?.valid_host, 'here');
        const missing = [
          [
            { host: '', file_by_filename: 'nothing.proto' },
            GRPC_STATUS.NOT_FOUND,
            'Proto file not found: nothing.proto',
          ],
          [{ host: '', file_containing_symbol: 'no.Thing' }, GRPC_STATUS.NOT_FOUND, 'Symbol not found: no.Thing'],
          [
            { host: '', file_containing_extension: { containing_type: 'T', extension_number: 7 } },
            GRPC_STATUS.NOT_FOUND,
            'Extension not found for symbol T at field 7',
          ],
          [
            { host: '', all_extension_numbers_of_type: 'T' },
            GRPC_STATUS.NOT_FOUND,
            'Extensions not found for symbol T',
          ],
          [{ host: '' }, GRPC_STATUS.UNIMPLEMENTED, 'Unimplemented method for request: undefined'],
        ] as const;
        const refused = (await reflect(
          Service,
          port,
          missing.map(([question]) => question),
        )) as FilesAnswer[]; // as above
        for (const [at, [, code, message]] of missing.entries()) {
          assert.deepEqual({ ...refused[at]?.error_response }, { error_code: code, error_message: message });
        }
      }
    });

    test('reflection lists the standard services and describes them like their proto files', async () => {
      const { port } = await startFront(echo);
      const [reflection] = reflections;
      assert.ok(reflection !== undefined);
      const published = [
        ['grpc.health.v1', 'grpc/health/v1/health.proto', 'grpc-health-check/proto/health/v1/health.proto'],
        ...['v1', 'v1alpha'].map((version) => {
          const file = `reflection/${version}/reflection.proto`;
          return [`grpc.reflection.${version}`, `grpc/${file}`, `@grpc/reflection/build/proto/grpc/${file}`];
        }),
      ] as const;
      const names = (loaded: object): string[] => Object.keys(loaded).toSorted();
      for (const [, name = '', file = ''] of published) {
        const [answer] = (await reflect(reflection, port, [{ host: '', file_by_filename: name }])) as FilesAnswer[]; // as above
        const sent = answer?.file_descriptor_response?.file_descriptor_proto ?? [];
        const options = { keepCase: true };
        const set = toBinary(
          FileDescriptorSetSchema,
          create(FileDescriptorSetSchema, { file: sent.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes)) }),
        );
        const [ours, theirs] = [
          loadFileDescriptorSetFromBuffer(Buffer.from(set), options),
          loadSync(join(modules, file), options),
        ];
        assert.deepEqual(names(ours), names(theirs), name);
        for (const key of names(theirs)) assert.deepEqual(shapeOf(ours[key]), shapeOf(theirs[key]), key);
      }
      const [listed] = (await reflect(reflection, port, [{ host: '', list_services: '' }])) as {
        list_services_response?: { service: { name: string }[] };
      }[];
      assert.deepEqual(
        listed?.list_services_response?.service.map(({ name }) => name),
        [
          ...['memory.v1.MemoryService', 'memory.v1.MemoryBatchService', 'grpc.health.v1.Health'],
          ...['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'],
        ],
      );
      const [symbol] = (await reflect(reflection, port, [
        { host: '', file_containing_symbol: 'grpc.health.v1.HealthCheckResponse.ServingStatus' },
      ])) as FilesAnswer[]; // as above
      assert.equal(symbol?.file_descriptor_response?.file_descriptor_proto.length, 1);
    });

    /** A type or service of a loaded file as plain data, without the parts that only its own file has. */
    function shapeOf(definition: unknown): unknown {
      return JSON.parse(
        JSON.stringify(definition, (key, value: unknown) => {
          if (key === 'fileDescriptorProtos' || key === 'options') return undefined;
          // The loader names map entries differently from protoc; clients expect protoc's name.
          return value === 'StatusesEntry' ? 'Statuses' : value;
        }),
      );
    }

    test('every protocol error has a code and the request id', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const cases: readonly (readonly [readonly Uint8Array[], OutgoingHttpHeaders, number, string])[] = [
        [[frame(Buffer.of(1))], { ':path': '/memory.v1.MemoryService/Nothing' }, GRPC_STATUS.UNIMPLEMENTED, 'SYS-E002'],
        [[], {}, GRPC_STATUS.UNIMPLEMENTED, 'VAL-E002'],
        [[Buffer.of(0, 0)], {}, GRPC_STATUS.INTERNAL, 'VAL-E002'],
        [[Buffer.of(7, 0, 0, 0, 0)], {}, GRPC_STATUS.INTERNAL, 'VAL-E002'],
        [[frame(Buffer.of(1)), frame(Buffer.of(1))], {}, GRPC_STATUS.UNIMPLEMENTED, 'VAL-E002'],
        [[Buffer.of(0, 127, 255, 255, 255)], {}, GRPC_STATUS.RESOURCE_EXHAUSTED, 'LIM-E003'],
        [[frame(Buffer.of(1), 1)], { 'grpc-encoding': 'br' }, GRPC_STATUS.UNIMPLEMENTED, 'VAL-E006'],
        [[frame(Buffer.of(1), 1)], { 'grpc-encoding': 'gzip' }, GRPC_STATUS.INTERNAL, 'VAL-E002'],
        [[frame(Buffer.of(1))], { 'grpc-timeout': 'soon' }, GRPC_STATUS.INTERNAL, 'VAL-E001'],
        [[frame(Buffer.of(10, 1, 65))], { ':path': '/grpc.health.v1.Health/Check' }, GRPC_STATUS.NOT_FOUND, 'SYS-E003'],
      ];
      for (const [pieces, headers, status, code] of cases) {
        const answer = await ask(session, pieces, { ...headers, 'x-request-id': 'mine' });
        const sent = answer.trailers ?? answer.headers;
        assert.deepEqual(
          [statusOf(answer), sent['x-error-code'], sent['x-request-id']],
          [status, code, 'mine'],
          JSON.stringify([headers, pieces.map(String)]),
        );
      }
      const late = await ask(session, [frame(Buffer.of(1))], { ':path': ADD, 'content-type': 'text/plain' });
      assert.deepEqual([late.headers[':status'], late.headers['x-error-code']], [415, 'VAL-E006']);
      assert.ok(late.headers['x-request-id']);
    });

    test('reflection stops reading requests from a peer that does not read its answers', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const stream = openStream(session, { ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' });
      const answered = answerOf(stream);
      stream.pause();
      const question = frame(Buffer.concat([Buffer.of(34, 23), Buffer.from('memory.v1.MemoryService')]));
      const many = 1_000;
      stream.end(Buffer.concat(Array.from({ length: many }, () => question)));
      // Other calls on the connection are answered nevertheless.
      assert.equal(statusOf(await ask(session, [frame(Buffer.from('x'))])), 0);
      stream.resume();
      const answer = await answered;
      assert.equal(statusOf(answer), 0);
      let count = 0;
      for (let at = 0; at < answer.data.length; count++) at += 5 + answer.data.readUInt32BE(at + 1);
      assert.equal(count, many);
    });

    test('an invalid or oversized question ends the stream', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const reflection = { ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' };
      for (const { bytes, headers } of [
        { bytes: Buffer.of(58, 200), headers: reflection },
        { bytes: Buffer.of(10, 200), headers: { ':path': '/grpc.health.v1.Health/Check' } },
        { bytes: Buffer.of(10, 200), headers: { ':path': '/grpc.health.v1.Health/Watch' } },
      ]) {
        assert.equal(statusOf(await ask(session, [frame(bytes)], headers)), GRPC_STATUS.INTERNAL);
      }
      const long = await ask(session, [frame(Buffer.alloc(GRPC_PROBE_BYTES_MAX + 1))], reflection);
      assert.equal(statusOf(long), GRPC_STATUS.RESOURCE_EXHAUSTED);
      assert.equal(statusOf(await ask(session, [Buffer.alloc(3)], reflection)), GRPC_STATUS.INTERNAL);
      assert.equal(statusOf(await ask(session, [], reflection)), GRPC_STATUS.OK);
    });

    test('a client of health checks, lists and watches', async () => {
      const front = await startFront(echo);
      const client = toBeClosed(new Health(`127.0.0.1:${front.port}`, credentials.createInsecure()));
      type Call = (request: object, done: (error: ServiceError | null, answer: Loose) => void) => void;
      const call = (name: string, request: object): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const method = client[name] as unknown as Call; // by the proto file
          method.call(client, request, (error, answer) => (error ? reject(error) : resolve(answer)));
        });
      assert.deepEqual(await call('check', { service: 'memory.v1.MemoryService' }), { status: 'SERVING' });
      await assert.rejects(call('check', { service: 'x' }), {
        code: status.NOT_FOUND,
        details: 'Health status unknown for service x',
      });
      const serving = { status: 'SERVING' };
      assert.deepEqual(await call('list', {}), {
        statuses: { '': serving, 'memory.v1.MemoryService': serving, 'memory.v1.MemoryBatchService': serving },
      });
      const watch = (service: string): { seen: string[]; ended: Promise<void>; first: Promise<void> } => {
        const open = client['watch'] as unknown as (request: object) => Conversation; // by the proto file
        const stream = open.call(client, { service });
        const seen: string[] = [];
        let arrived: () => void = () => undefined;
        const first = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        stream.on('data', ({ status: sent }: { status: string }) => {
          seen.push(sent);
          arrived();
        });
        return { seen, first, ended: new Promise((resolve) => stream.on('end', () => resolve())) };
      };
      const [all, none] = [watch(''), watch('x')];
      await Promise.all([all.first, none.first]);
      front.setServing(false);
      front.setServing(false);
      front.setServing(true);
      await front.drain(60_000);
      await Promise.all([all.ended, none.ended]);
      assert.deepEqual(all.seen, ['SERVING', 'NOT_SERVING', 'SERVING', 'NOT_SERVING']);
      assert.deepEqual(none.seen, ['SERVICE_UNKNOWN']);
    });

    test('the number of watches is bounded, and ended ones make room', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const watch = () => {
        const stream = openStream(session, { ':path': '/grpc.health.v1.Health/Watch' });
        stream.end(frame(Buffer.alloc(0)));
        return stream;
      };
      const streams = Array.from({ length: GRPC_WATCHES_MAX }, watch);
      await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('data', resolve))));
      const refused = await answerOf(watch());
      assert.equal(statusOf(refused), GRPC_STATUS.RESOURCE_EXHAUSTED);
      assert.equal(messageOf(refused), 'too many watches of health');
      const gone = new Promise((resolve) => streams[0]?.once('close', resolve));
      streams[0]?.close(8);
      await gone;
      const another = watch();
      await new Promise((resolve) => another.once('data', resolve));
    });

    const asItIs = (bytes: Buffer): Buffer => bytes;

    function unary(client: Client, bytes: Buffer): Promise<Buffer> {
      return new Promise((resolve, reject) => {
        client.makeUnaryRequest(ADD, asItIs, asItIs, bytes, new Metadata(), (error, answer) =>
          error ? reject(error) : resolve(answer ?? Buffer.alloc(0)),
        );
      });
    }

    for (const [name, options] of [
      ['as they are', {}],
      ['gzip', { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip }],
      ['deflate', { 'grpc.default_compression_algorithm': compressionAlgorithms.deflate }],
    ] as const)
      test(`grpc-js runs hundreds of calls at once, large and small, ${name}`, async () => {
        const { port } = await startFront(echo);
        const client = toBeClosed(
          new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
            'grpc.max_receive_message_length': -1,
            ...options,
          }),
        );
        const messages = Array.from({ length: 256 }, (_, at) => {
          const bytes = Buffer.alloc(at % 64 === 0 ? 4_194_304 : at * 37, at);
          bytes.write(String(at));
          return bytes;
        });
        const answers = await Promise.all(messages.map((message) => unary(client, message)));
        for (const [at, answer] of answers.entries()) assert.ok(answer.equals(messages[at]!), String(at));
      });
  });
}
