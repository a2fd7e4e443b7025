// Section 1.3 of the contract: a key bound to a namespace, or to a user in it, learns nothing about other data.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpClient } from '../../conformance/http-client.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { Contract, type ParsedJson } from './contract.ts';
import { CANARY } from './grains.ts';

let server: TestServer;
let loaded: Contract;
let home: HttpClient;
let ann: HttpClient;
before(async () => {
  server = await startTestServer({ calStrict: 'true' });
  const admin = new HttpClient(server.http, server.key);
  loaded = await Contract.load(admin);
  const keyOf = async (bound: object): Promise<HttpClient> => {
    const { raw_key: key } = await admin.post('/auth/keys', { scopes: ['read'], memory_id: loaded.memory, ...bound });
    return admin.with(key);
  };
  home = await keyOf({ namespace: 'home' });
  ann = await keyOf({ namespace: 'home', user_id: 'ann' });
});
after(async () => {
  await server.close();
  assert.deepEqual(server.errors, []);
});

async function ask(
  client: HttpClient,
  query: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ParsedJson> {
  const path = `/memories/${loaded.memory}/app/exec`;
  const json = { command: 'cal', args: { query: loaded.query(query) } };
  const reply = await client.ask('POST', path, { json, headers });
  return { status: reply.status, text: reply.text, ...reply.json?.result };
}

/** An unbound session would see the canary with each of them. */
const PROBES = [
  'RECALL LIMIT 1000',
  'RECALL IN "away" LIMIT 1000',
  'RECALL WHERE namespace = "away" LIMIT 1000',
  'RECALL beliefs IN "away" WHERE namespace = "away" AND subject = "alice"',
  `RECALL LIKE "CANARY"`,
  `RECALL ABOUT "CANARY"`,
  'RECALL events THREAD "s1"',
  'RECALL events THREAD FROM @canary2@',
  'RECALL WHERE hash = @canary1@',
  'RECALL goals | GROUP BY subject',
  'RECALL beliefs LIMIT 1000 | SUBJECTS',
  'RECALL beliefs LIMIT 1000 | OBJECTS',
  'RECALL WITH superseded LIMIT 1000 AS json',
  'HISTORY @canary5@',
  'HISTORY @canary4@',
  'HISTORY @dark@ DIFF @canary1@',
  `HISTORY IN "away" WHERE subject = "CANARY" AND relation = "lives_in"`,
  'EXISTS @canary1@',
  '(RECALL beliefs IN "away") UNION (RECALL goals IN "away")',
  'BATCH { a: RECALL beliefs IN "away", b: HISTORY @canary5@, c: EXISTS @canary4@ }',
  'COALESCE (RECALL IN "away" WHERE subject = "alice", RECALL beliefs IN "away")',
  'LET $x = RECALL beliefs IN "away" | SUBJECTS; RECALL goals WHERE subject IN ($x)',
  'RECALL goals WHERE subject IN (RECALL beliefs IN "away" | SUBJECTS)',
  'ASSEMBLE FROM (RECALL IN "away" LIMIT 1000) BUDGET 16000 tokens WITH superseded, progressive_disclosure(full)',
  'RECALL beliefs CONTRADICTIONS WITH contradiction_detection',
  'RECALL beliefs WHERE contradicted = false LIMIT 1000',
].map((query) => query.replaceAll('CANARY', CANARY));

for (const query of PROBES)
  test(`bound to home, and to ann there: ${query}`, async () => {
    // Answers repeat text of the query itself.
    const visible = (answer: ParsedJson): string =>
      JSON.stringify({ ...answer['result'], warnings: answer['warnings'] });
    for (const client of [home, ann]) {
      const answer = await ask(client, query);
      assert.ok(!visible(answer).includes(CANARY), visible(answer));
      const foreign = loaded.query('@canary1@ @canary2@ @canary3@ @canary5@').split(' ');
      const shown = (answer['result']?.grains ?? []).map(({ hash }: ParsedJson) => hash);
      assert.deepEqual(
        foreign.filter((hash) => shown.includes(hash)),
        [],
      );
    }
    for (const { fields } of (await ask(ann, query))['result']?.grains ?? []) assert.equal(fields.user_id, 'ann');
  });

test('missing grains and grains elsewhere give the same answer', async () => {
  const nowhere = `sha256:${'0'.repeat(64)}`;
  for (const query of [
    'EXISTS @canary1@',
    'HISTORY @canary1@',
    'HISTORY @dark@ DIFF @canary1@',
    'RECALL WHERE hash = @canary1@',
  ]) {
    const bare = (answer: ParsedJson, hash: string): string =>
      JSON.stringify([answer['status'], answer['result'], answer['status'] === 200 ? '' : answer['text']])
        .replaceAll(hash, '')
        .replace(/"(query_hash|duration_ms|request_id)\\*":[^,}]*|req_\w+/g, '');
    const there = await ask(home, query);
    const absent = await ask(home, query.replace('@canary1@', nowhere));
    assert.equal(bare(there, loaded.query('@canary1@')), bare(absent, nowhere), query);
  }
});

test('a header narrows a key’s binding, and never widens it', async () => {
  const counted = async (client: HttpClient, headers: Record<string, string>) => {
    const answer = await ask(client, 'RECALL | COUNT', headers);
    return answer['status'] === 200 ? answer['result'].count : 'refused';
  };
  const mine = await counted(ann, {});
  assert.ok(mine > 0);
  assert.equal(await counted(home, { 'x-user-id': 'ann' }), mine);
  for (const [client, headers] of [
    [home, { 'x-namespace': 'away' }],
    [ann, { 'x-user-id': 'ben' }],
    [ann, { 'x-namespace': 'away', 'x-user-id': 'eve' }],
  ] as const)
    assert.ok(['refused', 0].includes(await counted(client, { ...headers })), JSON.stringify(headers));
});
