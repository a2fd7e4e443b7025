// kill -9 in the middle of an upload of segments: the next owner has everything that was acknowledged, no file that is whole in part, and
// sweeps what the upload left.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../../src/engine/log/postgres/database.ts';
import { migrate } from '../../src/engine/log/postgres/migrate.ts';
import { testDatabase } from '../support/postgres.ts';
import { childFile } from '../support/program.ts';
import { codeOf, contextOf, openShard } from '../support/shard.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import type { UploadingOptions } from './killed-upload-child.ts';
import type { Added } from './postgres-child.ts';

const CHILD = childFile(join(import.meta.dirname, 'killed-upload-child.ts'));
const ROUNDS = 4;
const LEASE_MS = 20_000;
/** Each way: between the parts of a file and its row lies a round trip. */
const SLOW_MS = 25;

test('a node that is killed while it uploads segments leaves nothing lost, damaged or behind', async (t) => {
  const found = await testDatabase(t);
  if (found === undefined) return;
  const { url } = found;
  const proxy = await TcpProxy.to(t, Number(new URL(url).port));
  proxy.delay(() => SLOW_MS);
  const through = new URL(url);
  through.port = String(proxy.port);
  const database = await Database.open(url);
  t.after(() => database.close());
  await migrate(database, 1);
  const root = temporaryDirectory(t);
  /** Parts of files that have no row yet. */
  const unnamed = async (): Promise<number> => {
    const [row] = await database.ask(
      (sql) => sql`
        SELECT count(*) AS parts FROM granary_segment_parts p WHERE NOT EXISTS (
          SELECT 1 FROM granary_segments s WHERE s.shard = p.shard AND s.digest = p.digest)`,
    );
    return Number(row?.['parts']);
  };
  const added: Added[] = [];
  let cut = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const options: UploadingOptions = {
      // An empty folder each time, so that every start fetches what the one before uploaded.
      root: join(root, String(round)),
      database: { url: through.href, node: 'a', leaseMs: LEASE_MS },
      from: round * 1_000_000,
    };
    const child = fork(CHILD, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.on('message', (one: Added) => added.push(one));
    const before = added.length;
    const ended = once(child, 'close');
    // From the second seal on, and in later rounds from the merge on.
    while (added.length < before + 40 + 20 * round || (await unnamed()) === 0) {
      assert.equal(child.exitCode, null, 'the node runs');
      await pause(2);
    }
    child.kill('SIGKILL');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    if ((await unnamed()) > 0) cut += 1;
  }
  assert.ok(cut > 0, 'a kill came between the parts of a file and its row');

  const engine = await openShard(join(root, 'last'), { database: { url, node: 'a', leaseMs: LEASE_MS } });
  const lost: number[] = [];
  for (const { number, hash } of added)
    if ((await codeOf(() => engine.read('get', contextOf(1), { hash }))) !== undefined) lost.push(number);
  assert.deepEqual(lost, []);
  assert.deepEqual(engine.read('health', contextOf(1), undefined as never).reasons, []);
  assert.deepEqual((await engine.write('verify', contextOf(1), {})).findings, []);
  assert.equal((await engine.write('verifyAudit', contextOf(1), {})).valid, true);
  const { totalGrains } = engine.read('statistics', contextOf(1), {});
  assert.ok(totalGrains >= added.length && totalGrains <= added.length + ROUNDS, `${totalGrains} grains`);
  await engine.write('compact', contextOf(1), {});
  await engine.store.uploads?.settle();
  assert.equal(await unnamed(), 0, 'parts that no file names are swept');
  await engine.close();
  t.diagnostic(`${added.length} acknowledged over ${ROUNDS} kills, ${cut} of them within an upload; 0 lost`);
});
