import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTime } from './time-text.ts';
import { TurnTimes } from './turn-times.ts';

test('common time formats are read, and ambiguous ones are rejected', () => {
  const day = Date.UTC(2024, 2, 15) / 1000;
  for (const text of ['March-15-2024', '2024-03-15', '15 March 2024', 'Mar 15th, 2024', 'Friday, March 15 2024'])
    assert.deepEqual(readTime(text), { seconds: day, precision: 'day' }, text);
  for (const text of [
    '2024-03-15T10:20:30Z',
    '2024/03/15 (Fri) 10:20:30',
    '10:20:30 am on March 15, 2024',
    '2024-03-15T12:20:30+02:00',
  ])
    assert.deepEqual(readTime(text), { seconds: day + 37_230, precision: 'exact' }, text);
  for (const number of [day, day * 1000, String(day)]) assert.equal(readTime(number)?.seconds, day);
  for (const text of ['03/04/2024', '2024-02-30', 'soon', '', null, -1, '2024-03-15 extra'])
    assert.equal(readTime(text), undefined);
});

test('turns with equal times are spaced a second apart, per conversation, and never lie after now', () => {
  const times = new TurnTimes({ fallback: 1_000, nowSeconds: 10_000 });
  const day = (seconds: number) => ({ seconds, precision: 'day' as const });
  const given = ['a', 'a', 'b', 'a', 'b'].map((conversation) => times.take(conversation, day(5_000)));
  assert.deepEqual(given, [5_000, 5_001, 5_000, 5_002, 5_001]);
  assert.equal(times.take('a', day(6_000)), 6_000);
  // A transcript that returns to a day continues after the seconds assigned there.
  assert.equal(times.take('a', day(5_000)), 5_003);
  assert.deepEqual([times.take('c', undefined), times.take('c', undefined)], [1_000, 1_001]);
  assert.deepEqual([times.take('d', day(10_000)), times.take('d', day(10_000))], [10_000, 10_000]);
});
