// The place where a reader of events begins, and what it is told about events that are gone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorText, laterText, readCursor } from './cursor.ts';
import { placeOf } from './place.ts';

const ENDS = { newest: [20, 9], oldest: [11, 5], isPartial: false, forkedAt: [] };
const FORM = { memory: 1, partitions: 2, seal: undefined, restores: [] };
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
  [[15, 10], [15, 9], AHEAD],
] as const)
  test(`after ${wanted} it begins at ${cursor}${gap === undefined ? '' : `, ${gap.reason}`}`, () => {
    const asked = wanted === undefined ? undefined : { epoch: '', numbers: wanted };
    assert.deepEqual(placeOf(asked, ENDS, FORM), { cursor: [...cursor], gap });
  });

const RESTORES = [
  { epoch: 'aaaaaaaa', before: '', lastRecords: [0] },
  { epoch: 'bbbbbbbb', before: 'aaaaaaaa', lastRecords: [0] },
];
const FORKED = { ...ENDS, forkedAt: [12, 15].map((number, at) => [number, [6, 8][at]!]) };
const RESTORED = { ...FORM, restores: RESTORES };
const GONE = { oldest: 'bbbbbbbb-11.5', reason: 'ahead' };

for (const [text, cursor, gap] of [
  ['12.6', [12, 6], undefined],
  ['11.5', [11, 5], undefined],
  ['0', [10, 4], undefined],
  ['0.0', [10, 4], undefined],
  ['9.5', [10, 5], { ...GONE, reason: 'expired' }],
  ['13.6', [12, 6], GONE],
  ['11.7', [11, 6], GONE],
  ['aaaaaaaa-13.7', [13, 7], undefined],
  ['aaaaaaaa-15.8', [15, 8], undefined],
  ['aaaaaaaa-16.5', [15, 5], GONE],
  ['bbbbbbbb-16.9', [16, 9], undefined],
  ['bbbbbbbb-21.9', [20, 9], GONE],
  ['cccccccc-11.5', [11, 5], GONE],
  ['cccccccc-16.9', [15, 8], GONE],
] as const)
  test(`after two restores and ${text} it begins at ${cursor}${gap === undefined ? '' : `, ${gap.reason}`}`, () => {
    const asked = readCursor(text, 'since', RESTORED);
    assert.deepEqual(placeOf(asked, FORKED, RESTORED), { cursor: [...cursor], gap });
  });

test('a cursor of a restored deployment elsewhere is ahead, and other texts are no cursors', () => {
  const { gap } = placeOf(readCursor('cccccccc-11.5', 'since', FORM), ENDS, FORM);
  assert.deepEqual(gap, AHEAD);
  for (const text of [
    '-11.5',
    'cccccccc-',
    'ccc-11.5',
    'CCCCCCCC-11.5',
    'cccccccc-11.5-1',
    'cccccccc11.5',
    '1',
    '--1.2',
  ])
    assert.throws(() => readCursor(text, 'since', RESTORED), { code: 'VAL-E001' }, text);
});

test('the text of a cursor is read back, and has no epoch before the first restore', () => {
  assert.equal(cursorText([3, 4], FORM), '3.4');
  const text = cursorText([3, 4], RESTORED);
  assert.equal(text, 'bbbbbbbb-3.4');
  assert.deepEqual(readCursor(text, 'since', RESTORED), { epoch: 'bbbbbbbb', numbers: [3, 4] });
  assert.equal(laterText(text, [5, 1], RESTORED), 'bbbbbbbb-5.4');
});
