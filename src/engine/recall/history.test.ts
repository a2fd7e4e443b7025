// A page of a history continues after a version that the caller has seen. A version that the caller may not see is
// refused like a missing one: otherwise a bound caller could guess its content.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import type { CallContext } from '../calls/context.ts';

test('a history continues only after a version that the caller sees', async (t) => {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const fields = { subject: 'Ada', relation: 'drinks', object: 'tea', user_id: 'ada' };
  const first = await engine.write('add', context, { grainType: 'belief', fields, sync: false });
  const other = await engine.write('supersede', context, {
    oldHash: first.hash,
    fields: { object: 'rum', user_id: 'ben' },
  });
  const last = await engine.write('supersede', context, { oldHash: other.newHash, fields: { user_id: 'ada' } });
  const bound = { ...context, userId: 'ada' };
  const behind = (after: string, caller: CallContext = bound) =>
    engine.read('history', caller, { hash: first.hash, after }).versions.map(({ hash }) => hash);
  assert.deepEqual(behind(first.hash), [last.newHash]);
  assert.deepEqual(behind(other.newHash, context), [last.newHash]);
  for (const unseen of [other.newHash, '0'.repeat(64)])
    assert.equal(await codeOf(() => behind(unseen)), 'VAL-E004', unseen);
});
