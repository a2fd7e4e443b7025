// A memory's records: its audit trail, records of recalls, exports of a person's data. Over both HTTP listeners, gRPC
// where it has an rpc, with one partition and with four.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { LISTENER_PARTITIONS } from '../support/listener-partitions.ts';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import { serveSuite } from './http-suite.ts';

const GENESIS = '0'.repeat(64);

for (const [listener, partitions] of LISTENER_PARTITIONS)
  describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
    const { http, memory, shared } = serveSuite(listener, partitions);

    async function entries(path: string, query = ''): Promise<readonly ParsedJson[]> {
      const found: ParsedJson[] = [];
      let cursor: string | null = null;
      do {
        const page: ParsedJson = await http.get(
          `${path}/audit?limit=3${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
        );
        found.push(...page['entries']);
        cursor = page['next_cursor'];
      } while (cursor !== null);
      return found;
    }

    test('the trail has every change, in pages, and can be recomputed', async () => {
      const path = await memory();
      const hashes: string[] = [];
      for (let i = 0; i < 7; i++) {
        const { blob_hash } = await http.post(`${path}/add`, {
          subject: `s${i}`,
          relation: 'likes',
          object: 'tea',
          user_id: i % 2 === 0 ? 'ada' : 'bob',
        });
        hashes.push(blob_hash);
      }
      await http.post(`${path}/forget`, { blob_hash: hashes[0], reason: 'no longer true' });
      const all = await entries(path);
      assert.equal(all.filter(({ event_type }) => event_type === 'memory.added').length, 7);
      assert.ok(!JSON.stringify(all).includes('no longer true'));
      for (let i = 1; i < all.length; i++) assert.ok(all[i]!['timestamp'] <= all[i - 1]!['timestamp']);
      const byPartition = Map.groupBy(all, ({ partition }) => partition);
      for (const [partition, chain] of byPartition) recompute(chain.toReversed(), partition);
      const forward = await entries(path, '&order=asc');
      assert.deepEqual(new Set(forward.map(({ hash }) => hash)), new Set(all.map(({ hash }) => hash)));
      const listed = await http.get(`${path}/audit?verify=true&limit=1`);
      assert.deepEqual([listed.total, listed.chain_valid, listed.entries.length], [all.length, true, 1]);
      assert.deepEqual(
        (await http.get(`${path}/audit?offset=2&limit=2`)).entries.map(({ hash }: ParsedJson) => hash),
        all.slice(2, 4).map(({ hash }) => hash),
      );
    });

    test('entries are found by person, event, grain, actor and time', async () => {
      const path = await memory();
      const added = await http.post(`${path}/add`, { subject: 'a', relation: 'b', object: 'c', user_id: 'ada' });
      await http.post(`${path}/add`, { subject: 'd', relation: 'e', object: 'f', user_id: 'bob' });
      const names = async (query: string) => (await entries(path, query)).map(({ event_type }) => event_type);
      assert.deepEqual(await names('&user=ada&event_type=memory.added'), ['memory.added']);
      assert.deepEqual(await names(`&grain_hash=${added.blob_hash}&event_type=memory.*`), ['memory.added']);
      assert.deepEqual(await names('&event_type=consent.*'), []);
      const made = await names('&event_type=instance.created&event_type=memory.added');
      assert.deepEqual(new Set(made), new Set(['memory.added', 'instance.created']));
      assert.deepEqual(await names('&actor=nobody'), []);
      assert.deepEqual(await names('&since=4000000000'), []);
      assert.deepEqual(await names('&until=1000'), []);
      const [entry] = await entries(path, `&grain_hash=${added.blob_hash}`);
      assert.equal(entry?.['grain_hash'], added.blob_hash);
      assert.match(entry?.['subject'], /^user:[0-9a-f]{32}$/);
      await refused(http.get(`${path}/audit?event_type=memory.lost`), 'VAL-E001');
      await refused(http.get(`${path}/audit?cursor=x`), 'VAL-E004');
      await refused(http.get(`${path}/audit?since=9&until=8`), 'VAL-E001');
    });

    test('an erased person appears in the trail only by the proof, and the chain still verifies', async () => {
      const path = await memory();
      await http.post(`${path}/add`, { subject: 'a', relation: 'b', object: 'c', user_id: 'ada' });
      await http.post(`${path}/forget`, { user_id: 'ada', reason: 'asked for' });
      const about = await entries(path, '&event_type=memory.added&event_type=user.erased');
      assert.equal(about.length, 2);
      for (const { subject } of about) assert.match(subject, /^erased:[0-9a-f]{16}$/);
      assert.equal((await http.get(`${path}/audit?verify=true`)).chain_valid, true);
    });

    test('a bound caller sees only its own entries', async () => {
      const path = await memory();
      for (const user of ['ada', 'bob'])
        await http.post(`${path}/add`, { subject: user, relation: 'b', object: 'c', user_id: user });
      const own = await http.get(`${path}/audit`, { headers: { 'x-user-id': 'ada' } });
      assert.equal(own.entries.filter(({ event_type }: ParsedJson) => event_type === 'memory.added').length, 1);
      assert.equal(new Set(own.entries.map(({ subject }: ParsedJson) => subject)).size, 1);
      await refused(http.get(`${path}/audit`, { headers: { 'x-namespace': 'n' } }), 'AUT-E001');
    });

    /** Three beliefs of ada about tea, one of bob. */
    async function teas(): Promise<string> {
      const path = await memory();
      for (const [user, object] of [
        ['ada', 'green tea'],
        ['ada', 'black tea'],
        ['ada', 'white tea'],
        ['bob', 'mint tea'],
      ])
        await http.post(`${path}/add`, {
          subject: 'kitchen',
          relation: 'holds',
          object,
          user_id: user,
          session_id: `${user} ${object}`,
        });
      return path;
    }

    test('a recall leaves a record of its request and result', async () => {
      const path = await teas();
      const answer = await http.post(`${path}/recall`, { query: 'which tea', limit: 2, user_id: 'ada' });
      assert.match(answer.recall_id, /^[0-9a-f]{64}$/);
      const record = await http.get(`${path}/provenance/${answer.recall_id}`);
      assert.deepEqual(
        [record.recall_id, record.query_mode, record.candidate_count, record.result_count, record.verified],
        [answer.recall_id, 'text', 3, 2, true],
      );
      assert.deepEqual(
        record.results.map(({ hash, rank }: ParsedJson) => [hash, rank]),
        answer.results.map(({ hash }: ParsedJson, i: number) => [hash, i + 1]),
      );
      for (const [i, { score }] of answer.results.entries())
        assert.ok(Math.abs(record.results[i].score_breakdown.final_score - score) < 1e-6);
      assert.deepEqual([record.excluded.length, record.excluded_total], [1, 1]);
      assert.equal(record.excluded[0].reason, 'limit_exceeded');
      assert.equal(record.query.text_sha256, createHash('sha256').update('which tea').digest('hex'));
      assert.deepEqual([record.query.has_text, record.query.user_id], [true, 'ada']);
      assert.equal(recordId(record), record.recall_id);
      assert.doesNotMatch(JSON.stringify(record), /\btea\b/);
      const listed = await http.get(`${path}/audit?event_type=memory.recalled`);
      assert.deepEqual([listed.entries.length, listed.entries[0].hash], [1, record.audit_entry_hash]);
      assert.equal(listed.entries[0].details.recall_id, record.recall_id);
      const explained = await http.get(`${path}/provenance/${answer.recall_id}?explain=true`);
      for (const one of [...explained.results, ...explained.excluded]) assert.match(one.explanation, /^[A-Z].*\.$/);
      await refused(http.get(`${path}/provenance/${'0'.repeat(64)}`), 'PRV-E001');
    });

    test('records hold names as blind tokens, equal for equal names', async () => {
      const path = await teas();
      const ids: string[] = [];
      for (let i = 0; i < 2; i++)
        ids.push((await http.post(`${path}/recall`, { subject: 'kitchen', relation: 'holds' })).recall_id);
      assert.notEqual(ids[0], ids[1]);
      const [one, other] = await Promise.all(ids.map((id) => http.get(`${path}/provenance/${id}`)));
      assert.equal(one.query_mode, 'structural');
      assert.match(one.query.subject, /^[0-9a-f]{32}$/);
      assert.deepEqual([one.query.subject, one.query.relation], [other.query.subject, other.query.relation]);
      assert.ok(!JSON.stringify(one).includes('kitchen'));
    });

    test('records are listed by person, namespace and time, in pages, and summarised', async () => {
      const path = await teas();
      await http.post(`${path}/recall`, { query: 'tea' });
      await http.post(`${path}/recall`, { query: 'tea', user_id: 'ada', limit: 1 });
      await http.post(`${path}/recall`, { query: 'zebra', namespace: 'zoo' });
      await http.post(`${path}/recall`, { subject: 'kitchen', query: 'tea' });
      await http.post(`${path}/recall-chain`, { question: 'green tea and black tea' });
      await http.post(`${path}/search`, { query: 'mint' });
      const modes = async (query: string): Promise<readonly string[]> =>
        (await http.get(`${path}/provenance?${query}`)).records.map(({ query_mode }: ParsedJson) => query_mode);
      assert.deepEqual(await modes(''), ['text', 'chain', 'hybrid', 'text', 'text', 'text']);
      assert.deepEqual(await modes('order=asc'), ['text', 'text', 'text', 'hybrid', 'chain', 'text']);
      assert.deepEqual((await modes('user_id=ada')).length, 1);
      assert.deepEqual((await modes('namespace=zoo')).length, 1);
      assert.deepEqual(await modes('since=4000000000'), []);
      const paged: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page: ParsedJson = await http.get(
          `${path}/provenance?limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        assert.equal(page['total'], 6);
        paged.push(...page['records'].map(({ recall_id }: ParsedJson) => recall_id));
        cursor = page['next_cursor'];
      }
      assert.equal(new Set(paged).size, 6);
      const summary = await http.get(`${path}/provenance/summary`);
      assert.deepEqual([summary.total_records, summary.zero_result_count], [6, 1]);
      assert.deepEqual(summary.by_mode, { text: 4, hybrid: 1, chain: 1 });
      assert.equal(summary.by_exclusion.limit_exceeded, 2);
      assert.ok(summary.oldest <= summary.newest && summary.mean_candidates > 0 && summary.mean_results > 0);
      await refused(http.get(`${path}/provenance?since=9&until=8`), 'VAL-E001');
    });

    test('records over gRPC are those over HTTP', async () => {
      const path = await teas();
      const grpc = shared.grpc.with({ 'x-memory-id': path.split('/')[2]! });
      const answer = await grpc.call('Recall', { query: 'tea', limit: 2 });
      const record = await grpc.call('GetProvenance', { recall_id: answer.recall_id });
      const same = await http.get(`${path}/provenance/${answer.recall_id}`);
      assert.deepEqual(JSON.parse(record.results_json), same.results);
      assert.deepEqual(JSON.parse(record.query_json), same.query);
      assert.deepEqual(JSON.parse(record.excluded_json), same.excluded);
      assert.deepEqual(
        [record.audit_entry_hash, record.excluded_total, record.principal],
        [same.audit_entry_hash, same.excluded_total, same.principal],
      );
      const list = await grpc.call('ListProvenance', { limit: 0 });
      assert.deepEqual([list.records.length, list.total, list.next_cursor], [1, 1, '']);
      const summary = await grpc.call('ProvenanceSummary', {});
      assert.deepEqual([summary.total_records, JSON.parse(summary.by_mode_json)], [1, { text: 1 }]);
      await refused(grpc.call('GetProvenance', { recall_id: '0'.repeat(64) }), 'PRV-E001');
    });

    test('an erasure removes names, person and hashes from a record, and the rest still verifies', async () => {
      const path = await teas();
      const { recall_id } = await http.post(`${path}/recall`, { subject: 'kitchen', user_id: 'ada' });
      const before = await http.get(`${path}/provenance/${recall_id}`);
      await http.post(`${path}/forget`, { user_id: 'ada', reason: 'asked for' });
      const after = await http.get(`${path}/provenance/${recall_id}`);
      assert.deepEqual([before.redacted, after.redacted, after.verified], [false, true, true]);
      for (const member of ['subject', 'user_id']) assert.ok(!(member in after.query), member);
      assert.equal(before.results.length, 3);
      for (const [i, { hash, ...result }] of before.results.entries()) {
        assert.match(hash, /^[0-9a-f]{64}$/);
        assert.deepEqual(after.results[i], { ...result, hash: '' });
      }
      assert.deepEqual((await http.get(`${path}/provenance?user_id=ada`)).records, []);
    });

    test('a CAL query leaves a record, too', async () => {
      const path = await teas();
      await http.post(`${path}/app/exec`, {
        command: 'cal',
        args: { query: 'RECALL beliefs WHERE subject = "kitchen"' },
      });
      const { records } = await http.get(`${path}/provenance`);
      assert.deepEqual(
        records.map(({ query_mode, result_count }: ParsedJson) => [query_mode, result_count]),
        [['cal', 4]],
      );
    });

    test('a person’s data is exported completely on every transport, frozen or not', async () => {
      const path = await teas();
      const grpc = shared.grpc.with({ 'x-memory-id': path.split('/')[2]! });
      const { grains } = await http.get(`${path}/grains?user_id=ada`);
      await http.post(`${path}/supersede`, { blob_hash: grains[0].blob_hash, fields: { object: 'no tea' } });
      await http.post(`${path}/consent/grant`, { user_id: 'ada', purpose: 'storage' });
      await http.post(`${path}/recall`, { query: 'tea', user_id: 'ada' });
      await http.post(`${path}/app/exec`, { command: 'restrict', args: { user_id: 'ada', reason: 'disputed' } });
      const data = await http.get(`${path}/export/ada`);
      assert.equal(data.user_id, 'ada');
      // Four versions of beliefs, and the grain of the consent.
      assert.deepEqual([data.count, data.grains.length, data.provenance_count], [5, 5, 1]);
      assert.ok(data.grains.every(({ user_id }: ParsedJson) => user_id === 'ada'));
      assert.deepEqual(
        data.consents.map(({ purpose, status }: ParsedJson) => [purpose, status]),
        [['storage', 'granted']],
      );
      assert.equal(data.restriction.reason, 'disputed');
      const rpc = JSON.parse((await grpc.call('ExportUser', { user_id: 'ada' })).data_json);
      assert.deepEqual(rpc.grains, data.grains);
      const portable = JSON.parse((await grpc.call('ExportPortability', { user_id: 'ada' })).data_json);
      for (const { blob_base64, hash } of portable.grains)
        assert.equal(createHash('sha256').update(Buffer.from(blob_base64, 'base64')).digest('hex'), hash);
      const { result } = await http.post(`${path}/app/exec`, {
        command: 'export_portability',
        args: { user_id: 'ada' },
      });
      assert.deepEqual(result.grains, portable.grains);
      assert.deepEqual((await http.get(`${path}/export/ada?portability=true`)).grains, portable.grains);
      const listed = await http.get(`${path}/audit?event_type=user.data_exported&user=ada`);
      assert.deepEqual(
        listed.entries.map(({ details }: ParsedJson) => details.count),
        [5, 5, 5, 5, 5],
      );
      const nobody = await http.get(`${path}/export/nobody`);
      assert.deepEqual([nobody.count, nobody.grains, nobody.consents], [0, [], []]);
      await refused(http.get(`${path}/export/ada`, { headers: { 'x-user-id': 'bob' } }), 'AUT-E001');
    });
  });

/** The contract's hash of an entry. */
function recompute(chain: readonly ParsedJson[], partition: number): void {
  let previous = GENESIS;
  chain.forEach((entry, i) => {
    assert.equal(entry['seq'], i + 1, `partition ${partition}`);
    assert.equal(entry['prev_hash'], previous);
    const details = entry['details'] as Record<string, unknown>;
    const canonical = JSON.stringify(Object.fromEntries(Object.entries(details).sort(([a], [b]) => (a < b ? -1 : 1))));
    const numbers = Buffer.alloc(16);
    numbers.writeBigUInt64BE(BigInt(entry['seq']), 0);
    numbers.writeBigUInt64BE(BigInt(entry['timestamp']), 8);
    const texts = [entry['event_type'], entry['actor'], entry['subject'], canonical, previous].map((text: string) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.byteLength(text));
      return Buffer.concat([length, Buffer.from(text)]);
    });
    previous = createHash('sha256')
      .update(Buffer.concat([numbers, ...texts]))
      .digest('hex');
    assert.equal(entry['hash'], previous);
  });
}

/** The contract's id of a record: over its members in name order, grains by name only. */
function recordId({ recall_id: _, audit_entry_hash: __, verified: ___, redacted: ____, ...shown }: ParsedJson): string {
  const withoutHash = (grains: readonly ParsedJson[]) => grains.map(({ hash: _____, ...one }) => one);
  const record = { ...shown, results: withoutHash(shown['results']), excluded: withoutHash(shown['excluded']) };
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, member]) => [name, sorted(member)]),
          )
        : value;
  return createHash('sha256')
    .update(JSON.stringify(sorted(record)))
    .digest('hex');
}
