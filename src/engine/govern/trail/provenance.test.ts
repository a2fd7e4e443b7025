import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { grainName } from '../../record/grain-name.ts';
import { NameRun } from '../../record/name-run.ts';
import { EXCLUSION_REASONS } from './exclusions.ts';
import {
  type KeptNames,
  type KeptRecall,
  QUERY_MODES,
  ScoreNumbers,
  SORTED_FIELDS,
  shownRecall,
} from './provenance.ts';
import { decodeNames, decodeRecall, encodeNames, encodeRecall } from './provenance-codec.ts';
import { recallIds, writeMillionths } from './recall-ids.ts';

const hex = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex'));
const name = fc
  .record({ user: fc.nat(), scope: fc.nat(), partition: fc.option(fc.nat({ max: 63 }), { nil: undefined }), hash: hex })
  .map(({ user, scope, partition, hash }) =>
    grainName({
      keys: { user, scope },
      ...(partition === undefined ? {} : { partition }),
      enciphered: Buffer.from(hash, 'hex'),
    }),
  );
const text = fc.string({ unit: 'grapheme' });
const score = fc
  .array(fc.option(fc.double({ min: -2, max: 2, noNaN: true }), { nil: undefined }), {
    minLength: SORTED_FIELDS.length,
    maxLength: SORTED_FIELDS.length,
  })
  .map((values) => {
    const account = new ScoreNumbers();
    for (const [at, value] of values.entries())
      account.next(SORTED_FIELDS[at] === 'bm25_rank' && value !== undefined ? Math.abs(Math.round(value)) : value);
    return account.numbers;
  });
/** Of names, or of the plain hashes of an older build. */
const excluded = (of: fc.Arbitrary<string>) =>
  fc
    .array(fc.record({ grain: of, reason: fc.nat({ max: EXCLUSION_REASONS.length - 1 }) }), { maxLength: 5 })
    .map((all) => ({
      grains: NameRun.of(all.map(({ grain }) => grain)),
      reasons: Uint8Array.from(all, ({ reason }) => reason),
    }));
const results = (of: fc.Arbitrary<string>) =>
  fc
    .array(fc.record({ grain: of, score }), { maxLength: 5 })
    .map((all) => ({ grains: NameRun.of(all.map(({ grain }) => grain)), scores: all.map((one) => one.score) }));
const kept: fc.Arbitrary<KeptRecall> = fc.record({
  candidateCount: fc.nat({ max: 5_000 }),
  excluded: excluded(name),
  excludedCounts: fc.dictionary(fc.constantFrom(...EXCLUSION_REASONS), fc.integer({ min: 1, max: 9_999 })),
  mode: fc.constantFrom(...QUERY_MODES),
  namespace: text,
  nonce: fc.nat(),
  principal: text,
  query: fc.record(
    {
      detect_contradictions: fc.boolean(),
      grain_type: fc.option(fc.constant('belief')),
      has_embedding: fc.boolean(),
      has_text: fc.boolean(),
      options: fc.array(text, { maxLength: 3 }),
      text_sha256: hex,
    },
    { requiredKeys: ['detect_contradictions', 'grain_type', 'has_embedding', 'has_text', 'options'] },
  ),
  requestId: text,
  results: results(name),
  resultCount: fc.nat({ max: 500 }),
  timestamp: fc.nat(),
});
/** A record as an older build wrote it, with hashes in place of names. */
const ofHashes = fc
  .record({ recall: kept, excluded: excluded(hex), results: results(hex) })
  .map(({ recall, ...grains }): KeptRecall => ({ ...recall, ...grains }));
const names: fc.Arbitrary<KeptNames | undefined> = fc.option(
  fc.record(
    { entity: hex, object: hex, relation: hex, salt: hex, subject: hex, text_sha256: hex, user_id: text },
    { requiredKeys: ['user_id'] },
  ),
  { nil: undefined },
);

function hashOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}

/** A record with the names of its grains as texts. */
function told({ excluded, results, ...recall }: KeptRecall) {
  return {
    ...recall,
    excluded: excluded.grains.texts().map((grain, i) => ({ grain, reason: excluded.reasons[i] })),
    results: results.grains.texts().map((grain, i) => ({ grain, score: results.scores[i] })),
  };
}

/** JSON with members sorted by name. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

test('a record of many results and exclusions is read back', () => {
  fc.assert(
    fc.property(
      kept,
      hex,
      score,
      fc.nat({ max: 1_000 }),
      fc.nat({ max: 200 }),
      (recall, hash, numbers, found, left) => {
        const grain = grainName({ keys: { user: 7, scope: 0 }, enciphered: Buffer.from(hash, 'hex') });
        const long: KeptRecall = {
          ...recall,
          nonce: 2 ** 40 - 1,
          timestamp: 2 ** 32 + 1,
          results: {
            grains: NameRun.of(Array.from({ length: found }, () => grain)),
            scores: Array.from({ length: found }, () => [...numbers, 3, 2 ** 31, 4, -(2 ** 31), 5, -33]),
          },
          excluded: {
            grains: NameRun.of(Array.from({ length: left }, () => grain)),
            reasons: new Uint8Array(left).fill(EXCLUSION_REASONS.indexOf('limit_exceeded')),
          },
        };
        assert.equal(canonical(told(decodeRecall(encodeRecall(long)))), canonical(told(long)));
        const scores = long.results.scores.map(() => numbers);
        const sorted = { ...long, results: { ...long.results, scores } };
        assert.equal(recallIds(sorted, undefined).id, hashOf(shownRecall(sorted, undefined)));
      },
    ),
    { numRuns: 20 },
  );
});

test('a record reads back unchanged', () => {
  fc.assert(
    fc.property(kept, names, (recall, named) => {
      assert.equal(canonical(told(decodeRecall(encodeRecall(recall)))), canonical(told(recall)));
      if (named !== undefined) assert.equal(canonical(decodeNames(encodeNames(named))), canonical(named));
    }),
  );
});

test('texts of every length are read back', () => {
  const [recall] = fc.sample(kept, 1);
  for (const length of [0, 31, 32, 255, 256, 65_535, 65_536])
    for (const character of ['a', 'é', '日']) {
      const principal = character.repeat(Math.ceil(length / Buffer.byteLength(character)));
      assert.equal(decodeRecall(encodeRecall({ ...recall!, principal })).principal, principal);
    }
});

test('an id is the hash of the canonical JSON of the shown record, with and without names', () => {
  fc.assert(
    fc.property(fc.oneof(kept, ofHashes), names, (recall, named) => {
      const { id, rest } = recallIds(recall, named);
      assert.equal(id, hashOf(shownRecall(recall, named)));
      assert.equal(rest, named === undefined ? '' : hashOf(shownRecall(recall, undefined)));
    }),
  );
});

test('scores are stored with six decimals, ranks unchanged, and zeros not at all', () => {
  const account = new ScoreNumbers();
  for (const name of SORTED_FIELDS)
    account.next(name === 'bm25_rank' ? 7 : name === 'final_score' ? 0.12345678 : name === 'near' ? 0 : undefined);
  const results = { grains: NameRun.of(['a'.repeat(64)]), scores: [account.numbers] };
  const recall = { ...fc.sample(kept, 1)[0]!, results };
  assert.deepEqual(shownRecall(recall, undefined).results[0]?.score_breakdown, { bm25_rank: 7, final_score: 0.123457 });
});

test('millionths are written as JSON writes numbers', () => {
  const text = Buffer.alloc(64);
  const of = (value: number): void =>
    assert.equal(text.toString('latin1', 1, writeMillionths(text, 1, value)), JSON.stringify(value / 1e6), `${value}`);
  for (const value of [0, 1, 10, -1, 999_999, 1_000_000, -1_000_000, 1_000_001, 123_456_789, 1e15 - 1, 1e15, -1e17])
    of(value);
  fc.assert(fc.property(fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3_000_000, max: 3_000_000 })), of));
});
