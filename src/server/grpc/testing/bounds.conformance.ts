// Bounds of calls and connections over HTTP/2: the memory that they hold, and the time for which they wait for their peer.
import assert from 'node:assert/strict';
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import { after, suite, type TestContext } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import {
  GRPC_CALL_BYTES,
  GRPC_CONNECTION_AGE_MS,
  GRPC_LOOK_MS,
  GRPC_PEER_TIMEOUT_MS,
  MESSAGE_BYTES_MAX,
} from '../../../engine/base/limits.ts';
import { requestBudget } from '../../byte-budget.ts';
import { GRPC_STATUS } from '../../status.ts';
import {
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

const HELLO = Buffer.from('hello');
const MIB = 1_048_576;

export function boundsConform(under: ListenerUnderTest): void {
  suite(`${under.name}: bounds`, () => {
    const test = testsOf(under);
    after(closeAll);
    const startFront = startFrontOn(under.listen);

    test('incomplete requests share a budget, and requests over it are rejected', async () => {
      const requests = requestBudget(64);
      const { port } = await startFront(echo, { requests });
      const half = MESSAGE_BYTES_MAX - 5;
      const piece = frame(Buffer.alloc(MESSAGE_BYTES_MAX)).subarray(0, half);
      const wanted = Math.floor(requests.bytesMax / half);
      const session = await openSession(port);
      let over: ((answer: IncomingHttpHeaders) => void) | undefined;
      const refused = new Promise<IncomingHttpHeaders>((resolve) => {
        over = resolve;
      });
      const streams = Array.from({ length: wanted + 1 }, () => {
        const stream = openStream(session);
        stream.once('response', (headers) => over?.(headers));
        stream.write(piece);
        return stream;
      });
      const headers = await refused;
      assert.equal(headers['grpc-status'], String(GRPC_STATUS.RESOURCE_EXHAUSTED));
      assert.equal(headers['x-error-code'], 'LIM-E001');
      for (const stream of streams) stream.close(8);
      // Abandoned requests no longer count.
      const other = await openSession(port);
      assert.equal(statusOf(await ask(other, [frame(Buffer.alloc(MESSAGE_BYTES_MAX))])), GRPC_STATUS.OK);
    });

    /** Advances time for the front's checks of its connections, with the peers' answers in between. */
    async function pass(context: TestContext, session: ClientHttp2Session, forMs: number): Promise<void> {
      for (let ms = 0; ms <= forMs && !session.destroyed; ms += GRPC_LOOK_MS) {
        context.mock.timers.tick(GRPC_LOOK_MS);
        await new Promise((resolve) => session.ping(resolve));
      }
    }

    test('a request that never ends is abandoned', async (context) => {
      context.mock.timers.enable({ apis: ['setInterval'] });
      const { port } = await startFront(echo);
      const session = await openSession(port);
      const stream = openStream(session);
      const answered = answerOf(stream);
      stream.write(frame(HELLO));
      await pass(context, session, GRPC_PEER_TIMEOUT_MS - 2 * GRPC_LOOK_MS);
      assert.equal(stream.closed, false);
      await pass(context, session, 3 * GRPC_LOOK_MS);
      const answer = await answered;
      assert.equal(statusOf(answer), GRPC_STATUS.DEADLINE_EXCEEDED);
      assert.equal(messageOf(answer), 'the request did not arrive in time');
      assert.equal(statusOf(await ask(session, [frame(HELLO)])), GRPC_STATUS.OK);
    });

    test('open calls count in the memory for requests, and older ones make room', async (context) => {
      // No call ends because its peer is slow.
      context.mock.timers.enable({ apis: ['setInterval'] });
      const requests = requestBudget(1);
      const { port } = await startFront(echo, { requests });
      const session = await openSession(port);
      const streams = Array.from({ length: MIB / GRPC_CALL_BYTES + 20 }, () => openStream(session));
      const answer = await Promise.race(streams.map(answerOf));
      assert.equal(statusOf(answer), GRPC_STATUS.RESOURCE_EXHAUSTED);
      assert.ok(requests.heldBytes <= MIB, `${requests.heldBytes}`);
      assert.equal(statusOf(await ask(session, [frame(HELLO)])), GRPC_STATUS.OK);
      session.destroy();
      await eventually('none is open', () => requests.heldBytes === 0);
    });

    test('answered calls count until their peer has read, and older ones make room', async (context) => {
      context.mock.timers.enable({ apis: ['setInterval'] });
      const requests = requestBudget(1);
      let answered = 0;
      const { port } = await startFront(
        async (call) => {
          answered += 1;
          return echo(call);
        },
        { requests },
      );
      const session = await openSession(port, { settings: { initialWindowSize: 0 } });
      const open = () => {
        const stream = openStream(session);
        stream.end(frame(HELLO));
        return stream;
      };
      const older = Array.from({ length: MIB / GRPC_CALL_BYTES - 20 }, open);
      const cut = Promise.race(older.map(answerOf));
      await eventually('they are answered', () => answered === older.length);
      for (let i = 0; i < 40; i++) open();
      assert.equal((await cut).rstCode, 8); // CANCEL
      assert.ok(requests.heldBytes <= MIB, `${requests.heldBytes}`);
      session.destroy();
      await eventually('none is open', () => requests.heldBytes === 0);
    });

    test('a peer that does not read its answer is disconnected', async (context) => {
      context.mock.timers.enable({ apis: ['setInterval'] });
      const { port } = await startFront(async () => ({ bytes: Buffer.alloc(1_000_000) }));
      const session = await openSession(port);
      const stream = openStream(session);
      const closed = new Promise((resolve) => stream.once('close', resolve));
      stream.end(frame(HELLO));
      await new Promise((resolve) => stream.once('response', resolve));
      await pass(context, session, GRPC_PEER_TIMEOUT_MS + GRPC_LOOK_MS);
      await closed;
      assert.equal(stream.rstCode, 8); // CANCEL
    });

    test('an old connection is told to reconnect, and closes when its calls have ended', async (context) => {
      context.mock.timers.enable({ apis: ['setInterval'] });
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { port } = await startFront(async ({ bytes }) => {
        await released;
        return { bytes };
      });
      const session = await openSession(port);
      const running = ask(session, [frame(HELLO)]);
      const watch = openStream(session, { ':path': '/grpc.health.v1.Health/Watch' });
      const watched = answerOf(watch);
      watch.end(frame(Buffer.alloc(0)));
      const goaway = new Promise((resolve) => session.once('goaway', resolve));
      const closed = new Promise((resolve) => session.once('close', resolve));
      await pass(context, session, GRPC_CONNECTION_AGE_MS + GRPC_LOOK_MS);
      await goaway;
      assert.equal(statusOf(await watched), GRPC_STATUS.OK);
      release();
      assert.equal(statusOf(await running), GRPC_STATUS.OK);
      await closed;
    });
  });
}
