import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { answerLines } from './json-lines.ts';
import { writeOut } from './write-out.ts';

/** Reads `pieces` pieces one at a time, and closes at the next. */
function reader(pieces: number): Writable {
  let left = pieces;
  const stream = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => {
      setImmediate(() => done(left-- > 0 ? null : new Error('EPIPE')));
    },
  });
  stream.on('error', () => undefined);
  return stream;
}

test('a full stream is awaited without leaking listeners, and a closed one is reported', async () => {
  const stream = reader(20);
  for (let piece = 0; piece < 20; piece++) assert.equal(await writeOut(stream, 'x'), true);
  assert.deepEqual([stream.listenerCount('drain'), stream.listenerCount('close')], [0, 0]);
  assert.equal(await writeOut(stream, 'x'), false);
  assert.equal(await writeOut(stream, 'x'), false);
});

test('answers end when the reader closes the output, however long the input is', async () => {
  let asked = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.from('{}\n');
  }
  await answerLines(() => (asked += 1), endless(), reader(3));
  assert.equal(asked, 4);
});
