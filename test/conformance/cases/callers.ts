// Callers bound to a namespace or a user, and repeated writes.
import assert from 'node:assert/strict';
import { refused } from '../contract.ts';
import { belief, believe, type Case, hashesOf, THEN } from './case.ts';

export const CALLERS: readonly Case[] = [
  {
    name: 'a caller bound to a namespace sees and writes that alone',
    async run(memory) {
      const mine = await memory.as({ namespace: 'mine' });
      const own = await mine.add('belief', { subject: 'a', relation: 'b', object: 'heron' });
      assert.equal((await memory.get(own.hash)).fields['namespace'], 'mine');
      const other = await believe(memory, 'a', 'b', 'heron', { namespace: 'theirs' });
      await refused(mine.get(other), 'MEM-E001');
      await refused(mine.history(other), 'MEM-E001');
      await refused(mine.supersede(other, { object: 'x' }), 'MEM-E001');
      await refused(mine.accumulate({ hash: other }, { n: 1 }), 'MEM-E001');
      await refused(mine.forget(other), 'MEM-E001');
      await refused(mine.add('belief', belief('a', 'b', 'd', { namespace: 'theirs' })), 'AUT-E001');
      await refused(mine.supersede(own.hash, { namespace: 'theirs' }), 'AUT-E001');
      for (const query of [{ query: 'heron' }, { subject: 'a' }])
        assert.deepEqual(hashesOf((await mine.recall(query)).hits), [own.hash]);
      const batch = await mine.batchAdd([
        { grain_type: 'event', fields: { content: 'x' } },
        { grain_type: 'event', fields: { content: 'y', namespace: 'theirs' } },
      ]);
      assert.deepEqual([batch.added.length, batch.errors], [1, [{ index: 1, code: 'AUT-E001' }]]);
      assert.deepEqual((await memory.get(other)).fields['object'], 'heron');
    },
  },
  {
    name: 'a caller bound to a user sees and writes that user’s alone',
    async run(memory) {
      const mine = await memory.as({ user_id: 'ada' });
      const own = await mine.add('event', { content: 'a heron', created_at: THEN });
      assert.equal((await memory.get(own.hash)).fields['user_id'], 'ada');
      const other = (await memory.add('event', { content: 'a heron', user_id: 'bob', created_at: THEN })).hash;
      const nobody = (await memory.add('event', { content: 'a heron', created_at: THEN })).hash;
      for (const hash of [other, nobody]) {
        await refused(mine.get(hash), 'MEM-E001');
        await refused(mine.forget(hash), 'MEM-E001');
      }
      await refused(mine.add('event', { content: 'z', user_id: 'bob' }), 'AUT-E001');
      assert.deepEqual(hashesOf((await mine.recall({ query: 'heron' })).hits), [own.hash]);
      await mine.forget(own.hash);
      assert.equal((await memory.statistics()).total_grains, 2);
    },
  },
  {
    name: 'a bound caller lists, counts and forgets only what it sees',
    needs: ['many'],
    async run(memory) {
      const mine = await memory.as({ namespace: 'mine', user_id: 'ada' });
      const own = (await mine.add('belief', belief('shop', 'is', 'open'))).hash;
      const other = await believe(memory, 'shop', 'is', 'open', { namespace: 'mine' });
      const { grains, total } = await mine.list({});
      assert.deepEqual([hashesOf(grains), total], [[own], 1]);
      assert.deepEqual(hashesOf((await mine.search('open')).hits), [own]);
      await refused(mine.raw(other), 'MEM-E001');
      assert.deepEqual(await mine.forgetMany({ hashes: [other] }), { hashes: [], not_found: [other] });
      assert.deepEqual((await mine.forgetMany({ subject: 'shop' })).hashes, [own]);
      assert.equal((await memory.get(other)).hash, other);
    },
  },
  {
    name: 'a write that is repeated with its key is done once, and answered as before',
    needs: ['repeat'],
    options: { dedup: 'none' },
    async run(memory) {
      const once = await memory.as({ idempotencyKey: 'one' });
      const fields = { content: 'once' };
      const first = await once.add('event', fields);
      assert.deepEqual(await once.add('event', fields), first);
      await refused(once.add('event', { content: 'twice' }), 'VAL-E005');
      const second = await (await memory.as({ idempotencyKey: 'two' })).add('event', fields);
      assert.notEqual(second.hash, first.hash);
      assert.equal((await memory.statistics()).total_grains, 2);
    },
  },
  {
    name: 'a repeated accumulate counts once, a repeated supersede is no conflict, also at the same time',
    needs: ['repeat'],
    async run(memory) {
      const { hash } = await memory.add('belief', belief('a', 'b', 'c', { n: 0 }));
      const count = await memory.as({ idempotencyKey: 'count' });
      const answers = await Promise.all(Array.from({ length: 5 }, () => count.accumulate({ hash }, { n: 1 })));
      for (const answer of answers) assert.deepEqual(answer, answers[0]);
      assert.equal((await memory.get(answers[0]!.new_hash)).fields['n'], 1);
      const change = await memory.as({ idempotencyKey: 'change' });
      const tip = await change.supersede(answers[0]!.new_hash, { object: 'd' });
      assert.equal(await change.supersede(answers[0]!.new_hash, { object: 'd' }), tip);
      assert.equal((await memory.history(hash)).length, 3);
    },
  },
  {
    name: 'a repeated batch and a repeated forget are answered as before',
    needs: ['repeat'],
    options: { dedup: 'none' },
    async run(memory) {
      const items = [
        { grain_type: 'event', fields: { content: 'x' } },
        { grain_type: 'event', fields: {} },
      ];
      const batch = await memory.as({ idempotencyKey: 'batch' });
      const first = await batch.batchAdd(items);
      assert.deepEqual(await batch.batchAdd(items), first);
      assert.equal((await memory.statistics()).total_grains, 1);
      const forget = await memory.as({ idempotencyKey: 'forget' });
      await forget.forget(first.added[0]!.hash);
      await forget.forget(first.added[0]!.hash);
      await refused(memory.forget(first.added[0]!.hash), 'MEM-E001', 'MEM-E006');
    },
  },
  {
    name: 'a repeated forget is answered as before, whatever came since that may not be forgotten',
    needs: ['repeat', 'many'],
    async run(memory) {
      await believe(memory, 'it', 'is', 'gone');
      const forget = await memory.as({ idempotencyKey: 'forget' });
      const first = await forget.forgetMany({ subject: 'it' });
      for (let i = 0; i < 8; i++)
        await memory.add('belief', { ...belief('it', 'is', `locked ${i}`), invalidation_policy: { mode: 'locked' } });
      assert.deepEqual(await forget.forgetMany({ subject: 'it' }), first);
      await refused(memory.forgetMany({ subject: 'it' }), 'POL-E003', 'POL-E004');
    },
  },
  {
    name: 'a key that came with one change is refused with every other, of the same kind or not',
    needs: ['repeat'],
    options: { dedup: 'none' },
    async run(memory) {
      const event = (content: string) => ({ grain_type: 'event', fields: { content } });
      const kept = await believe(memory, 'a', 'b', 'c');
      const old = await believe(memory, 'd', 'e', 'f');
      const writes: ((by: typeof memory, text: string) => Promise<unknown>)[] = [
        (by, text) => by.add('belief', belief('x', 'says', text)),
        (by, text) => by.batchAdd([event(text)]),
        (by, text) => by.batchAdd([event(text), event('more')]),
        (by, text) => by.accumulate({ hash: kept }, { [text]: 1 }),
        (by, text) => by.supersede(old, { object: text }),
      ];
      for (const [i, first] of writes.entries()) {
        const keyed = await memory.as({ idempotencyKey: `key ${i}` });
        const answer = await first(keyed, 'first');
        const { total_grains: count } = await memory.statistics();
        for (const other of writes) await refused(other(keyed, 'other'), 'VAL-E005');
        for (const other of writes) if (other !== first) await refused(other(keyed, 'first'), 'VAL-E005');
        assert.deepEqual(await first(keyed, 'first'), answer);
        assert.equal((await memory.statistics()).total_grains, count);
      }
    },
  },
  {
    name: 'a write that was refused may be sent again with its key',
    needs: ['repeat'],
    async run(memory) {
      const old = await believe(memory, 'a', 'b', 'c');
      const tip = await memory.supersede(old, { object: 'd' });
      const again = await memory.as({ idempotencyKey: 'again' });
      await refused(again.supersede(old, { object: 'e' }), 'MEM-E002');
      await refused(again.supersede(old, { object: 'e' }), 'MEM-E002');
      assert.deepEqual(hashesOf(await memory.history(old)), [old, tip]);
    },
  },
];
