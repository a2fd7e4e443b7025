import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../engine/grain/api/json-value.ts';
import { callTool } from './calls.ts';
import { type ApiRequest, offeredTools, type Session } from './session.ts';

const HASH = 'a'.repeat(64);

/** Calls a tool whose requests get this answer. Returns the text of its answer, and the requests. */
async function called(name: string, given: object, answer: JsonObject) {
  const requests: ApiRequest[] = [];
  const session: Session = {
    api: async (request) => {
      requests.push(request);
      return answer;
    },
    scope: async () => ({ memory: 'default' }),
    tools: offeredTools({}),
    readOnly: false,
  };
  const tool = session.tools.find((one) => one.name === name)!;
  return { ...(await callTool(session, tool, given)), requests };
}

test('the text of a page that is not the last one names the cursor of the next one', async () => {
  const version = { hash: HASH, text: 'Ada drinks tea', created_at: 1, relation: 'original' };
  const page = { versions: [version], next_cursor: 'abc' };
  const { text, structured } = await called('history', { hash: HASH }, { result: page });
  assert.match(text, /More: cursor abc/);
  assert.equal(structured['next_cursor'], 'abc');
  const last = await called('history', { hash: HASH }, { result: { versions: [version] } });
  assert.doesNotMatch(last.text, /More/);
  const grains = [{ hash: HASH, grain_type: 'belief', text: 'Ada drinks tea', created_at: 1 }];
  assert.match((await called('list', {}, { grains, next_cursor: 'def' })).text, /More: cursor def/);
});

test('the query of a context may be any text', async () => {
  const query = 'half \ud83d of a sign, "quotes", \\ and \u202eturned';
  const { requests } = await called('context', { query }, { result: { content: '' } });
  const { query: sent } = (requests[0]!.json as { readonly args: { readonly query: string } }).args;
  assert.ok(sent.includes('LIKE "half \ufffd of a sign, \\"quotes\\", \\\\ and turned"'), sent);
});

test('a text is known when a grain says the same, unless that was retracted', async () => {
  const hit = { hash: HASH, text: 'Ada drinks tea.', fields: { content: 'Ada drinks tea.' } };
  const known = await called('remember', { text: 'ada drinks  tea' }, { results: [hit] });
  assert.deepEqual([known.structured['status'], known.requests.length], ['already known', 1]);
  const fields = { ...hit.fields, verification_status: 'retracted' };
  const again = await called(
    'remember',
    { text: 'Ada drinks tea' },
    { results: [{ ...hit, fields }], source_hash: HASH },
  );
  assert.deepEqual([again.structured['status'], again.requests.length], ['stored', 2]);
});

test('a text of many marks costs linear time', async () => {
  const text = `${'!'.repeat(100_000)}x <${' '.repeat(100_000)}x e${'\u0301\u0323'.repeat(60_000)}`;
  const before = process.cpuUsage();
  const { requests } = await called('remember', { text }, { results: [], source_hash: HASH });
  assert.equal(requests.length, 2);
  await called('correct', { hash: HASH, fields: { content: text }, reason: 'wrong' }, { new_hash: HASH });
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 1_000_000, `${user + system} µs of CPU`);
});
