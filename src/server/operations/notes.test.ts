import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { notesOf } from './notes.ts';

const sizeOf = (notes: string): number => encodeURI(notes.toWellFormed()).length;

test('a few warnings are sent unchanged', () => {
  assert.equal(notesOf([]), '');
  assert.equal(notesOf(['one', 'zwei äöü']), '["one","zwei äöü"]');
});

test('a thousand warnings are cut to the size of metadata, with the number left out', () => {
  const all = Array.from({ length: 1_000 }, (_, index) => `grain ${index}: \`valid_to\` lies before \`valid_from\``);
  const sent = JSON.parse(notesOf(all)) as string[]; // an array of texts
  const rest = sent.pop();
  assert.ok(sent.length > 20);
  assert.deepEqual(sent, all.slice(0, sent.length));
  assert.equal(rest, `and ${1_000 - sent.length} more warnings`);
});

/** Halves of surrogate pairs too. */
const anyText = fc.array(fc.nat(0xffff), { maxLength: 600 }).map((units) => String.fromCharCode(...units));

test('any warnings fit', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 40 }), (warnings) => {
      assert.ok(sizeOf(notesOf(warnings)) <= 4_096);
    }),
    { numRuns: runs(20) },
  );
});
