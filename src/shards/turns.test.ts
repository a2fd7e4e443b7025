import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Turns } from './turns.ts';

test('work about one thing never overlaps and keeps its order; other work does not wait', async () => {
  const subject = fc.constantFrom('a', 'b', 'c', 'd');
  const work = fc.record({ subjects: fc.array(subject, { maxLength: 5 }), steps: fc.nat(4), fails: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(work, { maxLength: 12 }), async (works) => {
      const turns = new Turns();
      const running = new Map<string, number>();
      const begun = new Map<string, number[]>();
      const results = await Promise.allSettled(
        works.map(({ subjects, steps, fails }, id) =>
          turns.take(subjects, async () => {
            const distinct = new Set(subjects);
            for (const one of distinct) {
              assert.equal(running.get(one), undefined, 'no other work holds the turn');
              running.set(one, id);
              begun.set(one, [...(begun.get(one) ?? []), id]);
            }
            for (let step = 0; step < steps; step++) await Promise.resolve();
            for (const one of distinct) running.delete(one);
            if (fails) throw new Error('failed');
            return id;
          }),
        ),
      );
      for (const [id, result] of results.entries()) {
        const value = result.status === 'fulfilled' ? result.value : (result.reason as Error).message;
        assert.equal(value, works[id]!.fails ? 'failed' : id);
      }
      for (const ids of begun.values())
        assert.deepEqual(
          ids,
          ids.toSorted((a, b) => a - b),
        );
      assert.equal(turns.size, 0);
    }),
  );
});

test('work about another thing completes while one turn is held', async () => {
  const turns = new Turns();
  const { promise: gate, resolve: release } = Promise.withResolvers<void>();
  const ended: string[] = [];
  const first = turns.take(['a', 'b'], () => gate.then(() => void ended.push('first')));
  const second = turns.take(['b', 'c'], async () => void ended.push('second'));
  await turns.take(['d'], async () => void ended.push('beside'));
  release();
  await Promise.all([first, second]);
  assert.deepEqual(ended, ['beside', 'first', 'second']);
});
