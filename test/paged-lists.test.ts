// Lists that grow with use are paged, and the text shown of each item is bounded.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RULE_REASON_CHARS_MAX } from '../src/engine/base/limits.ts';
import { GrpcClient } from './conformance/grpc-client.ts';
import { HttpClient } from './conformance/http-client.ts';
import { startTestServer, type TestServer } from './support/server.ts';

const USERS = 60;
let server: TestServer;
let http: HttpClient;

before(async () => {
  server = await startTestServer({ shards: '2' });
  assert.ok(server.http !== undefined);
  http = new HttpClient(server.http, server.key);
});
after(() => server.close());

for (const partitions of [1, 2])
  test(`restricted users are listed page by page, newest first, ${partitions} partitions`, async () => {
    const id = `restricted${partitions}`;
    await http.post('/memories', { id, partitions });
    const exec = async (command: string, args: object) =>
      (await http.post(`/memories/${id}/app/exec`, { command, args })).result;
    for (let at = 0; at < USERS; at += 1) await exec('restrict', { user_id: `u${at}`, reason: `why ${at}` });
    const seen: { user_id: string; restricted_at: number }[] = [];
    for (let cursor: string | undefined, pages = 1; ; pages += 1) {
      const page = await exec('restrictions', { limit: 25, ...(cursor === undefined ? {} : { cursor }) });
      assert.equal(page.total, USERS);
      assert.ok(page.restrictions.length <= 25);
      seen.push(...page.restrictions);
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
      assert.ok(pages < 4);
    }
    assert.equal(new Set(seen.map(({ user_id }) => user_id)).size, USERS);
    const times = seen.map(({ restricted_at }) => restricted_at);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => b - a),
    );
    const { restrictions, next_cursor } = await exec('restrictions', { user_id: 'u7' });
    assert.deepEqual([restrictions.map((one: { reason: string }) => one.reason), next_cursor], [['why 7'], null]);
  });

for (const partitions of [1, 2])
  test(`users with consents are listed page by page, ${partitions} partitions`, async () => {
    const M = `/memories/consented${partitions}`;
    await http.post('/memories', { id: `consented${partitions}`, partitions });
    for (let at = 0; at < USERS; at += 1) {
      const purpose = ['mail', '*', 'ads'][at % 3];
      await http.post(`${M}/consent/${at % 4 === 0 ? 'revoke' : 'grant'}`, { user_id: `u${at}`, purpose });
    }
    await http.post(`${M}/app/exec`, { command: 'restrict', args: { user_id: 'u7', reason: 'asked' } });
    await http.post(`${M}/consent/grant`, { user_id: 'u1', purpose: 'mail' });
    const all = Array.from({ length: USERS }, (_, at) => at);
    const wanted = { '': all, 'purpose=mail&': all.filter((at) => at % 3 !== 2) };
    for (const [asked, expected] of Object.entries(wanted)) {
      const seen: { user_id: string; restricted: boolean; purposes: { purpose: string; status: string }[] }[] = [];
      for (let cursor = ''; ; ) {
        const page = await http.get(`${M}/consent/status?${asked}limit=25${cursor}`);
        assert.equal(page.total, expected.length);
        seen.push(...page.users);
        if (page.next_cursor === null) break;
        cursor = `&cursor=${page.next_cursor}`;
        assert.ok(seen.length < USERS);
      }
      const whole = await http.get(`${M}/consent/status?${asked}limit=500`);
      assert.deepEqual([seen, null], [whole.users, whole.next_cursor]);
      const names = seen.map(({ user_id }) => user_id);
      assert.equal(names[0], 'u1', 'the latest one');
      assert.deepEqual(
        names.map((name) => Number(name.slice(1))).sort((a, b) => a - b),
        expected,
      );
      assert.deepEqual(
        seen.filter(({ restricted }) => restricted).map(({ user_id }) => user_id),
        ['u7'],
      );
      const revoked = seen.filter(({ purposes }) => purposes.every(({ status }) => status === 'revoked'));
      assert.deepEqual(
        revoked.map(({ user_id }) => user_id),
        names.filter((name) => Number(name.slice(1)) % 4 === 0),
      );
      const { users } = await http.get(`${M}/consent/status?${asked}order=asc&offset=3&limit=2`);
      assert.deepEqual(
        users.map(({ user_id }: { user_id: string }) => user_id),
        names.toReversed().slice(3, 5),
      );
    }
  });

test('a stored and shown reason has a maximum length', async () => {
  await http.post('/memories', { id: 'reasons' });
  const reason = 'x'.repeat(RULE_REASON_CHARS_MAX + 1);
  const ask = (verb: string, path: string, json: object) => http.ask(verb, `/memories/reasons/${path}`, { json });
  const args = { user_id: 'ada', reason };
  const refused = [
    await ask('POST', 'app/exec', { command: 'restrict', args }),
    await ask('PUT', 'policy', { presets: ['gdpr'], reason }),
  ];
  for (const { status, json } of refused) assert.deepEqual([status, json.error?.code], [400, 'VAL-E001']);
  assert.ok(server.grpc !== undefined);
  const grpc = GrpcClient.open(server.grpc, server.key);
  await assert.rejects(grpc.with({ 'x-memory-id': 'reasons' }).ask('RestrictProcessing', { user_id: 'ada', reason }), {
    code: 'VAL-E001',
  });
  grpc.close();
  const listed = await ask('POST', 'app/exec', { command: 'restrictions', args: {} });
  assert.deepEqual(listed.json.result.restrictions, []);
  const longest = { user_id: 'ada', reason: reason.slice(1) };
  assert.equal((await ask('POST', 'app/exec', { command: 'restrict', args: longest })).status, 200);
});
