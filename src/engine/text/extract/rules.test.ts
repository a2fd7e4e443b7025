import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LABELLED_NOW_MS, labelled, precision, recall, score } from '../../../../test/extraction/labelled.ts';
import { runs } from '../../../../test/support/runs.ts';
import { EXTRACT_BELIEFS_MAX } from '../../base/limits.ts';
import type { ExtractContext, ExtractedBelief } from './extraction.ts';
import { ruleExtractor } from './extractor.ts';

const extractor = ruleExtractor();

async function beliefs(text: string, context: Partial<ExtractContext> = {}): Promise<readonly ExtractedBelief[]> {
  return (await extractor.extract(text, { nowMs: LABELLED_NOW_MS, ...context })).beliefs;
}

async function triples(text: string, context: Partial<ExtractContext> = {}): Promise<string[]> {
  return (await beliefs(text, context)).map(({ subject, relation, object }) => `${subject} | ${relation} | ${object}`);
}

test('nine in ten facts of the labelled sentences are right, and most are found', async () => {
  const sentences = [...labelled('first'), ...labelled('second')];
  assert.ok(sentences.length >= 150);
  const all = await score(extractor, sentences);
  assert.ok(precision(all) >= 0.9, JSON.stringify(all));
  assert.ok(recall(all) >= 0.8, JSON.stringify(all));
});

test('"I" is the speaker, else the user, else "user"', async () => {
  assert.deepEqual(await triples('I like tea.', { speaker: 'Anna', userId: 'u7' }), ['Anna | likes | tea']);
  assert.deepEqual(await triples('I like tea.', { userId: 'u7' }), ['u7 | likes | tea']);
  assert.deepEqual(await triples("My wife is a doctor. I'm vegan."), [
    "user's wife | is_a | doctor",
    'user | is | vegan',
  ]);
});

test('in a transcript "I" is the speaker of the line, or nobody if that is uncertain', async () => {
  const text =
    'User: I like tea.\nAnna: I like coffee. I live in Rome.\nAssistant: I like helping.\nXq Zz: I like jam.';
  assert.deepEqual(await triples(text), ['user | likes | tea', 'Anna | likes | coffee', 'Anna | lives_in | Rome']);
  assert.deepEqual(await triples('Anna: I like tea.\nI live in Rome.\n\nI like jam.'), [
    'Anna | likes | tea',
    'Anna | lives_in | Rome',
  ]);
  assert.deepEqual(await triples('FYI: I like tea.\n\nI like jam.'), ['user | likes | tea', 'user | likes | jam']);
});

test('material for a request is not a statement of the writer', async () => {
  assert.deepEqual(await triples('Translate to German: I live in Rome. I like tea.\nI own a boat.'), []);
  assert.deepEqual(await triples('Write a story: My name is Karl and I live in Rome.'), []);
  assert.deepEqual(await triples('"I live in Rome. I like tea. I own a boat." That is the text.'), []);
  assert.deepEqual(await triples('> I live in Rome\n```\nI like tea\n```\nI like jam.'), ['user | likes | jam']);
});

test('a doubt, a wish, a condition, hearsay or a joke is not a fact', async () => {
  for (const text of [
    'I live in Rome, right?',
    "I live in Rome, don't I?",
    'I would live in Rome and work at Ferrari.',
    'He says I live in Rome and I work at Ferrari.',
    'If I live in Rome and I work at Ferrari, I am happy.',
    "I don't live in Rome and work at Ferrari.",
    'I live in Rome. Just kidding!',
    'I love rain, lol.',
    'I like rain. /s',
    'I like rain 🙄',
    'In the film, Anna lives in Rome.',
    'I live in Rome, not anymore. I live in Rome, not really.',
    'This is my dog. It is my dog.',
    'My car is a mess. My job is a nightmare.',
    "I'll move to Rome. I may like it. I'd like tea.",
    'I like Rome or Paris.',
    'As if I like tea.',
    'Imagine I am a nurse. Pretend my name is Karl.',
    'I lived in Rome. I worked at Ferrari. I used to like tea.',
    'My ex-wife Anna is a nurse.',
    'My car is broken. My job is boring. My birthday is tomorrow. My email is down.',
    'I like this idea. I love the app. I prefer option B. I hate to say it.',
    "I'm Sorry. I'm in Rome. I'm sure. I'm a bit late. I'm a minute away.",
    'The nurse lives in Rome. They live in Rome. Somebody likes tea.',
    'Breakfast is a must. Monday is a holiday. Dinner likes tea.',
  ])
    assert.deepEqual(await triples(text), [], text);
});

test('a doubt in one clause does not affect its neighbours, nor does a question after a statement', async () => {
  assert.deepEqual(await triples("I'm trying to sleep, and I prefer tea, can you help me find some?"), [
    'user | prefers | tea',
  ]);
  assert.deepEqual(await triples("I might be late, but I live in Rome, so I'll walk."), ['user | lives_in | Rome']);
  assert.deepEqual(await triples("I don't like tea but I love coffee."), [
    'user | dislikes | tea',
    'user | likes | coffee',
  ]);
});

test('an identity in a question still holds, with the age that follows', async () => {
  assert.deepEqual(await triples("Could I bring my partner James, who's 53, to dinner?"), [
    'user | partner | James',
    'James | age | 53',
  ]);
  assert.deepEqual(await triples('I worry about my partner David, he is 57 and tired.'), [
    'user | partner | David',
    'David | age | 57',
  ]);
  assert.deepEqual(await triples('If my friend Anna came. Invent a story about my friend Anna.'), []);
});

test('a name that the text introduces is known from there on', async () => {
  assert.deepEqual(await triples('Zorblat likes tea.'), []);
  assert.deepEqual(await triples('My son is Zorblat. Zorblat likes tea.'), [
    'user | son | Zorblat',
    'Zorblat | likes | tea',
  ]);
});

test('objects end where the next phrase begins', async () => {
  const objects = async (text: string): Promise<string[]> => (await beliefs(text)).map(({ object }) => object);
  assert.deepEqual(await objects('I like tea 😂'), ['tea']);
  assert.deepEqual(await objects('I like C++!'), ['C++']);
  assert.deepEqual(await objects('My email is tom@example.org, please use it.'), ['tom@example.org']);
  assert.deepEqual(await objects('I moved to Rome and never looked at maps.'), []);
  assert.deepEqual(await objects('I moved to Rome and then rested.'), ['Rome']);
  assert.deepEqual(await objects('I prefer morning walks, like the ones in spring, to boost my mood.'), [
    'morning walks',
  ]);
  assert.deepEqual(await objects('I am the CEO of Acme.'), ['the CEO of Acme']);
});

test('facts begin at the time that the text states', async () => {
  const starts = async (text: string): Promise<(string | undefined)[]> =>
    (await beliefs(text)).map(({ validFromMs }) =>
      validFromMs === undefined ? undefined : new Date(validFromMs).toISOString().slice(0, 10),
    );
  assert.deepEqual(await starts('I moved to Chicago in May 2019.'), ['2019-05-01']);
  assert.deepEqual(await starts("I've lived in Oslo since 2014."), ['2014-01-01']);
  assert.deepEqual(await starts('Emma moved to Dublin last year.'), ['2025-01-01']);
  assert.deepEqual(await starts('In 2015, I moved to Rome.'), ['2015-01-01']);
  assert.deepEqual(await starts('I live in Rome.'), [undefined]);
  assert.deepEqual(await starts('I was born in Cairo in 1975.'), ['1975-01-01']);
});

test('every fact is returned once, with its confidence', async () => {
  assert.deepEqual(await beliefs('I like tea. I really like Tea! I LIKE tea'), [
    { subject: 'user', relation: 'likes', object: 'tea', confidence: 0.9 },
  ]);
});

test('the number of facts from one text is limited', async () => {
  const text = Array.from({ length: EXTRACT_BELIEFS_MAX + 50 }, (_, i) => `I like tea with ${i} sugars.`).join('\n');
  assert.equal((await beliefs(text)).length, EXTRACT_BELIEFS_MAX);
});

test('hostile texts of 250 KB end with few facts', async () => {
  const pieces = [
    '.',
    "'",
    '"',
    'I ',
    'I like ',
    'my wife Anna ',
    ' and I ',
    'I like a, ',
    ', ',
    '\ud800',
    "Anna's ",
    'a: ',
    '```\n',
  ];
  for (const piece of pieces) {
    const found = await beliefs(piece.repeat(Math.ceil(250_000 / piece.length)));
    assert.ok(found.length <= 1, `${piece}: ${found.length}`);
  }
});

test('any text gives facts whose objects occur in it, the same at every call', async () => {
  const words = fc.constantFrom(
    ...[
      'I',
      'like',
      'live',
      'in',
      'Rome',
      'tea',
      'my',
      'wife',
      'Anna',
      'is',
      'a',
      'nurse',
      'and',
      ',',
      '.',
      'not',
      'if',
    ],
    ...[
      'work',
      'at',
      'Bosch',
      '?',
      '"',
      'since',
      '2014',
      'born',
      'was',
      'allergic',
      'to',
      "don't",
      'prefer',
      'name',
      '\n',
    ],
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(words, { maxLength: 30 }).map((parts) => parts.join(' ')),
  );
  await fc.assert(
    fc.asyncProperty(text, async (any) => {
      const found = await beliefs(any);
      const plain = any.replace(/\s+/g, ' ');
      for (const { subject, relation, object } of found) {
        assert.ok(subject !== '' && /^[a-z0-9_]+$/.test(relation), relation);
        assert.ok(object !== '' && plain.includes(object), `${object} in ${plain}`);
      }
      assert.deepEqual(await beliefs(any), found);
    }),
    { numRuns: runs(300) },
  );
});

test('an object contains no date, no other statement and no speaker', async () => {
  const said: Readonly<Record<string, readonly string[]>> = {
    'I was born in 1987 in Porto.': ['user | born_on | 1987', 'user | born_in | Porto'],
    'I was born on 4 May 1990 in Lagos, Nigeria.': ['user | born_on | 4 May 1990', 'user | born_in | Lagos'],
    'I was born in March in a taxi.': ['user | born_on | March'],
    'I moved to Milan last year, after two years in Rome.': ['user | moved_to | Milan'],
    'I moved to Turin in 2015, then to Milan in 2019.': ['user | moved_to | Turin'],
    'Lena lives in Graz and Tom in Linz.': ['Lena | lives_in | Graz'],
    'I live in Graz during the week and in Linz on weekends.': [],
    'Lena likes me.': [],
    'Lena is a friend of mine.': [],
  };
  for (const [text, expected] of Object.entries(said)) assert.deepEqual(await triples(text), expected, text);
});

test('neither of two dates in one clause is taken as the time of its fact', async () => {
  const whenOf = async (text: string): Promise<(number | undefined)[]> =>
    (await beliefs(text)).map(({ validFromMs }) => validFromMs);
  assert.deepEqual(await whenOf('I have worked at Roche since 2021.'), [Date.UTC(2021, 0)]);
  assert.deepEqual(await whenOf('I moved to Turin in 2015, then to Milan in 2019.'), [undefined]);
  assert.deepEqual(await whenOf('I have worked at Roche since 2021, after leaving Bayer in 2019.'), [undefined]);
});

test('a doubt or an example around a statement cancels it', async () => {
  for (const text of [
    'I like cats, I guess.',
    'My favourite colour is green, I think.',
    'I live in Graz, maybe.',
    'For example, my name is John.',
    'For instance: I live in Rome. I like tea.',
  ])
    assert.deepEqual(await triples(text), [], text);
  assert.deepEqual(await triples('I like teas, for example rooibos.'), ['user | likes | teas']);
});

test("a book's content, times of day and dogs that died are not facts", async () => {
  for (const text of [
    'In my novel, my name is Max and I live in Rome.',
    'In the game I work at a bakery.',
    'I am working for an hour a day.',
    'I worked, and I am working, for a few weeks.',
    'My dog Rex died.',
    "I'm a nurse by training but cook these days.",
  ])
    assert.deepEqual(await triples(text), [], text);
  assert.deepEqual(await triples('My grandmother Ida died.'), ['user | grandmother | Ida']);
});
