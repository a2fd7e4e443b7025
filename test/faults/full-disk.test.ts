// A disk that fills up under a server: writes are refused and say why, reads go on, nothing acknowledged is lost, and
// writes go on when there is room.
import assert from 'node:assert/strict';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, startServerProcess } from '../support/server-process.ts';
import { smallDisk } from '../support/temporary.ts';

const MIB = 1_048_576;
const DISK_BYTES = 48 * MIB;
/** Left for the server when the rest has been filled. */
const ROOM_BYTES = 1 * MIB;
const BATCHES_MAX = 400;

test('a full disk refuses writes with STO-E001, and is served from and written to again', async (t) => {
  const disk = smallDisk(t, DISK_BYTES);
  if (disk === undefined) return;
  const directory = join(disk, 'data');
  const filler = join(disk, 'filler');
  const flags = ['--shards', '1', '--workers', '1'];
  let server = await startServerProcess({ directory, flags });
  t.after(() => server.kill());
  const M = '/memories/default';
  const hashes: string[] = [];
  let made = 0;
  /** A batch of large grains, each of a user of its own; the code of its refusal. */
  const write = async (): Promise<string | undefined> => {
    const grains = Array.from({ length: 20 }, () => {
      made += 1;
      return {
        grain_type: 'event',
        fields: { content: `event ${made} ${'harbour '.repeat(600)}`, user_id: `u${made}` },
      };
    });
    const told = await ask(server, 'POST', `${M}/batch-add`, { grains });
    if (told.status >= 300) {
      assert.equal(told.status, 500);
      return told.code;
    }
    hashes.push(...told.body.added.map(({ blob_hash: hash }: { blob_hash: string }) => hash));
    return told.body.errors[0]?.code;
  };
  const readAll = async (): Promise<void> => {
    for (const hash of hashes) assert.equal((await ask(server, 'GET', `${M}/grains/${hash}`)).status, 200);
  };
  assert.equal(await write(), undefined);

  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - ROOM_BYTES));
  let refusal: string | undefined;
  for (let batches = 0; refusal === undefined; batches++) {
    assert.ok(batches < BATCHES_MAX, 'the disk fills up');
    refusal = await write();
  }
  assert.equal(refusal, 'STO-E001');
  // Sealing has no room either, and says so, or had nothing left to do; the server goes on.
  const flushed = await ask(server, 'POST', `${M}/flush`);
  assert.ok(flushed.status === 200 || flushed.code === 'STO-E001', JSON.stringify(flushed.body));
  assert.equal(await write(), 'STO-E001');
  await readAll();
  const found = await ask(server, 'POST', `${M}/recall`, { query: 'harbour', limit: 5 });
  assert.equal(found.body.results.length, 5);
  const health = await ask(server, 'GET', '/health');
  assert.equal(health.status, 200, JSON.stringify(health.body));
  const erased = await ask(server, 'POST', `${M}/forget`, { user_id: 'u1' });
  assert.ok(erased.status === 200 || erased.code === 'STO-E001', JSON.stringify(erased.body));
  if (erased.status === 200) hashes.shift();

  rmSync(filler);
  assert.equal(await write(), undefined);
  assert.equal((await ask(server, 'POST', `${M}/flush`)).status, 200);
  await readAll();
  const verified = await ask(server, 'POST', `${M}/app/exec`, { command: 'verify', args: {} });
  assert.deepEqual(verified.body.result.findings, []);
  await server.kill();
  server = await startServerProcess({ directory, flags });
  await readAll();
  const { total_grains: total } = (await ask(server, 'GET', `${M}/stats`)).body;
  assert.equal(total, hashes.length);
  assert.equal(await server.stop(), 0);
});
