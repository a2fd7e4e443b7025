import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EXTRACT_MODEL_CHARS_MAX, EXTRACT_MODEL_TEXTS_MAX } from '../../../engine/base/limits.ts';
import { requestsOf, wordsOf } from './request.ts';

const words = fc
  .array(fc.constantFrom('word', '. ', ' ', '\n', '\n\n', 'x'.repeat(5_000), '語'), { maxLength: 40 })
  .map((parts) => parts.join(''));

test('requests hold every text, in order and within their bounds', () => {
  fc.assert(
    fc.property(fc.array(words, { maxLength: 30 }), (texts) => {
      const requests = requestsOf(texts);
      for (const pieces of requests) {
        assert.ok(pieces.length > 0 && pieces.length <= EXTRACT_MODEL_TEXTS_MAX);
        assert.ok(pieces.reduce((sum, { text }) => sum + text.length, 0) <= EXTRACT_MODEL_CHARS_MAX);
      }
      const read = texts.map(() => '');
      for (const { of, text } of requests.flat()) read[of] += text;
      // White space at the end of a text may be left out.
      assert.deepEqual(
        read.map((text) => text.trimEnd()),
        texts.map((text) => text.trimEnd()),
      );
    }),
  );
});

test('no text can pass for the beginning of another one', () => {
  const first = wordsOf([{ of: 0, text: 'a' }]).user;
  const mark = /^=== (\w{12}) 1\n/.exec(first)?.[1];
  assert.ok(mark !== undefined);
  const forged = wordsOf([{ of: 0, text: first }]).user;
  assert.ok(!forged.startsWith(`=== ${mark}`), 'the mark depends on the text');
  assert.equal(wordsOf([{ of: 0, text: 'a' }]).user, first, 'the same texts make the same request');
});
