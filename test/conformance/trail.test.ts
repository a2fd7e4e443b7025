// What a memory tells of what was done with it: its audit trail, the records of recalls, exports of a person's data. Over
// both HTTP listeners, gRPC where it has an rpc, with one partition and with four.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../support/server.ts';
import { refused } from './contract.ts';
import type { Told } from './driver.ts';
import { HttpClient } from './http-client.ts';
import { newMemory } from './http-driver.ts';

const GENESIS = '0'.repeat(64);

for (const listener of ['uws', 'node'])
  for (const partitions of [1, 4])
    describe(`${listener}, ${partitions} partitions`, { concurrency: 4 }, () => {
      let server: TestServer;
      let http: HttpClient;
      before(async () => {
        server = await startTestServer({ http: listener, shards: '4', workers: '1' });
        http = new HttpClient(server.http, server.key);
      });
      after(async () => {
        await server.close();
        assert.deepEqual(server.errors, []);
      });

      async function memory(): Promise<string> {
        return `/memories/${await newMemory(http, partitions, {})}`;
      }

      async function entries(path: string, query = ''): Promise<readonly Told[]> {
        const found: Told[] = [];
        let cursor: string | null = null;
        do {
          const page: Told = await http.get(
            `${path}/audit?limit=3${query}${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
          );
          found.push(...page['entries']);
          cursor = page['next_cursor'];
        } while (cursor !== null);
        return found;
      }

      test('the trail tells every change, page by page, and can be recomputed', async () => {
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
        const told = await http.get(`${path}/audit?verify=true&limit=1`);
        assert.deepEqual([told.total, told.chain_valid, told.entries.length], [all.length, true, 1]);
        assert.deepEqual(
          (await http.get(`${path}/audit?offset=2&limit=2`)).entries.map(({ hash }: Told) => hash),
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

      test('an erased person stands in the trail by the proof, and the chain still checks', async () => {
        const path = await memory();
        await http.post(`${path}/add`, { subject: 'a', relation: 'b', object: 'c', user_id: 'ada' });
        await http.post(`${path}/forget`, { user_id: 'ada', reason: 'asked for' });
        const about = await entries(path, '&event_type=memory.added&event_type=user.erased');
        assert.equal(about.length, 2);
        for (const { subject } of about) assert.match(subject, /^erased:[0-9a-f]{16}$/);
        assert.equal((await http.get(`${path}/audit?verify=true`)).chain_valid, true);
      });

      test('a bound caller sees no more than its own', async () => {
        const path = await memory();
        for (const user of ['ada', 'bob'])
          await http.post(`${path}/add`, { subject: user, relation: 'b', object: 'c', user_id: user });
        const own = await http.get(`${path}/audit`, { headers: { 'x-user-id': 'ada' } });
        assert.equal(own.entries.filter(({ event_type }: Told) => event_type === 'memory.added').length, 1);
        assert.equal(new Set(own.entries.map(({ subject }: Told) => subject)).size, 1);
        await refused(http.get(`${path}/audit`, { headers: { 'x-namespace': 'n' } }), 'AUT-E001');
      });
    });

/** As the contract says how an entry is hashed. */
function recompute(chain: readonly Told[], partition: number): void {
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
