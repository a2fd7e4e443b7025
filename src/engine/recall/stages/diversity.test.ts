import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diversify, likenessOf } from './diversity.ts';
import { hit, names } from './testing/hits.ts';

const twins = [
  hit({ name: 'a', score: 0.9, fields: { content: 'Ada drinks green tea' } }),
  hit({ name: 'b', score: 0.89, fields: { content: 'ada drinks GREEN tea.' } }),
  hit({ name: 'c', score: 0.5, fields: { content: 'Bob rows on Sundays' } }),
];

test('diversity_lambda prefers hits that differ from the chosen ones, by words where there are no vectors', () => {
  assert.deepEqual(names(diversify(twins, 0.3, 2)), ['a', 'c', 'b']);
  assert.deepEqual(names(diversify(twins, 0.95, 2)), ['a', 'b', 'c']);
});

test('diversity_lambda 1 changes nothing, and 0 looks at difference alone', () => {
  assert.deepEqual(names(diversify(twins, 1, 2)), ['a', 'b', 'c']);
  assert.deepEqual(names(diversify(twins, 0, 2)), ['a', 'c', 'b']);
});

test('similarity of meaning goes before words, which are used where it is unknown', () => {
  const alike = (a: { score: number }, b: { score: number }) => (a.score + b.score > 1.7 ? 0 : 1);
  assert.deepEqual(names(diversify(twins, 0.3, 2, alike)), ['a', 'b', 'c']);
  assert.deepEqual(names(diversify(twins, 0.3, 2, () => undefined)), ['a', 'c', 'b']);
});

test('the similarity of meaning is the cosine of vectors of one kind', () => {
  const [a, b, c] = twins;
  const vectors = new Map([
    [a!.grain.hash, Float32Array.of(1, 0)],
    [b!.grain.hash, Float32Array.of(0.6, 0.8)],
    [c!.grain.hash, Float32Array.of(1, 0, 0)],
  ]);
  const likeness = likenessOf(vectors);
  assert.ok(Math.abs(likeness!(a!, b!)! - 0.6) < 1e-6);
  assert.equal(likeness!(a!, c!), undefined, 'a vector of another embedder is not compared');
  assert.equal(likeness!(a!, hit({ name: 'blind' })), undefined);
  assert.equal(likenessOf(new Map()), undefined);
});

test('nothing is lost or duplicated, with empty and huge texts and many hits', () => {
  const many = Array.from({ length: 1_200 }, (_, at) =>
    hit({ name: `m${at}`, score: 1 - at / 1_200, fields: at % 2 === 0 ? {} : { content: 'word '.repeat(2_000) } }),
  );
  const chosen = diversify(many, 0.5, 30);
  assert.deepEqual(new Set(names(chosen)), new Set(names(many)));
  assert.equal(chosen.length, many.length);
});
