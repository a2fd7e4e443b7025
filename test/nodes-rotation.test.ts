// The master key of several nodes is replaced while they serve: one node after the other is started with the new key.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './support/eventually.ts';
import { testDatabase } from './support/postgres.ts';
import { ask, type ServerProcess, startServerProcess } from './support/server-process.ts';
import { temporaryDirectory } from './support/temporary.ts';

const [OLD, NEW] = ['c0ffee0123456789'.repeat(4), '0123456789decade'.repeat(4)];
const KEY = `gr_${randomBytes(32).toString('hex')}`;
const MEMORIES = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];

test('nodes get a new master key one by one, and a grain of each moment can be read afterwards', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const root = temporaryDirectory(t);
  const start = async (name: string, master: string): Promise<ServerProcess> => {
    const server = await startServerProcess({
      directory: join(root, name),
      flags: ['--shards', '4', '--workers', '1', '--node-listen', '127.0.0.1:0', '--store-lease-ms', '10000'],
      env: { GRANARY_STORE: found.url, GRANARY_MASTER_KEY: master, GRANARY_BOOTSTRAP_KEY: KEY },
    });
    t.after(() => server.kill());
    return { ...server, key: KEY };
  };
  const added: { readonly memory: string; readonly hash: string }[] = [];
  /** Each memory takes a grain of a new user, whose key is new too, as soon as a node has its shard. */
  const add = async (server: ServerProcess, moment: string): Promise<void> => {
    for (const memory of MEMORIES) {
      const fields = { subject: moment, relation: 'likes', object: 'tea', user_id: `${moment} of ${memory}` };
      await eventually(`${memory} takes a grain of ${moment}`, async () => {
        const { status, body } = await ask(server, 'POST', `/memories/${memory}/add`, { grain_type: 'belief', fields });
        assert.ok(status < 300 || status === 503, `${status} ${JSON.stringify(body)}`);
        if (status < 300) added.push({ memory, hash: body.blob_hash });
        return status < 300;
      });
    }
  };
  const readAll = async (server: ServerProcess): Promise<void> => {
    for (const { memory, hash } of added)
      await eventually(`${memory} is read`, async () => {
        const { status, body } = await ask(server, 'GET', `/memories/${memory}/grains/${hash}`);
        assert.ok(status === 200 || status === 503, `${status} ${JSON.stringify(body)}`);
        return status === 200;
      });
  };

  const both = `${NEW},${OLD}`;
  let a = await start('a', OLD);
  for (const id of MEMORIES) assert.equal((await ask(a, 'POST', '/memories', { id })).status, 201);
  let b = await start('b', OLD);
  await add(a, 'old');
  assert.equal(await b.stop(), 0);
  b = await start('b', both);
  await add(b, 'one');
  // The leader comes last: the node that leads next wraps every key again.
  assert.equal(await a.stop(), 0);
  await eventually('every key is wrapped again', () =>
    /every key is wrapped under the new master key/.test(b.output()),
  );
  await add(b, 'wrapped');
  a = await start('a', both);
  await add(a, 'both');
  await readAll(a);
  assert.equal(await a.stop(), 0);
  a = await start('a', NEW);
  await add(a, 'new');
  assert.equal(await b.stop(), 0);
  b = await start('b', NEW);
  await add(b, 'end');
  await readAll(b);
  for (const server of [a, b]) assert.doesNotMatch(server.output(), /AUT-E003|CRY-E001/);
});
