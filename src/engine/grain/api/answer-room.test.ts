import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnswerRoom, jsonBytes, jsonBytesAtMost, withinRoom } from './answer-room.ts';

test('the size of a value is that of its JSON, or slightly more for numbers', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const exact = Buffer.byteLength(JSON.stringify(value));
      const numbers = JSON.stringify(value).match(/[0-9]/g)?.length ?? 0;
      const bytes = jsonBytes(value);
      assert.ok(bytes >= exact, `${bytes} for ${exact}`);
      assert.ok(jsonBytesAtMost(value) >= bytes, `at most ${jsonBytesAtMost(value)} for ${bytes}`);
      if (numbers === 0) assert.ok(bytes <= exact + 1 + JSON.stringify(value).length / 2, `${bytes} for ${exact}`);
    }),
    { numRuns: 300 },
  );
  assert.equal(jsonBytes(-0.0000010372669428697512), '-0.0000010372669428697512'.length);
  assert.equal(jsonBytes('\u0001"\\é'), Buffer.byteLength(JSON.stringify('\u0001"\\é')));
});

test('a room holds values that fit for sure, and stays as it is', () => {
  const room = new AnswerRoom(20_000);
  const small = ['\u0001'.repeat(1_000), { name: 'é'.repeat(1_000) }];
  assert.equal(room.holds(small), true);
  assert.equal(room.holds([...small, ...small]), false);
  assert.equal(
    withinRoom(small, room, (item) => item),
    small,
  );
});

test('the first item is taken whatever its size, others while there is room', () => {
  const room = new AnswerRoom(10_000);
  assert.deepEqual(withinRoom(['x'.repeat(20_000), 'y'], room, (item) => item).length, 1);
  const small = Array.from({ length: 20 }, () => 'z'.repeat(1_000));
  assert.equal(withinRoom(small, new AnswerRoom(10_000), (item) => item).length, 4);
  const all = ['a', 'b'];
  assert.equal(
    withinRoom(all, new AnswerRoom(10_000), (item) => item),
    all,
  );
});
