import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visualOrder } from './visual-order.ts';

const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['plain text, 12%', ['plain text, 12%']],
  ['', ['']],
  ['שלום עולם', ['עולם', ' ', 'שלום']],
  ['Ada שלום עולם end', ['Ada ', 'עולם', ' ', 'שלום', ' end']],
  ['שלום Ada Byron', ['Ada Byron', ' ', 'שלום']],
  ['مرحبا 12', ['12', ' ', 'مرحبا']],
];

for (const [line, ordered] of CASES)
  test(`the order of ${JSON.stringify(line)}`, () => {
    assert.deepEqual(visualOrder(line), ordered);
    assert.equal([...visualOrder(line).join('')].length, [...line].length);
  });
