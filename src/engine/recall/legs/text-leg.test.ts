// Each term of the formula on a conversation of six turns, with numbers worked out by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { Candidate, NeighbourScore } from '../../calls/recall.ts';
import {
  answerTerm,
  bm25Term,
  nearTerm,
  phraseTerm,
  roleTerm,
  selfTerm,
  sessionTerm,
  speakerTerm,
  sumOfTerms,
  TextLeg,
  TURN_FLAGS,
  timeTerm,
  vectorTerm,
} from './text-leg.ts';

/** To nine places, because 0.2 / 5.4 does not end. */
const near = (actual: number, expected: number, what?: string): void =>
  assert.ok(Math.abs(actual - expected) < 1e-9, `${what ?? ''} ${actual}, not ${expected}`);

test('each term is its weight divided by 5.4', () => {
  near(bm25Term(1), 1 / 5.4);
  near(phraseTerm(0.5), 0.15 / 5.4);
  near(vectorTerm(0.25), 0.25 / 5.4);
  near(nearTerm(2, 1), 0.6 / 5.4);
  near(answerTerm(2, TURN_FLAGS.answers), 0.6 / 5.4);
  assert.equal(answerTerm(2, TURN_FLAGS.self | TURN_FLAGS.named), 0);
  near(sessionTerm(2), 0.4 / 5.4);
  near(roleTerm(TURN_FLAGS.notAssistant), 0.4 / 5.4);
  near(speakerTerm(TURN_FLAGS.named), 0.4 / 5.4);
  near(timeTerm(TURN_FLAGS.time), 0.2 / 5.4);
  near(selfTerm(TURN_FLAGS.self), 0.1 / 5.4);
  for (const term of [roleTerm, speakerTerm, timeTerm, selfTerm]) assert.equal(term(0), 0);
});

const base = { hash: '', createdAtMs: 0 };
const score = (ordinal: number, bm25: number, cosine?: number): NeighbourScore => ({
  ordinal,
  bm25,
  ...(cosine === undefined ? {} : { cosine }),
});

test('a question, its answer and a document get their terms', () => {
  // Words: best 8. Cosines from 0.2 to 0.6. Pairs: best 3.
  const before = score(9, 4, 0.2); // context alone: h = 0.5
  const question: Candidate = {
    ...base,
    ...score(10, 8, 0.4), // bm 1, v 0.5
    phrase: 3,
    turn: { turnFlags: TURN_FLAGS.notAssistant | TURN_FLAGS.self, session: 1, before, after: score(11, 2, 0.6) },
  };
  const answer: Candidate = {
    ...base,
    ...score(11, 2, 0.6), // bm 0.25, v 1
    phrase: 1.5,
    turn: {
      turnFlags: TURN_FLAGS.answers | TURN_FLAGS.time | TURN_FLAGS.named,
      session: 1,
      before: score(10, 8, 0.4),
      after: undefined,
    },
  };
  const document: Candidate = { ...base, ...score(20, 4, 0.2) }; // bm 0.5, v 0
  const leg = new TextLeg([question, answer, document]);

  const asked = leg.terms(question);
  near(asked.bm25, 1 / 5.4);
  near(asked.vector, 0.5 / 5.4);
  near(asked.phrase, 0.3 / 5.4);
  near(asked.near, (0.2 * 0.5 + 0.2 * 1.25) / 5.4);
  assert.equal(asked.answer, 0);
  near(asked.session, (0.2 * 1.5) / 5.4);
  near(asked.role, 0.4 / 5.4);
  near(asked.self, 0.1 / 5.4);
  assert.equal(asked.time + asked.speaker, 0);
  near(leg.score(question), (1 + 0.5 + 0.3 + 0.35 + 0.3 + 0.4 + 0.1) / 5.4);

  const answered = leg.terms(answer);
  near(answered.near, (0.2 * 1.5) / 5.4);
  near(answered.answer, (0.3 * 1.5) / 5.4);
  near(answered.speaker, 0.4 / 5.4);
  near(answered.time, 0.2 / 5.4);
  assert.equal(answered.role, 0);
  near(leg.score(answer), (0.25 + 1 + 0.15 + 0.3 + 0.45 + 0.3 + 0.4 + 0.2) / 5.4);

  // A grain that is not a turn gets the neutral role and nothing else, so that types stay comparable.
  near(leg.score(document), (0.5 + 0.4) / 5.4);
  assert.deepEqual(
    Object.entries(leg.terms(document))
      .filter(([, value]) => value > 0)
      .map(([name]) => name),
    ['bm25', 'role'],
  );
});

test('a text leg has no neutral value without turns, and no vector value without vectors', () => {
  const leg = new TextLeg([
    { ...base, ...score(1, 6) },
    { ...base, ...score(2, 3) },
  ]);
  near(leg.score(leg.candidates[0]!), 1 / 5.4);
  near(leg.score(leg.candidates[1]!), 0.5 / 5.4);
});

test('a neighbour that filters exclude counts at most as much as the best', () => {
  const turn = { turnFlags: 0, session: 0, before: score(1, 100), after: undefined };
  const leg = new TextLeg([{ ...base, ...score(2, 5), turn }]);
  near(leg.terms(leg.candidates[0]!).near, 0.2 / 5.4);
});

test('a session of one partition is not a session of another', () => {
  const turn = { turnFlags: 0, session: 1, before: undefined, after: undefined };
  const leg = new TextLeg([
    { ...base, ...score(1, 8), turn, partition: 0 },
    { ...base, ...score(1, 2), turn, partition: 1 },
  ]);
  near(leg.terms(leg.candidates[0]!).session, 0.2 / 5.4);
  near(leg.terms(leg.candidates[1]!).session, (0.2 * 0.25) / 5.4);
});

const scores = fc.record(
  {
    ordinal: fc.nat(50),
    bm25: fc.double({ min: 0, max: 30, noNaN: true }),
    cosine: fc.double({ min: -1, max: 1, noNaN: true }),
  },
  { requiredKeys: ['ordinal', 'bm25'] },
);
const candidates = fc.array(
  fc
    .tuple(
      scores,
      fc.record({ phrase: fc.double({ min: 0, max: 30, noNaN: true }), partition: fc.nat(3) }, { requiredKeys: [] }),
      fc.option(
        fc.record({
          turnFlags: fc.nat(31),
          session: fc.nat(3),
          before: fc.option(scores, { nil: undefined }),
          after: fc.option(scores, { nil: undefined }),
        }),
        { nil: undefined },
      ),
    )
    .map(([one, more, turn]): Candidate & { partition?: number } => ({ ...base, ...one, ...more, turn })),
  { minLength: 1, maxLength: 12 },
);

test('the terms add up to the relevance, which is between 0 and 1', () => {
  fc.assert(
    fc.property(candidates, (some) => {
      const leg = new TextLeg(some);
      for (const candidate of some) {
        const relevance = leg.score(candidate);
        assert.ok(relevance >= 0 && relevance <= 1);
        const terms = leg.terms(candidate);
        assert.equal(relevance, Math.min(1, sumOfTerms(terms)));
        for (const [name, value] of Object.entries(terms)) assert.ok(value >= 0 && value <= 2.2 / 5.4, name);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a grain without a vector counts as one of the median similarity', () => {
  const plain = (ordinal: number, cosine?: number): Candidate => ({
    hash: `h${ordinal}`,
    ordinal,
    createdAtMs: 0,
    bm25: 1,
    ...(cosine === undefined ? {} : { cosine }),
  });
  const share = (candidates: readonly Candidate[], at: number) => new TextLeg(candidates).terms(candidates[at]!).vector;
  const some = [plain(1, 0.2), plain(2, 0.3), plain(3, 0.7), plain(4)];
  near(share(some, 3), 0.2 / 5.4);
  near(share([plain(1, 0.2), plain(2, 0.7), plain(3)], 2), 0.5 / 5.4);
  near(share([plain(1, 0.4), plain(2)], 1), share([plain(1, 0.4), plain(2)], 0));
  assert.equal(share([plain(1), plain(2)], 1), 0, 'without vectors there is no vector term');
  const neighbour: Candidate = {
    ...plain(5, 0.2),
    turn: { turnFlags: 0, session: 1, before: { ordinal: 9, bm25: 0 }, after: undefined },
  };
  const terms = new TextLeg([...some, neighbour]).terms(neighbour);
  assert.ok(terms.near > 0, 'a neighbour without a vector is not dissimilar');
});

test('vectors weigh less where they would demote a first hit by words that holds much of the question', () => {
  const words: Candidate = { ...base, ...score(1, 8, 0.3) }; // bm 1, v 0.25
  const similar: Candidate = { ...base, ...score(2, 4, 0.6) }; // bm 0.5, v 1
  const other: Candidate = { ...base, ...score(3, 0, 0.2) }; // bm 0, v 0
  const all = [words, similar, other];
  const vectorOf = (candidates: readonly Candidate[], covered: number): number =>
    new TextLeg(candidates, (candidate) =>
      candidate === words ? covered : assert.fail('only the first is asked for'),
    ).terms(similar).vector;
  near(vectorOf(all, 0), 1 / 5.4, 'nothing of the question');
  near(vectorOf(all, 0.5), 0.875 / 5.4, 'half of it');
  near(vectorOf(all, 1), 0.5 / 5.4, 'all of it');
  // Vectors that agree keep their weight, however much the first hit holds.
  const agreed = [{ ...words, cosine: 0.6 }, similar, other];
  const kept = new TextLeg(agreed, () => assert.fail('nobody is asked for'));
  near(kept.terms(similar).vector, 1 / 5.4);
});

test('the pooled words of a session count beside vectors only', () => {
  const turn = (ordinal: number, pooled: number, cosine?: number): Candidate => ({
    ...base,
    ...score(ordinal, 1, cosine),
    turn: { turnFlags: 0, session: ordinal, pooled },
  });
  const beside = new TextLeg([turn(1, 4, 0.5), turn(2, 1, 0.4)]);
  near(beside.terms(beside.candidates[0]!).pooled, 0.2 / 5.4);
  near(beside.terms(beside.candidates[1]!).pooled, 0.05 / 5.4);
  const alone = new TextLeg([turn(1, 4), turn(2, 1)]);
  for (const candidate of alone.candidates) assert.equal(alone.terms(candidate).pooled, 0);
});
