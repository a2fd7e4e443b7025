import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutAtEnd } from './without-at-end.ts';

test('only marks at the end go', () => {
  for (const [text, left] of [
    ['', ''],
    ['...', ''],
    ['a.b!..', 'a.b'],
    ['a. ', 'a. '],
    ['plain', 'plain'],
  ] as const)
    assert.equal(withoutAtEnd(text, '.!'), left);
});

test('a long run that is not at the end takes linear time', () => {
  const text = `${'.'.repeat(1_000_000)}x`;
  const before = process.cpuUsage();
  assert.equal(withoutAtEnd(text, '.'), text);
  assert.ok(process.cpuUsage(before).user < 1_000_000);
});
