import assert from 'node:assert/strict';
import { after, suite } from 'node:test';
import { Client, credentials, type Deadline, Metadata, status as nativeStatus, type ServiceError } from '@grpc/grpc-js';
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../../engine/base/limits.ts';
import { AddRequest, AddResponse } from '../../gen/memory/v1/memory.ts';
import { MemoryServiceClient } from '../../gen/memory/v1/services.ts';
import { RequestAborted } from '../../http/listener.ts';
import { GRPC_STATUS } from '../../status.ts';
import type { GrpcAnswer, GrpcCall, GrpcFront, GrpcHandler, GrpcOptions } from '../front.ts';
import { type ListenerUnderTest, testsOf } from './under-test.ts';

export function frontConforms(under: ListenerUnderTest): void {
  suite(`${under.name}: calls`, () => {
    const test = testsOf(under);
    const fronts: GrpcFront[] = [];
    const clients: Client[] = [];
    after(() => {
      for (const client of clients) client.close();
      for (const front of fronts) front.close();
    });

    async function start(
      handler: GrpcHandler,
      options: Partial<GrpcOptions> = {},
    ): Promise<{ front: GrpcFront; client: Client }> {
      const front = await under.listen(
        {
          host: '127.0.0.1',
          port: 0,
          allowReflection: () => undefined,
          requestIdOf: (given) => given ?? 'req_made',
          ...options,
        },
        handler,
      );
      fronts.push(front);
      const client = new Client(`127.0.0.1:${front.port}`, credentials.createInsecure(), {
        'grpc.max_send_message_length': -1,
        'grpc.max_receive_message_length': -1,
      });
      clients.push(client);
      return { front, client };
    }

    interface Reply {
      readonly bytes: Buffer | undefined;
      readonly error: ServiceError | null;
      readonly trailers: Metadata;
    }

    const asItIs = (bytes: Buffer): Buffer => bytes;

    /** Calls any path with raw bytes. */
    function call(
      client: Client,
      path: string,
      bytes: Uint8Array,
      given: { metadata?: Record<string, string>; deadline?: Deadline } = {},
    ): Promise<Reply> {
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(given.metadata ?? {})) metadata.set(name, value);
      return new Promise((resolve) => {
        let result: Omit<Reply, 'trailers'> | undefined;
        const running = client.makeUnaryRequest(
          path,
          asItIs,
          asItIs,
          Buffer.from(bytes),
          metadata,
          given.deadline === undefined ? {} : { deadline: given.deadline },
          (error, answer) => {
            result = { error, bytes: answer };
          },
        );
        running.on('status', ({ metadata: trailers }) => {
          setImmediate(() => resolve({ ...(result ?? { error: null, bytes: undefined }), trailers }));
        });
      });
    }

    const ADD = '/memory.v1.MemoryService/Add';
    const echo: GrpcHandler = async ({ bytes }) => ({ bytes });

    test('a typed client and a raw handler understand each other', async () => {
      const seen: GrpcCall[] = [];
      const peers: string[] = [];
      const { front } = await start(async (given) => {
        seen.push(given);
        peers.push(given.remoteAddress);
        const request = AddRequest.decode(given.bytes);
        return { bytes: AddResponse.encode({ hash: request.grainType }).finish(), headers: { 'x-note': 'Zürich' } };
      });
      const client = new MemoryServiceClient(`127.0.0.1:${front.port}`, credentials.createInsecure());
      clients.push(client);
      const metadata = new Metadata();
      metadata.set('X-Memory-Id', 'notes');
      const { hash, trailers } = await new Promise<{ hash: string; trailers: Metadata }>((resolve, reject) => {
        let hash = '';
        client
          .add(
            AddRequest.create({ grainType: 'belief' }),
            metadata,
            { deadline: Date.now() + 60_000 },
            (error, response) => {
              if (error) reject(error);
              else hash = response.hash;
            },
          )
          .on('status', (status) => setImmediate(() => resolve({ hash, trailers: status.metadata })));
      });
      assert.equal(hash, 'belief');
      assert.deepEqual(trailers.get('x-note'), ['Z%C3%BCrich']);
      const [given] = seen;
      assert.ok(given);
      assert.equal(`${given.service}/${given.method}`, 'memory.v1.MemoryService/Add');
      assert.equal(given.header('x-memory-id'), 'notes');
      assert.equal(given.header('x-reason'), undefined);
      assert.deepEqual(peers, ['127.0.0.1']);
      assert.ok(given.deadlineMs !== undefined && given.deadlineMs > steadyMs(systemClock));
    });

    test('a call without a deadline has none', async () => {
      let deadlineMs: number | undefined = 0;
      const { client } = await start(async (given) => {
        deadlineMs = given.deadlineMs;
        return { bytes: given.bytes };
      });
      const { bytes } = await call(client, ADD, Buffer.from('x'));
      assert.equal(bytes?.toString(), 'x');
      assert.equal(deadlineMs, undefined);
    });

    test('an error is a status, a message and trailers, thrown or returned', async () => {
      const error = new EngineError('POL-E001', 'größer\nthan \ud800');
      const handlers: GrpcHandler[] = [
        () => Promise.reject(error),
        () => {
          throw error;
        },
        async () => ({ error, headers: { 'x-request-id': 'req_own', 'retry-after': '1' } }),
      ];
      for (const [at, handler] of handlers.entries()) {
        const { client } = await start(handler);
        const reply = await call(client, ADD, Buffer.alloc(0), { metadata: { 'x-request-id': 'req_mine' } });
        assert.equal(reply.error?.code, GRPC_STATUS.FAILED_PRECONDITION);
        assert.equal(reply.error.details, 'POL-E001: größer\nthan \ufffd');
        assert.deepEqual(reply.trailers.get('x-error-code'), ['POL-E001']);
        assert.deepEqual(reply.trailers.get('x-request-id'), [at === 2 ? 'req_own' : 'req_mine']);
        assert.deepEqual(reply.trailers.get('retry-after'), at === 2 ? ['1'] : []);
      }
    });

    test('a bug is INTERNAL, is reported, and does not reveal its message', async () => {
      const reported: unknown[] = [];
      const bug = new TypeError('secret');
      const { client } = await start(() => Promise.reject(bug), { onError: (error) => reported.push(error) });
      const reply = await call(client, ADD, Buffer.alloc(0));
      assert.equal(reply.error?.code, GRPC_STATUS.INTERNAL);
      assert.equal(reply.error.details, 'SYS-E001: internal error');
      assert.deepEqual(reply.trailers.get('x-request-id'), ['req_made']);
      assert.deepEqual(reported, [bug]);
    });

    test('every rpc of the contract is there, and no other', async () => {
      const { client } = await start(async ({ service, method }) => ({ bytes: Buffer.from(`${service}/${method}`) }));
      for (const name of ['memory.v1.MemoryService/ListHarnessTemplates', 'memory.v1.MemoryBatchService/BatchAdd']) {
        assert.equal((await call(client, `/${name}`, Buffer.alloc(0))).bytes?.toString(), name);
      }
      for (const path of ['/memory.v1.MemoryService/Nothing', '/memory.v2.MemoryService/Add', '/x']) {
        assert.equal((await call(client, path, Buffer.alloc(0))).error?.code, GRPC_STATUS.UNIMPLEMENTED, path);
      }
    });

    test('a message up to the limit passes, a longer one is RESOURCE_EXHAUSTED', async () => {
      const { client } = await start(async ({ bytes }) => ({ bytes: Buffer.from(String(bytes.length)) }));
      const longest = await call(client, ADD, Buffer.alloc(MESSAGE_BYTES_MAX));
      assert.equal(longest.bytes?.toString(), String(MESSAGE_BYTES_MAX));
      const longer = await call(client, ADD, Buffer.alloc(MESSAGE_BYTES_MAX + 1));
      assert.equal(longer.error?.code, GRPC_STATUS.RESOURCE_EXHAUSTED);
      assert.deepEqual(longer.trailers.get('x-error-code'), ['LIM-E003']);
      const farLonger = await call(client, ADD, Buffer.alloc(3 * MESSAGE_BYTES_MAX));
      assert.equal(farLonger.error?.code, GRPC_STATUS.RESOURCE_EXHAUSTED);
    });

    test('a long answer arrives whole', async () => {
      const { client } = await start(async () => ({ bytes: new Uint8Array(20 << 20).fill(7) }));
      const { bytes } = await call(client, ADD, Buffer.alloc(0));
      assert.equal(bytes?.length, 20 << 20);
      assert.ok(bytes.every((byte) => byte === 7));
    });

    test('a cancelled call and a passed deadline fire `aborted`', async () => {
      let started: (signal: AbortSignal) => void = () => undefined;
      const { client } = await start(
        ({ aborted }) =>
          new Promise<GrpcAnswer>((resolve) => {
            started(aborted);
            aborted.addEventListener('abort', () => resolve({ bytes: Buffer.alloc(0) }));
          }),
      );
      const cancelled = new Promise<AbortSignal>((resolve) => {
        started = resolve;
      });
      const running = client.makeUnaryRequest(ADD, asItIs, asItIs, Buffer.alloc(0), () => undefined);
      const signal = await cancelled;
      assert.equal(signal.aborted, false);
      const fired = new Promise((resolve) => signal.addEventListener('abort', resolve));
      running.cancel();
      await fired;
      assert.ok(signal.reason instanceof RequestAborted);

      // On a busy machine the deadline may pass before the call has left: then repeat it with a longer one.
      let late: AbortSignal | undefined;
      started = (given) => {
        late = given;
      };
      for (let ms = 100; late === undefined; ms *= 2) {
        const reply = await call(client, ADD, Buffer.alloc(0), { deadline: Date.now() + ms });
        assert.equal(reply.error?.code, GRPC_STATUS.DEADLINE_EXCEEDED);
      }
      const { aborted } = late;
      if (!aborted) await new Promise((resolve) => late?.addEventListener('abort', resolve));
      assert.ok(late.aborted);
    });

    test('health answers for the server and each service, and follows setServing', async () => {
      const { front, client } = await start(echo);
      const serving = Buffer.from([8, 1]);
      const notServing = Buffer.from([8, 2]);
      const check = (service: string): Promise<Reply> =>
        call(client, '/grpc.health.v1.Health/Check', Buffer.from([10, service.length, ...Buffer.from(service)]));
      for (const service of ['memory.v1.MemoryService', 'memory.v1.MemoryBatchService', '']) {
        assert.deepEqual((await check(service)).bytes, serving, service);
      }
      assert.equal((await check('nobody')).error?.code, GRPC_STATUS.NOT_FOUND);
      front.setServing(false);
      assert.deepEqual((await check('')).bytes, notServing);
    });

    /** Asks reflection (v1) to list services; its answer's bytes, or its error. */
    function listServices(client: Client, key: string): Promise<Reply> {
      const metadata = new Metadata();
      if (key !== '') metadata.set('authorization', key);
      return new Promise((resolve) => {
        const reply: { bytes: Buffer | undefined; error: ServiceError | null } = { bytes: undefined, error: null };
        const stream = client.makeBidiStreamRequest(
          '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
          asItIs,
          asItIs,
          metadata,
        );
        stream.on('data', (bytes: Buffer) => {
          reply.bytes = bytes;
          stream.end();
        });
        stream.on('error', (error: ServiceError) => {
          reply.error = error;
        });
        stream.on('status', ({ metadata: trailers }) => setImmediate(() => resolve({ ...reply, trailers })));
        stream.write(Buffer.from([58, 1, 42]));
      });
    }

    test('reflection lists the services to permitted callers', async () => {
      const { client } = await start(echo, {
        allowReflection: async (call) => {
          assert.equal(call.remoteAddress, '127.0.0.1');
          if (call.only('authorization') !== 'Bearer k') throw new EngineError('AUT-E005');
        },
      });
      const listed = await listServices(client, 'Bearer k');
      assert.equal(listed.error, null);
      assert.match(String(listed.bytes), /memory\.v1\.MemoryService[\s\S]*memory\.v1\.MemoryBatchService/);
      const refused = await listServices(client, '');
      assert.equal(refused.error?.code, GRPC_STATUS.UNAUTHENTICATED);
      assert.deepEqual(refused.trailers.get('x-error-code'), ['AUT-E005']);
      assert.deepEqual(refused.trailers.get('x-request-id'), ['req_made']);
    });

    test('a drain lets calls finish and ends health watches', async () => {
      let arrived: () => void = () => undefined;
      let release: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { front, client } = await start(async ({ bytes }) => {
        arrived();
        await released;
        return { bytes };
      });
      const statuses: number[] = [];
      const watch = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', asItIs, asItIs, Buffer.alloc(0));
      const watched = new Promise((resolve) => watch.on('end', resolve));
      const first = new Promise<void>((resolve) => {
        watch.on('data', (bytes: Buffer) => {
          statuses.push(bytes[1]!);
          resolve();
        });
      });
      await first;
      const running = call(client, ADD, Buffer.from('late'));
      await inside;
      const drained = front.drain(60_000);
      await watched;
      assert.deepEqual(statuses, [1, 2]);
      release();
      assert.equal((await running).bytes?.toString(), 'late');
      await drained;
    });

    test('a drain ends calls that miss its deadline', async () => {
      let arrived: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const { front, client } = await start(() => {
        arrived();
        return new Promise(() => undefined);
      });
      const running = call(client, ADD, Buffer.alloc(0));
      await inside;
      await front.drain(1);
      assert.ok((await running).error);
    });

    test('a port in use is an error', async () => {
      const { front } = await start(echo);
      await assert.rejects(
        under.listen(
          { host: '127.0.0.1', port: front.port, allowReflection: () => undefined, requestIdOf: String },
          echo,
        ),
        /EADDRINUSE|No address added/,
      );
    });

    test('status numbers equal those of grpc-js', () => {
      for (const [name, number] of Object.entries(GRPC_STATUS)) {
        assert.equal(number, nativeStatus[name as keyof typeof nativeStatus], name); // only names are compared
      }
    });
  });
}
