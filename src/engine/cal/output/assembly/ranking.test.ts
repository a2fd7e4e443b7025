import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../../test/support/runs.ts';
import { grainOf } from '../types.fixture.ts';
import { ranked, type Source, shares, weightsOf, withoutRepeats } from './ranking.ts';

const belief = (mark: string, subject = mark) => grainOf(mark, 'belief', { subject, relation: 'r', object: mark });
const source = (label: string, ...letters: string[]): Source => ({
  label,
  grains: letters.map((mark) => belief(mark)),
});
const keptOf = (sources: readonly Source[]) => sources.map(({ grains }) => grains.map(({ hash }) => hash[0]).join(''));

test('sources that PRIORITY does not name follow in the order of FROM', () => {
  const sources = ['a', 'b', 'c', 'd'].map((label) => source(label));
  const order = (priority: string[]) =>
    ranked(sources, priority).map(({ label, rank, index }) => `${label}${rank}${index}`);
  assert.deepEqual(order(['c', 'a']), ['c12', 'a20', 'b31', 'd43']);
  assert.deepEqual(order([]), ['a10', 'b21', 'c32', 'd43']);
});

test('a repeated label is E034, an unknown one E035', () => {
  assert.throws(() => ranked([source('a'), source('a')], []), { code: 'CAL-E034' });
  assert.throws(() => ranked([source('a')], ['b']), { code: 'CAL-E035' });
  assert.throws(() => ranked([source('a')], ['a', 'a']), { code: 'CAL-E035' });
});

test('D-26: a grain of several sources is kept once, in the most important one', () => {
  const sources = ranked([source('a', '1', '2', '3'), source('b', '3', '1', '4')], ['b']);
  assert.deepEqual(keptOf(withoutRepeats(sources, undefined)), ['314', '2']);
});

test('dedup removes grains that a more important source has, not repeats within one nor grains without the field', () => {
  const one: Source = { label: 'a', grains: [belief('1', 'x'), belief('2', 'x')] };
  const other: Source = {
    label: 'b',
    grains: [belief('3', 'x'), belief('4', 'y'), belief('5', 'y'), grainOf('6', 'event', { content: 'c' })],
  };
  assert.deepEqual(keptOf(withoutRepeats(ranked([one, other], []), 'subject')), ['12', '456']);
  assert.deepEqual(keptOf(withoutRepeats(ranked([one, other], ['b']), 'subject')), ['3456', '']);
});

test('shares equal those of the table', () => {
  const cases: [count: number, total: number, shares: number[]][] = [
    [1, 4000, [4000]],
    [2, 1000, [650, 350]],
    [3, 900, [450, 270, 180]],
    [4, 4000, [1600, 1120, 800, 480]],
    [2, 1, [1, 0]],
    [3, 7, [4, 2, 1]],
  ];
  for (const [count, total, expected] of cases) assert.deepEqual(shares(weightsOf(count), total), expected);
});

test('D-27: from five sources on, each weighs 0.6 of the one before', () => {
  for (const count of [5, 6, 7, 8]) {
    const weights = weightsOf(count);
    assert.equal(weights.length, count);
    for (let i = 1; i < count; i++) assert.equal(weights[i]! / weights[i - 1]!, 0.6);
  }
});

test('shares are whole, add up, fall with rank and are within one of the exact ones', () => {
  const arbitrary = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 16_000 }));
  fc.assert(
    fc.property(arbitrary, ([count, total]) => {
      const weights = weightsOf(count);
      const given = shares(weights, total);
      const sum = weights.reduce((a, b) => a + b, 0);
      assert.equal(
        given.reduce((a, b) => a + b, 0),
        total,
      );
      for (const [i, share] of given.entries()) {
        assert.ok(Number.isInteger(share) && Math.abs(share - (weights[i]! / sum) * total) < 1);
        if (i > 0) assert.ok(share <= given[i - 1]!);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a failed source has no share, and the others keep their ratio', () => {
  assert.deepEqual(shares([5, 0, 2], 700), [500, 0, 200]);
  assert.deepEqual(shares([0, 0], 10), [0, 0]);
});
