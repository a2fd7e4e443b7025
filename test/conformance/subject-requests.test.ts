// Requests of data subjects over HTTP, on both listeners, with one partition and with four: from the record to the report.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkProof } from '../../src/server/proofs/erasure-proof.ts';
import { formsIn } from '../support/encoded-forms.ts';
import { eventually } from '../support/eventually.ts';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { pdfText } from '../support/pdf-text.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { serveSuite } from './http-suite.ts';

const DAY = 86_400;
const now = (): number => Math.floor(Date.now() / 1000);

/** A word for each field that a person can fill. */
const CANARIES = {
  subject: 'quetzalcoatl',
  relation: 'wombatting',
  object: 'xylophonist',
  content: 'jabberwocky',
  namespace: 'brobdingnag',
  tags: 'kerfuffle',
  session_id: 'lilliputian',
  purpose: 'zanzibarian',
  extra: 'flibbertigibbet',
} as const;

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory } = serveSuite(listener, partitions);

    const fill = async (M: string, user_id: string): Promise<number> => {
      const { subject, relation, object, content, namespace, tags, session_id, extra } = CANARIES;
      await http.post(`${M}/add`, { subject, relation, object, namespace, tags: [tags], user_id, note: extra });
      const events = Array.from({ length: 5 }, (_, at) => ({
        grain_type: 'event',
        fields: { content: `${content} ${at}`, user_id, session_id: `${session_id}${at}`, role: 'user' },
      }));
      await http.post(`${M}/batch-add`, { grains: events });
      await http.post(`${M}/consent/grant`, { user_id, purpose: CANARIES.purpose, basis: CANARIES.extra });
      await http.post(`${M}/recall`, { query: content, user_id });
      return 7; // with the grain of the consent
    };
    const open = (M: string, more: object = {}): Promise<ParsedJson> =>
      http.call('POST', `${M}/subject-requests`, { json: { user_id: 'ada', kind: 'erasure', ...more } });
    const report = async (M: string, id: string, query = ''): Promise<ParsedJson> =>
      http.get(`${M}/subject-requests/${id}/report${query}`);

    test('a request is recorded with its deadline, found, and extended once', async () => {
      const M = await memory();
      const received_at = now() - 3 * DAY;
      const made = await open(M, { requester: 'Ada Byron', received_at, note: 'by letter' });
      assert.deepEqual(
        [made.status, made.days_allowed, made.days_used, made.due_at, made.overdue, made.requester],
        ['open', 30, 3, received_at + 30 * DAY, false, 'Ada Byron'],
      );
      assert.match(made.request_id, /^dsr_[a-z2-7]{24}$/);
      const { requests, total } = await http.get(`${M}/subject-requests?status=open&user_id=ada`);
      assert.deepEqual([requests.length, total, requests[0].request_id], [1, 1, made.request_id]);
      assert.equal((await http.get(`${M}/subject-requests?user_id=bob`)).total, 0);
      const path = `${M}/subject-requests/${made.request_id}`;
      const extended = await http.post(`${path}/extend`, { reason: 'Many requests.' });
      assert.deepEqual([extended.days_allowed, extended.extension.days], [90, 60]);
      await refused(http.post(`${path}/extend`, { reason: 'Again.' }), 'DSR-E002');
      assert.equal((await http.get(path)).days_allowed, 90);
      const { entries } = await http.get(`${M}/audit?user=ada&event_type=dsr.*`);
      assert.deepEqual(
        entries.map(({ event_type }: ParsedJson) => event_type),
        ['dsr.extended', 'dsr.opened'],
      );
    });

    test('what does not fit is refused with a code', async () => {
      const M = await memory();
      const { request_id } = await open(M);
      const path = `${M}/subject-requests/${request_id}`;
      await refused(open(M), 'DSR-E002');
      await refused(open(M, { user_id: 'bob', received_at: now() + DAY }), 'VAL-E001');
      await refused(open(M, { user_id: 'bob', days: 0 }), 'VAL-E001');
      await refused(open(M, { user_id: 'bob', kind: 'oblivion' }), 'VAL-E001');
      await refused(open(M, { user_id: 'bob', surprise: 1 }), 'VAL-E001');
      await refused(http.get(`${M}/subject-requests/dsr_none`), 'DSR-E001');
      await refused(http.get(`${await memory()}/subject-requests/${request_id}`), 'DSR-E001');
      await refused(http.post(`${path}/erase`, { confirm: 'bob' }), 'VAL-E001');
      await refused(http.post(`${path}/close`, { outcome: 'refused' }), 'VAL-E001');
      await refused(http.post(`${path}/close`, {}), 'DSR-E002');
      await refused(http.get(`${M}/erasure-proof?user_id=ada`), 'DSR-E003');
      const late = await open(M, { user_id: 'bob', received_at: now() - 31 * DAY });
      assert.deepEqual([late.overdue, late.days_left], [true, 0]);
      await refused(http.post(`${M}/subject-requests/${late.request_id}/extend`, { reason: 'Late.' }), 'DSR-E002');
      const { raw_key } = await http.call('POST', '/auth/keys', { json: { scopes: ['write'] } });
      await refused(http.call('GET', path, { key: raw_key }), 'AUT-E001');
      const bound = await http.call('POST', '/auth/keys', { json: { scopes: ['admin'], user_id: 'carla' } });
      await refused(http.call('GET', path, { key: bound.raw_key }), 'AUT-E001');
    });

    test('the report of an access request shows what is held by type and time, consents and recalls', async () => {
      const M = await memory();
      const count = await fill(M, 'ada');
      const { request_id } = await open(M, { kind: 'access', requester: '<script>alert(1)</script>' });
      const data = await report(M, request_id);
      assert.equal(data.held.count, count);
      assert.deepEqual(
        data.held.by_type.map(({ grain_type, count: some }: ParsedJson) => [grain_type, some]),
        [
          ['belief', 1],
          ['event', 5],
          ['consent', 1],
        ],
      );
      assert.equal(
        data.held.by_month.reduce((sum: number, { count: some }: ParsedJson) => sum + some, 0),
        count,
      );
      assert.deepEqual([data.consents.length, data.consents[0].purpose], [1, CANARIES.purpose]);
      assert.ok(data.recalls.length >= 1);
      assert.deepEqual(
        data.acts.map(({ event }: ParsedJson) => event).filter((event: string) => event.startsWith('dsr')),
        ['dsr.opened', 'dsr.reported'],
      );
      for (const language of ['en', 'de']) {
        const reply = await http.ask(
          'GET',
          `${M}/subject-requests/${request_id}/report?format=html&language=${language}`,
        );
        assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/);
        assert.match(reply.text, new RegExp(`<html lang="${language}">`));
        assert.doesNotMatch(reply.text, /<script|<img|<link|https?:\/\//);
        assert.ok(reply.text.includes('&#60;script&#62;alert(1)'));
      }
      for (const [language, says] of [
        ['en', 'Report on the request'],
        ['de', 'Bericht zum Antrag'],
      ] as const) {
        const reply = await http.ask(
          'GET',
          `${M}/subject-requests/${request_id}/report?format=pdf&language=${language}`,
        );
        assert.equal(reply.headers.get('content-type'), 'application/pdf');
        assert.ok((await pdfText(reply.bytes)).includes(says));
      }
      const closed = await http.post(`${M}/subject-requests/${request_id}/close`, { note: 'Sent by letter.' });
      assert.deepEqual([closed.status, closed.closed.outcome, closed.user_id], ['closed', 'fulfilled', 'ada']);
      await refused(http.post(`${M}/subject-requests/${request_id}/close`, {}), 'DSR-E002');
      // A later erasure takes the person out of requests that are closed.
      await http.post(`${M}/forget`, { user_id: 'ada' });
      const { requests } = await http.get(`${M}/subject-requests?user_id=ada`);
      const [{ requester, user_id, closed: end }] = requests;
      assert.deepEqual([requester, user_id, end.note], [undefined, undefined, undefined]);
    });

    test('an erasure is proven, and neither report nor record repeats a word of what was erased', async () => {
      const M = await memory();
      const count = await fill(M, 'ada');
      const { request_id } = await open(M, { requester: 'Ada Byron' });
      const path = `${M}/subject-requests/${request_id}`;
      const { request, proof } = await http.post(`${path}/erase`, { confirm: 'ada' });
      assert.deepEqual([request.erasure.count, request.erasure.held.count, proof.count], [count, count, count]);
      assert.equal(request.erasure.held.consents, 1);
      assert.deepEqual(
        [proof.version, proof.result, proof.user_id, proof.memory],
        [2, 'erased', 'ada', M.replace('/memories/', '')],
      );
      assert.equal(checkProof(JSON.stringify(proof)).is, 'valid');
      const { keys } = await http.get('/proof-keys');
      assert.equal(keys[0].public_key, proof.public_key);
      const { entries } = await http.get(`${M}/audit?event_type=user.erased&verify=true`);
      assert.deepEqual(
        proof.audit_entries.map(({ hash }: ParsedJson) => hash).toSorted(),
        entries.map(({ hash }: ParsedJson) => hash).toSorted(),
      );
      const again = await http.post(`${path}/erase`, { confirm: 'ada' });
      assert.deepEqual(again.proof.audit_entries, proof.audit_entries);
      assert.equal(again.request.erasure.held.count, count);
      await eventually('the purge is over', async () => (await report(M, request_id)).proof.purge.state === 'complete');

      const texts = [await http.ask('GET', path), await http.ask('GET', `${path}/report`)];
      for (const language of ['en', 'de'])
        texts.push(await http.ask('GET', `${path}/report?format=html&language=${language}`));
      const closed = await http.post(`${path}/close`, {});
      assert.deepEqual([closed.user_id, closed.requester, closed.closed.outcome], [undefined, undefined, 'fulfilled']);
      texts.push(await http.ask('GET', path), await http.ask('GET', `${path}/report?format=html`));
      for (const { status, bytes } of texts) {
        assert.equal(status, 200);
        for (const word of Object.values(CANARIES)) assert.deepEqual(formsIn(Buffer.from(bytes), word), [], word);
      }
      const last = await report(M, request_id);
      assert.equal(last.person, `erased:${proof.key_fingerprint}`);
      assert.deepEqual([last.proof.user_id, last.proof.salt], [undefined, undefined]);
      assert.equal(checkProof(JSON.stringify(last.proof)).is, 'valid');
      assert.deepEqual(
        last.acts.map(({ event }: ParsedJson) => event).filter((event: string) => event.startsWith('user')),
        ['user.erased'],
      );
      assert.equal((await http.get(`${M}/subject-requests?user_id=ada`)).total, 1, 'it is found by its person');
    });

    test('a repeated call tells no name that a closed request has lost', async () => {
      const M = await memory();
      await fill(M, 'ada');
      const { request_id } = await open(M, { requester: 'Ada Byron' });
      const path = `${M}/subject-requests/${request_id}`;
      await http.post(`${path}/erase`, { confirm: 'ada' });
      const asked = { headers: { 'idempotency-key': 'extend' } };
      const extended = (): Promise<ParsedJson> =>
        http.post(`${path}/extend`, { reason: 'Ada has two letters.' }, asked);
      const shown = ({ user_id, requester, extension }: ParsedJson) => [user_id, requester, extension.reason];
      const first = await extended();
      assert.deepEqual(shown(first), ['ada', 'Ada Byron', 'Ada has two letters.']);
      await http.post(`${path}/close`, {});
      const again = await extended();
      assert.deepEqual([again.request_id, again.extension.days], [request_id, first.extension.days]);
      assert.deepEqual(shown(again), [undefined, undefined, undefined]);
    });

    test('an erasure of somebody whom the memory does not know is proven as that', async () => {
      const M = await memory();
      const { request_id } = await open(M, { user_id: 'nobody' });
      const { proof } = await http.post(`${M}/subject-requests/${request_id}/erase`, { confirm: 'nobody' });
      assert.deepEqual([proof.result, proof.count, proof.key_fingerprint], ['nothing_held', 0, '']);
      assert.equal(checkProof(JSON.stringify(proof)).is, 'valid');
      const html = await http.ask('GET', `${M}/subject-requests/${request_id}/report?format=html&language=de`);
      assert.match(html.text, /Der Speicher enthielt nichts über die Person/);
    });

    test('a proof is about the person, not about those whom the person erased', async () => {
      const M = await memory();
      const json = { scopes: ['admin'], principal: 'user:eve' };
      const { raw_key } = await http.call('POST', '/auth/keys', { json });
      await fill(M, 'ada');
      await http.call('POST', `${M}/forget`, { json: { user_id: 'ada' }, key: raw_key });
      await refused(http.get(`${M}/erasure-proof?user_id=eve`), 'DSR-E003');
      assert.equal((await http.get(`${M}/erasure-proof?user_id=ada`)).proof.result, 'erased');
    });
  });
