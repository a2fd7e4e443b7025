import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { decimal, humanizeRelation, isoDate, isoInstant, relativeTime } from './humanize.ts';

const NOW = Date.UTC(2026, 2, 10, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('a relation loses its prefix up to the first colon, and its underscores', () => {
  const cases = { 'mg:prefers': 'prefers', works_at: 'works at', 'acme:similar_to': 'similar to', 'a:b:c_d': 'b:c d' };
  for (const [relation, words] of Object.entries(cases)) assert.equal(humanizeRelation(relation), words);
});

test('ages are whole units, rounded down, each up to the next unit', () => {
  const cases: [number, string][] = [
    [0, '0m ago'],
    [MINUTE - 1, '0m ago'],
    [HOUR - 1, '59m ago'],
    [HOUR, '1h ago'],
    [DAY - 1, '23h ago'],
    [DAY, 'yesterday'],
    [2 * DAY - 1, 'yesterday'],
    [2 * DAY, '2d ago'],
    [7 * DAY - 1, '6d ago'],
    [7 * DAY, '1w ago'],
    [30 * DAY - 1, '4w ago'],
    [30 * DAY, 'Feb 8'],
    [365 * DAY - 1, 'Mar 10'],
    [365 * DAY, 'Mar 2025'],
  ];
  for (const [age, words] of cases) assert.equal(relativeTime(NOW - age, NOW), words, `${age}`);
});

test('a future time is shown as a date, and an invalid one as nothing', () => {
  assert.equal(relativeTime(NOW + 1, NOW), '2026-03-10');
  assert.equal(relativeTime(1e18, NOW), undefined);
  assert.equal(relativeTime(-1e18, NOW), undefined);
  assert.equal(isoDate(9e15), undefined);
  assert.equal(isoInstant(Number.NaN), undefined);
  assert.equal(isoInstant(NOW + 999), '2026-03-10T12:00:00Z');
});

test('a number is printed as its shortest decimal, without exponent', () => {
  const cases: [number, string][] = [
    [0.9, '0.9'],
    [0.92, '0.92'],
    [1, '1'],
    [-0, '0'],
    [1e21, '1000000000000000000000'],
    [1.5e-7, '0.00000015'],
    [-2.25e22, '-22500000000000000000000'],
  ];
  for (const [number, text] of cases) assert.equal(decimal(number), text);
});

test('a decimal keeps its value, in digits alone', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(finite, (number) => {
      assert.equal(Number(decimal(number)), number + 0);
      assert.match(decimal(number), /^-?\d+(\.\d*[1-9])?$/);
    }),
    { numRuns: runs(300) },
  );
});
