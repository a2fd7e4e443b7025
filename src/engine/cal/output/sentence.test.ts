import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SENTENCE_CHARS_MAX } from '../../base/limits.ts';
import { GRAIN_TYPE_NAMES } from '../../grain/grain.ts';
import { sentenceOf } from './sentence.ts';
import { EACH_TYPE, grainOf, HOSTILE } from './types.fixture.ts';

test('every type has a sentence of its own', () => {
  assert.deepEqual(
    EACH_TYPE.map((grain) => [grain.grainType, sentenceOf(grain)]),
    [
      ['belief', 'alice prefers dark mode'],
      ['belief', 'alice works at Café "Ł" & Co'],
      ['event', 'user: Can you pull the Q1 metrics?'],
      ['event', 'no role here'],
      ['state', 'outline slides; add velocity'],
      ['state', '{"cursor":7}'],
      ['workflow', 'review_due: 1. retrieve  2. draft  3. send'],
      ['action', 'query_metrics: {"deployments":47}'],
      ['action', 'mail: refused'],
      ['observation', 'thermo-1: 21 °C'],
      ['goal', 'complete Q1 review'],
      ['reasoning', 'lead with incidents'],
      ['consensus', 'deployments rose by 18%'],
      ['consent', 'user:alice grants read dashboards to did:web:agent'],
      ['consent', 'user:bob withdraws mail, calls from did:web:agent'],
    ],
  );
  assert.deepEqual(new Set(EACH_TYPE.map(({ grainType }) => grainType)), new Set(GRAIN_TYPE_NAMES));
});

test('an event is led by its speaker, and one without content says its triple', () => {
  assert.equal(sentenceOf(grainOf('1', 'event', { role: 'user', speaker: 'Ada', content: 'hello' })), 'Ada: hello');
  const triple = { subject: 'Ada', relation: 'moved_to', object: 'Bern' };
  assert.equal(sentenceOf({ grainType: 'event', fields: triple }), 'Ada moved to Bern');
});

test('a sentence is one line, is never empty and keeps markup as it is stored', () => {
  for (const content of HOSTILE) {
    const sentence = sentenceOf({ grainType: 'event', fields: { content } });
    assert.doesNotMatch(sentence, /[\p{Cc}\u2028\u2029]/u, JSON.stringify(content));
    assert.notEqual(sentence, '');
    assert.ok(sentence.isWellFormed());
  }
  assert.equal(sentenceOf({ grainType: 'event', fields: { content: '<b>"5 > 3"</b>' } }), '<b>"5 > 3"</b>');
  assert.equal(sentenceOf({ grainType: 'event', fields: {} }), 'event');
  assert.equal(sentenceOf({ grainType: 'hologram', fields: { content: 'from later' } }), 'from later');
});

test('a long sentence ends with an ellipsis, between characters', () => {
  const bound = 'x'.repeat(SENTENCE_CHARS_MAX);
  assert.equal(sentenceOf({ grainType: 'goal', fields: { description: bound } }), bound);
  const cut = sentenceOf({ grainType: 'goal', fields: { description: `${bound}x` } });
  assert.equal(cut, `${'x'.repeat(SENTENCE_CHARS_MAX - 1)}…`);
  for (const start of ['', 'x']) {
    const birds = sentenceOf({ grainType: 'goal', fields: { description: `${start}${'🦆'.repeat(1_000_000)}` } });
    assert.ok(birds.isWellFormed() && birds.length <= SENTENCE_CHARS_MAX && birds.endsWith('🦆…'));
  }
});
