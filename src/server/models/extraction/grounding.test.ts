import assert from 'node:assert/strict';
import { test } from 'node:test';
import { grounded } from './grounding.ts';
import type { ClaimedFact } from './request.ts';

const TEXT = 'Since May I live\n  in New York City. 我住在巴黎。 Zoë is an engineer for software.';
const FACT: ClaimedFact = {
  text: 1,
  quote: 'I live in New York City',
  subject: 'speaker',
  relation: 'Lives in',
  object: 'New York City',
  when: '',
};
const of = (more: Partial<ClaimedFact>) => grounded({ ...FACT, ...more }, TEXT, 'ada');

test('a quote may differ from its text in white space alone', () => {
  assert.deepEqual(of({}), { subject: 'ada', relation: 'lives_in', object: 'New York City', when: undefined });
  assert.deepEqual(of({ quote: ' I  live in New York City ' })?.object, 'New York City');
  for (const quote of ['', 'i live in New York City', 'I lived in New York City', 'I live in New York City!'])
    assert.equal(of({ quote }), undefined, quote);
});

test('an object has half of its words from the quote', () => {
  assert.equal(of({ object: 'New Orleans' })?.object, 'New Orleans');
  for (const object of ['Paris', 'New Orleans Paris', '', '!!!', 'Zoë'])
    assert.equal(of({ object }), undefined, object);
  const quote = 'Zoë is an engineer for software';
  assert.equal(of({ quote, subject: 'Zoë', object: 'software engineer' })?.object, 'software engineer');
  assert.equal(of({ quote: '我住在巴黎', object: '巴黎' })?.object, '巴黎');
});

test('a subject is the speaker, or somebody of the text', () => {
  for (const subject of ['Speaker', 'I', 'me', 'the user', 'User']) assert.equal(of({ subject })?.subject, 'ada');
  assert.equal(of({ subject: 'Zoë' })?.subject, 'Zoë');
  for (const subject of ['ada', 'Grace', '', '\u0000', 'Zoë\n', `Zoë${' x'.repeat(200)}`])
    assert.notEqual(of({ subject })?.subject, subject, JSON.stringify(subject));
});

test('words that date a fact are words of its quote', () => {
  assert.equal(of({ when: 'Since May' })?.when, undefined);
  assert.equal(of({ quote: 'Since May I live in New York City', when: 'Since May' })?.when, 'Since May');
});
