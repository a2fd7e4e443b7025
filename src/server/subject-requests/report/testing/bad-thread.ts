// A thread for tests that fails as the person of the report says.
import type { ReportData } from '../../../operations/subject-requests/schema.ts';
import type { PdfTask } from '../pdf-reports.ts';

export default function writePdf({ data }: PdfTask): Uint8Array {
  const { person } = data as ReportData; // of the test
  if (person === 'throws') throw new Error('a fault of the thread');
  if (person === 'ends') process.exit(3);
  if (person === 'fills') {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, i) => i + kept.length));
  }
  while (person === 'never ends') Math.random();
  return new Uint8Array([1]);
}
