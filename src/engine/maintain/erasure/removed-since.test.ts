// Data that a restored backup must not bring back, even when another backup was restored in between.
import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import type { Engine } from '../../engine.ts';
import { KeyStore } from '../../keys/key-store.ts';
import { MasterKey } from '../../keys/master-key.ts';
import { FORMAT_VERSION } from '../../log/format.ts';
import { openLmdbLog } from '../../log/lmdb/lmdb-log.ts';
import { type RemovedSince, removedSinceCopy, type ShardSide } from './removed-since.ts';

const stamp = { formatVersion: FORMAT_VERSION, shard: 0, shards: 1 };

/** Runs `work` on the shard in `root`, then closes it. */
async function on<T>(root: string, work: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = await openShard(root);
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

function copyOf(t: TestContext, root: string): string {
  const copy = join(temporaryDirectory(t), 'copy');
  cpSync(root, copy, { recursive: true });
  return copy;
}

async function compare(copy: string, now: string): Promise<RemovedSince> {
  const open = (root: string): ShardSide => ({
    log: openLmdbLog(join(root, 'shard-0', 'log'), { stamp }),
    keys: KeyStore.open(join(root, 'keys', 'shard-0'), MasterKey.of(Buffer.alloc(32, 7))),
  });
  const sides = [open(copy), open(now)] as const;
  try {
    return removedSinceCopy(...sides);
  } finally {
    for (const { log, keys } of sides) {
      keys.close();
      await log.close();
    }
  }
}

test('a user who came back after an older restore and was erased then stays erased, and forgotten grains stay forgotten', async (t) => {
  const root = join(temporaryDirectory(t), 'root');
  await on(root, async (engine) => {
    await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
    await addBelief(engine, 1, { subject: 's', object: 'from the start' });
  });
  const early = copyOf(t, root);
  const object = 'said twice';
  const said = { subject: 'cat', object, created_at: 1_700_000_000 };
  const [late, forgotten] = await on(root, async (engine) => {
    await addBelief(engine, 1, { subject: 'ann', object: 'first time', user_id: 'ann' });
    await addBelief(engine, 1, { subject: 'eve', object: 'stays', user_id: 'eve' });
    return ['', await addBelief(engine, 1, said)];
  }).then(([, hash]) => [copyOf(t, root), hash]);

  // The early backup replaces it, and the users write again under other keys.
  rmSync(root, { recursive: true });
  cpSync(early, root, { recursive: true });
  await on(root, async (engine) => {
    await addBelief(engine, 1, { subject: 'bob', object: 'takes the id of a key', user_id: 'bob' });
    await addBelief(engine, 1, { subject: 'ann', object: 'second time', user_id: 'ann' });
    assert.equal(await addBelief(engine, 1, said), forgotten);
    await engine.write('forget', contextOf(1), { hashes: [forgotten!], check: false });
    assert.equal((await engine.write('eraseUser', contextOf(1), { userId: 'ann' })).count, 1);
  });
  const removed = await compare(late!, root);
  assert.deepEqual(removed.users, [{ memory: 1, userId: 'ann' }]);
  assert.deepEqual([...removed.forgotten], [[1, [forgotten]]]);
  assert.ok(removed.divergesAt !== undefined);
});

test('a user who was erased before the backup and had come back by then is not erased again', async (t) => {
  const root = join(temporaryDirectory(t), 'root');
  await on(root, async (engine) => {
    await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
    await addBelief(engine, 1, { subject: 'ann', object: 'first time', user_id: 'ann' });
    await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
    await addBelief(engine, 1, { subject: 'ann', object: 'second time', user_id: 'ann' });
  });
  const copy = copyOf(t, root);
  await on(root, (engine) => addBelief(engine, 1, { subject: 's', object: 'goes on' }));
  const removed = await compare(copy, root);
  assert.deepEqual([removed.users, [...removed.forgotten], removed.divergesAt], [[], [], undefined]);
});

test('a user who was erased without any grains, and an erased scope, do not come back', async (t) => {
  const root = join(temporaryDirectory(t), 'root');
  await on(root, async (engine) => {
    await engine.write('attachMemory', contextOf(1), { settings: settingsOf(1) });
    await addBelief(engine, 1, { subject: 's', object: 'from the start' });
  });
  const early = copyOf(t, root);
  await on(root, async (engine) => {
    await addBelief(engine, 1, { subject: 'ann', object: 'is here', user_id: 'ann' });
    for (const namespace of ['acme', 'acme/prod', 'other'])
      await addBelief(engine, 1, { subject: 's', object: namespace, namespace });
  });
  const late = copyOf(t, root);
  const scoped = await on(root, (engine) => engine.write('eraseScope', contextOf(1), { path: 'acme' }));
  assert.equal(scoped.proofs.length, 2);
  const removed = await compare(late, root);
  assert.deepEqual(removed.scopes.map(({ path }) => path).sort(), ['acme', 'acme/prod']);
  assert.deepEqual([removed.users, removed.forgotten.get(1)?.length], [[], 2]);

  // The deployment returns to a time before she was known, and is asked to erase her all the same.
  rmSync(root, { recursive: true });
  cpSync(early, root, { recursive: true });
  await on(root, async (engine) => {
    for (let time = 0; time < 2; time++) {
      const { count, keyFingerprint } = await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
      assert.deepEqual([count, keyFingerprint], [0, '']);
    }
  });
  assert.deepEqual((await compare(late, root)).users, [{ memory: 1, userId: 'ann' }]);
  // After a restart she is unknown as before, and may come back.
  await on(root, async (engine) => {
    assert.equal(engine.store.namedKeys.userCount(engine.store.memory(1)), 0);
    await addBelief(engine, 1, { subject: 'ann', object: 'is back', user_id: 'ann' });
    const { count, keyFingerprint } = await engine.write('eraseUser', contextOf(1), { userId: 'ann' });
    assert.equal(count, 1);
    assert.match(keyFingerprint, /^[0-9a-f]{16}$/);
  });
});
