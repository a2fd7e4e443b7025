import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FacetNames } from './writer.ts';

test('names are kept as their UTF-8, whatever their lengths', () => {
  const name = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('長い名前 '.repeat(50)));
  fc.assert(
    fc.property(fc.array(name), (texts) => {
      const names = new FacetNames(texts.length);
      for (const text of texts) names.add(text);
      for (const [i, text] of texts.entries()) assert.deepEqual(Buffer.from(names.at(i)), Buffer.from(text));
    }),
  );
});
