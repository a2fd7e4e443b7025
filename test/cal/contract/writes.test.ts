// Section 7.11 of the contract: writing statements, on a server that allows them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refused } from '../../conformance/contract.ts';
import { HttpClient } from '../../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import type { ParsedJson } from './contract.ts';

let server: TestServer;
let client: HttpClient;
let memory = '';
let memories = 0;
before(async () => {
  server = await startTestServer({ calTier1: 'true', calStrict: 'true' });
  client = new HttpClient(server.http, server.key);
});
after(async () => {
  await server.close();
  assert.deepEqual(server.errors, []);
});

async function fresh(): Promise<void> {
  memories += 1;
  memory = `writes-${memories}`;
  await client.post('/memories', { id: memory });
}

async function run(query: string, headers: Readonly<Record<string, string>> = {}): Promise<ParsedJson> {
  const path = `/memories/${memory}/app/exec`;
  const { result } = await client.post(path, { command: 'cal', args: { query } }, { headers });
  return { ...result.result, statement_type: result.statement_type, warnings: result.warnings };
}

const fields = async (query: string): Promise<ParsedJson> => (await run(query))['grains'][0].fields;

test('a goal is added with either vocabulary of states, and reads back in both', async () => {
  await fresh();
  const set = (object: string, more: string) =>
    `ADD goal SET subject = "a" SET relation = "mg:intends" SET object = "${object}" ${more} REASON "r"`;
  for (const [word, stored] of [
    ['active', 'active'],
    ['blocked', 'suspended'],
    ['completed', 'satisfied'],
    ['abandoned', 'failed'],
    ['suspended', 'suspended'],
  ]) {
    const { hash, type, statement_type, _cal } = await run(set(`be ${word}`, `SET goal_state = "${word}"`));
    assert.deepEqual([type, statement_type, _cal.tier], ['added', 'add', 1]);
    assert.equal((await fields(`RECALL goals WHERE hash = ${hash}`))['goal_state'], stored);
    assert.equal((await run(`RECALL goals WHERE hash = ${hash} AND goal_state = "${word}"`))['total'], 1);
  }
  const { hash } = await run(set('be first', ''));
  const later = await run(
    set('be later', `SET depends_on = ${hash} SET deadline = "2031-01-02" SET assigned_agent = "x"`),
  );
  const stored = await fields(`RECALL goals WHERE depends_on = ${hash}`);
  assert.equal(stored['object'], 'be later');
  assert.deepEqual(stored['depends_on'], [hash.slice('sha256:'.length)]);
  assert.equal(stored['deadline'], Date.UTC(2031, 0, 2) / 1000);
  assert.equal((await run(`RECALL goals WHERE hash = ${later['hash']} AND assigned_agent = "x"`))['total'], 1);
});

test('an observation is added with its observer, and is never superseded', async () => {
  await fresh();
  const { hash } = await run(
    'ADD observation SET subject = "door" SET relation = "mg:perceives" SET object = "open" SET observer_id = "cam" SET observer_type = "camera" BECAUSE "seen"',
  );
  assert.equal((await run('RECALL observations WHERE observer_id = "cam" AND observer_type = "camera"'))['total'], 1);
  const error = await refused(run(`SUPERSEDE ${hash} SET object = "shut" REASON "r"`), 'CAL-E042');
  assert.match(error.message, /observation/);
  await refused(run(`REVERT ${hash} REASON "r"`), 'CAL-E042');
});

test('a new version keeps unset fields, and a revert restores the version before the named one', async () => {
  await fresh();
  const first = (
    await run(
      'ADD belief SET subject = "s" SET relation = "r" SET object = "one" SET confidence = 0.5 SET importance = 0.25 SET tags = ["x"] REASON "r"',
    )
  )['hash'];
  const reply = await run(`SUPERSEDE ${first} SET object = "two" SET tags = ["y"] REASON "r"`);
  assert.deepEqual([reply['type'], reply['old_hash']], ['superseded', first]);
  const second = reply['new_hash'];
  const third = (await run(`SUPERSEDE ${second} SET confidence = 0.75 REASON "r"`))['new_hash'];
  const now = await fields('RECALL beliefs');
  assert.deepEqual([now['object'], now['confidence'], now['importance'], now['tags']], ['two', 0.75, 0.25, ['y']]);

  const reverted = await run(`REVERT ${second} REASON "r"`);
  assert.deepEqual(
    [reverted['type'], reverted['reverted_hash'], reverted['restored_from']],
    ['reverted', second, first],
  );
  const again = await fields('RECALL beliefs');
  assert.deepEqual([again['object'], again['confidence'], again['tags']], ['one', 0.5, ['x']]);
  assert.deepEqual(
    (await run(`HISTORY ${first}`))['versions'].map(({ hash }: ParsedJson) => hash),
    [reverted['new_hash'], third, second, first],
  );
  await refused(run(`SUPERSEDE ${first} SET object = "late" REASON "r"`), 'CAL-E040');
  await refused(run(`REVERT ${first} REASON "r"`), 'CAL-E041');
});

test('a revert restores and removes a field of any name', async (t) => {
  // A server of its own: reverts are counted by the minute.
  const own = await startTestServer({ calTier1: 'true' });
  t.after(() => own.close());
  const http = new HttpClient(own.http, own.key);
  const path = '/memories/default';
  const revert = async (hash: string): Promise<string> => {
    const args = { query: `REVERT sha256:${hash} REASON "r"` };
    const { result } = await http.post(`${path}/app/exec`, { command: 'cal', args });
    return result.result.new_hash.slice('sha256:'.length);
  };
  const ofProto = (text: string): unknown => JSON.parse(`{"__proto__":${text}}`);
  const said = { subject: 's', relation: 'r', object: 'one' };
  const shown = async (): Promise<unknown> => {
    const { grains } = await http.get(`${path}/grains?grain_type=belief`);
    return Object.getOwnPropertyDescriptor(grains[0].fields, '__proto__')?.value;
  };
  const first = { grain_type: 'belief', fields: Object.assign(ofProto('{"x":1}') as object, said) };
  const { blob_hash: hash } = await http.post(`${path}/add`, first);
  const { new_hash: second } = await http.post(`${path}/supersede`, { blob_hash: hash, fields: { object: 'two' } });
  assert.deepEqual(await shown(), { x: 1 });
  const { new_hash: third } = await http.post(`${path}/supersede`, { blob_hash: second, fields: ofProto('null') });
  assert.equal(await shown(), undefined);
  const fourth = await revert(third);
  assert.deepEqual(await shown(), { x: 1 });
  await revert(fourth);
  assert.equal(await shown(), undefined);
});

test('a bound session writes within its binding, and finds no target elsewhere', async () => {
  await fresh();
  const bound = { 'x-namespace': 'there', 'x-user-id': 'ann' };
  const { hash } = await run(
    'ADD belief SET subject = $current_user_id SET relation = "r" SET object = "o" REASON "r"',
    bound,
  );
  const mine = await fields(`RECALL beliefs WHERE hash = ${hash}`);
  assert.deepEqual([mine['subject'], mine['namespace'], mine['user_id']], ['ann', 'there', 'ann']);
  for (const headers of [{ 'x-namespace': 'elsewhere' }, { 'x-namespace': 'there', 'x-user-id': 'ben' }]) {
    await refused(run(`SUPERSEDE ${hash} SET object = "p" REASON "r"`, headers), 'CAL-E046');
    await refused(run(`REVERT ${hash} REASON "r"`, headers), 'CAL-E046');
  }
  await refused(run(`SUPERSEDE sha256:${'0'.repeat(64)} SET object = "p" REASON "r"`), 'CAL-E046');
});

test('EXPLAIN of a write does not write, and reports that it could', async () => {
  await fresh();
  const { plan } = await run('EXPLAIN ADD belief SET subject = "s" SET relation = "r" SET object = "o" REASON "r"');
  assert.deepEqual([plan.tier, plan.tier1_enabled], [1, true]);
  assert.equal((await run('RECALL beliefs | COUNT'))['count'], 0);
});

const TRIPLE = 'SET subject = "s" SET relation = "r" SET object = "o"';

test('E020: an invalid value is reported like any other, with a suggestion and its position', async () => {
  await fresh();
  for (const [field, value, query] of [
    ['subject', '""', 'ADD belief SET subject = "" SET relation = "r" SET object = "o" REASON "r"'],
    ['object', '""', 'ADD goal SET subject = "s" SET relation = "r" SET object = "" REASON "r"'],
    ['tags', `["${'t'.repeat(200)}"]`, `ADD belief ${TRIPLE} SET tags = ["${'t'.repeat(200)}"] REASON "r"`],
    ['object', '""', 'ADD belief SET subject = "s" SET relation = "r" SET object = "" REASON "r"'],
  ] as const) {
    const answer = await fetch(`${server.http}/api/memories/${memory}/app/exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ command: 'cal', args: { query } }),
    });
    const { code, suggestion, position } = ((await answer.json()) as ParsedJson)['error'];
    assert.deepEqual([answer.status, code], [400, 'CAL-E020']);
    assert.match(suggestion, new RegExp(field));
    assert.equal(query.slice(position.start, position.end), value);
  }
  const { hash } = await run('ADD belief SET subject = "s" SET relation = "r" SET object = "o" REASON "r"');
  await refused(run(`SUPERSEDE ${hash} SET object = "" REASON "r"`), 'CAL-E020');
});
