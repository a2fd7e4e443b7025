// Which key opens which grains: neither memories nor users share a key, whatever their names.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeRecord } from '../../src/engine/record/record-codec.ts';
import { contextOf, openShard, settingsOf } from '../support/shard.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const MEMORIES = [1, 2, 3];
const USERS = ['ann', 'bob', undefined];

test('each memory, each user and its scope have separate keys, and grains are sealed under them', async (t) => {
  const root = temporaryDirectory(t);
  const engine = await openShard(root);
  t.after(() => engine.close());
  const { store } = engine;
  const hashes: { memory: number; user: string | undefined; hash: string }[] = [];
  for (const memory of MEMORIES) {
    await engine.write('attachMemory', contextOf(memory), { settings: settingsOf(memory) });
    for (const user of USERS)
      for (const object of ['tea', 'milk']) {
        // The same grains under the same names in every memory.
        const fields = { subject: 's', relation: 'likes', object, created_at: 1_700_000_000 };
        const item = { grainType: 'belief', fields: user === undefined ? fields : { ...fields, user_id: user } };
        const { hash } = await engine.write('add', contextOf(memory), { ...item, sync: false });
        hashes.push({ memory, user, hash });
      }
  }
  const users = USERS.filter((user) => user !== undefined);
  const ids = MEMORIES.flatMap((number) => {
    const memory = store.memory(number);
    const ofUsers = users.map((user) => store.namedKeys.user(memory, user)!.key);
    return [...Object.values(memory.keyIds), ...ofUsers, store.namedKeys.scope(memory, 'default')!.key];
  });
  const count = MEMORIES.length * (4 + users.length);
  assert.equal(new Set(ids).size, count, 'ids are distinct');
  assert.equal(new Set(ids.map((id) => store.keys.get(id).toString('hex'))).size, count, 'keys are distinct');
  assert.equal(store.keys.liveCount, count, 'every key has an owner');
  for (const { memory, user, hash } of hashes) {
    const record = decodeRecord(store.log.read(store.findOrdinal(memory, hash)!)!);
    assert.ok(record.kind === 'grain');
    const opened = store.memory(memory);
    assert.equal(record.key, user === undefined ? opened.keyIds.blob : store.namedKeys.user(opened, user)!.key);
    assert.equal(record.scopeKey, store.namedKeys.scope(opened, 'default')!.key);
    for (const other of ids.filter((id) => id !== record.key))
      assert.throws(() => store.openBlob(opened, { ...record, key: other }), { code: 'CRY-E001' });
  }
  // Tokens of the same user differ between memories.
  const tokens = MEMORIES.map((number) => store.memory(number).userToken('ann'));
  assert.equal(new Set(tokens).size, MEMORIES.length);
});
