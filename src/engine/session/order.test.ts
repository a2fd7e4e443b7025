// The order of a session's lists: grains of one time are ordered by their hashes, which the index knows in part.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import { contextOf, openFaultyShard, openShard, settingsOf } from '../../../test/support/shard.ts';

const GRAINS = 300;
const LIMIT = 20;
const CREATED_AT = 1_700_000_000;

test('a page of goals or actions of one time is in the order of their hashes, without a record for each', async (t) => {
  const folder = memoryFolder();
  const engine = await openShard(folder);
  t.after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const common = { session_id: 'day', created_at: CREATED_AT };
  const hashesOf = async (grainType: string, fieldsOf: (at: number) => object): Promise<string[]> => {
    const items = Array.from({ length: GRAINS }, (_, at) => ({ grainType, fields: { ...common, ...fieldsOf(at) } }));
    const { outcomes } = await engine.write('addBatch', context, { items });
    return outcomes.map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(outcome.error.message))).sort();
  };
  const goals = await hashesOf('goal', (at) => ({ description: `goal ${at}` }));
  const actions = await hashesOf('action', (at) => ({ tool_name: 'search', input: { at }, content: 'found' }));

  const { store } = engine;
  let read = 0;
  const addressOfLive = store.addressOfLive.bind(store);
  store.addressOfLive = (ordinal) => {
    read += 1;
    return addressOfLive(ordinal);
  };
  const page = engine.read('session', context, {
    sessionId: 'day',
    goals: { states: ['active'], limit: LIMIT },
    actions: { limit: LIMIT },
  });
  const hashes = (grains: readonly { readonly hash: string }[]): string[] => grains.map(({ hash }) => hash);
  assert.deepEqual(hashes(page.goals), goals.slice(0, LIMIT));
  assert.deepEqual(hashes(page.actions), actions.slice(0, LIMIT));
  assert.ok(read < GRAINS / 10, `${read} records were read to order ${2 * GRAINS} grains`);
});

test('a page of goals of one time begins after its place, also where a goal between cannot be read', async (t) => {
  const folder = memoryFolder();
  const { engine, log } = await openFaultyShard(folder);
  t.after(async () => {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const context = contextOf(1);
  await engine.write('attachMemory', context, { settings: settingsOf(1) });
  const items = Array.from({ length: 5 }, (_, at) => ({
    grainType: 'goal',
    fields: { session_id: 'day', created_at: CREATED_AT, description: `goal ${at}` },
  }));
  const { outcomes } = await engine.write('addBatch', context, { items });
  const hashes = outcomes
    .map((outcome) => ('hash' in outcome ? outcome.hash : assert.fail(outcome.error.message)))
    .sort();
  // The one that a search in halves looks at first.
  log.corrupt(engine.store.findOrdinal(1, hashes[2]!)!);
  const goals = { states: ['active'], limit: 5 };
  const { places = [] } = engine.read('session', context, { sessionId: 'day', goals, placesOnly: true });
  const after = (at: number): string[] =>
    engine
      .read('session', context, { sessionId: 'day', goals: { ...goals, after: places[at]! } })
      .goals.map(({ hash }) => hash);
  assert.deepEqual(after(0), [hashes[1], hashes[3], hashes[4]]);
  assert.deepEqual(after(2), [hashes[3], hashes[4]]);
  assert.deepEqual(after(3), [hashes[4]]);
});
