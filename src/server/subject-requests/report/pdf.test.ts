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
