import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { AuditView } from '../calls/trail.ts';
import type { Engine } from '../engine.ts';

const context = contextOf(1);
const erasing = { ...context, idempotency: { key: 'erase', bodyHash: 'e' } };

async function erasures(engine: Engine): Promise<readonly AuditView[]> {
  const { entries } = await engine.write('auditPage', context, {
    filter: { events: ['user.erased'] },
    limit: 10,
    order: 'asc',
  });
  return entries;
}

test('the proof of an erasure names its audit entry, and so does every repeat', async (t) => {
  const root = temporaryDirectory(t);
  let engine = await openShard(root);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  for (const user of ['ann', 'bob']) await addBelief(engine, 1, { subject: user, object: 'a thing', user_id: user });
  // The entries of reads are written in the same group.
  engine.read('list', context, { filter: {}, limit: 10, order: 'asc' });
  const proof = await engine.write('eraseUser', erasing, { userId: 'ann' });
  const [entry] = await erasures(engine);
  assert.deepEqual([proof.count, proof.auditEntryHash], [1, entry?.hash]);
  assert.deepEqual(await engine.write('eraseUser', erasing, { userId: 'ann' }), proof);
  assert.deepEqual(await engine.write('eraseUser', context, { userId: 'ann' }), { ...proof, count: 0 });
  await engine.write('flush', context, {});
  await engine.close();

  engine = await openShard(root);
  t.after(() => engine.close());
  assert.deepEqual(await engine.write('eraseUser', context, { userId: 'ann' }), { ...proof, count: 0 });
  assert.deepEqual(await engine.write('eraseUser', erasing, { userId: 'ann' }), proof);
  // For a person who writes again and is erased again, the later erasure counts.
  await addBelief(engine, 1, { subject: 'ann', object: 'another thing', user_id: 'ann' });
  const later = await engine.write('eraseUser', context, { userId: 'ann' });
  const all = await erasures(engine);
  assert.deepEqual([all.length, all[1]?.hash], [2, later.auditEntryHash]);
  assert.equal((await engine.write('verifyAudit', context, {})).valid, true);
});

test('an unknown person has no audit entry', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.close());
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const { timestamp: _, ...proof } = await engine.write('eraseUser', context, { userId: 'nobody' });
  assert.deepEqual(proof, { userId: 'nobody', count: 0, keyFingerprint: '' });
  assert.deepEqual(await erasures(engine), []);
});
