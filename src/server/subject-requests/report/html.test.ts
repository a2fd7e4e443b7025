import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportDocument, TEXTS } from './document.ts';
import { reportHtml } from './html.ts';
import { visible } from './plain.ts';
import { HELD, reportWith } from './report.fixture.ts';

test('markup in any field is text, in each language', () => {
  for (const language of ['en', 'de'] as const) {
    const html = reportHtml(
      reportWith((name) => `</bdi><script>${name}()</script><img src=x onerror="x">'&`),
      language,
    );
    assert.doesNotMatch(html, /<script|<img|onerror="/i);
    assert.ok(html.split('&#60;script&#62;').length > 30, 'the fields are shown');
    // Tags of the file's own alone.
    const tags = new Set([...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag));
    const own = 'html head meta title style body header h1 p main h2 bdi pre table thead tbody tr th td'.split(' ');
    assert.deepEqual(
      [...tags].filter((tag) => !own.includes(tag!)),
      [],
    );
    assert.doesNotMatch(html, /<[^>]*(?:src|href)=|url\(/);
  }
});

test('direction controls and control characters are replaced, letters from right to left stand isolated', () => {
  assert.equal(visible('a\u202eb\u0000c\td\ne\ud800'), 'a\ufffdb\ufffdc d\ne\ufffd');
  const html = reportHtml(
    reportWith((name) => `עדה\u202e ${name}`),
    'en',
  );
  assert.ok(!html.includes('\u202e'));
  assert.match(html, /<bdi>עדה\ufffd requester<\/bdi>/);
});

test('a language has a text for everything, and no other one', () => {
  const shape = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]))
      : Array.isArray(value)
        ? value.length
        : typeof value;
  assert.deepEqual(shape(TEXTS.de), shape(TEXTS.en));
  const english = JSON.stringify(reportDocument(reportWith(String), 'en').blocks);
  const german = JSON.stringify(reportDocument(reportWith(String), 'de').blocks);
  assert.match(english, /91 of 90 days \(overdue\)/);
  assert.match(german, /91 von 90 Tagen \(überfällig\)/);
  assert.match(german, /1\.000 Tage/);
  assert.match(english, /1,000 days/);
});

test('one of many is counted in the singular, in each language', () => {
  const shows = (language: 'en' | 'de', listed: number, recalls: number | null): string => {
    const data = reportWith(String);
    const one = data.recalls[0]!;
    const held = { ...HELD, consents: 1_200, recalls };
    const { erasure: _, ...request } = data.request;
    return JSON.stringify(
      reportDocument({ ...data, request, held, recalls: Array.from({ length: listed }, () => one) }, language).blocks,
    );
  };
  assert.match(shows('en', 1, 40), /The newest of 40 is listed\./);
  assert.match(shows('de', 1, 40), /Aufgeführt ist der neueste von 40\./);
  assert.match(shows('en', 2, 1_400), /The newest 2 of 1,400 are listed\./);
  assert.match(shows('de', 2, 1_400), /Aufgeführt sind die neuesten 2 von 1\.400\./);
  assert.match(shows('en', 2, null), /The newest 2 are listed\. The total is not known\./);
  assert.match(shows('de', 2, null), /Aufgeführt sind die neuesten 2\. Die Gesamtzahl ist nicht ermittelt\./);
  assert.match(shows('en', 1, 1), /The first of 1,200 is listed\./);
  assert.match(shows('de', 1, 1), /Aufgeführt ist die erste von 1\.200\./);
});

test('many months are summed up by year', () => {
  const byMonth = Array.from({ length: 60 }, (_, at) => ({
    month: `${2020 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}`,
    count: 1,
  }));
  const data = { ...reportWith(String), held: { ...HELD, byMonth } };
  const text = JSON.stringify(
    reportDocument({ ...data, request: { ...data.request, erasure: undefined } }, 'en').blocks,
  );
  assert.match(text, /"2020","12"/);
  assert.doesNotMatch(text, /2020-01/);
});

test('the time of acts on one day names the day once', () => {
  const data = reportWith((name) => name);
  const act = data.acts[0]!;
  const spans = (to: number): string =>
    reportHtml({ ...data, recalls: [], acts: [{ ...act, to }] }, 'de').match(/2026-11-18 11:06[^<]*/)?.[0] ?? '';
  assert.deepEqual([act.from, act.from + 90, act.from + 86_400].map(spans), [
    '2026-11-18 11:06',
    '2026-11-18 11:06 – 11:08',
    '2026-11-18 11:06 – 2026-11-19 11:06',
  ]);
});
