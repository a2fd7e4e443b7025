import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfPages } from '../../../../test/support/pdf-text.ts';
import { reportPdf } from './pdf.ts';
import { reportWith } from './report.fixture.ts';

test('a text that goes on to the next page takes several lines with it', async () => {
  const ends: number[] = [];
  // Each further line of the note moves the proof by a line.
  for (let lines = 29; lines < 43; lines += 2) {
    const note = 'a line\n'.repeat(lines);
    const pages = await pdfPages(
      await reportPdf(
        reportWith((name) => (name === 'note' ? note : name)),
        'en',
      ),
    );
    // Lines of the proof, on the page where it ends.
    const page = pages.map((text) => text.split('\n')).findLast((all) => all.some((line) => line.trim() === '}'))!;
    const hasBegin = page.some((line) => line.includes('"result"'));
    if (!hasBegin) ends.push(page.findLastIndex((line) => line.trim() === '}'));
  }
  assert.ok(ends.length > 0, 'no proof goes on to another page');
  assert.ok(Math.min(...ends) >= 3, `lines before the end: ${ends}`);
});

test('a heading and its note stay with the first row of their table', async () => {
  let moved = 0;
  for (let lines = 0; lines < 60; lines += 3) {
    const note = 'a line\n'.repeat(lines);
    const pages = await pdfPages(
      await reportPdf(
        reportWith((name) => (name === 'note' ? note : name)),
        'en',
      ),
    );
    const at = pages.findIndex((text) => text.includes('A recall is a search'));
    const after = pages[at]!.slice(pages[at]!.indexOf('A recall is a search'));
    assert.match(after, /Results\n\d{4}-\d\d-\d\d/, `${lines} lines before: ${after}`);
    if (at > 0) moved += 1;
  }
  assert.ok(moved > 0, 'it never came to another page');
});
