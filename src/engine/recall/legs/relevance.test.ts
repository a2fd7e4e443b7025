import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { knownOf, leadOf, placeOf } from './relevance.ts';

test('a question is known by its words, by a cosine, and by both in the mean', () => {
  assert.equal(knownOf({ words: 0.2, cosine: undefined }), 0);
  assert.equal(knownOf({ words: 0.5, cosine: undefined }), 1);
  assert.ok(Math.abs(knownOf({ words: 0.35, cosine: undefined }) - 0.5) < 1e-12);
  assert.equal(knownOf({ words: 0, cosine: 0.65 }), 0.5);
  assert.equal(knownOf({ words: 1, cosine: 0.3 }), 0.5);
  assert.equal(knownOf({ words: 0.9, cosine: 0.8 }), 1);
});

test('a place is worth what its lead, rank and cosine say', () => {
  // -4 + 14 × .3 + 2.7 × .7 = 2.09
  assert.ok(Math.abs(placeOf({ rank: 1, lead: 0.3, cosine: 0.7 }) - 1 / (1 + Math.exp(-2.09))) < 1e-12);
  // -2.2 + 10 × .3 - .45 × ln 2
  const byWords = -2.2 + 3 - 0.45 * Math.log(2);
  assert.ok(Math.abs(placeOf({ rank: 2, lead: 0.3, cosine: undefined }) - 1 / (1 + Math.exp(-byWords))) < 1e-12);
});

test('more evidence is never less relevance, and all of it is a probability', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(unit, unit, unit, unit, fc.integer({ min: 1, max: 500 }), (words, cosine, lead, more, rank) => {
      const known = knownOf({ words, cosine });
      const place = placeOf({ rank, lead, cosine });
      for (const value of [known, place]) assert.ok(value >= 0 && value <= 1);
      assert.ok(knownOf({ words: Math.max(words, more), cosine }) >= known);
      assert.ok(knownOf({ words, cosine: Math.max(cosine, more) }) >= known);
      assert.ok(placeOf({ rank, lead: Math.max(lead, more), cosine }) >= place);
      assert.ok(placeOf({ rank: rank + 1, lead, cosine }) <= place);
    }),
  );
});

test('a lead is measured over the tenth candidate, or over the background if that is more', () => {
  assert.ok(Math.abs(leadOf(0.9, 0.6, true) - 0.3) < 1e-12);
  assert.ok(Math.abs(leadOf(0.9, 0.1, true) - 0.52) < 1e-12);
  assert.ok(Math.abs(leadOf(0.9, undefined, false) - 0.6) < 1e-12);
  assert.equal(leadOf(0.2, undefined, false), 0);
  assert.ok(Math.abs(leadOf(1.4, undefined, true) - 0.62) < 1e-12);
});

test('a hit that holds half of a question is never near certain, however small the memory', () => {
  for (const hasVectors of [false, true])
    for (const tenth of [undefined, 0, 0.2, 0.4]) {
      const lead = leadOf(0.5, tenth, hasVectors);
      const place = placeOf({ rank: 1, lead, cosine: hasVectors ? 0.6 : undefined });
      assert.ok(place < 0.5, `${place} with a tenth of ${tenth}`);
    }
});

test('poor candidates beside a hit do not change what it is worth', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, fc.double({ min: 0, max: 0.3, noNaN: true }), fc.boolean(), (own, tenth, hasVectors) => {
      assert.equal(leadOf(own, tenth, hasVectors), leadOf(own, undefined, hasVectors));
    }),
  );
});
