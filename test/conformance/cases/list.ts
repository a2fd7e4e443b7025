// Lists: order, pages, conditions; raw blobs; statistics and flush.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { refused } from '../contract.ts';
import type { Fields, Memory } from '../driver.ts';
import { believe, type Case, hashesOf, NO_HASH, THEN } from './case.ts';

/** Every page of a list; a page may hold no more than `limit`. */
async function pages(memory: Memory, query: Fields, limit: number): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: string | null = '', page = 0; cursor !== null; page += 1) {
    assert.ok(page < 100, 'a list ends');
    const answer = await memory.list({ ...query, limit, ...(cursor === '' ? {} : { cursor }) });
    assert.ok(answer.grains.length <= limit);
    seen.push(...hashesOf(answer.grains));
    cursor = answer.next;
  }
  return seen;
}

/** Twelve grains of many kinds, a second apart, oldest first. */
async function twelve(
  memory: Memory,
): Promise<readonly { readonly hash: string; readonly fields: Fields; type: string }[]> {
  const made: { hash: string; fields: Fields; type: string }[] = [];
  for (let at = 0; at < 12; at++) {
    const type = at % 3 === 0 ? 'event' : 'belief';
    const fields: Fields = {
      ...(type === 'event' ? { content: `event ${at}` } : { subject: `s${at % 2}`, relation: 'is', object: `o${at}` }),
      created_at: THEN + at,
      namespace: at < 6 ? 'one' : 'two',
      ...(at % 4 === 0 ? { user_id: 'ada' } : {}),
      ...(at % 2 === 0 ? { session_id: 'even' } : {}),
      tags: at % 5 === 0 ? ['five', 'more'] : ['more'],
    };
    made.push({ type, fields, hash: (await memory.add(type, fields)).hash });
  }
  return made;
}

export const LIST: readonly Case[] = [
  {
    name: 'a list is newest first, in pages that neither miss nor repeat, forwards and back',
    needs: ['many'],
    async run(memory) {
      const made = hashesOf(await twelve(memory));
      const newest = made.toReversed();
      for (const limit of [1, 5, 12, 500]) {
        assert.deepEqual(await pages(memory, {}, limit), newest);
        assert.deepEqual(await pages(memory, { order: 'asc' }, limit), made);
      }
      const { grains, total, next } = await memory.list({ limit: 5, offset: 10 });
      assert.deepEqual([hashesOf(grains), total, next], [newest.slice(10), 12, null]);
    },
  },
  {
    name: 'what is written between two pages moves nothing',
    needs: ['many'],
    async run(memory) {
      const made = hashesOf(await twelve(memory)).toReversed();
      const first = await memory.list({ limit: 4 });
      await memory.add('event', { content: 'later', created_at: THEN + 99 });
      await memory.forget(made[1]!);
      const second = await memory.list({ limit: 4, cursor: first.next });
      assert.deepEqual([...hashesOf(first.grains), ...hashesOf(second.grains)], made.slice(0, 8));
    },
  },
  {
    name: 'grains of one instant are ordered by hash',
    needs: ['many'],
    async run(memory) {
      const made: string[] = [];
      for (let at = 0; at < 9; at++) made.push(await believe(memory, 'a', 'b', `o${at}`));
      const sorted = made.toSorted();
      assert.deepEqual(await pages(memory, {}, 2), sorted);
      assert.deepEqual((await pages(memory, { order: 'asc' }, 2)).toSorted(), sorted);
    },
  },
  {
    name: 'conditions of a list hold together',
    needs: ['many'],
    async run(memory) {
      const made = await twelve(memory);
      const asked: readonly (readonly [Fields, (at: number, fields: Fields, type: string) => boolean])[] = [
        [{ grain_type: 'event' }, (_, __, type) => type === 'event'],
        [{ grain_type: ['event', 'belief'] }, () => true],
        [{ grain_type: 'goal' }, () => false],
        [{ namespace: 'two' }, (at) => at >= 6],
        [{ namespace: 'three' }, () => false],
        [{ user_id: 'ada' }, (at) => at % 4 === 0],
        [{ session_id: 'even' }, (at) => at % 2 === 0],
        [{ subject: 's1' }, (_, fields) => fields['subject'] === 's1'],
        [{ subject: 's1', relation: 'is' }, (_, fields) => fields['subject'] === 's1'],
        [{ relation: 'was' }, () => false],
        [{ tag: 'five' }, (at) => at % 5 === 0],
        [{ created_after: THEN + 3, created_before: THEN + 8 }, (at) => at >= 3 && at <= 8],
        [{ namespace: 'one', user_id: 'ada', grain_type: 'event' }, (at) => at < 6 && at % 12 === 0],
      ];
      for (const [query, holds] of asked) {
        const expected = made.filter(({ fields, type }, at) => holds(at, fields, type)).map(({ hash }) => hash);
        const answer = await memory.list(query);
        assert.deepEqual(hashesOf(answer.grains), expected.toReversed(), JSON.stringify(query));
        assert.equal(answer.total, expected.length, JSON.stringify(query));
      }
    },
  },
  {
    name: 'superseded grains are listed when they are asked for, and say by what',
    needs: ['many'],
    async run(memory) {
      const old = await believe(memory, 'a', 'b', 'c');
      const tip = await memory.supersede(old, { object: 'd' });
      const current = await memory.list({});
      assert.deepEqual(
        current.grains.map(({ hash, version_status }) => [hash, version_status]),
        [[tip, 'current']],
      );
      const all = await memory.list({ include_superseded: true });
      assert.deepEqual(
        all.grains.map(({ hash, version_status, superseded_by }) => [hash, version_status, superseded_by]),
        [
          [tip, 'current', undefined],
          [old, 'superseded', tip],
        ],
      );
      assert.equal(all.total, 2);
    },
  },
  {
    name: 'the bytes of a grain are those that its hash is of',
    needs: ['many'],
    async run(memory) {
      const hash = await believe(memory, 'a', 'b', 'c', { namespace: 'team/blue' });
      const blob = await memory.raw(hash);
      assert.equal(createHash('sha256').update(blob).digest('hex'), hash);
      assert.deepEqual([blob[0], blob[2]], [1, 1]);
      const namespace = createHash('sha256').update('team/blue').digest();
      assert.deepEqual([blob[3], blob[4]], [namespace[0], namespace[1]]);
      assert.equal(Buffer.from(blob).readUInt32BE(5), THEN);
      await refused(memory.raw(NO_HASH), 'MEM-E001');
    },
  },
  {
    name: 'statistics count what is there, and flush leaves nothing pending',
    async run(memory) {
      const empty = await memory.statistics();
      assert.deepEqual([empty.total_grains, empty.superseded_grains, empty.users, empty.namespaces], [0, 0, 0, []]);
      const old = await believe(memory, 'a', 'b', 'c', { user_id: 'ada', namespace: 'one' });
      await believe(memory, 'a', 'b', 'd', { user_id: 'bob', namespace: 'two' });
      const more = Array.from({ length: 8 }, (_, at) => believe(memory, `s${at}`, 'b', 'd', { user_id: 'bob' }));
      for (const hash of await Promise.all(more)) await memory.forget(hash);
      await believe(memory, 'e', 'b', 'd', { user_id: 'bob', namespace: 'two' });
      await believe(memory, 'f', 'b', 'd', { user_id: 'ada', namespace: 'one' });
      await memory.add('event', { content: 'x', namespace: 'one' });
      await memory.supersede(old, { object: 'e' });
      for (const round of ['before', 'after']) {
        const { total_grains, superseded_grains, type_counts, namespaces, users, audit_entries } =
          await memory.statistics();
        assert.deepEqual(
          [total_grains, superseded_grains, namespaces.toSorted(), users],
          [6, 1, ['one', 'two'], 2],
          `${round} the flush`,
        );
        assert.deepEqual([type_counts['belief'], type_counts['event'], type_counts['goal'] ?? 0], [5, 1, 0]);
        assert.ok(audit_entries > empty.audit_entries, 'writes are audited');
        assert.deepEqual(await memory.flush(), { pending: 0 });
      }
      await memory.forget(old);
      const after = await memory.statistics();
      assert.deepEqual([after.total_grains, after.superseded_grains], [5, 0]);
    },
  },
];
