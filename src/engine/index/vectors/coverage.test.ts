import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { Coverage } from './coverage.ts';

test('ranges equal the set of their ordinals', () => {
  const range = fc.tuple(fc.boolean(), fc.nat(40), fc.nat(12));
  fc.assert(
    fc.property(fc.array(range, { maxLength: 20 }), (changes) => {
      const coverage = new Coverage();
      const model = new Set<number>();
      for (const [isAdded, after, length] of changes) {
        const change = { after, upTo: after + length };
        if (isAdded) coverage.add(change);
        else coverage.remove(change);
        for (let at = after + 1; at <= change.upTo; at++) isAdded ? model.add(at) : model.delete(at);
      }
      for (let at = 1; at < 60; at++) assert.equal(coverage.has(at), model.has(at), `ordinal ${at}`);
      let cursor = 0;
      while (model.has(cursor + 1)) cursor += 1;
      assert.equal(coverage.cursor, cursor);
      assert.equal(coverage.end, Math.max(0, ...model));
      const missing = coverage.gaps.flatMap(({ after, upTo }) =>
        Array.from({ length: upTo - after }, (_, i) => after + 1 + i),
      );
      assert.deepEqual(
        missing,
        Array.from({ length: coverage.end }, (_, i) => i + 1).filter((ordinal) => !model.has(ordinal)),
      );
      coverage.ranges.forEach(({ after }, at) => {
        if (at > 0) assert.ok(after > coverage.ranges[at - 1]!.upTo, 'ranges do not touch');
      });
    }),
    { numRuns: runs(500) },
  );
});
