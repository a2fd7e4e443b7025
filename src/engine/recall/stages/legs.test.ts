import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerNow } from '../../asking/asking.ts';
import { splitQuery } from './decompose.ts';
import { entitiesOf, namesIn } from './entities.ts';
import { alikeOf, expandQuery } from './expansion.ts';
import type { StageHit } from './hit.ts';
import { furtherLegs, fuseLegs, fuseRankings } from './legs.ts';
import { answersOf, found } from './testing/answers.ts';
import { belief, grain, hit, names, query } from './testing/hits.ts';

/** Answers searches from a table, by text or entity, and records the questions. */
function answering(table: Readonly<Record<string, readonly StageHit[]>>) {
  const asked: string[] = [];
  const answer = answersOf({
    alike: ({ words }) => ({ words: words.map(() => []) }),
    search: (asking) => {
      const key = asking.query ?? asking.filter.entity ?? '';
      asked.push(key);
      return found(table[key] ?? []);
    },
  });
  return { asked, answer };
}

test('query_expansion rewords by forms, by meaning and by the words of the memory', () => {
  assert.deepEqual(expandQuery('Where did Ada go on holiday?'), [
    'Where did Ada went gone on holiday?',
    'Where did Ada go on vacation trip',
  ]);
  const vocabulary = (word: string, limit: number) => (word === 'hollyday' ? ['holiday'].slice(0, limit) : []);
  assert.deepEqual(expandQuery('hollyday', vocabulary), ['holiday']);
  assert.deepEqual(expandQuery('zyx'), []);
});

test('query_expansion looks for words of the memory that may be meant, and for what they find', () => {
  const asked: string[] = [];
  const answer = answersOf({
    alike: ({ words }) => {
      asked.push(...words);
      return { words: words.map((word) => (word === 'photograpfy' ? ['photograph'] : [])) };
    },
    search: (asking) => found(asking.query === 'photograph course' ? [hit({ name: 'meant' })] : []),
  });
  const legs = answerNow(furtherLegs([], query({ query: 'Photograpfy course' }), { queryExpansion: true }), answer);
  assert.deepEqual(asked, ['photograpfy', 'course']);
  assert.deepEqual(
    legs.map(({ source, hits }) => [source, names(hits)]),
    [['expansion', ['meant']]],
  );
});

test('a word that one partition has gets no alternatives, which are else the likeliest of all partitions', () => {
  const said = (known: boolean, ...alike: [string, number][]) => ({
    known,
    alike: alike.map(([word, similarity]) => ({ word, similarity })),
  });
  const first = { words: [said(false, ['stone', 0.6], ['store', 0.8]), said(true)] };
  const second = { words: [said(false, ['stove', 0.8], ['store', 0.8]), said(false, ['guess', 0.9])] };
  assert.deepEqual(alikeOf([first, second], 2), [['store', 'stove'], []]);
  assert.deepEqual(alikeOf([], 2), []);
});

test('query_expansion leaves operators alone and is bounded', () => {
  assert.deepEqual(expandQuery('car -car +car "car" subject:car'), ['vehicle automobile -car +car "car" subject:car']);
  const [long] = expandQuery('car '.repeat(100_000));
  assert.ok(long!.length < 5_000);
  for (const odd of ['', '   ', '__proto__ constructor', '\u0000', '?!']) assert.deepEqual(expandQuery(odd), []);
});

test('query_decompose splits questions, comparisons, lists and clauses', () => {
  const parts = (text: string) => splitQuery(text, 4)?.parts;
  assert.deepEqual(parts('Who is Ada? Where does she live?'), ['Who is Ada', 'Where does she live']);
  assert.deepEqual(parts('What is the difference between green tea and black coffee?'), ['green tea', 'black coffee']);
  assert.deepEqual(parts('TypeScript vs Rust'), ['TypeScript', 'Rust']);
  assert.deepEqual(parts('Is the red house older than the mill'), ['Is the red house', 'the mill']);
  assert.deepEqual(parts('What do we know about Ada, Bob and Cleo?'), [
    'What do we know about Ada',
    'What do we know about Bob',
    'What do we know about Cleo',
  ]);
  assert.deepEqual(parts('What did Ada buy and where did she go'), ['What did Ada buy', 'where did she go']);
  assert.deepEqual(parts('When did Ada and Bob meet?'), ['When did Ada meet', 'When did Bob meet']);
  assert.equal(parts('What colour is the bike?'), undefined);
  assert.equal(splitQuery('a? b? c? d? e? f?', 4)?.parts.length, 4);
});

test('odd and hostile questions split in linear time or not at all', () => {
  for (const odd of ['', '?', '???', ' and ', 'and and and', ', , ,', 'vs', 'a vs', '\u0000', 'x'.repeat(1_000_000)])
    assert.equal(splitQuery(odd), undefined, odd.slice(0, 20));
  for (const piece of ['of a, ', 'who and ', 'A and B ', 'compare a and ', "a's b's ", 'more than ', '? ', '1. '])
    assert.ok((splitQuery(piece.repeat(50_000))?.parts.length ?? 0) <= 8, piece);
  const before = process.cpuUsage();
  for (const items of [',', ', ', 'a,']) splitQuery(`${'of '.repeat(340)}${items.repeat(1_000 / items.length)}?x`);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 500_000, `${user + system} µs of CPU`);
});

test('entities are subjects, objects and the names in a text', () => {
  assert.deepEqual(entitiesOf(grain({ fields: { subject: 'Ada', object: 'Acme' } })), ['Ada', 'Acme']);
  assert.deepEqual(namesIn("Yesterday I met Ada Lovelace's friend. The Royal Society paid, I think."), [
    'Yesterday',
    'Ada Lovelace',
    'Royal Society',
  ]);
  assert.deepEqual(namesIn('i went home'), []);
  assert.ok(namesIn('Ab Cd. '.repeat(10_000)).length <= 8);
});

test('further legs search for wordings, parts and hops, and leave out those that found nothing', () => {
  const start = [belief('start', 'Ada', 'works at', 'Acme')];
  const { asked, answer } = answering({
    'Where did Ada went gone': [hit({ name: 'form' })],
    Ada: [belief('start', 'Ada', 'works at', 'Acme'), belief('sister', 'Ada', 'is sister of', 'Bob')],
    Acme: [belief('acme', 'Acme', 'is in', 'Paris')],
    Bob: [belief('bob', 'Bob', 'rows', 'boats')],
  });
  const legs = answerNow(
    furtherLegs(start, query({ query: 'Where did Ada go' }), { queryExpansion: true, multiHop: 2 }),
    answer,
  );
  assert.deepEqual(
    legs.map(({ source, hits }) => [source, names(hits)]),
    [
      ['expansion', ['form']],
      ['expansion', ['start', 'sister', 'acme']],
      ['expansion', ['bob']],
    ],
  );
  assert.deepEqual(asked, ['Where did Ada went gone', 'Ada', 'Acme', 'Bob', 'Paris']);
});

test('multi_hop ends when nothing new is named', () => {
  const { asked, answer } = answering({ Ada: [belief('start', 'Ada', 'is', 'Ada')] });
  const legs = answerNow(furtherLegs([belief('start', 'Ada', 'is', 'Ada')], query(), { multiHop: 3 }), answer);
  assert.deepEqual([legs.length, asked], [1, ['Ada']]);
});

test('legs are fused by reciprocal rank over all of them', () => {
  const [a, b] = [hit({ name: 'a', score: 0.9 }), hit({ name: 'b', score: 0.1 })];
  const fused = fuseLegs([a, b], [{ source: 'expansion', hits: [hit({ name: 'b' }), hit({ name: 'c' })] }]);
  assert.deepEqual(names(fused), ['b', 'a', 'c']);
  assert.deepEqual(
    fused.map(({ score }) => score),
    [((1 / 62 + 1 / 61) * 61) / 2, ((1 / 61) * 61) / 2, ((1 / 62) * 61) / 2],
  );
  assert.deepEqual(
    fused.map(({ recallSource }) => recallSource),
    ['primary', 'primary', 'expansion'],
  );
  // Words of another query explain nothing of this one.
  assert.equal(fused[2]?.breakdown.terms, undefined);
  assert.deepEqual(fuseLegs([a, b], []), [a, b]);
});

test('a leg joins rankings that were fused before', () => {
  const before: StageHit = {
    ...hit({ name: 'a' }),
    breakdown: { base: 1, rrf: 1, legs: { sum: 2 / 61, count: 2 }, changes: {} },
  };
  const [joined] = fuseLegs([before], [{ source: 'primary', hits: [hit({ name: 'a' })] }]);
  assert.ok(Math.abs(joined!.score - 1) < 1e-12);
  assert.equal(joined?.breakdown.legs?.count, 3);
});

test('rankings of several questions become one, led by a hit that is first in all of them', () => {
  const fused = fuseRankings([[hit({ name: 'a' }), hit({ name: 'b' })], [], [hit({ name: 'b' })]]);
  assert.deepEqual(names(fused), ['b', 'a']);
  assert.equal(fused[1]?.score, 0.5);
  assert.deepEqual(fuseRankings([]), []);
});
