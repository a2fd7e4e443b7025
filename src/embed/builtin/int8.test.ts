import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantise } from './int8.ts';

const MATRIX = Float32Array.of(1, -8, 0, 0.6, 2, 0);

test('each column or row has its own scale, and its greatest value the greatest byte', () => {
  const columns = quantise(MATRIX, { columns: 3, per: 'column', bytesMax: 63 });
  assert.deepEqual([...columns.bytes], [63, -63, 0, 38, 16, 0]);
  assert.deepEqual(columns.scales, Float32Array.of(1 / 63, 8 / 63, 0));
  const rows = quantise(MATRIX, { columns: 3, per: 'row', bytesMax: 127 });
  assert.deepEqual([...rows.bytes], [16, -127, 0, 38, 127, 0]);
  assert.deepEqual(rows.scales, Float32Array.of(8 / 127, 2 / 127));
});
