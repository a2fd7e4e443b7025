// The grain operations through their HTTP faces, over engines with in-memory logs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EngineError, type ErrorCode } from '../../../engine/base/errors.ts';
import { ADMIN, ask, makeParts, type Parts, sha256 } from '../../testing/parts.ts';
import { modelFieldWarnings } from '../recall/fields.ts';
import { recallQuery } from '../recall/query.ts';
import { COMMON_FIELDS, fieldsOf } from './fields.ts';

const BELIEF = { subject: 'ann', relation: 'likes', object: 'tea' };
/** Defaults that the engine adds to a belief. */
const DEFAULTS = {
  confidence: 1,
  created_at: 1_700_000_000,
  namespace: 'default',
  source_type: 'user',
  tags: [],
  temporal_type: 'state',
};
const M = '/memories/default';

const post = (parts: Parts, path: string, json: unknown) => ask(parts, 'POST', `${M}/${path}`, { key: ADMIN, json });
const fieldsAt = async (parts: Parts, hash: unknown) =>
  (await ask(parts, 'GET', `${M}/grains/${hash}`, { key: ADMIN })).body['fields'];

test('a belief may be flat or nested, and the outer value wins', async () => {
  const parts = await makeParts();
  const flat = await post(parts, 'add', { ...BELIEF, mood: 'calm', purpose: 'x', options: {} });
  assert.deepEqual(await fieldsAt(parts, flat.body['blob_hash']), { ...BELIEF, ...DEFAULTS, mood: 'calm' });
  assert.equal(flat.body['status'], 'added');
  const nested = await post(parts, 'add', {
    grain_type: 'belief',
    fields: { ...BELIEF, object: 'milk', extra: 1, tags: ['in'] },
    tags: ['out'],
    extra: 2,
    namespace: 'n',
    stranger: 'ignored',
  });
  assert.deepEqual(await fieldsAt(parts, nested.body['blob_hash']), {
    ...BELIEF,
    ...DEFAULTS,
    object: 'milk',
    extra: 2,
    tags: ['out'],
    namespace: 'n',
  });
  const again = await post(parts, 'add', { ...BELIEF, mood: 'calm' });
  assert.deepEqual(again.body, { blob_hash: flat.body['blob_hash'], status: 'added', duplicate: true });
});

test('outer values win over inner ones wherever both or a common field stand', () => {
  const key = fc.oneof(fc.constantFrom(...COMMON_FIELDS), fc.constantFrom('subject', 'x', 'y', '__proto__'));
  const record = fc.array(fc.tuple(key, fc.nat(9)), { maxLength: 6 }).map((entries) => Object.fromEntries(entries));
  fc.assert(
    fc.property(record, record, (outer, inner) => {
      const fields = fieldsOf({ ...outer, fields: inner }, new Set(['grain_type']));
      for (const name of new Set([...Object.keys(outer), ...Object.keys(inner)])) {
        const isOuter = Object.hasOwn(outer, name) && (COMMON_FIELDS.has(name) || Object.hasOwn(inner, name));
        const wanted = isOuter ? outer[name] : Object.hasOwn(inner, name) ? inner[name] : undefined;
        assert.equal(Object.hasOwn(fields, name) ? fields[name] : undefined, wanted, name);
      }
    }),
  );
});

test('a missing or mistyped field is named as the caller wrote it', async () => {
  const parts = await makeParts();
  for (const [path, json, code, text] of [
    ['add', { subject: 'a', relation: 'b' }, 'VAL-E003', 'missing field `object`'],
    ['add', { ...BELIEF, subject: null }, 'VAL-E003', 'missing field `subject`'],
    ['add', { ...BELIEF, subject: 5 }, 'VAL-E003', 'invalid type'],
    ['add', { fields: 5 }, 'VAL-E003', 'invalid type'],
    ['add', [], 'VAL-E003', 'invalid type'],
    ['add', undefined, 'VAL-E002', 'JSON'],
    ['add', { ...BELIEF, options: { sync: 'yes' } }, 'VAL-E003', 'options.sync'],
    ['add', { grain_type: 'event', content: 'x' }, 'VAL-E003', 'missing field `fields`'],
    ['add', { grain_type: 'nothing', fields: {} }, 'MEM-E005', 'unknown grain type'],
    ['batch-add', {}, 'VAL-E003', 'missing field `grains`'],
    ['batch-add', { grains: {} }, 'VAL-E003', 'invalid type'],
    ['batch-add', { grains: Array.from({ length: 1001 }, () => ({})) }, 'LIM-E003', '1000'],
    ['search', {}, 'VAL-E003', 'missing field `query`'],
    ['recall', { time_start: 'now' }, 'VAL-E003', 'time_start'],
    ['recall', { time_start: 5, time_end: 4 }, 'VAL-E001', 'time_start is after time_end'],
    ['recall', { time_end: 1_700_000_000_000 }, 'VAL-E001', 'milliseconds'],
    ['recall', { recency_weight: 2 }, 'VAL-E001', 'recency_weight'],
    ['recall', { temporal_field: 'then' }, 'VAL-E001', 'temporal_field'],
    ['recall', { grain_type: 'then' }, 'MEM-E005', 'then'],
    ['supersede', { object: 'x' }, 'VAL-E003', 'missing field `blob_hash`'],
    ['supersede', { blob_hash: 'x' }, 'VAL-E001', 'old_hash'],
    ['accumulate', { blob_hash: sha256('x') }, 'VAL-E003', 'missing field `deltas`'],
    ['accumulate', { deltas: { n: 'x' }, subject: 'a', relation: 'b' }, 'VAL-E003', 'deltas.n'],
    ['accumulate', { deltas: { n: 1 }, subject: 'a' }, 'VAL-E003', 'missing field `relation`'],
    ['forget', {}, 'VAL-E001', 'blob_hash, hashes, subject, user_id'],
    ['forget', { blob_hash: sha256('nothing') }, 'MEM-E001', ''],
    ['app/exec', {}, 'VAL-E003', 'missing field `command`'],
    ['app/exec', { command: 'dance' }, 'EXE-E001', 'dance'],
    ['app/exec', { command: 'history', args: {} }, 'VAL-E003', 'missing field `hash`'],
  ] as const) {
    const answer = await post(parts, path, json);
    assert.equal(answer.body['code'], code, `${path} ${JSON.stringify(json)}`);
    assert.ok(String(answer.body['message']).includes(text), String(answer.body['message']));
  }
});

test('a batch adds valid items and reports invalid ones by index', async () => {
  const parts = await makeParts();
  await post(parts, 'add', { ...BELIEF, namespace: 'shared', tags: ['t'] });
  const answer = await post(parts, 'batch-add', {
    namespace: 'shared',
    tags: ['t'],
    grains: [
      { grain_type: 'belief', fields: BELIEF },
      { grain_type: 'nope', fields: {} },
      { fields: {} },
      { grain_type: 'event' },
      'text',
      { grain_type: 'event', fields: { content: 'x', tags: ['own'] }, namespace: 'mine' },
      { grain_type: 'event', fields: { refuse: true } },
    ],
  });
  const { added, errors, duplicates, ...totals } = answer.body as {
    added: { index: number; blob_hash: string }[];
    errors: { index: number; code: string }[];
    duplicates: { index: number }[];
  };
  assert.deepEqual(totals, { total_added: 1, total_errors: 5, total_duplicates: 1 });
  assert.deepEqual(
    added.map(({ index }) => index),
    [5],
  );
  assert.deepEqual(
    duplicates.map(({ index }) => index),
    [0],
  );
  assert.deepEqual(
    errors.map(({ index, code }) => [index, code]),
    [
      [1, 'MEM-E005'],
      [2, 'VAL-E003'],
      [3, 'VAL-E003'],
      [4, 'VAL-E003'],
      [6, 'VAL-E003'],
    ],
  );
  assert.deepEqual(await fieldsAt(parts, added[0]?.blob_hash), {
    ...DEFAULTS,
    temporal_type: 'event',
    content: 'x',
    tags: ['own', 't'],
    namespace: 'mine',
  });
});

test('a new version accepts fields flat or nested, keeps nulls, and forwards its reason', async () => {
  const parts = await makeParts();
  const { blob_hash: hash } = (await post(parts, 'add', BELIEF)).body;
  const answer = await post(parts, 'supersede', {
    blob_hash: hash,
    object: 'milk',
    mood: null,
    reason: 'tired of tea',
  });
  assert.equal(answer.body['superseded'], hash);
  assert.equal(answer.body['blob_hash'], answer.body['new_hash']);
  const call = parts.engines.flatMap(({ calls }) => calls).find(({ method }) => method === 'supersede');
  assert.equal(call?.context.reason, 'tired of tea');
  assert.equal((await post(parts, 'supersede', { hash, object: 'x' })).body['code'], 'MEM-E002');
  const { versions } = (await post(parts, 'app/exec', { command: 'history', args: { hash } })).body['result'] as {
    versions: { relation: string; grain_type: string }[];
  };
  assert.deepEqual(
    versions.map(({ relation }) => relation),
    ['original', 'supersedes'],
  );
});

test('accumulate finds its grain by hash or by triple', async () => {
  const parts = await makeParts();
  const { blob_hash: hash } = (await post(parts, 'add', { ...BELIEF, cups: 1 })).body;
  const first = await post(parts, 'accumulate', { blob_hash: hash, deltas: { cups: 2 }, set: { mood: 'awake' } });
  assert.deepEqual(first.body['applied'], [{ field: 'cups', old: 1, new: 3 }]);
  assert.equal(first.body['old_hash'], hash);
  assert.equal(first.body['status'], 'accumulated');
  const second = await post(parts, 'accumulate', { subject: 'ann', relation: 'likes', deltas: { cups: 1 } });
  assert.deepEqual(second.body['applied'], [{ field: 'cups', old: 3, new: 4 }]);
});

test('forget accepts one hash, several, a subject or a user', async () => {
  const parts = await makeParts();
  const hashes: unknown[] = [];
  for (const object of ['a', 'b', 'c'])
    hashes.push((await post(parts, 'add', { ...BELIEF, object })).body['blob_hash']);
  const none = sha256('none');
  assert.deepEqual((await post(parts, 'forget', { hash: hashes[0] })).body, {
    deleted: 1,
    hashes: [hashes[0]],
    not_found: [],
    status: 'forgotten',
  });
  assert.deepEqual((await post(parts, 'forget', { hashes: [hashes[1], none] })).body['not_found'], [none]);
  assert.equal((await post(parts, 'forget', { hashes: [none] })).status, 200);
  assert.equal((await post(parts, 'forget', { subject: 'ann' })).body['deleted'], 1);
  assert.equal((await post(parts, 'forget', { subject: 'ann' })).body['deleted'], 0);
  await post(parts, 'add', { ...BELIEF, user_id: 'u' });
  const erased = (await post(parts, 'forget', { user_id: 'u' })).body;
  assert.equal(erased['count'], 1);
  assert.equal(erased['status'], 'erased');
  assert.match(String(erased['key_fingerprint']), /^[0-9a-f]{16}$/);
});

test('options of later builds cause a warning', async () => {
  const parts = await makeParts();
  const answer = await post(parts, 'add', { ...BELIEF, options: { auto_relate: true, extract_memories: false } });
  assert.deepEqual(answer.body['warnings'], ['auto_relate was ignored: there is no embedder']);
});

test('a recall answers with the members of the contract, and warns about what it did not do', async () => {
  const parts = await makeParts();
  await post(parts, 'add', BELIEF);
  const { results, ...rest } = (
    await post(parts, 'recall', { subject: 'ann', limit: 900, count_entities: true, hyde: true, rerank: false })
  ).body as { results: Record<string, unknown>[] };
  const { recall_id: recallId, ...shown } = rest as Record<string, unknown>;
  assert.match(String(recallId), /^[0-9a-f]{64}$/);
  assert.deepEqual(shown, {
    count: 1,
    total_candidates: 1,
    topic_coverage: null,
    warnings: ['limit 900 is treated as 500', 'hyde was ignored: it needs query'],
    entity_count: 1,
    entities: ['ann'],
  });
  const [hit] = results;
  assert.deepEqual(
    [hit?.['grain_type'], hit?.['type'], hit?.['hash'] === hit?.['blob_hash'], hit?.['recall_source']],
    ['belief', 'belief', true, 'primary'],
  );
});

test('a time phrase is combined with time_start and time_end, from the reference date on', () => {
  const spanOf = (input: Parameters<typeof recallQuery>[0]) => {
    const { createdFromMs, createdToMs } = recallQuery(input).query.filter;
    return [createdFromMs, createdToMs];
  };
  const [from, to] = [Date.parse('2024-02-01'), Date.parse('2024-03-01') - 1];
  assert.deepEqual(spanOf({ temporalExpr: '2024-02' }), [from, to]);
  assert.deepEqual(spanOf({ temporalExpr: 'since 2024-02' }), [from, undefined]);
  assert.deepEqual(spanOf({ temporalExpr: '2024-02', timeStart: from / 1000 + 60, timeEnd: 4_000_000_000 }), [
    from + 60_000,
    to,
  ]);
  const referenceDate = Date.parse('2024-03-15T12:00:00Z') / 1000;
  assert.deepEqual(spanOf({ temporalExpr: 'last month', referenceDate }), [from, to]);
  assert.deepEqual(modelFieldWarnings({ temporalExpr: 'last month', referenceDate }), []);
  const { query } = recallQuery({ temporalExpr: '2024-02', temporalField: 'event_date' });
  assert.deepEqual([query.filter.validFromMs, query.filter.createdFromMs], [from, undefined]);
  assert.throws(() => recallQuery({ temporalExpr: 'someday' }), { code: 'VAL-E001' });
});

test('HTTP accepts calendar times and no durations', async () => {
  const parts = await makeParts();
  const codeOf = async (phrase: string) => (await post(parts, 'recall', { temporal_expr: phrase })).body['code'];
  for (const phrase of ['last 7 days', '2 hours ago', 'since 3 weeks ago'])
    assert.equal(await codeOf(phrase), 'VAL-E001');
  for (const phrase of ['yesterday', 'last week', 'before 2024', 'Q1 2024', ''])
    assert.equal(await codeOf(phrase), undefined);
});

test('an aggregation counts old versions too', () => {
  assert.equal(recallQuery({ aggregationIntent: true, excludeSuperseded: true }).query.filter.includeSuperseded, true);
});

test('a recall passes its parameters to the shards', () => {
  assert.deepEqual(recallQuery({}).query, {
    filter: {},
    limit: 20,
    askedLimit: 20,
    candidateLimit: 100,
    structural: false,
  });
  assert.deepEqual(recallQuery({ query: '  tea ', limit: 100 }).query, {
    query: 'tea',
    filter: {},
    limit: 100,
    askedLimit: 100,
    candidateLimit: 500,
    structural: false,
  });
  const { query } = recallQuery({
    entity: 'ann',
    subject: 'dropped',
    timeStart: 1,
    timeEnd: 2,
    temporalField: 'both',
    tags: [],
    excludeTags: ['x'],
    excludeSuperseded: false,
    confidenceThreshold: 0,
  });
  assert.deepEqual(query.filter, {
    entity: 'ann',
    excludeTags: ['x'],
    confidenceMin: 0,
    includeSuperseded: true,
    eitherTime: { fromMs: 1000, toMs: 2999 },
  });
  assert.equal(query.structural, true);
  assert.deepEqual(recallQuery({ candidateLimit: 9999 }).warnings, ['candidate_limit 9999 is treated as 2500']);
});

test('a file for a purpose has no grain of a person who withdrew the consent for it', async () => {
  const parts = await makeParts();
  const overrides = { 'consent.on_read': true };
  await ask(parts, 'PUT', `${M}/policy`, { key: ADMIN, json: { overrides } });
  const { body } = await post(parts, 'add', { ...BELIEF, user_id: 'u1' });
  await post(parts, 'consent/revoke', { user_id: 'u1', purpose: 'research' });
  const grainsFor = async (purpose: string): Promise<number> => {
    const asked = { key: ADMIN, headers: { 'x-purpose': purpose } };
    const { reply } = await ask(parts, 'GET', `${M}/export-file`, asked);
    assert.ok(reply?.kind === 'stream');
    const pieces: Uint8Array[] = [];
    for await (const piece of reply.body) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces).readUInt32BE(4);
  };
  assert.ok(body['blob_hash'] !== undefined);
  const consents = 1;
  assert.deepEqual([await grainsFor('storage'), await grainsFor('research')], [1 + consents, 0]);
});

test('a memory is exported when nothing can be written, and not when its shard is busy', async () => {
  const exported = async (code: ErrorCode) => {
    const parts = await makeParts({ instead: { note: () => Promise.reject(new EngineError(code)) } });
    return ask(parts, 'GET', '/memories/default/export-file', { key: ADMIN });
  };
  assert.equal((await exported('STO-E001')).status, 200);
  assert.equal((await exported('LIM-E001')).body['code'], 'LIM-E001');
});
