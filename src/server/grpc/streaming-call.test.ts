import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { answerBudget, requestBudget, unreadBudget } from '../byte-budget.ts';
import { Expiry } from '../expiry.ts';
import type { CallStream } from './call-stream.ts';
import { Connection } from './connection.ts';
import { Inflation } from './inflation.ts';
import { framed } from './message-reader.ts';
import { StreamingCall } from './streaming-call.ts';

const NOTHING = (): undefined => undefined;

test('a message that is not complete does not refer to the bytes that it came with', async () => {
  const requests = requestBudget(1);
  const connection = new Connection(
    { remoteAddress: '', isHeard: true, ping: NOTHING, close: NOTHING, destroy: NOTHING },
    {
      expiry: new Expiry(),
      inflation: new Inflation(),
      requests,
      answers: answerBudget(1),
      unread: unreadBudget(1),
      looks: 0,
      requestIdOf: () => 'id',
      onError: NOTHING,
    },
  );
  const stream = {
    head: { identity: undefined, list: [], first: NOTHING, only: NOTHING, joined: NOTHING },
    isGone: false,
    isFull: false,
    serve: NOTHING,
    pause: NOTHING,
    resume: NOTHING,
  } as unknown as CallStream; // as far as a call that gets half a message uses it
  const got: string[] = [];
  const call = new StreamingCall(connection, stream, {
    converse: () => ({ message: (bytes) => void got.push(bytes.toString()), ended: NOTHING, settled: NOTHING }),
  });
  const [frame] = framed(Buffer.from('all of it'));
  // One read of a socket has bytes of many streams.
  const openBytes = requests.heldBytes;
  const read = Buffer.alloc(65_536);
  read.set(frame.subarray(0, 8), 1_000);
  call.take(read.subarray(1_000, 1_008));
  const bytes = requests.heldBytes - openBytes;
  assert.ok(bytes >= 8 && bytes <= 32, String(bytes));
  read.fill(0);
  call.take(Buffer.from(frame.subarray(8)));
  await setImmediate();
  assert.deepEqual(got, ['all of it']);
});
