import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instructions } from './ask.ts';

test('a passage that is cut within a character leaves a text that the server takes', () => {
  for (const before of [3_998, 3_999, 4_000]) {
    const text = `${'x'.repeat(before)}🦆 and more`;
    const told = instructions([{ hash: 'a'.repeat(64), source: 'a file', text }]);
    assert.ok(told.isWellFormed(), `cut after ${before} characters`);
    assert.ok(told.includes('x'.repeat(3_998)));
  }
});
