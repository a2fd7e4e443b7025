// The parts of the scenario `learned`: trees find what orders candidates, and the measures and bounds are right.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compared, ndcgOf } from '../bench/train/judge.ts';
import { ndcg, scoreOf, train } from '../bench/train/trees.ts';

const OPTIONS = { trees: 20, leaves: 4, rate: 0.3, leafMin: 5, features: [0, 1, 2], formula: 1 };

/** Twenty candidates: the formula puts them in a wrong order, the second feature tells the relevant one, the third is noise. */
function question(shift: number) {
  const candidates = Array.from({ length: 20 }, (_, i) => {
    const gain = i === (7 + shift) % 20 ? 1 : 0;
    return { unit: `${i}`, gain, features: Float64Array.of(1 - i / 20, gain === 1 ? 0.9 : (i % 5) / 10, (i * 7) % 11) };
  });
  return { memory: 'm', gains: [1], candidates };
}

test('trees learn the feature that tells relevant candidates, also on questions that they were not trained on', () => {
  const model = train([0, 1, 2, 3, 4, 5].map(question), OPTIONS);
  for (const shift of [8, 9, 10]) {
    const asked = question(shift);
    assert.ok(ndcgOf(asked, (features) => features[0]!) < 0.5);
    assert.equal(
      ndcgOf(asked, (features) => scoreOf(model, features)),
      1,
    );
  }
  assert.equal(model.trees.length, OPTIONS.trees);
  const splits = model.trees.flatMap(({ feature }) => feature).filter((feature) => feature === 1);
  assert.ok(splits.length > 0, 'no tree asks for the feature');
});

test('without anything to learn, trees keep the order of the formula', () => {
  const gains = [1];
  const candidates = Array.from({ length: 20 }, (_, i) => ({
    gain: i === 0 ? 1 : 0,
    features: Float64Array.of(20 - i, 1, 1),
  }));
  const model = train([{ gains, candidates }], { ...OPTIONS, features: [1, 2] });
  const scores = candidates.map(({ features }) => scoreOf(model, features));
  assert.deepEqual(
    scores.toSorted((a, b) => b - a),
    scores,
  );
});

test('nDCG counts graded gains by place, and units by their best candidate', () => {
  assert.equal(ndcg([3, 2], [2, 3]), 1);
  assert.equal(ndcg([0, 1], [1]), 1 / Math.log2(3));
  assert.equal(ndcg([...new Array<number>(10).fill(0), 1], [1]), 0);
  const at = (unit: string, gain: number, score: number) => ({ unit, gain, features: Float64Array.of(score) });
  const asked = { memory: 'm', gains: [1], candidates: [at('a', 0, 3), at('a', 0, 2), at('b', 1, 1)] };
  assert.equal(
    ndcgOf(asked, (features) => features[0]!),
    1 / Math.log2(3),
  );
});

test('the bounds of a difference enclose it, and show that a constant one is no noise', () => {
  const formula = Array.from({ length: 50 }, (_, i) => (i % 10) / 10);
  const constant = compared(
    formula,
    formula.map((value) => value + 0.1),
  );
  assert.ok(
    Math.abs(constant['ahead_low_ratio']! - 0.1) < 1e-9 && Math.abs(constant['ahead_high_ratio']! - 0.1) < 1e-9,
  );
  const noise = compared(
    formula,
    formula.map((value, i) => value + (i % 2 === 0 ? 0.1 : -0.1)),
  );
  assert.ok(noise['ahead_low_ratio']! < 0 && noise['ahead_high_ratio']! > 0, JSON.stringify(noise));
});
