import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { anyText } from '../../base/testing/any-text.ts';
import { ESTIMATE } from './tokens.ts';

const { count } = ESTIMATE;

/** The formula of the specification, code point by code point. */
function stated(text: string): number {
  const points = [...text];
  const ascii = points.filter((point) => point.codePointAt(0)! < 0x80).length;
  return Math.ceil(ascii / 4) + points.length - ascii;
}

test('D-28: the estimate is a quarter of the ASCII characters, rounded up, plus every other character', () => {
  const cases: [string, number][] = [
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['é', 1],
    ['日本語', 3],
    ['🦆', 1],
    ['ab🦆cd é', 4],
  ];
  for (const [text, tokens] of cases) assert.equal(count(text), tokens, text);
});

test('D-28: the rule holds for any text, unpaired surrogates included', () => {
  const text = fc.oneof(anyText(), fc.string(), fc.constantFrom('\ud800', 'a\udc00', '\udc00\ud800x'));
  fc.assert(
    fc.property(text, (any) => assert.equal(count(any), stated(any))),
    { numRuns: runs(500) },
  );
});

test('a text never counts more than its parts together, nor less than one of them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
      const whole = count(one + other);
      assert.ok(whole <= count(one) + count(other) && whole >= Math.max(count(one), count(other)));
    }),
    { numRuns: runs(300) },
  );
});
