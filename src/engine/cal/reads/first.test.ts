// The first places by keys and address, compared with sorting all of them; some addresses share a prefix.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { IndexPart } from '../../index/parts/part.ts';
import type { Store } from '../../store/store.ts';
import { FirstPlaces } from './first.ts';

test('the first places equal those of a full sort, whatever is kept on the way', () => {
  const place = fc.record({ first: fc.nat(3), second: fc.nat(2), head: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(place, { maxLength: 500 }), fc.integer({ min: 1, max: 130 }), (places, take) => {
      const address = (doc: number): string => `${places[doc]!.head}${String((doc * 7_919) % 1_009).padStart(4, '0')}`;
      const parts = [{ ordinals: places.map((_, doc) => doc) }] as unknown as IndexPart[]; // No other member is read.
      const store = { addressAt: address } as unknown as Store;
      const kept = new FirstPlaces(take);
      for (const [doc, { first, second, head }] of places.entries())
        if (!kept.isBehind(first, second, head)) kept.add({ part: 0, doc, first, second, head });
      const sorted = places
        .map((one, doc) => ({ ...one, doc }))
        .sort(
          (a, b) =>
            a.first - b.first || a.second - b.second || a.head - b.head || (address(a.doc) < address(b.doc) ? -1 : 1),
        );
      assert.deepEqual(
        kept.inOrder(store, parts).map(({ doc }) => doc),
        sorted.slice(0, take).map(({ doc }) => doc),
      );
    }),
  );
});
