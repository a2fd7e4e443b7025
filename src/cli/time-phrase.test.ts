import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPhrase, trailingPhrase } from './time-phrase.ts';

const at = (text: string): number => Date.parse(text) / 1000;
/** A Friday. */
const NOW = at('2024-03-15T12:00:00Z');
const DAY = 86_400;

test('phrases span what they say, weeks from Monday, rolling ones up to now', () => {
  const spans: Record<string, [string, string]> = {
    today: ['2024-03-15T00:00:00Z', '2024-03-15T23:59:59Z'],
    yesterday: ['2024-03-14T00:00:00Z', '2024-03-14T23:59:59Z'],
    'this week': ['2024-03-11T00:00:00Z', '2024-03-17T23:59:59Z'],
    'last month': ['2024-02-01T00:00:00Z', '2024-02-29T23:59:59Z'],
    'last friday': ['2024-03-08T00:00:00Z', '2024-03-08T23:59:59Z'],
    'last 7 days': ['2024-03-08T12:00:00Z', '2024-03-15T12:00:00Z'],
    'past 1 month': ['2024-02-15T12:00:00Z', '2024-03-15T12:00:00Z'],
    '2 days ago': ['2024-03-13T00:00:00Z', '2024-03-13T23:59:59Z'],
    'Q1 2024': ['2024-01-01T00:00:00Z', '2024-03-31T23:59:59Z'],
    '2024-02': ['2024-02-01T00:00:00Z', '2024-02-29T23:59:59Z'],
    'between 2024-01 and 2024-02-03': ['2024-01-01T00:00:00Z', '2024-02-03T23:59:59Z'],
  };
  for (const [phrase, [from, to]] of Object.entries(spans))
    assert.deepEqual(readPhrase(phrase, NOW), { from: at(from), to: at(to) }, phrase);
  assert.deepEqual(readPhrase('since yesterday', NOW), { from: at('2024-03-14T00:00:00Z') });
  assert.deepEqual(readPhrase('before 2024', NOW), { to: at('2024-01-01T00:00:00Z') - 1 });
  for (const none of ['', 'someday', '2024-13', '2024-02-30', 'last banana'])
    assert.equal(readPhrase(none, NOW), undefined);
});

test('a question may end with a time, and its other words are left', () => {
  const { rest, span } = trailingPhrase('Where did we park in the last 7 days?', NOW) ?? {};
  assert.deepEqual([rest, span], ['Where did we park', { from: NOW - 7 * DAY, to: NOW }]);
  assert.equal(trailingPhrase('what I said yesterday', NOW)?.rest, 'what I said');
  for (const words of ['the report of 2024', 'what is today like in Rome', 'harbour'])
    assert.equal(trailingPhrase(words, NOW), undefined, words);
});
