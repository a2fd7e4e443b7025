import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANSWER_BYTES_MAX } from '../../engine/base/limits.ts';
import { comparePlaces, pageOf, readPage, writeCursor } from './page.ts';

interface Item {
  readonly timeMs: number;
  readonly id: string;
}

test('consecutive pages give every item once and in order, whatever is added or removed between them', () => {
  const items = fc.uniqueArray(fc.record({ timeMs: fc.nat(5), id: fc.string({ maxLength: 2 }) }), {
    selector: ({ timeMs, id }) => `${timeMs} ${id}`,
    maxLength: 30,
  });
  fc.assert(
    fc.property(
      items,
      items,
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      (all, later, limit, order) => {
        let sorted = [...all].sort(comparePlaces);
        const seen: Item[] = [];
        let cursor: string | undefined;
        for (let round = 0; round < 40; round += 1) {
          const page = readPage({ limit, order, ...(cursor === undefined ? {} : { cursor }) }, 'items', []);
          const { items: got, total, nextCursor } = pageOf(sorted, page, (item) => item, 'items');
          assert.equal(total, sorted.length);
          seen.push(...got);
          if (nextCursor === null) break;
          cursor = nextCursor;
          // Items present from the start stay; others may appear at any place.
          if (round === 0) {
            const fresh = later.filter((one) => !sorted.some((other) => comparePlaces(one, other) === 0));
            sorted = [...sorted, ...fresh].sort(comparePlaces);
          }
        }
        const direction = order === 'asc' ? 1 : -1;
        for (const [at, item] of seen.entries())
          if (at > 0)
            assert.ok(comparePlaces(seen[at - 1] ?? item, item) * direction < 0, 'items are in order and distinct');
        for (const item of all)
          assert.ok(
            seen.some((one) => comparePlaces(one, item) === 0),
            'none is missing',
          );
      },
    ),
  );
});

test('a cursor of another list, or an invalid one, is VAL-E004', () => {
  const cursor = writeCursor({ timeMs: 1, id: 'a' }, 'keys', 'desc');
  assert.deepEqual(readPage({ cursor }, 'keys', []).after, { timeMs: 1, id: 'a' });
  for (const bad of [
    cursor.slice(2),
    'x',
    '',
    Buffer.from('[1,2,3]').toString('base64url'),
    Buffer.from('["keys",1.5,"a"]').toString('base64url'),
  ])
    assert.throws(() => readPage({ cursor: bad }, 'keys', []), { code: 'VAL-E004' });
  assert.throws(() => readPage({ cursor }, 'memories', []), { code: 'VAL-E004' });
});

test('a page has 50 items by default, and never more than 500', () => {
  assert.equal(readPage({}, 'x', []).limit, 50);
  assert.equal(readPage({ limit: 501 }, 'x', []).limit, 500);
});

test('a page that differs from the requested one has warnings', () => {
  const warnings: string[] = [];
  readPage({ limit: 500 }, 'x', warnings);
  const cursor = writeCursor({ timeMs: 1, id: 'a' }, 'x', 'desc');
  readPage({ cursor }, 'x', warnings);
  readPage({ cursor, order: 'desc' }, 'x', warnings);
  assert.deepEqual(warnings, []);
  readPage({ limit: 501, cursor, order: 'asc' }, 'x', warnings);
  assert.deepEqual(warnings, [
    'limit 501 is treated as 500',
    'the cursor was made for order desc: the page goes back from its place in order asc',
  ]);
  const older = Buffer.from(JSON.stringify(['x', 1, 'a'])).toString('base64url');
  assert.deepEqual(readPage({ cursor: older, order: 'asc' }, 'x', warnings).after, { timeMs: 1, id: 'a' });
  assert.equal(warnings.length, 2);
});

test('a page ends where an answer has no room, and its cursor continues', () => {
  const items = Array.from({ length: 30 }, (_, at) => ({ timeMs: at, id: `${at}`, text: 'x'.repeat(1_500_000) }));
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = readPage({ limit: 500, ...(cursor === '' ? {} : { cursor }) }, 'x', []);
    const {
      items: warnings,
      nextCursor,
      total,
    } = pageOf(
      items,
      page,
      (item) => item,
      'x',
      ({ text }) => text,
    );
    assert.ok(JSON.stringify(warnings).length <= ANSWER_BYTES_MAX);
    assert.equal(total, 30);
    seen.push(...warnings.map(({ id }) => id));
    cursor = nextCursor;
  }
  assert.deepEqual(seen, items.map(({ id }) => id).toReversed());
});
