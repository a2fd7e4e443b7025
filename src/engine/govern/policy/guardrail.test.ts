import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { GUARDRAIL_WORDS_MAX } from '../../base/limits.ts';
import type { ValueMap } from '../../grain/value.ts';
import { matchesGuardrail } from './guardrail.ts';
import { formOf } from './guardrail-form.ts';
import type { GuardrailMode } from './rules.ts';

const matches = (fields: ValueMap, patterns: readonly string[], mode: GuardrailMode): string | undefined =>
  matchesGuardrail({ type: 'belief', fields }, patterns, mode);

/** A sample from the list behind the table. */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map([
  ['a', 'аɑ𝐚ａ'],
  ['c', 'сϲⅽ'],
  ['e', 'еҽℯé'],
  ['i', 'іıⅰ'],
  ['j', 'јϳ'],
  ['l', '1ⅼ'],
  ['o', '0оοօⲟ'],
  ['p', 'рρ'],
  ['s', 'ѕꜱ'],
  ['v', 'ѵνⅴ'],
  ['x', 'х×ⅹ'],
  ['y', 'уүγ'],
]);

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
    assert.equal(matches(fields, ['nothing like it', pattern], mode), field);
  });

/** Disguises of forbidden texts, and texts that read differently. */
const DISGUISES: readonly (readonly [pattern: string, text: string, matches: boolean])[] = [
  ['project x', 'prоject х', true], // Cyrillic о, х
  ['project x', 'рrојеct x', true], // Cyrillic р, ј, е
  ['project x', 'ρrοject χ', true], // Greek
  ['project x', '𝓹𝓻𝓸𝓳𝓮𝓬𝓽 𝔁', true],
  ['project x', 'pr0ject x', true],
  ['merger', 'rnerger', true],
  ['prоject х', 'project x', true],
  ['проект х', 'проект x', true],
  ['project x', 'project-x', true],
  ['project x', 'Project_X', true],
  ['project x', 'project...x', true],
  ['project x', 'project\u00a0x', true],
  ['project x', 'project\u2800x', true],
  ['project x', 'project — "x"', true],
  ['project x', 'p.r.o.j.e.c.t x', true],
  ['project x', 'pro-ject x', true],
  ['project x', 'próject ẍ', true],
  ['project x', 'p̷r̷o̷j̷e̷c̷t̷ x', true],
  ['project x', 'pro\u3164ject\u115f x', true],
  ['project x', 'pro\u034fject x', true],
  ['résumé', 'resume', true],
  ['project-x', 'project x', true],
  ['project x', 'projects', false],
  ['c++', 'we write C and Go', false],
  ['c++', 'we write C++ here', true],
  ['at&t', 'look at the time', false],
  ['at&t', 'AT & T', true],
  ['erin', 'mother-in-law', false],
  ['!!!', 'stop it', false],
  ['!!!', 'stop it!!!', true],
  ['мой', 'дом', false],
  ['か', 'が', false],
  ['कमल', 'कमाल', false],
];

for (const [pattern, text, expected] of DISGUISES)
  test(`"${pattern}" is ${expected ? '' : 'not '}in ${JSON.stringify(text)}`, () => {
    for (const mode of ['contains', 'fuzzy'] as const) {
      if (mode === 'fuzzy' && !expected) continue; // It may also match similar texts.
      assert.equal(matches({ content: `all of ${text} is late` }, [pattern], mode) !== undefined, expected, mode);
    }
  });

test("names of the caller's fields and keys, numbers and bytes are compared too; the format's own names and counts are not", () => {
  const contains = (fields: ValueMap, pattern: string) => matches(fields, [pattern], 'contains');
  assert.equal(contains({ project_x: 1 }, 'project x'), 'project_x');
  assert.equal(contains({ projectX: 1 }, 'project x'), 'projectX');
  assert.equal(contains({ data: { deep: { projectX: 1 } } }, 'project x'), 'data');
  assert.equal(contains({ note: 4471 }, '4471'), 'note');
  assert.equal(contains({ input: 4471 }, '4471'), 'input');
  assert.equal(contains({ note: Buffer.from('project x') }, 'project x'), 'note');
  assert.equal(contains({ object: 'tea', subject: 'ann', extra_fields: {} }, 'object'), undefined);
  assert.equal(contains({ extra_fields: { object: 1 } }, 'object'), 'extra_fields');
  assert.equal(contains({ created_at: 1_760_000_004_471, success_count: 4471, expires_at: 4471 }, '4471'), undefined);
});

test('a look-alike text has the form of the original, whatever characters it uses', () => {
  const letter = fc.constantFrom(...'abcdehijklnopqrstuvwxyz ');
  fc.assert(
    fc.property(
      fc.string({ unit: letter, minLength: 1, maxLength: 30 }),
      fc.infiniteStream(fc.nat()),
      (text, numbers) => {
        const disguised = [...text].map((plain) => {
          const others = [plain, ...(LOOK_ALIKES.get(plain) ?? [])];
          return others[numbers.next().value % others.length]!;
        });
        assert.equal(formOf(disguised.join('')).written, formOf(text).written);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('hostile texts are compared in linear time', () => {
  for (const unit of ['a-', '.', 'a\u0301', '\u0301', 'о', 'a b ', '&', 'p.r.o.', 'é', '\u3164'])
    assert.equal(matches({ content: unit.repeat(100_000) }, ['project x', 'at&t'], 'contains'), undefined, unit);
});

/** Pairs of letters as in Dice's coefficient. */
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

/** Compares every run of words on its own. */
function isAlike(text: string, pattern: string): boolean {
  if (text.includes(pattern)) return true;
  const words = text.split(' ');
  const { length } = pattern.split(' ');
  const starts = Math.max(words.length - length, 0) + 1;
  return Array.from({ length: starts }, (_, from) => words.slice(from, from + length).join(' ')).some(
    (run) => likeness(pattern, run) >= 0.8,
  );
}

test('fuzzy gives the same result as comparing every run of words with every pattern', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), minLength: 1, maxLength: 6 });
  const words = (maxLength: number) => fc.array(word, { minLength: 1, maxLength }).map((all) => all.join(' '));
  fc.assert(
    fc.property(words(9), fc.array(words(3), { maxLength: 4 }), (text, patterns) => {
      const found = matches({ content: text }, patterns, 'fuzzy') !== undefined;
      assert.equal(
        found,
        patterns.some((pattern) => isAlike(text, pattern)),
      );
    }),
    { numRuns: runs(500) },
  );
});

test('a long text is compared up to its word limit, inclusive', () => {
  const long = (words: number): ValueMap => ({ content: `${'tea '.repeat(words - 2)}confidental merger` });
  assert.equal(matches(long(GUARDRAIL_WORDS_MAX), ['confidential merger'], 'fuzzy'), 'content');
  assert.equal(matches(long(GUARDRAIL_WORDS_MAX + 1), ['confidential merger'], 'fuzzy'), undefined);
});
