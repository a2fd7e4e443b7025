// The order of a session's lists: grains of one time are ordered by their hashes, which the index knows in part.
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { memoryFolder } from '../../../test/support/memory-files.ts';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';

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
