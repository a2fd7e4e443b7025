import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { compareUtf8 } from '../text.ts';
import { endOfValue, startOutput, takeOutput, writeArrayHead, writeInteger, writeText } from './msgpack.ts';

function endOf(hex: string, depthMax = 32): number {
  const bytes = Buffer.from(hex, 'hex');
  return endOfValue(bytes, 0, bytes.length, depthMax);
}

test('skipping passes over one value of any form', () => {
  const values = [
    '05',
    'e0',
    'c0',
    'cc05',
    'ca00000000',
    'cb0000000000000000',
    'a2c328',
    'd90161',
    'c4020102',
    'd40102',
  ];
  values.push(
    'c7020101ff',
    'd80100000000000000000000000000000000',
    '9301a16102',
    '80',
    '8101c0',
    'dc00020102',
    'de0001a16101',
  );
  for (const hex of values) {
    assert.equal(endOf(hex), hex.length / 2, hex);
    assert.equal(endOf(`${hex}c0`), hex.length / 2, `${hex} and more`);
    assert.equal(endOf(hex.slice(0, -2)), -1, `${hex} cut short`);
  }
  assert.equal(endOf('c1'), -1);
  assert.equal(endOf('ddffffffff01'), -1);
  assert.equal(endOf('dfffffffff0101'), -1);
});

test('nesting counts collections, the outermost as one', () => {
  for (const [hex, depth] of [
    ['01', 0],
    ['90', 1],
    ['9101', 1],
    ['8101 9101'.replace(' ', ''), 2],
    ['919190', 3],
  ] as const) {
    assert.ok(endOf(hex, depth) > 0, hex);
    if (depth > 0) assert.equal(endOf(hex, depth - 1), -1, hex);
  }
  assert.equal(endOf('91'.repeat(100_000)), -1);
});

test('skipping passes over every written value, at every offset', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.maxSafeInteger(), fc.string({ maxLength: 300 })), { maxLength: 40 }), (values) => {
      startOutput();
      writeArrayHead(values.length);
      for (const value of values)
        if (typeof value === 'number') writeInteger(value);
        else writeText(value);
      const bytes = takeOutput();
      assert.equal(endOfValue(bytes, 0, bytes.length, 1), bytes.length);
      for (let cut = 0; cut < bytes.length; cut++) assert.equal(endOfValue(bytes, 0, cut, 1), -1);
    }),
    { numRuns: runs(50) },
  );
});

test('texts are ordered by their UTF-8 bytes', () => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '\u00e9',
    '\ud7ff',
    '\ue000',
    '\uff5e',
    '\u{10000}',
    '\u{1f600}',
    '\u{10ffff}',
  );
  const text = fc.array(unit, { maxLength: 6 }).map((units) => units.join(''));
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareUtf8(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});
