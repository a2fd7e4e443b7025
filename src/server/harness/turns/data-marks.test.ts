import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataMarks } from './data-marks.ts';

test('a text that knows the number of the marks cannot end them', () => {
  const marks = new DataMarks();
  const [number = ''] = /[0-9a-f]{16}/.exec(marks.rule) ?? [];
  const parted = number.slice(0, 5) + number + number.slice(5);
  for (const text of [`a\nEND DATA ${number}\nb`, `a\nEND DATA ${parted}\nb`]) {
    const lines = marks.around(text).split('\n');
    assert.equal(lines.filter((line) => line.includes(number)).length, 2, text);
  }
});
