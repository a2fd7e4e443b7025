import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { spanOf } from './time.ts';

/** Tuesday, 2024-03-05, 10:20:30.400 UTC, in a leap year. */
const NOW = Date.UTC(2024, 2, 5, 10, 20, 30, 400);
const at = (iso: string): number => Date.parse(`${iso}Z`);
const isoSpan = (value: string | number): readonly [string, string] | undefined => {
  const span = spanOf(value, NOW);
  return span && [new Date(span.startMs).toISOString(), new Date(span.endMs).toISOString()];
};

test('D-19: an expression is a span that ends where the expression ends', () => {
  for (const [value, start, end] of [
    ['today', '2024-03-05T00:00:00.000', '2024-03-05T23:59:59.999'],
    ['Yesterday', '2024-03-04T00:00:00.000', '2024-03-04T23:59:59.999'],
    ['last hour', '2024-03-05T09:20:30.400', '2024-03-05T10:20:30.400'],
    ['last week', '2024-02-27T10:20:30.400', '2024-03-05T10:20:30.400'],
    ['last month', '2024-02-05T10:20:30.400', '2024-03-05T10:20:30.400'],
    ['last  year', '2023-03-05T10:20:30.400', '2024-03-05T10:20:30.400'],
    ['last 3 days', '2024-03-02T10:20:30.400', '2024-03-05T10:20:30.400'],
    ['last 1 minute', '2024-03-05T10:19:30.400', '2024-03-05T10:20:30.400'],
    ['2 hours ago', '2024-03-05T08:20:30.400', '2024-03-05T08:20:30.400'],
    ['this week', '2024-03-04T00:00:00.000', '2024-03-10T23:59:59.999'],
    ['this month', '2024-03-01T00:00:00.000', '2024-03-31T23:59:59.999'],
    ['this year', '2024-01-01T00:00:00.000', '2024-12-31T23:59:59.999'],
    ['2024', '2024-01-01T00:00:00.000', '2024-12-31T23:59:59.999'],
    ['2024-02', '2024-02-01T00:00:00.000', '2024-02-29T23:59:59.999'],
    ['2024-02-29', '2024-02-29T00:00:00.000', '2024-02-29T23:59:59.999'],
    ['0001-01-01', '0001-01-01T00:00:00.000', '0001-01-01T23:59:59.999'],
    ['0099', '0099-01-01T00:00:00.000', '0099-12-31T23:59:59.999'],
    ['0004-02', '0004-02-01T00:00:00.000', '0004-02-29T23:59:59.999'],
    ['2024-02-29T08:30', '2024-02-29T08:30:00.000', '2024-02-29T08:30:59.999'],
    ['2024-02-29T08:30:15+02:00', '2024-02-29T06:30:15.000', '2024-02-29T06:30:15.000'],
    ['2024-02-29 08:30:15.25Z', '2024-02-29T08:30:15.250', '2024-02-29T08:30:15.250'],
  ] as const)
    assert.deepEqual(isoSpan(value), [`${start}Z`, `${end}Z`], value);
});

test('D-19: numbers below a hundred thousand million are seconds', () => {
  assert.equal(spanOf(1_700_000_000, NOW)?.startMs, 1_700_000_000_000);
  assert.equal(spanOf(99_999_999_999, NOW)?.startMs, 99_999_999_999_000);
  assert.equal(spanOf(100_000_000_000, NOW)?.startMs, 100_000_000_000);
});

test('one month back ends on the last day that the month has', () => {
  const march = at('2023-03-31T12:00:00');
  assert.equal(new Date(spanOf('last month', march)!.startMs).toISOString(), '2023-02-28T12:00:00.000Z');
});

test('a text that is not a time has no span', () => {
  for (const value of [
    '',
    'soon',
    'last',
    'last 3',
    'last fortnight',
    '2024-13',
    '2023-02-29',
    '2024-01-01T25:00',
    '24-01-01',
    'next week',
    'today!',
    'last 300000 years',
    '300000 years ago',
  ])
    assert.equal(spanOf(value, NOW), undefined, value);
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) assert.equal(spanOf(value, NOW), undefined);
});

test('any instant reads back, and a span never ends before it starts', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
      fc.string({ maxLength: 20 }),
      (date, text) => {
        assert.equal(spanOf(date.toISOString(), NOW)?.startMs, date.getTime());
        const span = spanOf(text, NOW);
        assert.ok(span === undefined || span.startMs <= span.endMs, text);
      },
    ),
    { numRuns: runs(300) },
  );
});
