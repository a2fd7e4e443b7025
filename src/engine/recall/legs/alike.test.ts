// The words of a memory that are like a misspelt one: none of a grain that is gone, wherever its words still lie.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';

const context = contextOf(1);

test('no word is like those of forgotten grains, and none of theirs is known', async (t) => {
  for (const isSealed of [false, true]) {
    const engine = await openShard(temporaryDirectory(t));
    t.after(() => engine.abandon());
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
    const alike = (word: string) => engine.read('alike', context, { words: [word], limit: 5 }).words[0]!;
    const gone = await addBelief(engine, 1, { subject: 'ann', object: 'chrysanthemum' });
    await addBelief(engine, 1, { subject: 'ann', object: 'geranium' });
    if (isSealed) await engine.write('flush', context, {});
    assert.equal(alike('chrysanthemum').known, true);
    assert.equal(alike('chrysanthenum').alike.length, 1);
    await engine.write('forget', context, { hashes: [gone], check: false });
    assert.deepEqual(alike('chrysanthemum'), { known: false, alike: [] }, `sealed: ${isSealed}`);
    assert.deepEqual(alike('chrysanthenum').alike, [], `sealed: ${isSealed}`);
    assert.equal(alike('geramium').alike.length, 1);
  }
});
