// Removal: by hash, by subject, by user, and the proof of an erasure.
import assert from 'node:assert/strict';
import { refused } from '../contract.ts';
import type { Memory } from '../driver.ts';
import { assertDuplicate, belief, believe, type Case, hashesOf, NO_HASH, THEN } from './case.ts';

async function assertGone(memory: Memory, hash: string): Promise<void> {
  await refused(memory.get(hash), 'MEM-E001', 'MEM-E006');
  await refused(memory.forget(hash), 'MEM-E001', 'MEM-E006');
}

export const REMOVAL: readonly Case[] = [
  {
    name: 'a forgotten grain is not found in any way, and others are',
    async run(memory) {
      const hash = await believe(memory, 'Ada', 'likes', 'herons');
      const other = await believe(memory, 'Bob', 'likes', 'herons');
      await memory.forget(hash);
      await assertGone(memory, hash);
      await refused(memory.history(hash), 'MEM-E001', 'MEM-E006');
      await refused(memory.supersede(hash, { object: 'x' }), 'MEM-E001', 'MEM-E006');
      assert.deepEqual(hashesOf((await memory.recall({ query: 'herons' })).hits), [other]);
      assert.deepEqual(hashesOf((await memory.recall({ object: 'herons' })).hits), [other]);
    },
  },
  {
    name: 'a member of a chain is forgotten alone, and nothing revives',
    async run(memory) {
      const first = await believe(memory, 'a', 'b', 'v0');
      const second = await memory.supersede(first, { object: 'v1' });
      const third = await memory.supersede(second, { object: 'v2' });
      await memory.forget(second);
      assert.deepEqual(hashesOf(await memory.history(first)), [first, third]);
      assert.deepEqual(hashesOf(await memory.history(third)), [first, third]);
      await memory.forget(third);
      assert.deepEqual(hashesOf((await memory.recall({ subject: 'a' })).hits), []);
      assert.deepEqual(hashesOf(await memory.history(first)), [first]);
      await refused(memory.supersede(first, { object: 'v3' }), 'MEM-E002');
    },
  },
  {
    name: 'many are forgotten at once, and what was not there is named',
    needs: ['many'],
    async run(memory) {
      const hashes: string[] = [];
      for (let at = 0; at < 8; at++) hashes.push(await believe(memory, 'a', 'b', `o${at}`));
      const outcome = await memory.forgetMany({ hashes: [...hashes.slice(0, 5), NO_HASH, hashes[0]!] });
      assert.deepEqual(outcome.hashes.toSorted(), hashes.slice(0, 5).toSorted());
      assert.deepEqual(outcome.not_found, [NO_HASH]);
      assert.equal((await memory.statistics()).total_grains, 3);
    },
  },
  {
    name: 'a subject is forgotten with all versions; a user narrows that',
    needs: ['many'],
    async run(memory) {
      const old = await believe(memory, 'shop', 'is', 'open', { user_id: 'ada' });
      const tip = await memory.supersede(old, { object: 'closed' });
      const other = await believe(memory, 'shop', 'is', 'far', { user_id: 'bob' });
      await believe(memory, 'house', 'is', 'near');
      const narrowed = await memory.forgetMany({ subject: 'shop', user_id: 'bob' });
      assert.deepEqual(narrowed.hashes, [other]);
      const outcome = await memory.forgetMany({ subject: 'shop' });
      assert.deepEqual(outcome.hashes.toSorted(), [old, tip].toSorted());
      assert.deepEqual(await memory.forgetMany({ subject: 'shop' }), { hashes: [], not_found: [] });
      assert.equal((await memory.statistics()).total_grains, 1);
    },
  },
  {
    name: 'an erased user leaves a proof and nothing else; asked again, the proof is the same',
    needs: ['many'],
    async run(memory, { partitions }) {
      const mine: string[] = [];
      for (let at = 0; at < 10; at++) mine.push(await believe(memory, `s${at}`, 'is', 'herons', { user_id: 'ada' }));
      mine.push(await memory.supersede(mine[0]!, { object: 'ospreys' }));
      const other = await believe(memory, 's0', 'is', 'herons', { user_id: 'bob' });
      const before = Math.floor(Date.now() / 1000);
      const proof = await memory.eraseUser('ada');
      assert.deepEqual([proof.user_id, proof.count], ['ada', 11]);
      assert.match(proof.key_fingerprint, partitions === 1 ? /^[0-9a-f]{16}$/ : /^[0-9a-f]{16}(.?[0-9a-f]{16})*$/);
      assert.ok(proof.timestamp >= before && proof.timestamp <= Date.now() / 1000 + 1);
      for (const hash of mine) await assertGone(memory, hash);
      assert.deepEqual(hashesOf((await memory.recall({ query: 'herons' })).hits), [other]);
      assert.deepEqual(hashesOf((await memory.list({ user_id: 'ada', include_superseded: true })).grains), []);
      assert.deepEqual(await memory.eraseUser('ada'), { ...proof, count: 0 });
      // A later write makes a new key.
      const later = await believe(memory, 's0', 'is', 'herons', { user_id: 'ada', created_at: THEN + 1 });
      assert.equal((await memory.get(later)).fields['user_id'], 'ada');
      const second = await memory.eraseUser('ada');
      assert.equal(second.count, 1);
      assert.notEqual(second.key_fingerprint, proof.key_fingerprint);
    },
  },
  {
    name: 'the erasure of somebody unknown proves nothing',
    needs: ['many'],
    async run(memory) {
      await believe(memory, 'a', 'b', 'c', { user_id: 'bob' });
      const { user_id, count, key_fingerprint } = await memory.eraseUser('nobody');
      assert.deepEqual({ user_id, count, key_fingerprint }, { user_id: 'nobody', count: 0, key_fingerprint: '' });
      assert.equal((await memory.statistics()).total_grains, 1);
    },
  },
  {
    name: 'what was forgotten is stored again when it comes again',
    async run(memory) {
      const fields = belief('a', 'b', 'c');
      const { hash } = await memory.add('belief', fields);
      await memory.forget(hash);
      const again = await memory.add('belief', fields);
      assertDuplicate(again, false);
      assert.equal((await memory.get(again.hash)).fields['object'], 'c');
    },
  },
  {
    name: 'the audit chain holds after every kind of change',
    needs: ['many'],
    async run(memory) {
      const hash = await believe(memory, 'a', 'b', 'c', { user_id: 'ada' });
      await memory.accumulate({ hash: await memory.supersede(hash, { n: 1 }) }, { n: 1 });
      await memory.batchAdd([{ grain_type: 'event', fields: { content: 'x' } }]);
      await memory.forget(hash);
      await memory.eraseUser('ada');
      const { valid, checked } = await memory.verifyAudit();
      assert.equal(valid, true);
      assert.equal(checked, (await memory.statistics()).audit_entries);
    },
  },
];
