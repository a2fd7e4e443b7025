import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import type { ValueMap } from '../grain/value.ts';
import { GUARDRAIL_WORDS_MAX } from '../limits.ts';
import { matchesGuardrail } from './guardrail.ts';
import type { GuardrailMode } from './policy/rules.ts';

const ROWS: readonly (readonly [mode: GuardrailMode, pattern: string, fields: ValueMap, field: string | undefined])[] =
  [
    ['exact', 'Project X', { subject: 'a', object: 'ｐroject  x' }, 'object'],
    ['exact', 'Project X', { object: 'all of project x' }, undefined],
    ['contains', 'project x', { content: 'All of Project\nX is late' }, 'content'],
    ['contains', 'project x', { content: 'project y' }, undefined],
    ['contains', 'deep', { data: { list: [{ name: 'so DEEP' }] } }, 'data'],
    ['contains', 'key', { data: { my_key: 1 } }, 'data'],
    ['contains', 'project x', { content: 'pro\u200bject\u2060 \u00adx' }, 'content'],
    ['exact', 'pro\u200bject', { content: 'PROJECT' }, 'content'],
    ['contains', '', { content: 'anything' }, undefined],
    ['fuzzy', 'confidential merger', { content: 'the confidental merger with Acme' }, 'content'],
    ['fuzzy', 'confidential merger', { content: 'a confident manager' }, undefined],
    ['fuzzy', 'confidential merger', { content: 'merger' }, undefined],
  ];

for (const [mode, pattern, fields, field] of ROWS)
  test(`${mode} "${pattern}" in ${JSON.stringify(fields)}: ${field ?? 'no'}`, () => {
    assert.equal(matchesGuardrail(fields, ['nothing like it', pattern], mode), field);
  });

/** Pairs of letters as Dice's coefficient counts them. */
function pairsOf(text: string): string[] {
  const padded = ` ${text} `;
  return Array.from({ length: padded.length - 1 }, (_, at) => padded.slice(at, at + 2));
}

function likeness(one: string, other: string): number {
  const left = pairsOf(other);
  const own = pairsOf(one);
  const total = own.length + left.length;
  let shared = 0;
  for (const pair of own) {
    const at = left.indexOf(pair);
    if (at < 0) continue;
    left.splice(at, 1);
    shared += 1;
  }
  return (2 * shared) / total;
}

/** Every run of words on its own. */
function isAlike(text: string, pattern: string): boolean {
  if (text.includes(pattern)) return true;
  const words = text.split(' ');
  const { length } = pattern.split(' ');
  const starts = Math.max(words.length - length, 0) + 1;
  return Array.from({ length: starts }, (_, from) => words.slice(from, from + length).join(' ')).some(
    (run) => likeness(pattern, run) >= 0.8,
  );
}

test('fuzzy finds what comparing every run of words with every pattern finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), minLength: 1, maxLength: 6 });
  const words = (maxLength: number) => fc.array(word, { minLength: 1, maxLength }).map((all) => all.join(' '));
  fc.assert(
    fc.property(words(9), fc.array(words(3), { maxLength: 4 }), (text, patterns) => {
      const found = matchesGuardrail({ content: text }, patterns, 'fuzzy') !== undefined;
      assert.equal(
        found,
        patterns.some((pattern) => isAlike(text, pattern)),
      );
    }),
    { numRuns: runs(500) },
  );
});

test('of a long text so many words are compared as is said, the last of them too', () => {
  const long = (words: number): ValueMap => ({ content: `${'tea '.repeat(words - 2)}confidental merger` });
  assert.equal(matchesGuardrail(long(GUARDRAIL_WORDS_MAX), ['confidential merger'], 'fuzzy'), 'content');
  assert.equal(matchesGuardrail(long(GUARDRAIL_WORDS_MAX + 1), ['confidential merger'], 'fuzzy'), undefined);
});
