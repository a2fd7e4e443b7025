import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clipped, pairLines, printable } from './output.ts';

const HOSTILE = 'a\u001b[2Jb\u202ec\rd';

test('neither field values nor field names can control the terminal', () => {
  assert.equal(printable(HOSTILE), 'a?[2Jb?c?d');
  assert.deepEqual(
    pairLines([
      [HOSTILE, HOSTILE],
      ['n\nm', 1_234],
    ]),
    ['a?[2Jb?c?d  a?[2Jb?c?d', 'n m         1,234'],
  );
  assert.equal(clipped(`${HOSTILE} and more`, 6), 'a?[2J…');
});
