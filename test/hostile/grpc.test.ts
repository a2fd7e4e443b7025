// Hostile input over gRPC: every call ends with a status of the contract or the protocol, and the server keeps running.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, connect, type OutgoingHttpHeaders } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { SocketClient } from '../../src/server/http/socket-client.ts';
import { isCallersCode, Refusal } from '../conformance/contract.ts';
import { GrpcClient, RPCS } from '../conformance/grpc-client.ts';
import { runs } from '../support/runs.ts';
import { corpus, type HostileFrames, joined } from './corpus.ts';
import { startVictim, type Victim } from './victim.ts';

const MIB = 1_048_576;

function pathOf(rpc: string): string {
  return `/memory.v1.${rpc === 'BatchAdd' ? 'MemoryBatchService' : 'MemoryService'}/${rpc}`;
}

/** A message with its prefix, as in a stream. */
function framed(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

interface RawAnswer {
  /** HTTP status; undefined when the stream was reset before headers arrived. */
  readonly http: number | undefined;
  /** gRPC status; undefined when none arrived. */
  readonly grpc: number | undefined;
  readonly code: string | undefined;
}

describe('hostile gRPC', { timeout: 600_000 }, () => {
  let victim: Victim;
  let client: GrpcClient;
  before(async () => {
    victim = await startVictim();
    client = GrpcClient.open(victim.grpc, victim.key);
  });
  after(async () => {
    client.close();
    await victim.close();
  });

  async function session(): Promise<ClientHttp2Session> {
    const opened = connect(`http://${victim.grpc}`);
    opened.on('error', () => undefined);
    await once(opened, 'connect');
    return opened;
  }

  /** Sends one stream with these headers over those of a call and these bytes; resolves to its end. */
  function raw(
    on: ClientHttp2Session,
    path: string,
    data: Uint8Array,
    headers: OutgoingHttpHeaders = {},
  ): Promise<RawAnswer> {
    return new Promise((resolve) => {
      const stream = on.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${victim.key}`,
        ...headers,
      });
      let answer: RawAnswer = { http: undefined, grpc: undefined, code: undefined };
      const take = (given: Record<string, unknown>): void => {
        const [http, grpc, code] = [given[':status'], given['grpc-status'], given['x-error-code']];
        answer = {
          http: http === undefined ? answer.http : Number(http),
          grpc: grpc === undefined ? answer.grpc : Number(grpc),
          code: code === undefined ? answer.code : String(code),
        };
      };
      stream.on('response', take);
      stream.on('trailers', take);
      stream.on('error', () => undefined);
      stream.on('close', () => resolve(answer));
      stream.resume();
      stream.end(data);
    });
  }

  async function livesOn(): Promise<void> {
    const { hash } = await client.call('Add', { grain_type: 'event', fields_json: '{"content":"it lives on"}' });
    assert.equal((await client.call('Get', { hash })).hash, hash);
  }

  /** Checks for a status that a caller can cause, with a code of the contract if the contract was reached. */
  function checkAnswer({ http, grpc, code }: RawAnswer, where: string): void {
    assert.equal(http, 200, `${where}: HTTP status ${http}`);
    assert.ok(grpc !== undefined && grpc !== status.UNKNOWN && grpc !== status.UNAVAILABLE, `${where}: status ${grpc}`);
    if (grpc !== status.OK)
      assert.ok(
        code !== undefined && (isCallersCode(code) || code === 'SYS-E002'),
        `${where}: status ${grpc}, ${code}`,
      );
  }

  test('saved streams end with their expected statuses', async () => {
    const on = await session();
    for (const { name, rpc, data, headers, statuses } of corpus<HostileFrames>('grpc-frames.json')) {
      const answer = await raw(on, pathOf(rpc), Buffer.from(joined(data), 'hex'), headers);
      checkAnswer(answer, name);
      assert.ok(statuses.includes(answer.grpc ?? -1), `${name}: status ${answer.grpc} ${answer.code}`);
    }
    on.close();
    await livesOn();
  });

  test('any bytes as the message of any rpc are answered by the contract', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...RPCS), fc.uint8Array({ maxLength: 200 }), async (rpc, bytes) => {
        await assertAnswered(client, rpc, bytes);
      }),
      { numRuns: runs(100) },
    );
    await livesOn();
  });

  test('a valid message with bytes changed, removed or inserted is answered by the contract', async () => {
    const text = (tag: number, value: string) => Buffer.concat([Buffer.of(tag, value.length), Buffer.from(value)]);
    const hash = text(0x0a, 'f'.repeat(64));
    const item = Buffer.concat([
      text(0x0a, 'event'),
      text(0x12, '{"content":"x","tags":["a"],"created_at":1700000000}'),
    ]);
    const good: readonly (readonly [string, Buffer])[] = [
      ['Add', Buffer.concat([item, Buffer.of(0x1a, 2, 0x20, 1)])],
      ['BatchAdd', Buffer.concat([Buffer.of(0x0a, item.length), item, Buffer.of(0x0a, item.length), item])],
      ['Get', hash],
      ['Supersede', Buffer.concat([hash, text(0x12, 'event'), text(0x1a, '{"content":"y"}')])],
      ['Accumulate', Buffer.concat([hash, text(0x12, '{"n":1}'), text(0x1a, '{"a":2}'), text(0x22, 'reason')])],
      [
        'Recall',
        Buffer.concat([
          text(0x0a, 'lives'),
          Buffer.of(0x60, 5, 0x40, 1, 0x51),
          Buffer.alloc(8, 0x3f),
          text(0x6a, '2023'),
        ]),
      ],
      ['GetHistory', hash],
    ];
    const change = fc.record({
      at: fc.nat(1_000),
      cut: fc.nat(4),
      put: fc.uint8Array({ maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...good),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        async ([rpc, bytes], changes) => {
          let changed: Uint8Array = bytes;
          for (const { at, cut, put } of changes) {
            const place = at % (changed.length + 1);
            changed = Buffer.concat([changed.subarray(0, place), put, changed.subarray(place + cut)]);
          }
          await assertAnswered(client, rpc, changed);
        },
      ),
      { numRuns: runs(100) },
    );
    await livesOn();
  });

  test('any metadata are answered by the contract', async () => {
    const on = await session();
    const value = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
    const name = fc.constantFrom(
      ...['authorization', 'x-memory-id', 'x-namespace', 'x-user-id', 'x-reason', 'x-purpose', 'x-request-id'],
      ...['idempotency-key', 'grpc-timeout', 'grpc-encoding', 'grpc-accept-encoding', 'content-type', 'x-bin'],
    );
    await fc.assert(
      fc.asyncProperty(name, fc.oneof(value, fc.constant('x'.repeat(3_000))), async (header, given) => {
        const answer = await raw(on, pathOf('Stats'), framed(new Uint8Array(0)), { [header]: given.trim() });
        const where = `${header}: ${given}`;
        // HTTP refuses another content type; the call's deadline handles a time that has passed.
        if (header === 'content-type') assert.ok(answer.http === 415 || answer.http === 200, where);
        else if (answer.grpc !== status.DEADLINE_EXCEEDED && answer.grpc !== status.CANCELLED)
          checkAnswer(answer, where);
      }),
      { numRuns: runs(66) },
    );
    on.close();
    await livesOn();
  });

  test('HTTP/2 refuses calls that are not gRPC, and connections that are not HTTP/2 are closed', async () => {
    const on = await session();
    for (const [headers, statuses] of [
      [{ 'content-type': 'application/json' }, [415]],
      [{ 'content-type': 'application/grpc-web' }, [200, 415]],
      [{ 'content-type': 'text/html' }, [415]],
      [{ ':method': 'GET' }, [200, 404, 405, 415]],
      [{ ':method': 'DELETE' }, [200, 404, 405, 415]],
      [{ ':path': '/' }, [200, 404]],
      [{ ':path': '/memory.v1.MemoryService/../Get' }, [200, 404]],
      [{ ':path': '*' }, [200, 400, 404, undefined]],
    ] as const) {
      const answer = await raw(on, pathOf('Get'), framed(new Uint8Array(0)), headers);
      const where = JSON.stringify(headers);
      assert.ok((statuses as readonly (number | undefined)[]).includes(answer.http), `${where}: ${answer.http}`);
      if (answer.http === 200) assert.ok(answer.grpc !== undefined && answer.grpc !== status.OK, where);
    }
    on.close();
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
      '\x16\x03\x01\x02\x00',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff',
    ]) {
      const socket = await SocketClient.open(Number(victim.grpc.split(':')[1]));
      socket.send(bytes);
      socket.socket.end();
      await socket.closed;
    }
    await livesOn();
  });

  test('streams that are opened and reset at once leave nothing behind', async () => {
    const on = await session();
    for (let round = 0; round < 5; round++) {
      const streams = Array.from({ length: 100 }, () => {
        const stream = on.request({ ':method': 'POST', ':path': pathOf('Add'), 'content-type': 'application/grpc' });
        stream.on('error', () => undefined);
        stream.write(Buffer.of(0, 0, 0, 1));
        return stream;
      });
      await Promise.all(
        streams.map((stream) => {
          const over = once(stream, 'close');
          stream.close(8); // CANCEL
          return over;
        }),
      );
    }
    on.destroy();
    const alone = await session();
    alone
      .request({ ':method': 'POST', ':path': pathOf('Get'), 'content-type': 'application/grpc' })
      .on('error', () => undefined);
    alone.destroy();
    await livesOn();
  });

  test('a message that inflates beyond the limit is refused, and memory stays bounded', async () => {
    const on = await session();
    const bomb = framed(gzipSync(Buffer.alloc(64 * MIB)), 1);
    const large = Buffer.concat([Buffer.of(0x0a), Buffer.of(0x80, 0x80, 0x80, 0x07), Buffer.alloc(14 * MIB, 0x61)]);
    const round = async (): Promise<void> => {
      const answer = await raw(on, pathOf('Get'), bomb, { 'grpc-encoding': 'gzip' });
      checkAnswer(answer, 'a bomb');
      assert.equal(answer.grpc, status.RESOURCE_EXHAUSTED);
      await assertAnswered(client, 'Recall', large);
      const half = await session();
      for (let at = 0; at < 20; at++) {
        const stream = half.request({ ':method': 'POST', ':path': pathOf('Add'), 'content-type': 'application/grpc' });
        stream.on('error', () => undefined);
        stream.write(Buffer.concat([Buffer.of(0, 0, 0xff, 0xff, 0xff), Buffer.alloc(60_000)]));
      }
      await client.call('Health', {});
      half.destroy();
    };
    await round();
    const before = victim.residentBytes();
    for (let at = 0; at < 2; at++) await round();
    const grown = victim.residentBytes() - before;
    assert.ok(grown < 300 * MIB, `grew by ${Math.round(grown / MIB)} MiB`);
    on.close();
    await livesOn();
  });
});

/** Sends the bytes as a message; the result must be an answer, or a refusal that a caller can cause. */
async function assertAnswered(client: GrpcClient, rpc: string, bytes: Uint8Array): Promise<void> {
  try {
    await client.askBytes(pathOf(rpc), Buffer.from(bytes));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    assert.ok(isCallersCode(error.code) || error.code === 'SYS-E002', `${rpc}: ${error.message}`);
  }
}
