// The contract's search, chains and remember (H4, H8, H9, sections 8.10 to 8.12), over HTTP.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Body, Library, type ParsedJson, THEN } from './library.ts';

let library: Library;
before(async () => {
  library = await Library.open();
});
after(() => library.close());

async function posted(path: string, body: Body, headers: Readonly<Record<string, string>> = {}): Promise<ParsedJson> {
  const { status, json } = await library.http(path, body, headers);
  assert.equal(status, 200, `${JSON.stringify(body).slice(0, 200)}: ${JSON.stringify(json).slice(0, 300)}`);
  return json;
}

/** Bodies with their error codes. */
async function refuses(path: string, rows: readonly (readonly [code: string, body: Body])[]): Promise<void> {
  for (const [code, body] of rows)
    assert.equal((await library.http(path, body)).code, code, JSON.stringify(body).slice(0, 100));
}

test('search finds current grains by words only, within its conditions', async () => {
  const found = async (body: Body, headers = {}): Promise<string[]> =>
    library.namesIn(await posted('search', body, headers)).toSorted();
  assert.equal((await found({ query: 'kettle', limit: 0 })).length, 9);
  assert.deepEqual(await found({ query: 'kettle', namespace: 'chat' }), ['nice', 'whistle']);
  assert.deepEqual(await found({ query: 'kettle' }, { 'x-namespace': 'chat' }), ['nice', 'whistle']);
  assert.deepEqual(await found({ query: 'kettle', grain_type: 'goal' }), ['goal']);
  assert.deepEqual(await found({ query: 'lives', user_id: 'bob' }), ['bobParis']);
  assert.deepEqual(await found({ query: 'drinks tea' }), ['coffee']);
  assert.deepEqual(await found({ query: 'Milk' }), [], 'it has expired');
  assert.deepEqual(await found({ query: 'the of and' }), []);
  const { count, results, ...others } = await posted('search', { query: 'blue kettle kitchen', limit: 501 });
  assert.deepEqual(others, { warnings: ['limit 501 is treated as 500'] });
  assert.equal(count, results.length);
  assert.deepEqual([library.namesIn({ results })[0], results[0].score], ['whistle', 1]);
  await refuses('search', [
    ['VAL-E003', {}],
    ['VAL-E003', { query: 5 }],
    ['VAL-E001', { query: 'x', limit: -1 }],
    ['MEM-E005', { query: 'x', grain_type: 'fact' }],
  ]);
});

test('a chain applies its conditions to every part of the question', async () => {
  const question = 'Where does Ada live and where does Bob live?';
  const answer = await posted('recall-chain', { question });
  assert.deepEqual(answer.sub_queries, ['Where does Ada live', 'where does Bob live']);
  assert.deepEqual(
    answer.sub_results.map(({ query, count, results }: ParsedJson) => [query, count === results.length]),
    answer.sub_queries.map((query: string) => [query, true]),
  );
  assert.equal(answer.count, answer.results.length);
  assert.ok(answer.reasoning.length > 0);
  assert.deepEqual(library.namesIn(answer).slice(0, 3).toSorted(), ['bobParis', 'lyon', 'paris']);

  const ofBob = await posted('recall-chain', { query: question, params: { user_id: 'bob', limit: 1 } });
  assert.deepEqual(library.namesIn(ofBob), ['bobParis']);
  const few = await posted('recall-chain', { question: 'Who is Ada? Who is Bob? Who is Cara?', max_sub_queries: 2 });
  assert.equal(few.sub_queries.length, 2);
  const recent = { query: 'axolotl', params: { temporal_expr: 'last 7 days' } };
  assert.deepEqual(library.namesIn((await library.rpc('RecallChain', recent)).json), ['axolotl']);
  await refuses('recall-chain', [
    ['VAL-E003', {}],
    ['VAL-E003', { question: 'x', params: 'y' }],
    ['VAL-E001', { question: 'x', max_sub_queries: 1 }],
    ['VAL-E001', { question: 'x', max_sub_queries: 9 }],
    ['VAL-E001', recent],
    ['VAL-E001', { question: 'x', params: { recency_weight: 3 } }],
    ['MEM-E005', { question: 'x', params: { grain_type: 'fact' } }],
  ]);
});

test('remember keeps the text as an event with what came with it, and derives beliefs from it', async () => {
  const given = { namespace: 'notes', tags: ['a'], session_id: 's', source_type: 'agent', created_at: THEN };
  const answer = await posted('remember', {
    ...given,
    content: 'I live in Paris and I work at Acme.',
    user_id: 'zoe',
    confidence: 0.5,
    extract_mode: 'sync',
  });
  const { source_hash, blob_hash, extracted_hashes, extracted_count, ...others } = answer;
  assert.equal(source_hash, blob_hash);
  assert.equal(extracted_count, extracted_hashes.length);
  assert.deepEqual(others, {
    mode: 'sync',
    duplicates: [],
    warnings: [],
    source_forgotten: false,
    marker_status: 'done',
    status: 'remembered',
  });
  const { grain_type, fields } = await library.grain(source_hash);
  assert.equal(grain_type, 'event');
  for (const [name, value] of Object.entries({ ...given, user_id: 'zoe', confidence: 0.5 }))
    assert.deepEqual(fields[name], value, name);
  const beliefs = await Promise.all(extracted_hashes.map((hash: string) => library.grain(hash)));
  assert.deepEqual(
    beliefs.map((belief) => [belief.grain_type, belief.fields.object, belief.fields.confidence]),
    [
      ['belief', 'Paris', 0.5],
      ['belief', 'Acme', 0.5],
    ],
    'facts are not more confident than their source',
  );
  for (const belief of beliefs) {
    assert.equal(belief.fields.derived_from, source_hash);
    assert.equal(belief.fields.user_id, 'zoe');
    assert.equal(belief.fields.namespace, 'notes');
  }
});

test('remember is searchable at once, forgets its source on request, and rejects invalid input', async () => {
  const { mode, extracted_hashes, marker_status } = await posted('remember', { text: 'a recallable walnut' });
  assert.deepEqual([mode, extracted_hashes, marker_status], ['async', [], 'pending']);
  assert.equal((await library.recall({ query: 'walnut' })).json.count, 1);
  const plain = await posted('remember', { text: 'I like jam.', extract_mode: 'sync' });
  assert.equal((await library.grain(plain.extracted_hashes[0])).fields.confidence, 0.9);
  const gone = await posted('remember', { text: 'I was born in Oslo.', keep_source: false, extract_mode: 'sync' });
  assert.deepEqual([gone.source_forgotten, gone.extracted_count], [true, 1]);
  assert.equal((await library.grain(gone.source_hash)).error.code, 'MEM-E001');
  await refuses('remember', [
    ['VAL-E003', {}],
    ['VAL-E003', { text: 'x', tags: 'a' }],
    ['VAL-E001', { text: 'x', extract_mode: 'later' }],
    ['VAL-E001', { text: 'x', confidence: 2 }],
    ['LIM-E003', { text: 'x'.repeat(256 * 1024 + 1) }],
  ]);
});
