// How a recall and a recall-chain read the operators of a question, by each way to say so, over HTTP and gRPC.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Body, Library } from './library.ts';

let library: Library;
before(async () => {
  library = await Library.open();
});
after(() => library.close());

type Headers = Readonly<Record<string, string>>;
const QUOTED = 'who said "blue kettle"';
const SOME_UNMET = /^1 of the 9 hits meet the operators of the query/;

async function found(path: string, body: Body, headers: Headers = {}): Promise<[names: string[], warnings: string]> {
  const { status, json } = await library.http(path, { limit: 50, ...body }, headers);
  assert.equal(status, 200, JSON.stringify(json));
  return [library.namesIn(json), (json.warnings ?? []).join()];
}

test('query_mode and x-query-mode make operators conditions, and the body goes first', async () => {
  const operators = { 'x-query-mode': 'operators' };
  assert.deepEqual(await found('recall', { query: QUOTED, query_mode: 'operators' }), [['whistle'], '']);
  assert.deepEqual(await found('recall', { query: QUOTED }, operators), [['whistle'], '']);
  for (const [body, headers] of [
    [{}, {}],
    [{ query_mode: 'natural' }, operators],
    [{}, { 'x-query-mode': 'natural' }],
    [{}, { 'x-query-mode': '' }],
  ] as const) {
    const [names, warnings] = await found('recall', { query: QUOTED, ...body }, headers);
    assert.deepEqual([names[0], names.length], ['whistle', 9]);
    assert.match(warnings, SOME_UNMET);
  }
});

test('a chain reads the operators of its parts in the same way', async () => {
  const question = '"blue kettle"';
  for (const [body, headers] of [
    [{ query_mode: 'operators' }, {}],
    [{}, { 'x-query-mode': 'operators' }],
  ] as const)
    assert.deepEqual((await found('recall-chain', { question, ...body }, headers))[0], ['whistle']);
  const [names, warnings] = await found('recall-chain', { question, params: { limit: 50 } });
  assert.deepEqual([names[0], names.length], ['whistle', 9]);
  assert.match(warnings, SOME_UNMET);
});

test('gRPC takes the mode as metadata', async () => {
  const asked = (headers: Headers) => library.rpc('Recall', { query: QUOTED, limit: 50 }, headers);
  const { json: conditions } = await asked({ 'x-query-mode': 'operators' });
  assert.deepEqual([library.namesIn(conditions), conditions.warnings], [['whistle'], []]);
  const { json: wishes } = await asked({});
  assert.equal(wishes.results.length, 9);
  assert.match(wishes.warnings.join(), SOME_UNMET);
  assert.equal((await asked({ 'x-query-mode': 'loose' })).code, 'VAL-E001');
});

test('another mode is refused', async () => {
  for (const [path, question] of [
    ['recall', { query: QUOTED }],
    ['recall-chain', { question: QUOTED }],
  ] as const) {
    const inBody = await library.http(path, { ...question, query_mode: 'loose' });
    assert.deepEqual([inBody.status, inBody.code], [400, 'VAL-E001']);
    assert.match(inBody.json.error.message, /`query_mode` must be one of natural, operators$/);
    const inHeader = await library.http(path, question, { 'x-query-mode': 'loose' });
    assert.deepEqual([inHeader.status, inHeader.code], [400, 'VAL-E001']);
  }
});
