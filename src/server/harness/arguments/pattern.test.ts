// Patterns find what the regular expressions of JavaScript find, in a time that is linear in the text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ARGUMENT_CHECK_STEPS_MAX, TOOL_PATTERN_STATES_MAX } from '../../../engine/base/limits.ts';
import { Pattern, PatternRefused } from './pattern.ts';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 1) * 400;
const always = (): boolean => true;

const TABLE: readonly (readonly [pattern: string, ...texts: string[]])[] = [
  ['^\\d{4}-\\d{2}$', '2026-11', '2026-1', 'x2026-11', '2026-11\n'],
  ['^[A-Z]{2,3}(-[a-z]+)*$', 'AB', 'ABC-de-f', 'A', 'AB-', 'ABCD'],
  ['(foo|ba[rz]|)$', 'foo', 'xbaz', '', 'ba'],
  ['^(?:a*)*$', 'aaa', '', 'b'],
  ['(?<year>\\d+)\\/', '12/', '12'],
  ['\\bcat\\b', 'a cat.', 'concat', 'cat'],
  ['\\Bcat', 'concat', 'cat'],
  ['^\\p{Lu}\\p{L}*$', 'Äpfel', 'äpfel', 'Ω'],
  ['^.$', '😀', 'ab', '\n', 'a'],
  ['^\\u{1F600}\\uD83D\\uDE00$', '😀😀', '😀'],
  ['^[^\\]\\-a]$', ']', '-', 'a', 'b'],
  ['^[]$', '', 'a'],
  ['^[^]$', 'a', '\n', ''],
  ['a{0}b', 'b', 'ab'],
  ['^a{2,}?$', 'a', 'aa', 'aaaa'],
  ['x*', '', 'y'],
  ['\\x41\\cJ\\0?', 'A\n', 'A'],
  ['', '', 'a'],
];

for (const [source, ...texts] of TABLE)
  test(`/${source}/ finds what JavaScript finds`, () => {
    for (const text of texts)
      assert.equal(new Pattern(source).isIn(text, always), new RegExp(source, 'u').test(text), JSON.stringify(text));
  });

test('expressions of any form find what JavaScript finds', () => {
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'source' },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '^', '$', '\\b', ''),
      fc.tuple(tie('source'), tie('source')).map(([one, other]) => `${one}${other}`),
      fc.tuple(tie('source'), tie('source')).map(([one, other]) => `(?:${one}|${other})`),
      fc
        .tuple(tie('source'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '{0,1}?', '{1,}'))
        .map(([one, times]) => `(${one})${times}`),
    ),
  }));
  fc.assert(
    fc.property(source, fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 8 }), (pattern, text) => {
      assert.equal(new Pattern(pattern).isIn(text, always), new RegExp(pattern, 'u').test(text));
    }),
    { numRuns: RUNS },
  );
});

test('what no linear machine decides is refused, and so is what needs too many states', () => {
  for (const source of ['(', '(a)\\1', '(?<n>a)\\k<n>', '(?=a)', '(?!a)', '(?<=a)b', '(?<!a)b', '(?i:a)'])
    assert.throws(() => new Pattern(source), PatternRefused, source);
  for (const source of ['a{2000}', '((a{50}){50}){50}', '(((a{0}){900}){900}){900}', 'a'.repeat(2_000)])
    assert.throws(() => new Pattern(source), PatternRefused, source);
  assert.ok(new Pattern('^[a-z]{1,400}$').size < TOOL_PATTERN_STATES_MAX);
});

test('states that test no character count as work', () => {
  for (const source of [`(?:${'\\b\\B|'.repeat(160)}x)y`, `(?:${'$^|'.repeat(200)}z)q`]) {
    let left = ARGUMENT_CHECK_STEPS_MAX;
    const spend = (steps: number): boolean => {
      left -= steps;
      return left >= 0;
    };
    assert.equal(new Pattern(source).isIn('a'.repeat(100_000), spend), undefined, source);
  }
});

test('a pattern that goes back for ever in JavaScript takes linear time', () => {
  const text = `${'a'.repeat(1_000)}!`;
  for (const source of ['^(a+)+$', '^(a|aa)+$', '^(a*)*b$', '^(.*a){12}$']) {
    let steps = 0;
    const answer = new Pattern(source).isIn(text, (spent) => {
      steps += spent;
      return true;
    });
    assert.equal(answer, false);
    assert.ok(steps <= 2 * (new Pattern(source).size + 1) * (text.length + 1), `${source}: ${steps}`);
  }
  assert.equal(
    new Pattern('^(a+)+$').isIn(text, () => false),
    undefined,
  );
});
