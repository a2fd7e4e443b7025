// gRPC over HTTP/2 as seen by a client that knows no gRPC: headers, frames, statuses and resets.
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http2';
import { after, suite } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { steadyMs, systemClock } from '../../../engine/base/clock.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { MESSAGE_BYTES_MAX } from '../../../engine/base/limits.ts';
import { GRPC_STATUS } from '../../status.ts';
import type { GrpcAnswer, GrpcCall } from '../front.ts';
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
} from './front.ts';
import { type ListenerUnderTest, testsOf } from './under-test.ts';

export function protocolConforms(under: ListenerUnderTest): void {
  suite(`${under.name}: protocol`, () => {
    const test = testsOf(under);
    after(closeAll);
    const startFront = startFrontOn(under.listen);

    /** Without the symbol that node:http2 adds. */
    const plain = (headers: IncomingHttpHeaders | undefined) => Object.fromEntries(Object.entries(headers ?? {}));

    const HELLO = Buffer.from('hello');

    test('an answer is headers, one message and trailers', async () => {
      const { port } = await startFront(async ({ bytes }) => ({
        bytes,
        headers: { 'x-request-id': 'r1', 'x-note': 'é' },
      }));
      const answer = await ask(await openSession(port), [frame(HELLO)]);
      assert.equal(answer.headers[':status'], 200);
      assert.equal(answer.headers['content-type'], 'application/grpc+proto');
      assert.equal(answer.headers['grpc-accept-encoding'], 'identity,deflate,gzip');
      assert.equal(answer.headers['grpc-status'], undefined);
      assert.deepEqual(answer.data, frame(HELLO));
      assert.deepEqual(plain(answer.trailers), {
        'grpc-status': '0',
        'grpc-message': 'OK',
        'x-request-id': 'r1',
        'x-note': '%C3%A9',
      });
      assert.equal(answer.rstCode, 0);
    });

    test('a refusal is one block of headers, percent-encoded, with code and request id', async () => {
      const refusal = new EngineError('MEM-E001', 'nö\n100 %');
      const { port } = await startFront(async () => ({ error: refusal, headers: { 'x-ratelimit-limit': '60' } }));
      const session = await openSession(port);
      const answer = await ask(session, [frame(HELLO)], { 'x-request-id': 'mine' });
      assert.deepEqual(plain(answer.headers), {
        ':status': 200,
        'content-type': 'application/grpc+proto',
        'grpc-status': '5',
        'grpc-message': 'MEM-E001:%20n%C3%B6%0A100%20%25',
        'x-ratelimit-limit': '60',
        'x-request-id': 'mine',
        'x-error-code': 'MEM-E001',
      });
      assert.equal(answer.trailers, undefined);
      assert.equal(answer.data.length, 0);
      const long = new EngineError('VAL-E001', 'x'.repeat(100_000));
      const cut = await startFront(async () => ({ error: long }));
      assert.equal(messageOf(await ask(await openSession(cut.port), [frame(HELLO)])).length, 2_000);
    });

    test('content types of gRPC are served, others are 415; other methods are 405', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const types = [
        'application/grpc',
        'application/grpc+proto',
        'Application/gRPC+proto; charset=utf-8',
        'application/grpc;x=1',
      ];
      for (const type of types)
        assert.equal(statusOf(await ask(session, [frame(HELLO)], { 'content-type': type })), 0, type);
      for (const type of ['application/grpc-web', 'application/grpc+json', 'application/json', 'text/html', ''])
        assert.equal((await ask(session, [frame(HELLO)], { 'content-type': type })).headers[':status'], 415, type);
      for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
        const { headers } = await ask(session, [], { ':method': method });
        assert.equal(headers[':status'], 405, method);
        assert.equal(headers['allow'], 'POST');
      }
      // A request that continues is not read to its end.
      const stream = openStream(session, { 'content-type': 'text/plain' });
      const answer = answerOf(stream);
      stream.write('x');
      assert.equal((await answer).headers[':status'], 415);
      assert.equal(statusOf(await ask(session, [frame(HELLO)], { te: undefined })), 0);
    });

    test('an unknown method is UNIMPLEMENTED, by its whole name', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      for (const path of [
        '/memory.v1.MemoryService/Dance',
        '/memory.v1.MemoryService',
        '/',
        '/x?y=ö',
        `${ADD}?x`,
        `${ADD}/`,
      ]) {
        const answer = await ask(session, [frame(HELLO)], { ':path': path });
        assert.equal(statusOf(answer), GRPC_STATUS.UNIMPLEMENTED, path);
        assert.match(messageOf(answer), /^The server does not implement the method /);
      }
    });

    test('a message arrives whole, in whatever pieces it comes', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 3_000 }),
          fc.array(fc.nat(3_005), { maxLength: 6 }),
          async (message, cuts) => {
            const bytes = frame(message);
            const places = [
              0,
              ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b),
              bytes.length,
            ];
            const pieces = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
            const answer = await ask(session, pieces);
            assert.equal(statusOf(answer), 0);
            assert.deepEqual(answer.data, bytes);
          },
        ),
        { numRuns: runs(50) },
      );
      const byteByByte = [...frame(HELLO)].map((byte) => Buffer.of(byte));
      assert.deepEqual((await ask(session, byteByByte)).data, frame(HELLO));
    });

    test('a request without a message, with two, or with part of one is rejected before anything runs', async () => {
      let handled = 0;
      const { port } = await startFront(async ({ bytes }) => {
        handled += 1;
        return { bytes };
      });
      const session = await openSession(port);
      const { UNIMPLEMENTED, INTERNAL, RESOURCE_EXHAUSTED } = GRPC_STATUS;
      const cases: readonly (readonly [string, Uint8Array[], number])[] = [
        ['nothing', [], UNIMPLEMENTED],
        ['an empty frame', [Buffer.alloc(0)], UNIMPLEMENTED],
        ['a part of a prefix', [Buffer.alloc(3)], INTERNAL],
        ['a prefix alone', [Buffer.from([0, 0, 0, 0, 9])], INTERNAL],
        ['a part of a message', [frame(HELLO).subarray(0, 8)], INTERNAL],
        ['two messages', [frame(HELLO), frame(HELLO)], UNIMPLEMENTED],
        ['two messages in one piece', [Buffer.concat([frame(HELLO), frame(HELLO)])], UNIMPLEMENTED],
        ['bytes behind the message', [frame(HELLO), Buffer.of(0)], UNIMPLEMENTED],
        ['a flag that nobody knows', [frame(HELLO, 2)], INTERNAL],
        ['a message compressed with nothing', [frame(HELLO, 1)], INTERNAL],
        ['a message longer than any', [Buffer.from([0, 255, 255, 255, 255])], RESOURCE_EXHAUSTED],
      ];
      for (const [name, pieces, status] of cases) assert.equal(statusOf(await ask(session, pieces)), status, name);
      // Some requests end with their headers.
      const alone = openStream(session, {});
      const answer = answerOf(alone);
      alone.end();
      assert.equal(statusOf(await answer), UNIMPLEMENTED);
      assert.equal(handled, 0);
    });

    test('a message that is too long is rejected at its prefix, and its sender is told to stop', async () => {
      const { port } = await startFront(echo);
      const stream = openStream(await openSession(port));
      const answered = answerOf(stream);
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(MESSAGE_BYTES_MAX + 1, 1);
      stream.write(prefix);
      const answer = await answered;
      assert.equal(statusOf(answer), GRPC_STATUS.RESOURCE_EXHAUSTED);
      assert.equal(answer.headers['x-error-code'], 'LIM-E003');
      assert.equal(answer.headers['x-request-id'], 'req_made');
      assert.equal(answer.rstCode, 0);
    });

    test('gzip and deflate are accepted; invalid or oversized data and other encodings are rejected', async () => {
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const text = Buffer.from('granary '.repeat(1_000));
      const compressed = (bytes: Uint8Array, encoding: string) =>
        ask(session, [frame(bytes, 1)], { 'grpc-encoding': encoding });
      assert.deepEqual((await compressed(gzipSync(text), 'gzip')).data, frame(text));
      assert.deepEqual((await compressed(deflateSync(text), 'deflate')).data, frame(text));
      assert.equal(statusOf(await compressed(text, 'gzip')), GRPC_STATUS.INTERNAL);
      assert.equal(statusOf(await compressed(gzipSync(text).subarray(0, 20), 'gzip')), GRPC_STATUS.INTERNAL);
      assert.equal(statusOf(await compressed(text, 'identity')), GRPC_STATUS.INTERNAL);
      const unknown = await compressed(text, 'snappy');
      assert.equal(statusOf(unknown), GRPC_STATUS.UNIMPLEMENTED);
      assert.equal(unknown.headers['grpc-accept-encoding'], 'identity,deflate,gzip');
      // A request may name an encoding without using it.
      assert.deepEqual((await ask(session, [frame(text)], { 'grpc-encoding': 'snappy' })).data, frame(text));
      const most = await compressed(gzipSync(Buffer.alloc(MESSAGE_BYTES_MAX)), 'gzip');
      assert.equal(statusOf(most), GRPC_STATUS.OK);
      const bomb = gzipSync(Buffer.alloc(MESSAGE_BYTES_MAX + 1));
      const bombs = await Promise.all(Array.from({ length: 10 }, () => compressed(bomb, 'gzip')));
      for (const answer of bombs) {
        assert.equal(statusOf(answer), GRPC_STATUS.RESOURCE_EXHAUSTED);
        assert.equal(answer.headers['x-error-code'], 'LIM-E003');
      }
    });

    test('metadata are read by name, the first of several, without binary ones', async () => {
      const seen: (string | undefined)[] = [];
      const { port } = await startFront(async (call) => {
        for (const name of ['x-one', 'x-many', 'x-none', 'x-bin', 'x-blob-bin']) seen.push(call.header(name));
        return { bytes: call.bytes };
      });
      const headers = {
        'x-one': '1',
        'x-many': ['a', 'b'],
        'x-bin': 'no name of a binary one ends so',
        'x-blob-bin': '////',
      };
      assert.equal(statusOf(await ask(await openSession(port), [frame(HELLO)], headers)), 0);
      assert.deepEqual(seen, ['1', 'a', undefined, undefined, undefined]);
    });

    test('grpc-timeout sets the deadline of a call, and an invalid one is rejected', async () => {
      const seen: (number | undefined)[] = [];
      const { port } = await startFront(async ({ bytes, deadlineMs }) => {
        seen.push(deadlineMs === undefined ? undefined : deadlineMs - steadyMs(systemClock));
        return { bytes };
      });
      const session = await openSession(port);
      const statusAfter = async (given: string): Promise<number> =>
        statusOf(await ask(session, [frame(HELLO)], { 'grpc-timeout': given }));
      for (const [given, ms] of [
        ['2H', 7_200_000],
        ['3M', 180_000],
        ['40S', 40_000],
        ['50000m', 50_000],
        ['60000000u', 60_000],
        ['99999999n', 100],
      ] as const) {
        let status = await statusAfter(given);
        // A tenth of a second, the maximum of this unit, may pass before a busy machine answers.
        while (ms === 100 && status === GRPC_STATUS.DEADLINE_EXCEEDED) status = await statusAfter(given);
        assert.equal(status, 0, given);
        const left = seen.pop() ?? 0;
        assert.ok(left <= ms && left > ms - 20_000, `${given}: ${left}`);
      }
      for (const given of ['', '5', 'S', '-1S', '123456789S', '1.5S', '5 S', '1s', 'abc5m']) {
        const answer = await ask(session, [frame(HELLO)], { 'grpc-timeout': given });
        assert.equal(statusOf(answer), GRPC_STATUS.INTERNAL, given);
        assert.equal(messageOf(answer), `Invalid grpc-timeout value "${given}"`);
      }
    });

    test('a passed deadline ends the call, whether it runs or its request is incomplete', async () => {
      const running: GrpcCall[] = [];
      const { port } = await startFront((call) => {
        running.push(call);
        return new Promise<GrpcAnswer>((resolve) => {
          call.aborted.addEventListener('abort', () => resolve({ bytes: HELLO }));
        });
      });
      const session = await openSession(port);
      // On a busy machine the deadline may pass before the request is complete: then send it again with a longer one.
      for (let ms = 30; running.length === 0; ms *= 2) {
        const answer = await ask(session, [frame(HELLO)], { 'grpc-timeout': `${ms}m` });
        assert.equal(statusOf(answer), GRPC_STATUS.DEADLINE_EXCEEDED);
      }
      assert.equal(running[0]?.aborted.aborted, true);
      const unended = openStream(session, { 'grpc-timeout': '30m' });
      const late = answerOf(unended);
      unended.write(frame(HELLO));
      assert.equal(statusOf(await late), GRPC_STATUS.DEADLINE_EXCEEDED);
      assert.equal(running.length, 1);
    });

    test('a reset while the call runs aborts it, and its answer is dropped', async () => {
      let arrived: (call: GrpcCall) => void = () => undefined;
      let release: () => void = () => undefined;
      const inside = new Promise<GrpcCall>((resolve) => {
        arrived = resolve;
      });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const reported: unknown[] = [];
      const { port } = await startFront(
        async (call) => {
          arrived(call);
          if (call.bytes.length > 0) await released;
          return { bytes: call.bytes };
        },
        { onError: (error) => reported.push(error) },
      );
      const session = await openSession(port);
      const stream = openStream(session);
      stream.end(frame(HELLO));
      const call = await inside;
      const aborted = new Promise((resolve) => call.aborted.addEventListener('abort', resolve));
      stream.close(8);
      await aborted;
      release();
      assert.equal(statusOf(await ask(session, [frame(Buffer.alloc(0))])), 0);
      assert.deepEqual(reported, []);
    });

    test('a handler error that is not an EngineError is reported once', async () => {
      const reported: unknown[] = [];
      const bug = new RangeError('secret');
      const { port } = await startFront(() => Promise.reject(bug), { onError: (error) => reported.push(error) });
      const answer = await ask(await openSession(port), [frame(HELLO)]);
      assert.equal(statusOf(answer), GRPC_STATUS.INTERNAL);
      assert.doesNotMatch(messageOf(answer), /secret/);
      assert.deepEqual(reported, [bug]);
    });
  });
}
