// First attempts of a language model run, or the error suggests the query that was meant, and that runs.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { refusal } from '../../src/engine/cal/testing/refused.ts';
import { HABITS, HOPELESS, MEANT } from './habits.ts';
import { temporaryMemory } from './memory.ts';

describe('habits', () => {
  const opened = temporaryMemory(before);
  const session = { userId: 'ann' };

  test('each query runs, or the suggested query does', () => {
    assert.ok(HABITS.length >= 150, `${HABITS.length} queries`);
    const lost: string[] = [];
    let mended = 0;
    for (const query of HABITS) {
      const error = refusal(query, false);
      if (error === undefined) {
        assert.equal(opened.memory.code(query, session), '', query);
        continue;
      }
      const { example } = error;
      if (example === undefined || refusal(example, false) !== undefined) {
        lost.push(`${query}  [${error.code}: ${error.message}]`);
        continue;
      }
      mended += 1;
      assert.equal(opened.memory.code(example, session), '', `${query} => ${example}`);
      assert.doesNotMatch(example, /\b(ADD|SUPERSEDE|REVERT|DEFINE)\b/, 'no read becomes a write');
    }
    assert.deepEqual(lost, []);
    assert.ok(mended > 90, `${mended} were mended`);
  });

  test('the important ones are corrected exactly', () => {
    for (const [query, meant] of Object.entries(MEANT)) assert.equal(refusal(query, false)?.example, meant, query);
  });

  test('meaningless queries are rejected without a suggestion', () => {
    for (const query of HOPELESS) {
      const error = refusal(query, false);
      assert.ok(error !== undefined && error.suggestion !== '', query);
      assert.equal(error.example, undefined, query);
    }
  });

  test('a strict server suggests strict queries, and rejects each extension with a portable form', () => {
    for (const query of HABITS) {
      const error = refusal(query);
      if (error?.example === undefined) continue;
      assert.equal(refusal(error.example), undefined, `${query} => ${error.example}`);
    }
    for (const query of [
      'RECALL beliefs WHERE subject = "a" OR subject = "b"',
      'ASSEMBLE FROM (RECALL goals) BUDGET 500',
    ])
      assert.match(refusal(query)!.suggestion, /^For every engine: /, query);
  });
});
