import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../support/random.ts';
import { runs } from '../support/runs.ts';
import { CHAIN, type ChainCall } from './chain-model.ts';
import { checkHistory, describeFailure, type Model, type Operation } from './checker.ts';

type RegisterCall = { readonly write: number } | { readonly read: number };

const REGISTER: Model<number, RegisterCall> = {
  initial: 0,
  step: (value, call) => ('write' in call ? [call.write] : value === call.read ? [value] : []),
  keyOf: String,
  describe: (call) => JSON.stringify(call),
};

/** An operation: its call, and the times of call and answer. */
function at<Call>(call: Call, calledMs: number, answeredMs = Number.POSITIVE_INFINITY, client = 'a'): Operation<Call> {
  return { client, call, calledMs, answeredMs };
}

function isLinear(history: readonly Operation<RegisterCall>[]): boolean {
  return checkHistory(REGISTER, history).isLinearizable;
}

test('a register: what may be, and what may not', () => {
  const overlapping = [at({ write: 1 }, 0, 10), at({ read: 1 }, 2, 4), at({ read: 1 }, 5, 6)];
  assert.equal(isLinear([]), true);
  assert.equal(isLinear(overlapping), true);
  assert.equal(isLinear([at({ write: 1 }, 0, 10), at({ read: 0 }, 2, 4), at({ read: 1 }, 5, 6)]), true);
  // The value that was read goes back.
  assert.equal(isLinear([at({ write: 1 }, 0, 10), at({ read: 1 }, 2, 4), at({ read: 0 }, 5, 6)]), false);
  // A write that was answered is not seen.
  assert.equal(isLinear([at({ write: 1 }, 0, 1), at({ read: 0 }, 2, 3)]), false);
  assert.equal(isLinear([at({ read: 7 }, 0, 1)]), false);
  // Without an answer it may have happened, late or never.
  assert.equal(isLinear([at({ write: 1 }, 0), at({ read: 0 }, 2, 3), at({ read: 1 }, 4, 5)]), true);
  assert.equal(isLinear([at({ write: 1 }, 0), at({ read: 0 }, 2, 3)]), true);
  assert.equal(isLinear([at({ write: 1 }, 0), at({ read: 1 }, 2, 3), at({ read: 0 }, 4, 5)]), false);
  // Not before it was called.
  assert.equal(isLinear([at({ read: 1 }, 0, 1), at({ write: 1 }, 2, 3)]), false);
});

test('a failing history is printed with the order that was found', () => {
  const history = [at({ write: 1 }, 100, 110), at({ read: 1 }, 112, 114, 'b'), at({ read: 0 }, 115, 116)];
  const verdict = checkHistory(REGISTER, history);
  assert.ok(!verdict.isLinearizable);
  assert.equal(
    describeFailure(REGISTER, history, verdict),
    `a history that is not linearizable (ms; place in the longest order):
  0.0 .. 10.0  a  {"write":1}  [1]
  12.0 .. 14.0  b  {"read":1}  [2]
  15.0 .. 16.0  a  {"read":0}  [fits nowhere]`,
  );
});

/** Tries every order of every subset that has all answered operations. */
function bruteForce(history: readonly Operation<RegisterCall>[], value = 0): boolean {
  if (history.every(({ answeredMs }) => answeredMs === Number.POSITIVE_INFINITY)) return true;
  const endMs = Math.min(...history.map(({ answeredMs }) => answeredMs));
  return history.some(
    (operation, i) =>
      operation.calledMs <= endMs &&
      REGISTER.step(value, operation.call).some((next) => bruteForce(history.toSpliced(i, 1), next)),
  );
}

test('it says of random histories what trying every order says', () => {
  let good = 0;
  let bad = 0;
  for (let seed = 1; seed <= runs(1_500); seed++) {
    const random = new Random(seed);
    const history = Array.from({ length: random.between(1, 7) }, () => {
      const calledMs = random.between(0, 12);
      const call = random.chance(0.5) ? { write: random.between(0, 2) } : { read: random.between(0, 2) };
      return at(call, calledMs, random.chance(0.15) ? undefined : calledMs + random.between(1, 6));
    });
    const expected = bruteForce(history);
    assert.equal(isLinear(history), expected, `seed ${seed}: ${JSON.stringify(history)}`);
    if (expected) good += 1;
    else bad += 1;
  }
  assert.ok(good > 100 && bad > 100, `${good} and ${bad}`);
});

const add = (word: string, visits: number): ChainCall => ({ kind: 'add', word, visits });
const supersede = (old: string, word: string, visits: number, answer: 'done' | 'refused' = 'done'): ChainCall => ({ kind: 'supersede', old, word, visits, answer }); // biome-ignore format: one row
const accumulate = (target: string, word: string, delta: number, answer: { old: string } | 'refused' | 'unknown'): ChainCall => ({ kind: 'accumulate', at: target, word, delta, answer }); // biome-ignore format: one row
const current = (word: string, visits: number): ChainCall => ({ kind: 'current', found: { word, visits } });
const none: ChainCall = { kind: 'current', found: undefined };

function isChain(...calls: readonly Operation<ChainCall>[]): boolean {
  return checkHistory(CHAIN, calls).isLinearizable;
}

/** One after the other. */
const inTurn = (...calls: readonly ChainCall[]): readonly Operation<ChainCall>[] =>
  calls.map((call, i) => at(call, i * 10, i * 10 + 5));

test('a chain: what a store does', () => {
  assert.ok(isChain(...inTurn(none, add('a', 1), current('a', 1), supersede('a', 'b', 5), current('b', 5))));
  assert.ok(isChain(...inTurn(add('a', 1), accumulate('a', 'b', 2, { old: 'a' }), accumulate('a', 'c', 3, { old: 'b' }), current('c', 6)))); // biome-ignore format: one row
  assert.ok(isChain(...inTurn(add('a', 1), { kind: 'forget', removed: ['a'] }, none, supersede('a', 'b', 5, 'refused')))); // biome-ignore format: one row
  assert.ok(isChain(...inTurn(add('a', 1), supersede('a', 'b', 2), { kind: 'get', word: 'a', found: { visits: 1, isCurrent: false } }))); // biome-ignore format: one row
  // Two at once from one version: the second is refused.
  assert.ok(isChain(at(add('a', 1), 0, 1), at(supersede('a', 'b', 2), 2, 9), at(supersede('a', 'c', 3, 'refused'), 3, 8))); // biome-ignore format: one row
  // Sent again, and refused because it took effect the first time.
  assert.ok(isChain(...inTurn(add('a', 1), { ...supersede('a', 'b', 2, 'refused'), unsure: true } as ChainCall, current('b', 2)))); // biome-ignore format: one row
});

test('a chain: what no store may do', () => {
  const cases: readonly (readonly [string, readonly Operation<ChainCall>[]])[] = [
    ['an acknowledged write is lost', inTurn(add('a', 1), accumulate('a', 'b', 2, { old: 'a' }), current('a', 1))],
    ['a sum that was applied twice', inTurn(add('a', 1), accumulate('a', 'b', 2, { old: 'a' }), current('b', 5))],
    ['two later versions of one', inTurn(add('a', 1), supersede('a', 'b', 2), supersede('a', 'c', 3))],
    ['a removed chain is read', inTurn(add('a', 1), { kind: 'forget', removed: ['a'] }, current('a', 1))],
    ['an owner of before answers', [at(add('a', 1), 0, 1), at(supersede('a', 'b', 2), 2, 3), at(current('a', 1), 4, 5)]], // biome-ignore format: one row
    ['reads go back', [at(add('a', 1), 0, 1), at(supersede('a', 'b', 2), 2, 9), at(current('b', 2), 3, 4), at(current('a', 1), 5, 6)]], // biome-ignore format: one row
    ['a refusal without a reason', inTurn(add('a', 1), supersede('a', 'b', 2, 'refused'))],
    ['a forget that leaves one out', inTurn(add('a', 1), supersede('a', 'b', 2), { kind: 'forget', removed: ['a'] })],
    ['a version that nobody wrote', inTurn(add('a', 1), current('z', 1))],
    ['an unanswered sum is seen twice', [at(add('a', 1), 0, 1), at(accumulate('a', 'b', 2, 'unknown'), 2), at(current('b', 3), 5, 6), at(current('b', 5), 7, 8)]], // biome-ignore format: one row
  ];
  for (const [name, history] of cases) {
    const verdict = checkHistory(CHAIN, history);
    assert.ok(!verdict.isLinearizable, name);
    assert.ok(verdict.stuck.length > 0, name);
  }
});
