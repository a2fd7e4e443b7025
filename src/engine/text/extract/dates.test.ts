import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { type DateOptions, firstDate } from './dates.ts';

/** A Saturday evening. */
const NOW = Date.UTC(2026, 10, 21, 18, 30);

async function dateIn(text: string, options?: DateOptions): Promise<string | undefined> {
  const found = await firstDate(text, NOW, options);
  return found === undefined ? undefined : `${new Date(found.ms).toISOString().slice(0, 19)} ${found.precision}`;
}

const FOUND: Readonly<Record<string, string>> = {
  'We met on 2023-05-06.': '2023-05-06T00:00:00 day',
  'Logged at 2023-05-06T10:20:30Z by the server': '2023-05-06T10:20:30 second',
  'Logged at 2023-05-06T10:20:30+02:00': '2023-05-06T08:20:30 second',
  'I was born on March 3, 1990.': '1990-03-03T00:00:00 day',
  'The 14 June 1990 edition': '1990-06-14T00:00:00 day',
  'It opened on 3rd of May 2020': '2020-05-03T00:00:00 day',
  'since June 2020': '2020-06-01T00:00:00 month',
  'I moved here in 2019.': '2019-01-01T00:00:00 year',
  'She left in the 1990s.': '1990-01-01T00:00:00 decade',
  'Revenue of Q3 2025': '2025-07-01T00:00:00 quarter',
  'the 2024-03 report': '2024-03-01T00:00:00 month',
  'expires 10/2024': '2024-10-01T00:00:00 month',
  yesterday: '2026-11-20T00:00:00 day',
  'I saw her yesterday at 5pm': '2026-11-20T17:00:00 hour',
  'I saw her yesterday at 5:45 pm': '2026-11-20T17:45:00 minute',
  'tomorrow I fly': '2026-11-22T00:00:00 day',
  '3 days ago': '2026-11-18T00:00:00 day',
  'two weeks ago': '2026-11-02T00:00:00 week',
  'last week': '2026-11-09T00:00:00 week',
  'this week': '2026-11-16T00:00:00 week',
  'last month': '2026-10-01T00:00:00 month',
  'last year': '2025-01-01T00:00:00 year',
  'five years ago': '2021-01-01T00:00:00 year',
  'half an hour ago': '2026-11-21T18:00:00 second',
  'in March we moved': '2026-03-01T00:00:00 month',
  'We moved in December': '2025-12-01T00:00:00 month',
  'my birthday is June 14': '2026-06-14T00:00:00 day',
  'on December 24 we ate goose': '2025-12-24T00:00:00 day',
  'on Monday': '2026-11-16T00:00:00 day',
  'on Saturday': '2026-11-21T00:00:00 day',
  'last Saturday': '2026-11-14T00:00:00 day',
  'next Monday': '2026-11-23T00:00:00 day',
  '06/15/2024': '2024-06-15T00:00:00 day',
  '15/06/2024': '2024-06-15T00:00:00 day',
  '5.6.2024': '2024-06-05T00:00:00 day',
  'at 5pm, and then on May 2, 2021': '2021-05-02T00:00:00 day',
  'on May 2, 2021, not in 1999': '2021-05-02T00:00:00 day',
  'in 1999, not on May 2, 2021': '1999-01-01T00:00:00 year',
};

test('the first date is found, and an unclear one lies in the past', async () => {
  const all: Record<string, string | undefined> = {};
  for (const text of Object.keys(FOUND)) all[text] = await dateIn(text);
  assert.deepEqual(all, FOUND);
});

test('a text without a date, or with an ambiguous one, gives no date', async () => {
  const none = [
    '',
    'I may go, and May I ask?',
    'We sat in the sun.',
    'June lives here.',
    'March on!',
    'at 5pm',
    'now',
    'version 1.2.3',
    'a second, please',
    'room 2020',
    'on 31/31/2020',
    'on February 30, 2020',
    'It was on 5/6/2024, or in 2019',
  ];
  for (const text of none) assert.equal(await dateIn(text), undefined, text);
});

test('the order of day and month can be given', async () => {
  assert.equal(await dateIn('on 5/6/2024', { dayFirst: true }), '2024-06-05T00:00:00 day');
  assert.equal(await dateIn('on 5/6/2024', { dayFirst: false }), '2024-05-06T00:00:00 day');
  assert.equal(await dateIn('on 5/5/2024'), '2024-05-05T00:00:00 day');
});

test('dates do not depend on the time zone of the machine', async () => {
  const before = process.env['TZ'];
  try {
    for (const zone of ['Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kolkata']) {
      process.env['TZ'] = zone;
      for (const [text, wanted] of Object.entries(FOUND))
        assert.equal(await dateIn(text), wanted, `${text} in ${zone}`);
    }
  } finally {
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

test('a date deep in a long text is found whole, at any position', async () => {
  for (let shift = 0; shift < 200; shift += 7) {
    const text = `${'so it goes. '.repeat(1_000)}${'x '.repeat(shift)}We met on March 3, 1990, in the rain.`;
    assert.equal(await dateIn(text), '1990-03-03T00:00:00 day', `after ${shift} more words`);
  }
});

test('hostile texts of 250 KB end without a date', async () => {
  for (const piece of ['1 day ', '1/', 'may ', '2020-', '1 ', 'last ', '1 year 1 month ', '10:', ' ', '9', 'ago '])
    assert.equal(await dateIn(piece.repeat(Math.ceil(250_000 / piece.length))), undefined, piece);
});

test('any text gives a time of a whole second, or none', async () => {
  const words = fc.constantFrom(
    '2020',
    'May',
    '5',
    '/',
    '6',
    '-',
    'ago',
    'last',
    'week',
    'Monday',
    ':',
    'pm',
    'Q1',
    'in',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(words).map((parts) => parts.join(' ')),
    fc.array(words).map((parts) => parts.join('')),
  );
  await fc.assert(
    fc.asyncProperty(text, async (any) => {
      const found = await firstDate(any, NOW);
      assert.ok(found === undefined || (Number.isInteger(found.ms / 1000) && Math.abs(found.ms) < 8.64e15));
    }),
    { numRuns: runs(300) },
  );
});
