import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportData } from '../../operations/subject-requests/schema.ts';
import type { SignedProof } from '../../proofs/erasure-proof.ts';
import { reportDocument, TEXTS } from './document.ts';
import { reportHtml } from './html.ts';
import { visible } from './plain.ts';

const AT = 1_795_000_000;
const HELD: ReportData['held'] = {
  asOf: AT,
  count: 3,
  byType: [{ grainType: 'event', count: 3, oldestCreatedAt: AT - 9, newestCreatedAt: AT }],
  byMonth: [{ month: '2026-11', count: 3 }],
  consents: 1,
  recalls: 40,
  restricted: true,
};

/** Every member has a text of its own, made by `text`. */
function reportWith(text: (name: string) => string): ReportData {
  const proof = {
    result: 'erased',
    count: 3,
    key_fingerprint: text('fingerprint'),
    timestamp: AT,
    erased_at: text('erased_at'),
    audit_entries: [{ partition: 0, seq: 1, count: 3, key_fingerprint: '', hash: text('hash') }],
    purge: { state: 'complete', partitions_pending: 0, redactions_pending: false, as_of: '2026-11-28T10:00:00.000Z' },
    issued_at: text('issued_at'),
    issuer: text('issuer'),
    key_id: text('key_id'),
    public_key: text('public_key'),
    user_id: text('user_id'),
    signature: text('signature'),
  } as unknown as SignedProof; // the members that a report shows
  return {
    generatedAt: AT,
    software: text('software'),
    memoryId: text('memory'),
    memoryName: text('name'),
    person: text('person'),
    request: {
      requestId: text('request'),
      status: 'closed',
      kind: 'erasure',
      userId: text('user'),
      requester: text('requester'),
      note: text('note'),
      receivedAt: AT,
      openedAt: AT,
      openedBy: text('opener'),
      dueAt: AT,
      daysAllowed: 90,
      daysUsed: 91,
      daysLeft: 0,
      overdue: true,
      extension: { days: 60, reason: text('reason'), extendedAt: AT, extendedBy: text('extender') },
      erasure: { erasedAt: AT, count: 3, keyFingerprint: text('key'), held: HELD },
      closed: { closedAt: AT, closedBy: text('closer'), outcome: 'fulfilled', note: text('end') },
    },
    controller: text('controller'),
    purposes: [text('purpose')],
    recipients: [text('recipient')],
    retentionDays: 1000,
    held: { ...HELD, byType: [{ ...HELD.byType[0]!, grainType: text('type') }] },
    consents: [{ purpose: text('consent'), status: text('status'), basis: text('basis'), jurisdiction: text('land') }],
    restriction: { reason: text('restriction'), restrictedAt: AT, restrictedBy: text('restrictor') },
    recalls: [{ timestamp: AT, principal: text('principal'), queryMode: text('mode'), resultCount: 1 }],
    acts: [{ event: text('event'), actor: text('actor'), from: AT, to: AT + 90, count: 2, hash: 'a'.repeat(64) }],
    actsTotal: 7,
    proof,
    lastBackupAt: AT,
  };
}

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
