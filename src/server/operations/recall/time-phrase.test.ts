import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDuration, readPhrase } from './time-phrase.ts';

const at = (text: string): number => Date.parse(text) / 1000;
/** A Friday. */
const NOW = at('2024-03-15T12:00:00Z');

test('a phrase covers its period, weeks from Monday, rolling ones up to now', () => {
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
  assert.deepEqual(readPhrase('today', -1), { from: -86_400, to: -1 }, 'before 1970');
  assert.deepEqual(readPhrase('since yesterday', NOW), { from: at('2024-03-14T00:00:00Z') });
  assert.deepEqual(readPhrase('before 2024', NOW), { to: at('2024-01-01T00:00:00Z') - 1 });
  for (const none of ['', 'someday', '2024-13', '2024-02-30', 'last banana'])
    assert.equal(readPhrase(none, NOW), undefined);
});

test('a duration is distinguished from a calendar time, also within another phrase', () => {
  for (const phrase of [
    'last 7 days',
    'past 1 hour',
    '2  weeks ago',
    'since 3 Days ago',
    'between 2 years ago and now',
  ])
    assert.ok(isDuration(phrase), phrase);
  for (const phrase of ['last week', 'this month', 'last friday', 'since 2024-01', '2024-01-01/2024-02-01', 'today'])
    assert.ok(!isDuration(phrase), phrase);
});
