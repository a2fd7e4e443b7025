// Versions: supersede, accumulate, and their history.
import assert from 'node:assert/strict';
import { refused } from '../contract.ts';
import { assertHolds, belief, believe, type Case, hashesOf, THEN } from './case.ts';

export const VERSIONS: readonly Case[] = [
  {
    name: 'a new version keeps what was not sent, and null drops a field',
    async run(memory) {
      const sent = belief('Ada', 'lives in', 'London', {
        user_id: 'ada',
        namespace: 'people',
        tags: ['home'],
        confidence: 0.5,
        note: 'since spring',
        source_type: 'agent',
      });
      const { hash: old } = await memory.add('belief', sent);
      const tip = await memory.supersede(
        old,
        { object: 'Paris', note: null, confidence: 0.9, extra: [1] },
        { reason: 'moved' },
      );
      const grain = await memory.get(tip);
      assert.notEqual(tip, old);
      const { note: _, created_at: __, ...kept } = sent;
      assertHolds(grain, { ...kept, object: 'Paris', confidence: 0.9, extra: [1] });
      assert.equal('note' in grain.fields, false);
      assert.ok(Number(grain.fields['created_at']) > THEN, 'a version has its own instant');
      assert.equal(grain.fields['supersession_justification'], 'moved');
      assertHolds(await memory.get(old), sent);
    },
  },
  {
    name: 'every type is superseded',
    async run(memory) {
      for (const [type, fields, change] of [
        ['event', { content: 'x' }, { content: 'y' }],
        ['state', { data: { a: 1, b: 2 } }, { data: { a: 3 } }],
        ['goal', { description: 'g' }, { progress: 0.5 }],
        ['action', { tool_name: 't', content: 'c' }, { is_error: true }],
      ] as const) {
        const { hash } = await memory.add(type, fields);
        const grain = await memory.get(await memory.supersede(hash, change));
        assert.equal(grain.grain_type, type);
        assertHolds(grain, change);
      }
    },
  },
  {
    name: 'only the tip is superseded, with its own type, by something that is valid',
    async run(memory) {
      const old = await believe(memory, 'a', 'b', 'c');
      await refused(memory.supersede(old, { object: 'd' }, { grainType: 'event' }), 'VAL-E001');
      await refused(memory.supersede(old, { confidence: 7 }), 'VAL-E001');
      await refused(memory.supersede(old, { object: null }), 'VAL-E003');
      const tip = await memory.supersede(old, { object: 'd' }, { grainType: 'belief' });
      await refused(memory.supersede(old, { object: 'e' }), 'MEM-E002');
      assert.deepEqual(hashesOf(await memory.history(old)), [old, tip]);
    },
  },
  {
    name: 'of two that supersede one version, one is refused',
    async run(memory) {
      const old = await believe(memory, 'a', 'b', 'c');
      const both = await Promise.allSettled([
        memory.supersede(old, { object: 'd' }),
        memory.supersede(old, { object: 'e' }),
      ]);
      const made = both.filter((one) => one.status === 'fulfilled');
      assert.equal(made.length, 1);
      await refused(Promise.reject(both.find((one) => one.status === 'rejected')?.reason), 'MEM-E002');
      assert.deepEqual(hashesOf(await memory.history(old)), [old, made[0]?.value]);
    },
  },
  {
    name: 'the history is the whole chain, oldest first, from any of its members',
    async run(memory) {
      const chain = [await believe(memory, 'a', 'b', 'v0')];
      for (let at = 1; at < 5; at++) chain.push(await memory.supersede(chain.at(-1)!, { object: `v${at}` }));
      for (const member of chain) {
        const versions = await memory.history(member);
        assert.deepEqual(
          versions.map(({ hash, relation }) => [hash, relation]),
          chain.map((hash, at) => [hash, at === 0 ? 'original' : at === 4 ? 'supersedes' : 'superseded']),
        );
        for (const [at, version] of versions.entries()) {
          const { hash, grain_type, fields } = version;
          assert.deepEqual({ hash, grain_type, fields }, await memory.get(hash));
          assert.equal(fields['object'], `v${at}`);
          assert.equal(version.created_at, fields['created_at']);
        }
      }
    },
  },
  {
    name: 'a chain of one has one original',
    async run(memory) {
      const hash = await believe(memory, 'a', 'b', 'c');
      assert.deepEqual(
        (await memory.history(hash)).map(({ hash, relation }) => [hash, relation]),
        [[hash, 'original']],
      );
    },
  },
  {
    name: 'invalidation policies are kept: locked refuses, soft_locked wants a reason, delegated the right caller',
    async run(memory) {
      const locked = await believe(memory, 'a', 'b', 'locked', { invalidation_policy: { mode: 'locked' } });
      await refused(memory.supersede(locked, { object: 'x' }, { reason: 'please' }), 'POL-E004');
      const soft = await believe(memory, 'a', 'b', 'soft', { invalidation_policy: { mode: 'soft_locked' } });
      await refused(memory.supersede(soft, { object: 'x' }), 'POL-E004', 'POL-E001');
      await memory.supersede(soft, { object: 'x' }, { reason: 'it is wrong' });
      const theirs = await believe(memory, 'a', 'b', 'delegated', {
        invalidation_policy: { mode: 'delegated', authorized: ['did:key:z6MkSomebody'] },
      });
      await refused(memory.supersede(theirs, { object: 'x' }), 'POL-E004');
    },
  },
  {
    name: 'numbers are added, other fields set, and what is missing starts at 0',
    async run(memory) {
      const { hash: old } = await memory.add('belief', belief('shop', 'counts', 'visits', { visits: 10, rate: 0.5 }));
      const done = await memory.accumulate({ hash: old }, { visits: 5, rate: -0.25, fresh: 2 }, { note: 'today' });
      assert.equal(done.old_hash, old);
      const byName = (done.applied as readonly { field: string; old: number; new: number }[]).toSorted((a, b) =>
        a.field < b.field ? -1 : 1,
      );
      assert.deepEqual(byName, [
        { field: 'fresh', old: 0, new: 2 },
        { field: 'rate', old: 0.5, new: 0.25 },
        { field: 'visits', old: 10, new: 15 },
      ]);
      const grain = await memory.get(done.new_hash);
      assertHolds(grain, { visits: 15, rate: 0.25, fresh: 2, note: 'today', object: 'visits' });
      assert.deepEqual(done.fields, grain.fields);
      const again = await memory.accumulate({ hash: old }, { visits: 1 });
      assert.deepEqual([again.old_hash, again.fields['visits']], [done.new_hash, 16]);
    },
  },
  {
    name: 'by subject and relation, the newest current grain is counted up',
    async run(memory) {
      await memory.add('belief', belief('shop', 'counts', 'old', { n: 1, created_at: THEN }));
      const { hash: newer } = await memory.add(
        'belief',
        belief('shop', 'counts', 'new', { n: 10, created_at: THEN + 1 }),
      );
      await memory.add(
        'belief',
        belief('shop', 'counts', 'other', { n: 100, created_at: THEN + 2, namespace: 'elsewhere' }),
      );
      const done = await memory.accumulate({ namespace: 'default', subject: 'shop', relation: 'counts' }, { n: 1 });
      assert.deepEqual([done.old_hash, done.fields['n']], [newer, 11]);
      await refused(memory.accumulate({ subject: 'nobody', relation: 'counts' }, { n: 1 }), 'MEM-E001');
    },
  },
  {
    name: 'what is no number is refused, and changes nothing',
    async run(memory) {
      const { hash } = await memory.add('belief', belief('a', 'b', 'c', { text: 'five', n: Number.MAX_VALUE }));
      await refused(memory.accumulate({ hash }, { text: 1 }), 'VAL-E001');
      await refused(memory.accumulate({ hash }, { object: 1 }), 'VAL-E001');
      await refused(memory.accumulate({ hash }, { n: Number.MAX_VALUE }), 'VAL-E001');
      await refused(memory.accumulate({ hash }, { n: 'one' }), 'VAL-E001', 'VAL-E003');
      assert.equal((await memory.history(hash)).length, 1);
    },
  },
  {
    name: 'of many that count at once, none is lost',
    async run(memory) {
      const { hash } = await memory.add('belief', belief('shop', 'counts', 'visits', { n: 0 }));
      const deltas = Array.from({ length: 60 }, (_, at) => at + 1);
      const done = await Promise.all(
        deltas.map((delta) =>
          delta % 2 === 0
            ? memory.accumulate({ hash }, { n: delta })
            : memory.accumulate({ subject: 'shop', relation: 'counts' }, { n: delta }),
        ),
      );
      const versions = await memory.history(hash);
      assert.equal(versions.length, 61);
      assert.equal(versions.at(-1)?.fields['n'], (60 * 61) / 2);
      assert.deepEqual(new Set(done.map(({ new_hash }) => new_hash)), new Set(hashesOf(versions).slice(1)));
      for (const { old_hash, new_hash } of done)
        assert.equal(versions[versions.findIndex(({ hash }) => hash === new_hash) - 1]?.hash, old_hash);
    },
  },
];
