// A caller bound to a namespace or a user gets the same scores as if nothing else were in the memory, to the last bit,
// wherever the grains are stored.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { contextOf, openShard, settingsOf } from '../../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../../test/support/temporary.ts';
import { COUNTED_BINDINGS_MAX } from '../../base/limits.ts';
import type { CallContext } from '../../calls/context.ts';
import type { AddItem } from '../../calls/grain.ts';
import type { RecallQuery } from '../../calls/recall.ts';
import type { Engine } from '../../engine.ts';
import type { JsonObject } from '../../grain/api/json-value.ts';

const WORDS = ['saffron', 'shelf', 'harbour', 'lantern', 'kept', 'red', 'Ada'];
const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));

const item = fc
  .record({
    text,
    namespace: fc.constantFrom('home', 'away'),
    user: fc.constantFrom('ann', 'ben', undefined),
    session: fc.constantFrom('s1', 's2', undefined),
    isRemoved: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
  })
  .map(({ text: content, namespace, user, session, isRemoved }) => {
    const fields: JsonObject = {
      content,
      namespace,
      ...(user === undefined ? {} : { user_id: user }),
      ...(session === undefined ? {} : { session_id: session, role: 'user' }),
    };
    return { grainType: 'event', fields, isRemoved };
  });
type Item = AddItem & { readonly isRemoved: boolean };

const question = fc.record({ query: text, wordsOnly: fc.boolean(), candidateLimit: fc.constantFrom(3, 100) });
const binding = fc.constantFrom<Pick<CallContext, 'namespace' | 'userId'>>(
  { namespace: 'home' },
  { userId: 'ann' },
  { namespace: 'home', userId: 'ann' },
);

async function fill(engine: Engine, memory: number, items: readonly Item[], sealed: number): Promise<void> {
  const context = contextOf(memory);
  await engine.write('attachMemory', context, { settings: settingsOf(memory) });
  const hashes: string[] = [];
  for (const [i, { grainType, fields }] of items.entries()) {
    hashes.push((await engine.write('add', context, { grainType, fields, sync: false })).hash);
    if (i === sealed) await engine.write('flush', context, {});
  }
  const gone = hashes.filter((_, i) => items[i]!.isRemoved);
  if (gone.length > 0) await engine.write('forget', context, { hashes: gone, check: false });
}

async function opened(t: TestContext): Promise<Engine> {
  const engine = await openShard(temporaryDirectory(t));
  t.after(() => engine.abandon());
  return engine;
}

test('a bound caller gets the scores of a memory of its own', async (t) => {
  const [shared, own] = [await opened(t), await opened(t)];
  let memory = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(item, { minLength: 1, maxLength: 30 }),
      fc.nat(30),
      binding,
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (made, sealed, bound, questions) => {
        memory += 1;
        // A separate text, so that none is a duplicate of another.
        const items = made.map(
          (one, i): Item => ({ ...one, fields: { ...one.fields, created_at: 1_700_000_000 + i } }),
        );
        const seen = items.filter(
          ({ fields }) =>
            (bound.namespace === undefined || fields['namespace'] === bound.namespace) &&
            (bound.userId === undefined || fields['user_id'] === bound.userId),
        );
        await fill(shared, memory, items, sealed);
        await fill(own, memory, seen, sealed);
        const context = { ...contextOf(memory), ...bound };
        for (const asked of questions) {
          const query: RecallQuery = { ...asked, filter: {}, limit: 50, structural: false };
          const { hits, coverage } = shared.read('recall', context, query);
          const expected = own.read('recall', contextOf(memory), query);
          assert.deepEqual(hits, expected.hits);
          assert.equal(coverage, expected.coverage);
          assert.deepEqual(
            shared.read('recallStatistics', context, query),
            own.read('recallStatistics', contextOf(memory), query),
          );
        }
      },
    ),
    { numRuns: runs(25) },
  );
});

test('a misspelt word is read by the words that a bound caller may see, whatever others write', async (t) => {
  const [shared, own] = [await opened(t), await opened(t)];
  const said = (content: string, namespace: string, i: number): Item => ({
    grainType: 'event',
    fields: { content, namespace, created_at: 1_700_000_000 + i },
    isRemoved: false,
  });
  const mine = [said('a red lantern', 'home', 0), said('the upper shelf', 'home', 1), said('a harbour', 'home', 2)];
  const others = ['lantren', 'lanterm lantarn', 'shelv shelve', 'harbor harbur'].map((text, i) =>
    said(text, 'away', 10 + i),
  );
  await fill(shared, 1, [...others, ...mine], 4);
  await fill(own, 1, mine, 1);
  const context = { ...contextOf(1), namespace: 'home' };
  for (const slip of ['lantren', 'lanterm', 'shelv', 'harbur']) {
    const options = { queryExpansion: true };
    const query: RecallQuery = { query: slip, filter: {}, limit: 5, candidateLimit: 50, structural: false, options };
    const { hits } = shared.read('recall', context, query);
    assert.equal(hits.length, 1, slip);
    assert.deepEqual(hits, own.read('recall', contextOf(1), query).hits, slip);
    const asked = { words: [slip], limit: 3 };
    assert.deepEqual(shared.read('alike', context, asked), own.read('alike', contextOf(1), asked), slip);
  }
});

test('words of other users do not become common for a bound caller', async (t) => {
  const engine = await opened(t);
  const said = (content: string, namespace: string, i: number): Item => ({
    grainType: 'event',
    fields: { content, namespace, created_at: 1_700_000_000 + i },
    isRemoved: false,
  });
  const mine = [said('red lantern', 'home', 0), said('red shelf', 'home', 1), said('red harbour', 'home', 2)];
  const others = Array.from({ length: 30 }, (_, i) => said(`lantern ${i}`, 'away', 10 + i));
  await fill(engine, 1, [...mine, ...others], 20);
  const query: RecallQuery = {
    query: 'lantern shelf',
    filter: {},
    limit: 2,
    candidateLimit: 50,
    structural: false,
    wordsOnly: true,
  };
  const scores = engine.read('recall', { ...contextOf(1), namespace: 'home' }, query).hits.map(({ score }) => score);
  // Both are equally rare here.
  assert.deepEqual(scores, [1, 1]);
});

test('stored counts follow additions and removals, for more callers than are kept', async (t) => {
  const engine = await opened(t);
  const spaces = Array.from({ length: COUNTED_BINDINGS_MAX + 3 }, (_, i) => `n${i}`);
  const said = (namespace: string, i: number): Item => ({
    grainType: 'event',
    fields: { content: `lantern ${i}`, namespace, created_at: 1_700_000_000 + i },
    isRemoved: false,
  });
  const items = Array.from({ length: 44 }, (_, i) => said(spaces[i % spaces.length]!, i));
  await fill(engine, 1, items, 30);
  const query: RecallQuery = { query: 'lantern', filter: {}, limit: 9, candidateLimit: 9, structural: false };
  const counts = (): number[] =>
    spaces.map((namespace) => {
      const { docs, documentFrequency } = engine.read('recallStatistics', { ...contextOf(1), namespace }, query);
      assert.deepEqual(Object.values(documentFrequency), [docs]);
      return docs;
    });
  const four = spaces.map(() => 4);
  for (let round = 0; round < 2; round++) assert.deepEqual(counts(), four);
  const { hash } = await engine.write('add', contextOf(1), { ...said('n3', 100), sync: false });
  assert.deepEqual(counts(), four.with(3, 5));
  await engine.write('forget', contextOf(1), { hashes: [hash], check: false });
  assert.deepEqual(counts(), four);
});

test('an expired grain is not counted, even if it was written after the part was last asked', async (t) => {
  const [shared, own] = [await opened(t), await opened(t)];
  const said = (content: string, i: number, more: JsonObject = {}): Item => ({
    grainType: 'event',
    fields: { content, created_at: 1_700_000_000 + i, ...more },
    isRemoved: false,
  });
  const query: RecallQuery = { query: 'lantern', filter: {}, limit: 5, candidateLimit: 50, structural: false };
  const statistics = (engine: Engine) => engine.read('recallStatistics', contextOf(1), query);
  const items = [said('a red lantern', 0, { expires_at: 9_000_000_000 }), said('the harbour', 1)];
  await fill(shared, 1, items, -1);
  await fill(own, 1, items, -1);
  assert.deepEqual(statistics(shared), statistics(own));
  const { fields } = said('another lantern', 2, { expires_at: 1_700_000_001 });
  await shared.write('add', contextOf(1), { grainType: 'event', fields, sync: false });
  assert.deepEqual(statistics(shared), statistics(own));
});
