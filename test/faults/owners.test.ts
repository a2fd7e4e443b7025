// A shard's log that another process writes to although the data directory is locked, as on a file system that does not
// share locks. The server refuses, reports it, and does not overwrite the other's data.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { SHARDS_MAX } from '../../src/engine/base/limits.ts';
import { FORMAT_VERSION } from '../../src/engine/log/format.ts';
import { CONTROL_FORMAT } from '../../src/server/control/open.ts';
import { eventually } from '../support/eventually.ts';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MODULE = pathToFileURL(join(import.meta.dirname, '../../src/engine/log/lmdb/lmdb-log.ts')).href;

/** Appends a record to the log in `directory`, in a separate process. */
function appendElsewhere(directory: string, stamp: object): void {
  const program = `
    const { openLmdbLog } = await import(${JSON.stringify(MODULE)});
    const log = openLmdbLog(process.argv[1], { stamp: ${JSON.stringify(stamp)} });
    await log.append({ records: [], state: [['another', Buffer.from('owner')]] });
    await log.close();
  `;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', program, directory]);
  assert.equal(status, 0, String(stderr));
}

test('a log that moved under its server refuses writes, health and the log report it, and reads continue', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const server = await startServerProcess({ directory, flags: ['--shards', '1', '--workers', '1'] });
  t.after(() => server.kill());
  const add = (user: string, object = 'another thing') =>
    ask(server, 'POST', '/memories/default/add', { subject: 's', relation: 'r', object, user_id: user });
  const first = await add('u1', 'the first thing');
  assert.equal(first.status, 200);
  const bucket = join(directory, 'keys/shard-0/bucket-000000.keys');
  const keys = readFileSync(bucket);

  appendElsewhere(join(directory, 'shard-0/log'), { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 });
  // A new user's key would use a slot that the other may have used by now.
  for (const user of ['u2', 'u1', 'u3']) {
    const refused = await add(user);
    assert.deepEqual([refused.status, refused.code], [500, 'STO-E001']);
    assert.match(refused.body.error.message, /was written by another process/);
  }
  const rotated = await ask(server, 'POST', '/memories/default/app/exec', { command: 'rotate_keys', args: {} });
  assert.notEqual(rotated.status, 200, JSON.stringify(rotated.body));
  assert.ok(keys.equals(readFileSync(bucket)), 'no key was overwritten');
  assert.equal((await ask(server, 'GET', `/memories/default/grains/${first.body.blob_hash}`)).status, 200);
  // A worker reports a shard's state some time after the refusals.
  await eventually('health says so', async () => (await ask(server, 'GET', '/health')).status === 503);
  const health = await ask(server, 'GET', '/health');
  assert.match(
    health.body.reasons.join(),
    /shard 0: writes are refused: the log in shard-0\/log was written by another process/,
  );
  await eventually('the log says so', () => /"shard":0,"reason":"writes are refused: /.test(server.output()));
});

test('the control log is guarded in the same way', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const server = await startServerProcess({ directory, flags: ['--shards', '1', '--workers', '1'] });
  t.after(() => server.kill());
  appendElsewhere(join(directory, 'control'), { formatVersion: CONTROL_FORMAT, shard: SHARDS_MAX, shards: 1 });
  const refused = await ask(server, 'POST', '/memories', { name: 'Another' });
  assert.deepEqual([refused.status, refused.code], [500, 'STO-E001']);
  const health = await ask(server, 'GET', '/health');
  assert.equal(health.status, 503);
  assert.match(
    health.body.reasons.join(),
    /control log: writes are refused: the log in .* was written by another process/,
  );
});
