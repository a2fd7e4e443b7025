import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { answerLines } from './json-lines.ts';
import { writeOut } from './write-out.ts';

/** Takes a piece at a time, `pieces` of them, and is closed by the next. */
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

test('a full stream is waited for without a listener left, and a closed one is told', async () => {
  const stream = reader(20);
  for (let piece = 0; piece < 20; piece++) assert.equal(await writeOut(stream, 'x'), true);
  assert.deepEqual([stream.listenerCount('drain'), stream.listenerCount('close')], [0, 0]);
  assert.equal(await writeOut(stream, 'x'), false);
  assert.equal(await writeOut(stream, 'x'), false);
});

test('answers end when nobody reads them any more, however long the input goes on', async () => {
  let asked = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.from('{}\n');
  }
  await answerLines(() => (asked += 1), endless(), reader(3));
  assert.equal(asked, 4);
});
