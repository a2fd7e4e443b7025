import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { FORMATS } from '../ast.ts';
import { assemble } from './assembly/assemble.ts';
import { tokenCounter } from './tokenizer.ts';
import { ESTIMATE } from './tokens.ts';
import { EACH_TYPE, HOSTILE, NOW_MS, named, templated } from './types.fixture.ts';

const COUNTER = tokenCounter('o200k_base');

test('the estimate is the default token counter', () => {
  assert.equal(tokenCounter('estimate'), ESTIMATE);
  assert.deepEqual([COUNTER.name, tokenCounter('cl100k_base').name], ['o200k_base', 'cl100k_base']);
});

test('a text has as many tokens as the encoding gives it, whole or in pieces', () => {
  const prose = 'Alice prefers dark mode, and works best before 9 in the morning; ask her (or Bob) first. '.repeat(40);
  for (const text of ['', 'hello', prose, ` ${prose}\n\n${prose}`, '日本語 '.repeat(300)])
    assert.equal(COUNTER.count(text), encode(text).length);
});

test('control tokens of a model count as text, and no text is refused', () => {
  assert.ok(COUNTER.count('<|endoftext|>') > 1);
  for (const text of HOSTILE) assert.ok(COUNTER.count(text) >= (text === '' ? 0 : 1), text);
});

test('a long word is counted in pieces, none of which splits a character', () => {
  let encoded = 0;
  const word = '🦆a'.repeat(40_000);
  for (const text of [word, word.slice(1)]) encoded += COUNTER.count(text);
  assert.ok(encoded > 80_000);
});

test('D-28: an assembly counted by a tokenizer stays within its budget in every format', () => {
  const grains = HOSTILE.flatMap((text, i) =>
    EACH_TYPE.map((like, place) => ({
      ...like,
      fields: { ...like.fields, object: text, content: text, description: text },
      hash: (i * 100 + place).toString(16).padStart(64, '0'),
    })),
  );
  const sources = [
    { label: 'a', grains: grains.filter((_, i) => i % 3 === 0) },
    { label: 'b', grains: grains.filter((_, i) => i % 3 !== 0) },
  ];
  for (const rendering of [...FORMATS.map(named), templated({ text: '{{grain.content}} {{budget.used}}' })])
    for (const value of [1, 20, 90, 333, 900, 4_000]) {
      const budget = { value, unit: 'tokens' } as const;
      const plan = { sources, priority: [], renderings: [rendering], level: 'full', nowMs: NOW_MS } as const;
      const { renderings, tokensUsed } = assemble({ ...plan, budget, counter: COUNTER });
      const { content } = renderings[0]!;
      const tokens = COUNTER.count(typeof content === 'string' ? content : JSON.stringify(content));
      assert.ok(content.length === 0 || tokens <= value, `${rendering.key}: ${tokens} of ${value}`);
      if (typeof content === 'string') assert.equal(tokens, tokensUsed);
    }
});
