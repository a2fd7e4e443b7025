// The place where a reader of events begins, and what it is told about events that are gone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf } from './place.ts';

const ENDS = { newest: [20, 9], oldest: [11, 5], isPartial: false };
const FORM = { memory: 1, partitions: 2, seal: undefined };
const EXPIRED = { oldest: '11.5', reason: 'expired' };
const AHEAD = { oldest: '11.5', reason: 'ahead' };

for (const [wanted, cursor, gap] of [
  [undefined, [20, 9], undefined],
  [[12, 5], [12, 5], undefined],
  [[10, 4], [10, 4], undefined],
  [[0, 0], [10, 4], undefined],
  [[9, 4], [10, 4], EXPIRED],
  [[15, 3], [15, 4], EXPIRED],
  [[20, 9], [20, 9], undefined],
  [[21, 9], [20, 9], AHEAD],
  [[1, 10], [20, 9], AHEAD],
] as const)
  test(`after ${wanted} it begins at ${cursor}${gap === undefined ? '' : `, ${gap.reason}`}`, () => {
    assert.deepEqual(placeOf(wanted, ENDS, FORM), { cursor: [...cursor], gap });
  });
