import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clipped, fittedText, pairLines, printable, printLine, printNote, tableText } from './output.ts';

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

test('no line and no note can control the terminal, whoever printed it', (t) => {
  const written: string[] = [];
  const kept = [process.stdout, process.stderr].map((stream) =>
    t.mock.method(stream, 'write', (text: string) => written.push(text) > 0),
  );
  try {
    printLine(HOSTILE);
    printNote(`${HOSTILE}\nsecond line`);
  } finally {
    for (const { mock } of kept) mock.restore();
  }
  assert.deepEqual(written, ['a?[2Jb?c?d\n', 'a?[2Jb?c?d\nsecond line\n']);
});

const COLUMNS = [{ title: 'check' }, { title: 'grains', align: 'right' as const }, { title: 'detail' }];
const ROWS = [
  ['records_of_processing', 1_200, 'The record of processing names no controller, no purpose and no recipient.'],
  ['keys', 3, 'All keys are there.'],
] as const;
const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

test('a table that fits stays as it is; a wider one wraps its sentences', () => {
  assert.equal(fittedText(COLUMNS, ROWS, 120), tableText(COLUMNS, ROWS));
  for (const columns of [60, 70, 80]) {
    const text = fittedText(COLUMNS, ROWS, columns);
    assert.ok(widest(text) <= columns, `${widest(text)} of ${columns}:\n${text}`);
    assert.match(text, /^check +grains {2}detail$/m);
    assert.match(text, /^records_of_processing +1,200 {2}The record of/m);
    for (const word of ROWS[0][2].split(' ')) assert.ok(text.includes(word), `${word} of\n${text}`);
  }
});

test('rows that are too wide for the terminal become blocks, and ids stay whole', () => {
  const id = 'k'.repeat(40);
  const text = fittedText(
    [{ title: 'key' }, { title: 'name' }, { title: 'bound to' }],
    [
      [id, id, ''],
      [id, 'x', id],
    ],
    80,
  );
  assert.deepEqual(text.split('\n'), [
    `key       ${id}`,
    `name      ${id}`,
    '',
    `key       ${id}`,
    'name      x',
    `bound to  ${id}`,
  ]);
});
