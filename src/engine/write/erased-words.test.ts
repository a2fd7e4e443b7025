// After the purge, the heap of a running shard holds nothing of an erased user that a query can find.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBelief, contextOf, openShard, recalled, settingsOf, until } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';

const WORD = 'zeppelin';
/** A typing error, corrected by similarity to words that the memory knows. */
const TYPED = 'zepelin';

for (const isSealed of [true, false])
  test(`no index knows the words of an erased user, ${isSealed ? 'sealed' : 'in the tail'}`, async (t) => {
    const engine = await openShard(temporaryDirectory(t));
    t.after(() => engine.close());
    const context = contextOf(1);
    await engine.write('attachMemory', context, { settings: settingsOf(1) });
    const gone = await addBelief(engine, 1, {
      subject: 'ann',
      object: `a ${WORD} of hers`,
      user_id: 'ann',
      namespace: 'hers',
    });
    await addBelief(engine, 1, { subject: 'bob', object: 'something else', user_id: 'bob' });
    if (isSealed) await engine.write('flush', context, {});
    const alike = () => engine.read('alike', context, { words: [TYPED], limit: 5 }).words[0]?.alike;
    assert.equal(alike()?.[0]?.word, WORD);
    assert.deepEqual(recalled(engine, 1, WORD), [gone]);

    const { keyFingerprint } = await engine.write('eraseUser', context, { userId: 'ann' });
    await engine.write('redactUser', context, { userId: 'ann', keyFingerprint });
    await until(engine, () => engine.read('statistics', context, {}).purgePending === 0);
    assert.deepEqual(alike(), []);
    for (const query of [WORD, 'ann', 'hers']) assert.deepEqual(recalled(engine, 1, query), [], query);
    assert.deepEqual(engine.read('locate', context, { hashes: [gone] }).held, [false]);
    assert.deepEqual(engine.read('namespaces', context, { filter: {} }).namespaces, ['default']);
    const { totalGrains, namespaces, userCount, triples } = engine.read('statistics', context, {});
    assert.deepEqual([totalGrains, namespaces, userCount, triples], [1, ['default'], 1, 1]);
  });
