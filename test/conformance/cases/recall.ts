// Recall: by words and their operators, by structure, by both, by time, and with conditions.
import assert from 'node:assert/strict';
import { refused } from '../contract.ts';
import type { Fields, Memory, RecallAnswer } from '../driver.ts';
import { assertSameEverywhere, belief, believe, type Case, hashesOf, THEN } from './case.ts';

const DAY = 86_400;

/** Notes with distinct words; expectations use their names. */
const NOTES: Readonly<Record<string, readonly [type: string, fields: Fields]>> = {
  heron: ['event', { content: 'A grey heron stood in the shallow river', namespace: 'birds', tags: ['grey', 'water'] }],
  osprey: ['event', { content: 'The osprey dived into the river for a fish', namespace: 'birds', tags: ['water'] }],
  bridge: ['event', { content: 'They repaired the river bridge with granite', namespace: 'works', user_id: 'ada' }],
  granite: ['belief', { subject: 'granite', relation: 'is mined in', object: 'Aberdeen', confidence: 0.4 }],
  ada: ['belief', { subject: 'Ada', relation: 'repairs', object: 'bridges', importance: 0.9, user_id: 'ada' }],
  goal: ['goal', { description: 'Count every heron before winter', priority: 'high' }],
};
type Note = keyof typeof NOTES;

/** Adds the notes, a day apart, oldest first; returns a function from an answer to their names. */
async function notes(memory: Memory): Promise<(answer: RecallAnswer) => string[]> {
  const names = new Map<string, Note>();
  for (const [at, [name, [type, fields]]] of Object.entries(NOTES).entries())
    names.set((await memory.add(type, { created_at: THEN + at * DAY, ...fields })).hash, name);
  return ({ hits }) => hits.map(({ hash }) => names.get(hash) ?? hash);
}

function sorted(names: readonly string[]): string[] {
  return names.toSorted();
}

/** A query and the notes it finds, in any order. */
const WORDS: readonly (readonly [query: string, ...found: Note[]])[] = [
  ['heron', 'heron', 'goal'],
  ['HERONS', 'heron', 'goal'],
  ['river', 'heron', 'osprey', 'bridge'],
  ['river bridge', 'heron', 'osprey', 'bridge', 'ada'],
  ['zeppelin'],
  ['the of and'],
  ['river +granite', 'bridge', 'granite'],
  ['+river +granite', 'bridge'],
  ['river -granite', 'heron', 'osprey'],
  ['river -fish -granite', 'heron'],
  ['"shallow river"', 'heron'],
  ['"river shallow"'],
  ['"river bridge"', 'bridge'],
  ['subject:granite', 'granite'],
  ['content:granite', 'bridge', 'granite'],
  ['relation:repairs', 'ada'],
  ['object:bridges', 'ada'],
  ['tag:water', 'heron', 'osprey'],
  ['namespace:birds', 'heron', 'osprey'],
  ['river namespace:works', 'bridge'],
  ['subject:granite object:Aberdeen', 'granite'],
  ['subject:granite subject:Ada'],
  ['tag:water tag:grey', 'heron'],
  ['tag:water -tag:grey', 'osprey'],
  ['river -namespace:birds', 'bridge'],
  ['relation:"is mined in"', 'granite'],
  // Not operators: a lone hyphen, one inside a word, and a prefix that is not a field.
  ['grey - heron', 'heron', 'goal'],
  ['note: heron', 'heron', 'goal'],
  ['river-bridge', 'heron', 'osprey', 'bridge', 'ada'],
];

const CONDITIONS: readonly (readonly [query: Fields, ...found: Note[]])[] = [
  [{ query: 'river', namespace: 'birds' }, 'heron', 'osprey'],
  [{ query: 'river', user_id: 'ada' }, 'bridge'],
  [{ query: 'heron', grain_type: 'goal' }, 'goal'],
  [{ query: 'river namespace:works', namespace: 'birds', query_mode: 'operators' }],
  [{ query: 'namespace:works', namespace: 'birds' }],
  [{ query: 'namespace:works', grain_type: 'event' }, 'bridge'],
  [{ query: 'object:bridges', subject: 'Ada' }, 'ada'],
  [{ query: 'river', tags: ['water', 'grey'] }, 'heron'],
  [{ query: 'river', exclude_tags: ['grey'] }, 'osprey', 'bridge'],
  [{ query: 'river', time_start: THEN + DAY }, 'osprey', 'bridge'],
  [{ query: 'river', time_end: THEN + DAY }, 'heron', 'osprey'],
  [{ query: 'river', time_start: THEN + 1, time_end: THEN + 2 * DAY - 1 }, 'osprey'],
  [{ query: 'granite', confidence_threshold: 0.5 }, 'bridge'],
  [{ query: 'bridges', importance_threshold: 0.5 }, 'ada'],
  [{ subject: 'Ada' }, 'ada'],
  [{ subject: 'ada' }],
  [{ relation: 'repairs' }, 'ada'],
  [{ object: 'Aberdeen' }, 'granite'],
  [{ subject: 'granite', relation: 'is mined in', object: 'Aberdeen' }, 'granite'],
  [{ subject: 'granite', object: 'Paris' }],
  [{ entity: 'bridges' }, 'ada'],
  [{ entity: 'granite' }, 'granite'],
  [{ user_id: 'ada' }, 'bridge', 'ada'],
  [{ grain_type: 'event', namespace: 'birds' }, 'heron', 'osprey'],
];

export const RECALL: readonly Case[] = [
  {
    name: 'words and their operators find what holds them',
    async run(memory) {
      const names = await notes(memory);
      for (const round of ['unsealed', 'sealed']) {
        for (const [query, ...found] of WORDS) {
          const answer = await memory.recall({ query, query_mode: 'operators' });
          assert.deepEqual(sorted(names(answer)), sorted(found), `${query} (${round})`);
          // Order, scores, fields and coverage.
          const { hits, total, coverage } = answer;
          assertSameEverywhere(`the recall of ${query}`, { hits, total, coverage });
        }
        await memory.flush();
      }
    },
  },
  {
    name: 'operators of a question move hits up and down, and a warning counts those that do not meet them',
    async run(memory) {
      const names = await notes(memory);
      const asked = async (query: string, mode?: string) => {
        const answer = await memory.recall({ query, ...(mode === undefined ? {} : { query_mode: mode }) });
        const warning = answer.warnings.find((text) => text.includes('operators'));
        return { found: names(answer), met: warning?.match(/^\d+ of the \d+/)?.[0] };
      };
      for (const round of ['unsealed', 'sealed']) {
        const plain = await asked('river bridge granite');
        assert.deepEqual(
          [sorted(plain.found), plain.met],
          [['ada', 'bridge', 'granite', 'heron', 'osprey'], undefined],
        );
        const quoted = await asked('was the "shallow river" near a bridge');
        assert.deepEqual(quoted, { found: ['heron', 'bridge', 'ada', 'osprey'], met: '1 of the 4' }, round);
        const negated = await asked('river -fish -granite', 'natural');
        assert.deepEqual([negated.found[0], negated.met], ['heron', '1 of the 3'], round);
        // A query of field names alone is no question.
        assert.deepEqual(await asked('tag:water -tag:grey'), { found: ['osprey'], met: undefined });
        await refused(memory.recall({ query: 'river', query_mode: 'loose' }), 'VAL-E001');
        await memory.flush();
      }
    },
  },
  {
    name: 'structure, users, types, tags, times and thresholds narrow what is found',
    async run(memory) {
      const names = await notes(memory);
      for (const round of ['unsealed', 'sealed']) {
        for (const [query, ...found] of CONDITIONS)
          assert.deepEqual(
            sorted(names(await memory.recall(query))),
            sorted(found),
            `${JSON.stringify(query)} (${round})`,
          );
        await memory.flush();
      }
    },
  },
  {
    name: 'a hit has the grain, a score between 0 and 1, and the best is first',
    async run(memory) {
      const names = await notes(memory);
      const answer = await memory.recall({ query: 'heron river' });
      assert.equal(names(answer)[0], 'heron');
      assert.ok(answer.total >= answer.hits.length);
      const scores = answer.hits.map(({ score }) => score);
      assert.deepEqual(
        scores,
        scores.toSorted((a, b) => b - a),
      );
      for (const { hash, grain_type, fields, score, superseded } of answer.hits) {
        assert.ok(score > 0 && score <= 1, `score ${score}`);
        assert.equal(superseded, false);
        assert.deepEqual({ hash, grain_type, fields }, await memory.get(hash));
      }
    },
  },
  {
    name: 'a structural recall scores 1 each, newest first',
    async run(memory) {
      const made: string[] = [];
      for (let at = 0; at < 6; at++)
        made.push(await believe(memory, 'Ada', 'likes', `o${at}`, { created_at: THEN + at }));
      const { hits, total, coverage } = await memory.recall({ subject: 'Ada', relation: 'likes' });
      assert.deepEqual(hashesOf(hits), made.toReversed());
      assert.deepEqual(new Set(hits.map(({ score }) => score)), new Set([1]));
      assert.deepEqual([total, coverage], [6, null]);
    },
  },
  {
    name: 'words and structure together find what either does, both first',
    async run(memory) {
      const names = await notes(memory);
      const found = names(await memory.recall({ query: 'granite river', subject: 'granite' }));
      assert.ok(found.includes('granite'));
      const [best] = (await memory.recall({ query: 'granite', subject: 'granite' })).hits;
      assert.equal(best?.fields['object'], 'Aberdeen');
      assert.equal(best?.score, 1);
    },
  },
  {
    name: 'the limit cuts the end off',
    async run(memory) {
      for (let at = 0; at < 30; at++)
        await believe(memory, 'Ada', 'counted', `heron number ${at}`, { created_at: THEN + at });
      const all = hashesOf((await memory.recall({ query: 'heron', limit: 30 })).hits);
      assert.equal(all.length, 30);
      assert.deepEqual(hashesOf((await memory.recall({ query: 'heron' })).hits), all.slice(0, 20));
      assert.deepEqual(hashesOf((await memory.recall({ query: 'heron', limit: 3 })).hits), all.slice(0, 3));
      assert.deepEqual(hashesOf((await memory.recall({ subject: 'Ada', limit: 3 })).hits).length, 3);
    },
  },
  {
    name: 'equal scores are ordered by time, then by hash',
    async run(memory) {
      const made: [at: number, hash: string][] = [];
      for (let at = 0; at < 8; at++) {
        const created_at = THEN + (at % 3);
        made.push([created_at, await believe(memory, `s${at}`, 'likes', 'herons', { created_at })]);
      }
      const expected = made.toSorted(([a, x], [b, y]) => b - a || (x < y ? -1 : 1)).map(([, hash]) => hash);
      assert.deepEqual(hashesOf((await memory.recall({ query: 'herons' })).hits), expected);
      assert.deepEqual(hashesOf((await memory.recall({ object: 'herons' })).hits), expected);
    },
  },
  {
    name: 'superseded versions are found when they are asked for, forgotten ones never',
    async run(memory) {
      const old = await believe(memory, 'Ada', 'watches', 'herons');
      const tip = await memory.supersede(old, { object: 'ospreys' });
      assert.deepEqual(hashesOf((await memory.recall({ query: 'herons' })).hits), []);
      const { hits } = await memory.recall({ query: 'herons', exclude_superseded: false });
      assert.deepEqual(
        hits.map(({ hash, superseded }) => [hash, superseded]),
        [[old, true]],
      );
      assert.deepEqual(hashesOf((await memory.recall({ subject: 'Ada' })).hits), [tip]);
      await memory.forget(tip);
      assert.deepEqual(hashesOf((await memory.recall({ query: 'ospreys', exclude_superseded: false })).hits), []);
      assert.deepEqual(hashesOf((await memory.recall({ subject: 'Ada' })).hits), []);
    },
  },
  {
    name: 'coverage tells whether the words of the question were found',
    async run(memory) {
      await memory.add('event', { content: 'the heron waits by the river' });
      for (const [query, coverage] of [
        ['heron river', 'full'],
        ['heron waits zeppelin', 'partial'],
        ['heron zeppelin umbrella tuba', 'none'],
        ['zeppelin', 'none'],
      ])
        assert.equal((await memory.recall({ query: query! })).coverage, coverage, query);
    },
  },
  {
    name: 'a text of its own for the index, other alphabets, and a language',
    options: { language: 'de' },
    async run(memory) {
      const hash = await believe(memory, 'a', 'b', 'c', { embedding_text: 'Zwei Häuser am Fluss' });
      const cjk = (await memory.add('event', { content: '東京タワーに登った' })).hash;
      const greek = (await memory.add('event', { content: 'Καλημέρα κόσμε' })).hash;
      for (const [query, found] of [
        ['haus', hash],
        ['Häusern', hash],
        ['東京', cjk],
        ['κόσμε', greek],
      ])
        assert.deepEqual(hashesOf((await memory.recall({ query: query! })).hits), [found], query);
    },
  },
  {
    name: 'an unknown type is refused',
    needs: ['server'],
    async run(memory) {
      await memory.add('belief', belief('a', 'b', 'c'));
      await refused(memory.recall({ query: 'a', grain_type: 'nonsense' }), 'MEM-E005');
    },
  },
  {
    name: 'search looks for words alone',
    needs: ['many'],
    async run(memory) {
      const names = await notes(memory);
      assert.deepEqual(sorted(names(await memory.search('river'))), ['bridge', 'heron', 'osprey']);
      assert.deepEqual(names(await memory.search('river', { namespace: 'works' })), ['bridge']);
      assert.deepEqual(names(await memory.search('heron', { grain_type: 'goal', limit: 1 })), ['goal']);
      assert.deepEqual(names(await memory.search('river', { user_id: 'ada' })), ['bridge']);
    },
  },
  {
    name: 'what is out of range in a recall is refused, a limit above 500 is not',
    needs: ['server'],
    async run(memory) {
      for (const wrong of [
        { time_start: 2, time_end: 1 },
        { recency_weight: 1.5 },
        { recency_weight: -0.5 },
        { time_start: THEN * 1000 },
        { temporal_field: 'sometime' },
        { session_affinity_boost: 2 },
      ])
        await refused(memory.recall({ query: 'x', ...wrong }), 'VAL-E001').catch((error: Error) => {
          error.message = `${JSON.stringify(wrong)}: ${error.message}`;
          throw error;
        });
      const { warnings } = await memory.recall({ query: 'x', limit: 501 });
      assert.equal(warnings.length, 1);
      assert.match(warnings[0] ?? '', /500/);
    },
  },
  {
    name: 'entities are the distinct subjects of what was found',
    needs: ['server'],
    async run(memory) {
      for (const [subject, object] of [
        ['Ada', 'herons'],
        ['Ada', 'more herons'],
        ['Bob', 'herons'],
      ] as const)
        await believe(memory, subject, 'likes', object);
      const { entities } = await memory.recall({ query: 'herons', count_entities: true });
      assert.deepEqual(sorted(entities), ['Ada', 'Bob']);
    },
  },
];
