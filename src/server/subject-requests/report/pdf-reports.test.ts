// The PDF of a report is made by a thread: the caller's thread stays free, and faults of the thread have codes.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { pdfPages } from '../../../../test/support/pdf-text.ts';
import { EngineError } from '../../../engine/base/errors.ts';
import { REPORT_ACTS_MAX, REPORTS_WAITING_MAX } from '../../../engine/base/limits.ts';
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import { reportPdf } from './pdf.ts';
import { PdfReports, type PdfReportsOptions } from './pdf-reports.ts';
import { reportWith } from './report.fixture.ts';

const BAD = new URL('testing/bad-thread.ts', import.meta.url);

function reports(t: TestContext, options: PdfReportsOptions = {}): PdfReports {
  const made = new PdfReports(options);
  t.after(() => made.close());
  return made;
}

/** As many acts as a report lists. */
function longReport(): ReportData {
  const data = reportWith((name) => `${name} Grüße `.repeat(20));
  return { ...data, acts: Array.from({ length: REPORT_ACTS_MAX }, (_, i) => ({ ...data.acts[0]!, count: i })) };
}

const aboutPerson = (person: string): ReportData => ({ ...reportWith((name) => name), person });
const code = (wanted: string) => (error: unknown) => error instanceof EngineError && error.code === wanted;

test('a long report costs the thread of the caller little', async (t) => {
  const made = reports(t);
  // Both load what they need before they are measured.
  const short = aboutPerson('ada');
  const [ours, other] = [await reportPdf(short, 'de'), await made.write(short, 'de')];
  assert.deepEqual(await pdfPages(Buffer.from(other)), await pdfPages(ours));
  const cpu = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return user + system;
  };
  const data = longReport();
  const here = await cpu(() => reportPdf(data, 'de'));
  const there = await cpu(() => made.write(data, 'de'));
  t.diagnostic(`${here} µs of CPU in the caller's thread without the other one, ${there} with it`);
  assert.ok(there < here / 4, `${there} of ${here} µs`);
});

test('faults of the thread have codes, and the next report gets a new thread', async (t) => {
  const errors: unknown[] = [];
  const made = reports(t, { entry: BAD, onError: (error) => errors.push(error) });
  await assert.rejects(made.write(aboutPerson('throws'), 'en'), code('SYS-E001'));
  await assert.rejects(made.write(aboutPerson('ends'), 'en'), code('SYS-E001'));
  assert.equal(errors.length, 2);
  assert.deepEqual([...(await made.write(aboutPerson('ada'), 'en'))], [1]);
});

test('a report that takes too long is refused, and the next one gets a new thread', async (t) => {
  const made = reports(t, { entry: BAD, writeMs: 500 });
  await assert.rejects(made.write(aboutPerson('never ends'), 'en'), code('SYS-E005'));
  // On a busy machine a thread may need longer to start than this bound.
  await eventually('the next report is made', async () => {
    const pdf = await made.write(aboutPerson('ada'), 'en').catch((error: unknown) => {
      assert.ok(code('SYS-E005')(error), String(error));
    });
    return pdf !== undefined && [...pdf].join() === '1';
  });
});

test('a report that takes too much memory is refused', async (t) => {
  const made = reports(t, { entry: BAD, heapMb: 24 });
  await assert.rejects(made.write(aboutPerson('fills'), 'en'), code('LIM-E003'));
  assert.deepEqual([...(await made.write(aboutPerson('ada'), 'en'))], [1]);
});

test('too many reports at once, and those after the end, are refused', async (t) => {
  const made = reports(t, { entry: BAD, writeMs: 60_000 });
  const waiting = Array.from({ length: REPORTS_WAITING_MAX }, () => made.write(aboutPerson('never ends'), 'en'));
  const ended = Promise.all(waiting.map((one) => assert.rejects(one, code('SYS-E005'))));
  await assert.rejects(made.write(aboutPerson('ada'), 'en'), code('LIM-E001'));
  await made.close();
  await ended;
  await assert.rejects(made.write(aboutPerson('ada'), 'en'), code('SYS-E005'));
});
