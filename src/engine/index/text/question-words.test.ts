import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { anyText } from '../../base/testing/any-text.ts';
import { analyzer } from './analyze.ts';
import { parseQuestion } from './query.ts';
import { languageOfQuestion, unscoredTerms } from './question-words.ts';

function scored(question: string, language: string): readonly string[] {
  const spoken = analyzer(language);
  return parseQuestion(question, spoken, unscoredTerms(question, spoken)).terms;
}

test('function words of a question do not score, in the language of the memory and in another one', () => {
  assert.deepEqual(scored('Welche Zutaten würde ich für meine Lasagne brauchen?', 'de'), ['zutat', 'lasagn', 'brauch']);
  assert.deepEqual(scored('Welche Zutaten würde ich für meine Lasagne brauchen?', 'en'), [
    'zutaten',
    'lasagn',
    'brauchen',
  ]);
  assert.deepEqual(scored('Pourquoi devait-elle partir à Lyon ?', 'fr'), ['part', 'lyon']);
  assert.deepEqual(scored("Qu'est-ce que j'ai acheté ?", 'en'), ['acheté']);
  assert.deepEqual(scored('¿Cuántos de nuestros amigos estaban en Cádiz?', 'es'), ['amig', 'cadiz']);
  assert.deepEqual(scored('What did I buy in Cádiz?', 'es'), ['buy', 'cadiz']);
  assert.deepEqual(scored("I'm sure that they've seen our boat", 'en'), ['sure', 'seen', 'boat']);
});

test('a word with the stem of a function word still scores', () => {
  // Both have the stem `wart`.
  assert.deepEqual(scored('wo wart ihr, als wir warten mussten', 'de'), ['wart']);
});

test('a question of function words alone is asked by them', () => {
  assert.deepEqual(scored('who are you', 'en'), ['you']);
  assert.ok(scored('welche wurden worden', 'de').length > 0);
  assert.ok(scored('什么是什么', 'zh').length > 0);
});

test('Chinese questions score by pairs of content characters, and by pairs around a lone one', () => {
  assert.deepEqual(scored('我的猫叫什么名字？', 'zh'), ['猫叫', '名字']);
  assert.deepEqual(scored('我的貓叫什麼名字？', 'en'), ['貓叫', '名字']);
  assert.deepEqual(scored('你住在哪里？', 'zh'), ['你住', '住在']);
  assert.ok(scored('这个项目的目的是什么？', 'zh').includes('目的'), 'a function character inside a word');
  assert.deepEqual(
    scored('私の猫の名前', 'ja'),
    analyzer('ja').analyze('私の猫の名前').terms,
    'Japanese is not Chinese',
  );
});

test('the language of a question is that of most of its function words, in doubt that of the memory', () => {
  const cases = [
    ['en', 'What did we say about the roof?', 'en'],
    ['en', 'die hard man', 'en'],
    ['en', 'Wann habe ich das gesagt?', 'de'],
    ['en', "Où est-ce que j'ai mis la clé ?", 'fr'],
    ['en', '¿Dónde están las llaves?', 'es'],
    ['de', 'roof', 'de'],
    ['de', 'What did we say about the roof?', 'en'],
    ['pt', 'telhado', undefined],
    ['en', '钥匙', 'zh'],
    ['en', '鍵はどこですか', 'en'],
  ] as const;
  for (const [language, question, expected] of cases)
    assert.equal(languageOfQuestion(question, analyzer(language)), expected, question);
});

test('any question leaves out no term that it does not have', () => {
  fc.assert(
    fc.property(anyText(), fc.constantFrom('en', 'de', 'fr', 'es', 'zh', 'und'), (question, language) => {
      const spoken = analyzer(language);
      const terms = new Set(parseQuestion(question, spoken).terms);
      const kept = new Set(parseQuestion(question, spoken, unscoredTerms(question, spoken)).terms);
      assert.ok(kept.isSubsetOf(terms));
      assert.equal(kept.size === 0, terms.size === 0);
    }),
  );
});
