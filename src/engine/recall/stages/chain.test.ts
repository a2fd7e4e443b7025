import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BOUND, planChain, runChain } from './chain.ts';
import type { StageHit } from './hit.ts';
import { belief, names } from './testing/hits.ts';

const steps = (question: string, max?: number) =>
  planChain(question, max).steps.map(({ query, binds }) => `${binds ? '> ' : ''}${query.replaceAll(BOUND, '…')}`);

test('a chain of possessives becomes hops, each about the result of the one before', () => {
  assert.deepEqual(steps("Where does Ada's brother's wife work?"), ['Ada brother', '> … wife', '> Where does … work']);
  assert.deepEqual(steps("Who is Ada's brother's wife?"), ['Ada brother', '> … wife']);
  assert.match(planChain("Who is Ada's brother's wife?").reasoning, /2 hops.*"Ada brother", then "… wife"/);
});

test('a relative clause is asked first', () => {
  assert.deepEqual(steps('What is the email of the person who manages Bob?'), [
    'person manages Bob',
    '> What is the email of …',
  ]);
});

test('conjunctions, comparisons, lists and several questions are asked in parallel', () => {
  assert.deepEqual(steps('Who is Ada? Where does she live?'), ['Who is Ada', 'Where does she live']);
  assert.deepEqual(steps('Compare tea with coffee'), ['tea', 'coffee']);
  assert.match(planChain('Compare tea with coffee').reasoning, /comparison/);
  assert.deepEqual(steps('What colour is the bike?'), ['What colour is the bike?']);
  assert.match(planChain('What colour is the bike?').reasoning, /no rule/);
});

test('max_sub_queries is kept between 2 and 8', () => {
  const many = Array.from({ length: 20 }, (_, at) => `Question ${at}?`).join(' ');
  assert.deepEqual(
    [steps(many).length, steps(many, 3).length, steps(many, 99).length, steps(many, 0).length],
    [4, 3, 8, 2],
  );
});

test('entities of a hop bind into the next, without those that its query named', async () => {
  const table: Record<string, readonly StageHit[]> = {
    'Ada brother': [belief('1', 'Ada', 'has brother', 'Bob')],
    'Bob wife': [belief('2', 'Bob', 'has wife', 'Cleo')],
    'Where does Cleo work': [belief('3', 'Cleo', 'works at', 'Acme')],
  };
  const asked: string[] = [];
  const answers = await runChain(planChain("Where does Ada's brother's wife work?"), (query) => {
    asked.push(query);
    return Promise.resolve(table[query] ?? []);
  });
  assert.deepEqual(asked, Object.keys(table));
  assert.deepEqual(names(answers.at(-1)!.hits), ['3']);
});

test('a hop without results keeps the words around it, and parallel questions are asked at once', async () => {
  const nothing = await runChain(planChain("Where does Ada's brother's wife work?"), () => Promise.resolve([]));
  assert.deepEqual(
    nothing.map(({ query }) => query),
    ['Ada brother', 'wife', 'Where does work'],
  );
  let under = 0;
  let most = 0;
  await runChain(planChain('Who? What? When?'), async () => {
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    return [];
  });
  assert.equal(most, 3);
});

test('hostile questions give plans of bounded size', () => {
  for (const odd of [
    '',
    ' ',
    BOUND,
    "'s's's",
    "a's ".repeat(100_000),
    'the x who '.repeat(50_000),
    '\ud800',
    'a b '.repeat(99_999),
  ]) {
    const plan = planChain(odd, 8);
    assert.ok(plan.steps.length >= 1 && plan.steps.length <= 8);
    assert.ok(plan.reasoning.length < 10_000);
  }
});
