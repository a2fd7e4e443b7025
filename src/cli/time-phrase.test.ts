import assert from 'node:assert/strict';
import { test } from 'node:test';
import { trailingPhrase } from './time-phrase.ts';

/** A Friday. */
const NOW = Date.parse('2024-03-15T12:00:00Z') / 1000;
const DAY = 86_400;

test('a question may end with a time, and its other words remain', () => {
  const { rest, span } = trailingPhrase('Where did we park in the last 7 days?', NOW) ?? {};
  assert.deepEqual([rest, span], ['Where did we park', { from: NOW - 7 * DAY, to: NOW }]);
  assert.equal(trailingPhrase('what I said yesterday', NOW)?.rest, 'what I said');
  for (const words of ['the report of 2024', 'what is today like in Rome', 'harbour'])
    assert.equal(trailingPhrase(words, NOW), undefined, words);
});
