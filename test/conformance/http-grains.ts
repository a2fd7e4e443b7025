// HTTP routes of grains beyond the suite: shapes of bodies and answers, aliases, headers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { refused } from './contract.ts';
import type { ParsedJson } from './driver.ts';
import type { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

const THEN = 1_700_000_000;
const BELIEF = { subject: 'Ada', relation: 'likes', object: 'green tea', created_at: THEN };

/** H1 to H7, H9, H10 to H13, H92 and H93. */
export function grainRoutes(client: () => HttpClient): void {
  /** The path of a new memory. */
  async function place(options = {}): Promise<string> {
    return `/memories/${await newMemory(client(), 1, options)}`;
  }

  describe('grains', { concurrency: 4 }, () => {
    test('H1 accepts a belief flat or nested, and the outer value wins', async () => {
      const [http, M] = [client(), await place()];
      const flat = await http.post(`${M}/add`, { ...BELIEF, confidence: 0.5, mood: 'calm' });
      assert.deepEqual(Object.keys(flat).toSorted(), ['blob_hash', 'status']);
      const { fields } = await http.get(`${M}/grains/${flat.blob_hash}`);
      assert.deepEqual([fields.object, fields.confidence, fields.mood], ['green tea', 0.5, 'calm']);
      const nested = await http.post(`${M}/add`, {
        grain_type: 'belief',
        fields: { ...BELIEF, object: 'inner', namespace: 'inner', tags: ['inner'], mood: 'kept' },
        object: 'outer',
        namespace: 'outer',
        tags: ['outer'],
        unknown_member: 'ignored',
      });
      const second = (await http.get(`${M}/grains/${nested.blob_hash}`)).fields;
      assert.deepEqual(
        [second.object, second.namespace, second.tags, second.mood, 'unknown_member' in second],
        ['outer', 'outer', ['outer'], 'kept', false],
      );
      const again = await http.post(`${M}/add`, { ...BELIEF, confidence: 0.5, mood: 'calm' });
      assert.deepEqual(again, { blob_hash: flat.blob_hash, status: 'added', duplicate: true });
    });

    test('H1 takes every type in the shape of an item of batch-add', async () => {
      const [http, M] = [client(), await place()];
      const fields = { content: 'x', role: 'user' };
      const added = await http.post(`${M}/add`, {
        grain_type: 'event',
        fields,
        tags: ['t'],
        created_at: 1_700_000_000,
      });
      const grain = await http.get(`${M}/grains/${added.blob_hash}`);
      assert.deepEqual(
        [grain.grain_type, grain.fields.content, grain.fields.role, grain.fields.tags, grain.created_at],
        ['event', 'x', 'user', ['t'], 1_700_000_000],
      );
      const goal = await http.post(`${M}/add`, { grain_type: 'goal', fields: { description: 'rest' } });
      const batch = await http.post(`${M}/batch-add`, {
        grains: [{ grain_type: 'goal', fields: { description: 'rest' } }],
      });
      assert.deepEqual(batch.duplicates, [{ index: 0, blob_hash: goal.blob_hash }]);
      await refused(http.post(`${M}/add`, { grain_type: 'event', content: 'x' }), 'VAL-E003');
      await refused(http.post(`${M}/add`, { grain_type: 'nothing', fields: {} }), 'MEM-E005');
      const wanting = await refused(http.post(`${M}/add`, { grain_type: 'goal', fields: {} }), 'VAL-E003');
      assert.ok(wanting.message.includes('description'), wanting.message);
    });

    test('H1 names a missing or mistyped member of a belief', async () => {
      const [http, M] = [client(), await place()];
      for (const name of ['subject', 'relation', 'object']) {
        const { [name]: _, ...rest } = BELIEF as Record<string, unknown>;
        const missing = await refused(http.post(`${M}/add`, rest), 'VAL-E003');
        assert.ok(missing.message.includes(`missing field \`${name}\``), missing.message);
        const nulled = await refused(http.post(`${M}/add`, { ...BELIEF, [name]: null }), 'VAL-E003');
        assert.ok(nulled.message.includes(`missing field \`${name}\``), nulled.message);
        const mistyped = await refused(http.post(`${M}/add`, { ...BELIEF, [name]: 7 }), 'VAL-E003');
        assert.ok(mistyped.message.includes('invalid type'), mistyped.message);
        assert.ok(mistyped.details.some(({ field }) => field === name));
      }
      for (const [what, wrong] of [
        ['tags', { tags: 'x' }],
        ['options', { options: [] }],
        ['options.sync', { options: { sync: 'yes' } }],
      ] as const)
        await refused(http.post(`${M}/add`, { ...BELIEF, ...wrong }), 'VAL-E003').catch((error: Error) => {
          throw new Error(`${what}: ${error.message}`);
        });
      assert.equal((await http.get(`${M}/stats`)).total_grains, 0);
    });

    test('H1 warns about options of a later build, and accepts sync and null', async () => {
      const [http, M] = [client(), await place()];
      const { warnings } = await http.post(`${M}/add`, { ...BELIEF, options: { auto_relate: true } });
      assert.match(warnings.join(), /auto_relate/);
      const body = { ...BELIEF, object: 'milk', options: { sync: true, auto_relate: null }, namespace: null };
      const answer = await http.post(`${M}/add`, body);
      assert.equal('warnings' in answer, false);
      assert.equal((await http.get(`${M}/grains/${answer.blob_hash}`)).namespace, 'default');
    });

    test('H2 shares namespace and tags, and answers 200 whatever its items are', async () => {
      const [http, M] = [client(), await place()];
      const answer = await http.post(`${M}/batch-add`, {
        namespace: 'shared',
        tags: ['all'],
        grains: [
          { grain_type: 'event', fields: { content: 'one' } },
          { grain_type: 'event', fields: { content: 'two' }, namespace: 'own', tags: ['mine'] },
          { grain_type: 'fact', fields: BELIEF },
          { grain_type: 'belief' },
          'nonsense',
          { fields: { content: 'x' } },
        ],
      });
      assert.deepEqual([answer.total_added, answer.total_errors, answer.total_duplicates], [2, 4, 0]);
      assert.deepEqual(
        answer.errors.map(({ index, code }: { index: number; code: string }) => [index, code]),
        [
          [2, 'MEM-E005'],
          [3, 'VAL-E003'],
          [4, 'VAL-E003'],
          [5, 'VAL-E003'],
        ],
      );
      const [one, two] = await Promise.all(
        answer.added.map(({ blob_hash }: { blob_hash: string }) => http.get(`${M}/grains/${blob_hash}`)),
      );
      assert.deepEqual([one.namespace, one.fields.tags], ['shared', ['all']]);
      assert.equal(two.namespace, 'own');
      for (const wrong of [{}, { grains: {} }, { grains: null }, [], 'x', 7])
        await refused(http.post(`${M}/batch-add`, wrong), 'VAL-E003');
    });

    test('H3 and H4 answer with hits under the names of the contract', async () => {
      const [http, M] = [client(), await place()];
      const { blob_hash: hash } = await http.post(`${M}/add`, { ...BELIEF, user_id: 'ada' });
      const answer = await http.post(`${M}/recall`, { query: 'tea', rerank: true, nonsense: 1 });
      assert.deepEqual([answer.count, answer.topic_coverage, answer.total_candidates], [1, 'full', 1]);
      const [hit] = answer.results;
      assert.deepEqual(
        [hit.hash, hit.blob_hash, hit.grain_type, hit.type, hit.created_at, hit.namespace, hit.recall_source],
        [hash, hash, 'belief', 'belief', THEN, 'default', 'primary'],
      );
      assert.match(answer.warnings.join(), /^rerank was ignored/);
      const found = await http.post(`${M}/search`, { query: 'tea' });
      assert.deepEqual([found.count, found.results[0].hash], [1, hash]);
      for (const wrong of [{}, { query: null }, { query: 7 }])
        await refused(http.post(`${M}/search`, wrong), 'VAL-E003');
      for (const wrong of [{ query: 7 }, { limit: 'x' }, { tags: 'x' }, { limit: 1.5 }, { exhaustive: 'no' }])
        await refused(http.post(`${M}/recall`, wrong), 'VAL-E003');
      await refused(http.post(`${M}/recall`, { limit: -1 }), 'VAL-E001', 'VAL-E003');
      assert.equal((await http.post(`${M}/recall`, {})).count, 1, 'a recall without conditions returns everything');
      assert.equal((await http.post(`${M}/recall`, { query: '', subject: '', limit: 0 })).count, 1);
    });

    test('H9 splits a question and uses the result of one part in the next', async () => {
      const [http, M] = [client(), await place()];
      for (const [subject, relation, object] of [
        ['Ada', 'has brother', 'Bob'],
        ['Bob', 'has wife', 'Cleo'],
        ['Cleo', 'works at', 'Acme'],
      ])
        await http.post(`${M}/add`, { ...BELIEF, subject, relation, object });
      const question = "Where does Ada's brother's wife work?";
      const params = { score_breakdown: true, limit: 2, recency_weight: 0.1 };
      const answer = await http.post(`${M}/recall-chain`, { question, params });
      assert.deepEqual(answer.sub_queries, ['Ada brother', 'Bob wife', 'Where does Cleo work']);
      assert.deepEqual(
        answer.sub_results.map(({ query, count, results }: ParsedJson) => [query, count === results.length]),
        answer.sub_queries.map((query: string) => [query, true]),
      );
      assert.equal(answer.sub_results[2].results[0].fields.object, 'Acme');
      assert.ok(answer.count === answer.results.length && answer.count === 2);
      assert.equal(answer.results[0].score_breakdown.rrf_score, answer.results[0].score);
      assert.match(answer.reasoning, /3 hops/);
      // The alias, and a question that no rule splits.
      const whole = await http.post(`${M}/recall-chain`, { query: 'Acme', max_sub_queries: 8 });
      assert.deepEqual([whole.sub_queries, whole.results[0].fields.object], [['Acme'], 'Acme']);
      const missing = await refused(http.post(`${M}/recall-chain`, { params }), 'VAL-E003');
      assert.ok(missing.message.includes('missing field `question`'));
      for (const wrong of [{ question: 7 }, { question, params: 7 }, { question, params: { limit: 'x' } }])
        await refused(http.post(`${M}/recall-chain`, wrong), 'VAL-E003');
      for (const wrong of [{ max_sub_queries: 9 }, { max_sub_queries: 1 }, { params: { recency_weight: 2 } }])
        await refused(http.post(`${M}/recall-chain`, { question, ...wrong }), 'VAL-E001');
      await refused(http.post(`${M}/recall-chain`, { question, params: { temporal_expr: 'last 7 days' } }), 'VAL-E001');
      await refused(http.post(`${M}/recall-chain`, { question, params: { grain_type: 'fact' } }), 'MEM-E005');
    });

    test('H5 rejects invalid pages', async () => {
      const [http, M] = [client(), await place()];
      for (let at = 0; at < 3; at++) await http.post(`${M}/add`, { ...BELIEF, object: `tea ${at}` });
      for (const query of [
        'limit=0',
        'limit=-1',
        'limit=x',
        'limit=1.5',
        'limit=',
        'cursor=abc',
        'cursor=%00',
        'offset=-1',
      ])
        await refused(http.get(`${M}/grains?${query}`), 'VAL-E004').catch((error: Error) => {
          throw new Error(`${query}: ${error.message}`);
        });
      await refused(http.get(`${M}/grains?offset=10001`), 'VAL-E004');
      await refused(http.get(`${M}/grains?order=sideways`), 'VAL-E001', 'VAL-E003');
      await refused(http.get(`${M}/grains?grain_type=nonsense`), 'MEM-E005');
      const page = await http.get(`${M}/grains?limit=9999&offset=1`);
      assert.deepEqual([page.grains.length, page.total, page.next_cursor], [2, 3, null]);
      const { next_cursor: cursor } = await http.get(`${M}/grains?limit=1`);
      await refused(http.get(`/memories?cursor=${encodeURIComponent(cursor)}`), 'VAL-E004');
    });

    test('H6 returns versions, H7 returns bytes with their tag', async () => {
      const [http, M] = [client(), await place()];
      const { blob_hash: old } = await http.post(`${M}/add`, BELIEF);
      const { new_hash: tip } = await http.post(`${M}/supersede`, { blob_hash: old, object: 'milk' });
      const first = await http.get(`${M}/grains/${old}`);
      assert.deepEqual([first.version_status, first.superseded_by, first.supersedes], ['superseded', tip, undefined]);
      assert.equal(first.fields.superseded_by, tip);
      const second = await http.get(`${M}/grains/${tip}`);
      assert.deepEqual([second.version_status, second.superseded_by, second.supersedes], ['current', undefined, old]);
      const raw = await http.ask('GET', `${M}/grains/${tip}/raw`);
      assert.equal(raw.bytes.length, second.size_bytes);
      for (const tag of [`"${tip}"`, `W/"${tip}"`, `"x", "${tip}"`, '*']) {
        const unchanged = await http.ask('GET', `${M}/grains/${tip}/raw`, { headers: { 'if-none-match': tag } });
        assert.deepEqual([unchanged.status, unchanged.bytes.length], [304, 0], tag);
      }
      const other = await http.ask('GET', `${M}/grains/${tip}/raw`, { headers: { 'if-none-match': '"x"' } });
      assert.equal(other.status, 200);
      const head = await http.ask('HEAD', `${M}/grains/${tip}/raw`);
      assert.deepEqual([head.status, head.bytes.length, head.headers.get('etag')], [200, 0, `"${tip}"`]);
    });

    test('H10 accepts the old hash under three names, flat or nested', async () => {
      const [http, M] = [client(), await place()];
      let { blob_hash: tip } = await http.post(`${M}/add`, BELIEF);
      for (const [at, name] of ['blob_hash', 'old_hash', 'hash'].entries()) {
        const body = at === 1 ? { fields: { object: `o${at}` } } : { object: `o${at}` };
        const answer = await http.post(`${M}/supersede`, { [name]: tip, ...body, grain_type: '', reason: 'better' });
        assert.deepEqual([answer.superseded, answer.status, answer.new_hash], [tip, 'superseded', answer.blob_hash]);
        tip = answer.new_hash;
        assert.equal((await http.get(`${M}/grains/${tip}`)).fields.object, `o${at}`);
      }
      const missing = await refused(http.post(`${M}/supersede`, { object: 'x' }), 'VAL-E003');
      assert.match(missing.message, /missing field `blob_hash`/);
    });

    test('H11 requires numeric deltas and a grain', async () => {
      const [http, M] = [client(), await place()];
      const { blob_hash } = await http.post(`${M}/add`, { ...BELIEF, n: 1 });
      assert.match((await refused(http.post(`${M}/accumulate`, { blob_hash }), 'VAL-E003')).message, /`deltas`/);
      for (const deltas of [[], 'x', { n: 'x' }, { n: null }, { n: [1] }])
        await refused(http.post(`${M}/accumulate`, { blob_hash, deltas }), 'VAL-E003');
      await refused(http.post(`${M}/accumulate`, { deltas: { n: 1 } }), 'VAL-E003', 'VAL-E001');
      await refused(http.post(`${M}/accumulate`, { subject: 'Ada', deltas: { n: 1 } }), 'VAL-E003', 'VAL-E001');
      const answer = await http.post(`${M}/accumulate`, { subject: 'Ada', relation: 'likes', deltas: { n: 2 } });
      assert.deepEqual([answer.old_hash, answer.applied], [blob_hash, [{ field: 'n', old: 1, new: 3 }]]);
    });

    test('H12 requires a target and the right to erase', async () => {
      const [http, M] = [client(), await place()];
      await refused(http.post(`${M}/forget`, {}), 'VAL-E001', 'VAL-E003');
      await refused(http.post(`${M}/forget`, { reason: 'x' }), 'VAL-E001', 'VAL-E003');
      const { blob_hash } = await http.post(`${M}/add`, { ...BELIEF, user_id: 'ada' });
      const many = await http.post(`${M}/forget`, { hashes: ['f'.repeat(64)] });
      assert.deepEqual([many.deleted, many.not_found], [0, ['f'.repeat(64)]]);
      const { raw_key } = await http.post('/auth/keys', { scopes: ['read', 'write'] });
      const writer = http.with(raw_key);
      await refused(writer.post(`${M}/forget`, { user_id: 'ada' }), 'AUT-E001');
      const other = await writer.post(`${M}/forget`, { hashes: [blob_hash], user_id: 'bob' });
      assert.deepEqual([other.deleted, other.not_found], [0, [blob_hash]]);
      const own = await writer.post(`${M}/forget`, { hash: blob_hash, user_id: 'ada', reason: 'asked to' });
      assert.deepEqual(own.hashes, [blob_hash]);
      const proof = await http.post(`${M}/forget`, { user_id: 'ada' });
      assert.deepEqual(Object.keys(proof).toSorted(), [
        'audit_entry_hash',
        'count',
        'key_fingerprint',
        'status',
        'timestamp',
        'user_id',
      ]);
    });

    test('H92 and H93: an exported memory imports unchanged', async () => {
      const [http, M, copy] = [client(), await place(), await place()];
      const { blob_hash: old } = await http.post(`${M}/add`, { ...BELIEF, namespace: 'one' });
      await http.post(`${M}/supersede`, { blob_hash: old, object: 'milk' });
      await http.post(`${M}/batch-add`, {
        grains: [{ grain_type: 'event', fields: { content: 'x', namespace: 'two' } }],
      });
      const { audit_entries: before } = await http.get(`${M}/stats`);
      const file = await http.ask('GET', `${M}/export-file`);
      assert.equal((await http.get(`${M}/stats`)).audit_entries, before + 1);
      await http.post(`${M}/flush`, {});
      assert.equal((await http.get(`${M}/stats`)).audit_entries, before + 2);
      assert.equal(file.status, 200);
      assert.equal(file.headers.get('content-type'), 'application/octet-stream');
      assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="[^"]+\.mg"$/);
      assert.deepEqual([...file.bytes.subarray(0, 3)], [0x4d, 0x47, 0x01]);
      const came = await upload(copy, file.bytes);
      assert.deepEqual([came.imported, came.duplicates, came.errors, came.hashes.length], [3, 0, [], 3]);
      const again = await upload(copy, file.bytes);
      assert.deepEqual([again.imported, again.duplicates], [0, 3]);
      assert.deepEqual((await http.ask('GET', `${copy}/export-file`)).bytes, file.bytes);
      const { versions } = (await http.post(`${copy}/app/exec`, { command: 'history', args: { hash: old } })).result;
      assert.equal(versions.length, 2);

      const one = await http.ask('GET', `${M}/export-file?namespace=one&include_superseded=false`);
      assert.equal((await upload(await place(), one.bytes)).imported, 1);
      const events = await http.ask('GET', `${M}/export-file?grain_type=event`);
      assert.equal((await upload(await place(), events.bytes)).imported, 1);
      const raw = await http.ask('GET', `${M}/grains/${old}/raw`);
      assert.deepEqual((await upload(await place(), raw.bytes)).hashes, [old], 'one bare blob is a file too');

      const broken = Uint8Array.from(file.bytes);
      broken[broken.length - 40]! ^= 1;
      await refused(upload(await place(), broken), 'FMT-E003', 'FMT-E001');
      await refused(upload(await place(), new TextEncoder().encode('not a file')), 'FMT-E001');
      await refused(upload(await place(), new Uint8Array(0)), 'FMT-E001');
      const form = new FormData();
      form.append('other', new Blob(['x']), 'x.mg');
      await refused(http.call('POST', `${M}/import-file`, { body: form }), 'VAL-E002', 'VAL-E003');
      await refused(http.post(`${M}/import-file`, { file: 'x' }), 'VAL-E006');

      async function upload(path: string, bytes: Uint8Array) {
        const upload = new FormData();
        upload.append('file', new Blob([Uint8Array.from(bytes)]), 'memory.mg');
        return http.call('POST', `${path}/import-file`, { body: upload });
      }
    });

    test('H14: history, verify_audit_chain, rebuild_indexes, compact, rotate_keys and help', async () => {
      const [http, M] = [client(), await place()];
      const { blob_hash } = await http.post(`${M}/add`, BELIEF);
      const exec = async (command: string, args?: object) => {
        const answer = await http.post(`${M}/app/exec`, { command, ...(args === undefined ? {} : { args }) });
        assert.deepEqual(
          [answer.command, answer.ok, Number.isInteger(answer.execution_time_ms)],
          [command, true, true],
        );
        return answer.result;
      };
      const { commands } = await exec('help');
      for (const command of ['help', 'history', 'verify_audit_chain', 'rebuild_indexes', 'compact', 'rotate_keys'])
        assert.ok(JSON.stringify(commands).includes(command), command);
      assert.equal((await exec('history', { hash: blob_hash })).versions[0].relation, 'original');
      const rebuilt = await exec('rebuild_indexes');
      assert.deepEqual([rebuilt.grains_scanned, rebuilt.errors], [1, 0]);
      assert.ok(Number.isInteger(rebuilt.elapsed_ms) && Number.isInteger(rebuilt.fts_indexed));
      assert.ok(Number.isInteger((await exec('compact')).reclaimed_bytes));
      const rotated = await exec('rotate_keys', { scope: 'memory' });
      assert.match(rotated.fingerprint, /^[0-9a-f]{16}$/);
      assert.equal((await http.post(`${M}/recall`, { query: 'tea' })).results[0].hash, blob_hash);
      const { valid, checked, first_bad_seq } = await exec('verify_audit_chain', { limit: 1000 });
      assert.deepEqual(
        [valid, checked, first_bad_seq],
        [true, (await http.get(`${M}/stats`)).audit_entries, undefined],
      );
      await refused(exec('dance'), 'EXE-E001');
      await refused(http.post(`${M}/app/exec`, {}), 'VAL-E003');
      await refused(exec('history', {}), 'VAL-E003');
      await refused(exec('rotate_keys', { scope: 'everything' }), 'VAL-E001', 'VAL-E003');
      const { raw_key } = await http.post('/auth/keys', { scopes: ['read', 'write'] });
      const writer = http.with(raw_key);
      for (const command of ['rebuild_indexes', 'compact', 'rotate_keys'])
        await refused(writer.post(`${M}/app/exec`, { command, args: { scope: 'memory' } }), 'AUT-E001');
      assert.equal((await exec('harness_templates', {})).templates.length, 7);
      for (const command of ['restrict', 'unrestrict', 'forget_user', 'cdc_read', 'authz_list'])
        await refused(writer.post(`${M}/app/exec`, { command }), 'AUT-E001');
    });
  });
}
