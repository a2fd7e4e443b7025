// Both drivers give a generator the same answers, in the order of its questions, and throw a failure where it was
// asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnswersLater, type AnswersNow, type Asking, answerLater, answerNow, ask, askAll } from './asking.ts';

type Kinds = 'find' | 'history';

const found = (prefix: string): { hashes: string[] } => {
  if (prefix === '') throw new Error('no prefix');
  return { hashes: [prefix] };
};
const now: AnswersNow<Kinds> = { find: ({ prefix }) => found(prefix), history: () => ({ versions: [] }) };
const later: AnswersLater<Kinds> = {
  find: async ({ prefix }) => found(prefix),
  history: async () => ({ versions: [] }),
};

function* finding(...prefixes: string[]): Asking<string[], Kinds> {
  const { versions } = yield* ask('history', { hash: 'a' });
  const all = yield* askAll(
    'find',
    prefixes.map((prefix) => ({ prefix })),
  );
  return [`${versions.length} versions`, ...all.flatMap(({ hashes }) => hashes)];
}

function* surviving(): Asking<string, Kinds> {
  try {
    yield* ask('find', { prefix: '' });
    return 'found';
  } catch (error) {
    return String(error);
  }
}

test('answers come in the order of the questions, whether immediate or delayed', async () => {
  const expected = ['0 versions', 'x', 'y', 'x'];
  assert.deepEqual(answerNow(finding('x', 'y', 'x'), now), expected);
  assert.deepEqual(await answerLater(finding('x', 'y', 'x'), later), expected);
  assert.deepEqual(answerNow(finding(), now), ['0 versions']);
});

test('a failing question throws where it was asked, and the generator may continue', async () => {
  assert.throws(() => answerNow(finding('x', ''), now), /no prefix/);
  await assert.rejects(answerLater(finding('x', ''), later), /no prefix/);
  assert.equal(answerNow(surviving(), now), 'Error: no prefix');
  assert.equal(await answerLater(surviving(), later), 'Error: no prefix');
});

test('questions that are asked together run concurrently', async () => {
  let underWay = 0;
  let most = 0;
  const counted: AnswersLater<Kinds> = {
    ...later,
    find: async ({ prefix }) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      return found(prefix);
    },
  };
  await answerLater(finding('x', 'y', 'z'), counted);
  assert.equal(most, 3);
});
