// A disk that stops accepting writes while nobody writes: health reports it without a request, and also its end.
import assert from 'node:assert/strict';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { failingDisk, smallDisk } from '../support/temporary.ts';

const MIB = 1_048_576;
const flags = ['--shards', '1', '--workers', '1'];

test('health reports a disk that others fill, and the room that it has again', async (t) => {
  const disk = smallDisk(t, 48 * MIB);
  if (disk === undefined) return;
  const server = await startServerProcess({ directory: join(disk, 'data'), flags });
  t.after(() => server.kill());
  assert.equal((await ask(server, 'GET', '/health')).status, 200);
  const filler = join(disk, 'filler');
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(bavail * bsize - 16 * 1_024));
  const reason = /^the data directory accepts no writes: the disk is full/;
  await eventually('health says so', async () => {
    const { status, body } = await ask(server, 'GET', '/health');
    return status === 503 && reason.test(body.reasons.join());
  });
  await eventually('the log says so', () =>
    /"reason":"the disk is full","msg":"a disk accepts no writes"/.test(server.output()),
  );
  rmSync(filler);
  await eventually('health is well', async () => (await ask(server, 'GET', '/health')).status === 200);
  assert.match(server.output(), /the disk accepts writes again/);
});

test('health reports a file system that became read-only, before and after a write fails', async (t) => {
  const disk = failingDisk(t, 64 * MIB);
  if (disk === undefined) return;
  const server = await startServerProcess({ directory: join(disk.directory, 'data'), flags });
  t.after(() => server.kill());
  const add = (object: string) => ask(server, 'POST', '/memories/default/add', { subject: 's', relation: 'r', object });
  const first = await add('one');
  assert.equal(first.status, 200);
  assert.equal((await ask(server, 'GET', '/health')).status, 200);
  disk.fail();
  const reason = /^the data directory accepts no writes: the file system is read-only/;
  await eventually('health says so', async () => {
    const { status, body } = await ask(server, 'GET', '/health');
    return status === 503 && reason.test(body.reasons.join());
  });
  const refused = await add('two');
  assert.deepEqual([refused.status, refused.code], [500, 'STO-E001']);
  const health = await ask(server, 'GET', '/health');
  assert.match(health.body.reasons.join(), /shard 0: writes are refused: [^,]*(wal\/0-of-1\.[ab]|shard-0\/log)/);
  assert.equal(health.body.reasons.join().includes(disk.directory), false, 'a stranger learns no folder');
  assert.equal((await ask(server, 'GET', `/memories/default/grains/${first.body.blob_hash}`)).status, 200);
});
