// No goal becomes its own ancestor, over four partitions: not by writes one after the other, not by two at once, and not by
// an imported file.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpClient } from './conformance/http-client.ts';
import { newMemory } from './conformance/http-driver.ts';
import { startTestServer, type TestServer } from './support/server.ts';

let server: TestServer;
let http: HttpClient;
before(async () => {
  server = await startTestServer({ shards: '4', workers: '2', calTier1: 'true' });
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

const USERS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal'];

/** Goals of different people lie in different partitions. */
async function goals(path: string, count: number): Promise<string[]> {
  const made: string[] = [];
  for (const user_id of USERS.slice(0, count))
    made.push(
      (await http.post(`${path}/add`, { grain_type: 'goal', fields: { description: user_id, user_id } })).blob_hash,
    );
  return made;
}

/** The code of the refusal, or the hash of the new version. */
async function raised(path: string, hash: string, parent: string): Promise<string> {
  const json = { blob_hash: hash, fields: { parent_goals: [parent] } };
  const reply = await http.ask('POST', `${path}/supersede`, { json });
  return reply.status === 200 ? reply.json.new_hash : reply.json.error.code;
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

test('two supersedes at once do not close a cycle together', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  for (let round = 0; round < 10; round += 1) {
    const made = await Promise.all(
      ['x', 'y'].map(async (end, at) => {
        const fields = { description: `${end} ${round}`, user_id: USERS[(round + at) % USERS.length] };
        return (await http.post(`${path}/add`, { grain_type: 'goal', fields })).blob_hash as string;
      }),
    );
    const [one, other] = made as [string, string]; // two were made
    const answers = await Promise.all([raised(path, one, other), raised(path, other, one)]);
    assert.equal(answers.filter(isHash).length, 1, `round ${round}: ${answers}`);
    assert.ok(answers.includes('VAL-E001'), `round ${round}: ${answers}`);
  }
});

test('a ring of goals that all close at once stays open', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  const ring = await goals(path, USERS.length);
  const answers = await Promise.all(ring.map((hash, at) => raised(path, hash, ring[(at + 1) % ring.length]!)));
  assert.equal(answers.filter(isHash).length, ring.length - 1, String(answers));
  assert.equal(answers.filter((code) => code === 'VAL-E001').length, 1);
});

test('CAL closes no cycle', async () => {
  const path = `/memories/${await newMemory(http, 4)}`;
  const [one, other] = (await goals(path, 2)) as [string, string];
  assert.ok(isHash(await raised(path, one, other)));
  const query = `SUPERSEDE sha256:${other} SET parent_goals = ["${one}"] REASON "again"`;
  const reply = await http.ask('POST', `${path}/app/exec`, { json: { command: 'cal', args: { query } } });
  assert.equal(reply.json.error.code, 'CAL-E017', 'CAL sets no parents');
  const { fields, superseded_by } = await http.get(`${path}/grains/${other}`);
  assert.deepEqual([fields.parent_goals ?? [], superseded_by], [[], undefined]);
});
