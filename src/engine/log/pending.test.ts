import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import type { NumberedAppend } from './numbered-append.ts';
import { PendingAppends } from './pending.ts';

/** An append of state entries alone; null deletes. */
function appendOf(number: number, state: readonly (readonly [string, Buffer | null])[]): NumberedAppend {
  const none = {
    first: 1,
    bytes: 0,
    frames: Buffer.alloc(0),
    offsets: Uint32Array.of(0),
    replacements: [],
    removals: [],
  };
  return { ...none, number, state };
}

test('entries of a prefix come in order, whatever was added and dropped before', () => {
  const key = fc.stringMatching(/^[ab]\/[a-c]{1,3}$/);
  const step = fc.oneof(
    fc.record({ add: fc.array(fc.tuple(key, fc.boolean()), { maxLength: 60 }) }),
    fc.record({ drop: fc.nat({ max: 3 }) }),
    fc.record({ look: fc.constantFrom('', 'a/', 'a/b', 'b/', 'c') }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pending = new PendingAppends();
      let appends: NumberedAppend[] = [];
      let number = 0;
      for (const one of steps) {
        if ('add' in one) {
          number += 1;
          const made = appendOf(number, [
            ...new Map(one.add.map(([name, is]) => [name, is ? Buffer.from([number]) : null])),
          ]);
          appends.push(made);
          pending.add(made);
        } else if ('drop' in one) {
          pending.drop(appends.slice(0, one.drop));
          appends = appends.slice(one.drop);
        } else {
          const newest = new Map(appends.flatMap(({ state }) => [...state]));
          const wanted = [...newest].filter(([name]) => name.startsWith(one.look)).sort(([a], [b]) => (a < b ? -1 : 1));
          assert.deepEqual([...pending.states(one.look)], wanted);
        }
      }
    }),
    { numRuns: runs(200) },
  );
});

test('a look at few entries of many costs those few', (t) => {
  const pending = new PendingAppends();
  const nameOf = (i: number): string => `tuple/${String(i % 5_000).padStart(5, '0')}/${i}`;
  pending.add(
    appendOf(
      1,
      Array.from({ length: 20_000 }, (_, i) => [nameOf(i), Buffer.from([1])] as const),
    ),
  );
  assert.equal([...pending.states('tuple/00007/')].length, 4);
  pending.add(appendOf(2, [['tuple/00007/new', Buffer.from([2])]]));
  const compared = t.mock.method(String.prototype, 'startsWith');
  assert.equal([...pending.states('tuple/00007/')].length, 5);
  const looks = compared.mock.callCount();
  compared.mock.restore();
  assert.ok(looks < 20, `${looks} entries were looked at`);
});
