// Faults of what a node fetches when it takes a shard over: a damaged record, parts that are missing, connections that end on the way.
// Nothing wrong is served, and nothing is lost.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { STORED_PART_BYTES, STORED_PARTS_READ } from '../../src/engine/base/limits.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { StoredFiles } from '../../src/engine/log/postgres/stored-files.ts';
import { decodeRecord } from '../../src/engine/record/record-codec.ts';
import { testDatabase } from '../support/postgres.ts';
import { addBelief, codeOf, contextOf, openShard, recalled, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const LEASE_MS = 60_000;
const GRAINS = 30;
const context = contextOf(1);

async function placeOf(t: TestContext) {
  const found = await testDatabase(t);
  if (found === undefined) return undefined;
  const root = temporaryDirectory(t);
  const database = await Database.open(found.url);
  t.after(() => database.close());
  await migrate(database, 1);
  const open = (node: string, url = found.url): Promise<Engine> =>
    openShard(join(root, node), { database: { url, node, leaseMs: LEASE_MS } });
  return { root, url: found.url, database, open };
}

/** Long objects, so that the log is longer than what the system keeps of a connection on its way. */
async function fill(engine: Engine, words: number): Promise<string[]> {
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const hashes: string[] = [];
  for (let i = 0; i < GRAINS; i++) {
    const object = `thing ${Array.from({ length: words }, (_, word) => `w${i}x${word}`).join(' ')}`;
    hashes.push(await addBelief(engine, 1, { subject: `s${i}`, object }));
    if (i === GRAINS / 2) await engine.write('flush', context, {});
  }
  await engine.store.uploads?.settle();
  return hashes;
}

const reasonsOf = (engine: Engine): readonly string[] => engine.read('health', context, undefined as never).reasons;

async function unreadable(engine: Engine, hashes: readonly string[]): Promise<string[]> {
  const codes = await Promise.all(hashes.map((hash) => codeOf(() => engine.read('get', context, { hash }))));
  return codes.filter((code) => code !== undefined);
}

test('a damaged record in the database is named and not served, and whole again when it is mended', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const { database, open } = place;
  const first = await open('a');
  const hashes = await fill(first, 3);
  const grains: number[] = [];
  for (const item of first.store.log.scan(1)) {
    assert.ok('bytes' in item);
    if (decodeRecord(item.bytes).kind === 'grain') grains.push(item.sequence);
  }
  // A crash: the next node has what the database has. One of these is sealed, the other is replayed.
  await first.abandon();
  for (const damaged of [grains[2]!, grains.at(-2)!]) {
    const [row] = await database.ask(
      (sql) => sql`SELECT frame FROM granary_records WHERE shard = 0 AND sequence = ${damaged}`,
    );
    const frame: Buffer = row?.['frame'];
    const put = (bytes: Buffer) =>
      database.ask((sql) => sql`UPDATE granary_records SET frame = ${bytes} WHERE shard = 0 AND sequence = ${damaged}`);
    const changed = Buffer.from(frame);
    changed[frame.length - 5]! ^= 1;
    await put(changed);
    const second = await open(`b${damaged}`);
    assert.deepEqual(await unreadable(second, hashes), ['STO-E001']);
    const found = recalled(second, 1, 'thing');
    assert.ok(found.length === GRAINS - 1 && found.every((hash) => hashes.includes(hash)));
    assert.match(reasonsOf(second).join('\n'), new RegExp(`record ${damaged}\\b.*checksum`));
    await second.abandon();

    await put(frame);
    const third = await open(`c${damaged}`);
    assert.deepEqual(await unreadable(third, hashes), []);
    assert.deepEqual(recalled(third, 1, 'thing').sort(), [...hashes].sort());
    assert.deepEqual(reasonsOf(third), []);
    await third.close();
  }
});

/** Passes connections to `port`, each until it has brought `limit()` bytes from there. */
async function shortened(t: TestContext, port: number, limit: () => number): Promise<number> {
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let left = limit();
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (bytes) => upstream.write(bytes)).on('close', end);
    client.on('error', end);
    upstream.on('close', end).on('error', end);
    upstream.on('data', (bytes) => {
      client.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

test('a download that ends on its way is told, and the next one brings all', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const { url, open } = place;
  const first = await open('a');
  const hashes = await fill(first, 2_000);
  await first.abandon();
  let limit = 0;
  const through = new URL(url);
  through.port = String(await shortened(t, Number(through.port), () => limit));
  let failures = 0;
  // From the first pages of the log to the last parts of the segments.
  for (limit = 40_000; ; limit = Math.ceil(limit * 1.6)) {
    let second: Engine;
    try {
      second = await open('b', through.href);
    } catch (error) {
      failures += 1;
      assert.equal(await codeOf(() => Promise.reject(error)), 'STO-E001');
      assert.equal((error as { retryable?: boolean }).retryable, true, String(error));
      continue;
    }
    assert.deepEqual(recalled(second, 1, 'thing').sort(), [...hashes].sort());
    assert.deepEqual(await unreadable(second, hashes), []);
    assert.deepEqual(reasonsOf(second), []);
    await second.abandon();
    break;
  }
  assert.ok(failures >= 3, `${failures} downloads ended on their way`);
  const third = await open('c');
  assert.deepEqual(recalled(third, 1, 'thing').sort(), [...hashes].sort());
  await third.close();
});

test('a file that lacks a part is left out, whichever part that is', async (t) => {
  const place = await placeOf(t);
  if (place === undefined) return;
  const { root, database } = place;
  const bytes = Buffer.alloc((2 * STORED_PARTS_READ + 1) * STORED_PART_BYTES + 1, 'a few bytes');
  writeFileSync(join(root, 'source'), bytes);
  await database.ask((sql) => sql`INSERT INTO granary_shards VALUES (0, 1, 1, 'a', now(), 0, 1, 0)`);
  const files = new StoredFiles(database, { shard: 0, token: 1 });
  const parts = Math.ceil(bytes.length / STORED_PART_BYTES);
  for (const missing of [undefined, 0, STORED_PARTS_READ - 1, STORED_PARTS_READ, parts - 1]) {
    const file = await files.put('vectors/1.vec', join(root, 'source'), () => true);
    if (missing !== undefined)
      await database.ask((sql) => sql`DELETE FROM granary_segment_parts WHERE part = ${missing}`);
    const folder = join(root, `fetched-${missing}`);
    const path = join(folder, 'vectors', '1.vec');
    const fetched = await files.fetchAbsent(folder);
    if (missing === undefined) {
      assert.deepEqual(fetched, [path]);
      assert.ok(readFileSync(path).equals(bytes));
      continue;
    }
    assert.deepEqual([fetched, existsSync(path)], [[], false]);
    assert.match(
      (await files.fetch(file, path)) ?? '',
      /part \d+ of vectors\/1\.vec is missing|has \d+ bytes in the database, not/,
    );
  }
});
