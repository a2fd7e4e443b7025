// A server whose engines run in the main thread: what it does when an engine meets a bug, and with other numbers of
// workers on its data.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask, startServerProcess } from '../support/server-process.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const M = '/memories/default';
const start = (directory: string, workers: string, preload?: string) =>
  startServerProcess({ directory, flags: ['--shards', '2', '--workers', workers], ...(preload ? { preload } : {}) });

test('a bug of an engine in the main thread ends the process with a message, and nothing acknowledged is lost', async (t) => {
  const directory = join(temporaryDirectory(t), 'data');
  const server = await start(directory, '0', join(import.meta.dirname, 'local-bug.ts'));
  t.after(() => server.kill());
  const hashes: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { body } = await ask(server, 'POST', `${M}/add`, { subject: 's', relation: 'r', object: `grain ${i}` });
    hashes.push(body.blob_hash);
  }
  assert.equal((await ask(server, 'GET', '/health')).body.status, 'ok');
  const bug = await ask(server, 'GET', `${M}/stats`);
  assert.deepEqual([bug.status, bug.body.error?.code], [500, 'SYS-E001']);
  await server.ended;
  assert.equal(server.child.exitCode, 70);
  assert.match(server.output(), /a bug on purpose/);
  assert.match(server.output(), /granary: an engine met an internal error .*The process ends: start it again\./);

  // The same data with other numbers of workers, each killed in the midst of its work.
  for (const workers of ['0', '2', '0', '1']) {
    const again = await start(directory, workers);
    for (const hash of hashes) assert.equal((await ask(again, 'GET', `${M}/grains/${hash}`)).status, 200);
    const { body } = await ask(again, 'POST', `${M}/add`, {
      subject: 's',
      relation: 'with',
      object: `${workers} ${hashes.length}`,
    });
    hashes.push(body.blob_hash);
    assert.equal((await ask(again, 'GET', `${M}/audit?verify=true`)).body.chain_valid, true);
    await again.kill();
  }
});
