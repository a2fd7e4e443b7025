// Properties of every generated query: nothing changes, nothing of another namespace shows, equal questions have equal
// answers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import type { Query } from '../../src/engine/cal/ast.ts';
import { printQuery } from '../../src/engine/cal/print.ts';
import { validQueries } from '../../src/engine/cal/testing/arbitrary.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { runs } from '../support/runs.ts';
import { AWAY, CANARY, fixtureItems, HOME } from './fixture.ts';
import { CalMemory } from './memory.ts';

/** Words of the fixture's grains, so that generated conditions match some of them. */
const WORDS = [
  'alice',
  'bob',
  'mallory',
  'mg:prefers',
  'works_at',
  'Acme',
  's1',
  'ann',
  'eve',
  HOME,
  AWAY,
  'ui',
  'food',
];

/** The query with strings and hashes of its conditions drawn from `words` and `hashes`; its other texts stay. */
function aimed(query: Query, words: readonly string[], hashes: readonly string[], seed: number): Query {
  let draw = seed;
  const next = (): number => {
    draw = (Math.imul(draw, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return draw;
  };
  const walk = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(walk);
    if (typeof node !== 'object' || node === null) return node;
    const members = node as Record<string, unknown>;
    if (members['kind'] === 'string' && next() % 3 > 0) return { ...members, value: words[next() % words.length] };
    if (members['kind'] === 'hash' && next() % 3 > 0)
      return { ...members, hex: hashes[next() % hashes.length]!.slice(0, next() % 2 === 0 ? 64 : 12) };
    return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, walk(value)]));
  };
  return walk(query) as Query; // Of the same shape.
}

function queriesAt(hashes: readonly string[]): Arbitrary<{ readonly query: Query; readonly text: string }> {
  return fc
    .tuple(validQueries, fc.nat())
    .map(([query, seed]) => aimed(query, WORDS, hashes, seed))
    .map((query) => ({ query, text: printQuery(query) }))
    .filter(({ text }) => Buffer.byteLength(text) <= 8_192);
}

/** An answer without parts that depend on time and budgets; an error as its code. */
function comparable(memory: CalMemory, query: string, namespace?: string): unknown {
  const reply = memory.reply(query, namespace === undefined ? {} : { namespace });
  if (isRefused(reply)) return [reply.refused, reply.message];
  return JSON.parse(reply.resultJson, (key, value) => (key === 'duration_ms' ? undefined : value));
}

test('Tier 0: no query changes a grain, and the same query has the same answer', async (t) => {
  const memory = await CalMemory.open(t);
  const before = memory.engine.store.log.nextSequence;
  fc.assert(
    fc.property(queriesAt(memory.hashes), ({ text }) => {
      assert.deepEqual(comparable(memory, text), comparable(memory, text), text);
      assert.equal(memory.engine.store.log.nextSequence, before, text);
    }),
    { numRuns: runs(150) },
  );
});

test('a bound session answers as if no other namespace existed', async (t) => {
  const items = fixtureItems();
  const both = await CalMemory.open(t, items);
  const alone = await CalMemory.open(
    t,
    items.filter(({ fields }) => fields['namespace'] === HOME),
  );
  let answered = 0;
  fc.assert(
    fc.property(queriesAt(both.hashes), ({ text }) => {
      const expected = comparable(both, text, HOME);
      assert.deepEqual(expected, comparable(alone, text, HOME), text);
      assert.ok(!JSON.stringify(expected).includes(CANARY), text);
      if (!Array.isArray(expected)) answered += 1;
    }),
    { numRuns: runs(300) },
  );
  assert.ok(answered > 0, 'some of the queries answer');
});

test('section 1.3: words of other namespaces move no score and no order of a bound session', async (t) => {
  const items = fixtureItems();
  // Each makes a word frequent in the other namespace that is rare here.
  const loud = items.map(
    ({ fields }, i): AddItem => ({
      grainType: 'belief',
      fields: { subject: `loud ${i}`, relation: 'says', object: String(fields['object'] ?? 'tea'), namespace: AWAY },
    }),
  );
  const both = await CalMemory.open(t, [...items, ...loud]);
  const alone = await CalMemory.open(
    t,
    items.filter(({ fields }) => fields['namespace'] === HOME),
  );
  for (const query of [
    'RECALL LIKE "tea mode saffron" LIMIT 50 WITH score_breakdown',
    'RECALL beliefs LIKE "dark mode works at Acme" ORDER BY score',
    'RECALL ABOUT "green tea at Acme"',
    'ASSEMBLE FROM (RECALL LIKE "Acme tea"), (RECALL events LIKE "upper shelf") BUDGET 100 tokens',
  ]) {
    const expected = comparable(both, query, HOME);
    assert.deepEqual(expected, comparable(alone, query, HOME), query);
    assert.notDeepEqual(expected, comparable(both, query), `${query}: the unbound answer differs`);
  }
});

test('a session bound to one user never sees text of another user’s grains', async (t) => {
  const memory = await CalMemory.open(t);
  fc.assert(
    fc.property(queriesAt(memory.hashes), ({ text }) => {
      const reply = memory.reply(text, { userId: 'ben' });
      if (isRefused(reply)) return;
      for (const secret of ['Zürich', 'peanuts', `${CANARY} 3`, 'saffron'])
        assert.ok(!reply.resultJson.includes(secret) || text.includes(secret), text);
    }),
    { numRuns: runs(150) },
  );
});
