// The same grains in one partition and in four, over real engines: the ranking must be the same to the last bit,
// because nothing is normalised before all partitions have answered.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { RECALL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AddItem, GrainView, JsonObject, RecallQuery, ShardCaller } from '../protocol.ts';
import { directShard } from '../transport/direct.ts';
import { Fan } from './fan.ts';
import { gatherNames, withHashes } from './names.ts';
import { partitionFor } from './placement.ts';
import { gatherRecall } from './recall.ts';
import { GatherRoom } from './room.ts';
import { fetchAnywhere, gatherStagedRecall } from './staged.ts';

const PARTITIONS = 4;
const WORDS = ['saffron', 'shelf', 'harbour', 'lantern', 'yesterday', 'my', 'Ada', 'kept', 'red'];
const word = fc.constantFrom(...WORDS);
const text = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(' '));

/** A shard for each partition. */
async function enginesOf(t: TestContext, partitions: number): Promise<Engine[]> {
  const engines: Engine[] = [];
  for (let i = 0; i < partitions; i++) {
    const engine = await openShard(temporaryDirectory(t));
    t.after(() => engine.abandon());
    engines.push(engine);
  }
  return engines;
}

const event = fc
  .tuple(
    fc.tuple(fc.constantFrom('', 'Ada: ', 'my '), text, fc.constantFrom('', '?', ' in 2024')),
    fc.record(
      {
        session_id: fc.constantFrom('s1', 's2', 's3', 's4', 's5'),
        role: fc.constantFrom('user', 'assistant'),
        speaker: fc.constantFrom('Ada', 'Tom'),
        user_id: fc.constantFrom('u1', 'u2', 'u3'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([content, fields]): AddItem => ({ grainType: 'event', fields: { ...fields, content: content.join('') } }));
const belief = fc
  .tuple(word, text)
  .map(([subject, object]): AddItem => ({ grainType: 'belief', fields: { subject, relation: 'is', object } }));

const question = fc.record({
  query: fc.oneof(
    text,
    text.map((words) => `when did Ada ${words}?`),
    word.map((one) => `+${one} red lantern`),
  ),
  limit: fc.constantFrom(1, 3, 50),
  candidateLimit: fc.constantFrom(3, 50, 250),
  structural: fc.boolean(),
  wordsOnly: fc.boolean(),
});

test('one partition and four rank alike', async (t) => {
  const sides = [await enginesOf(t, 1), await enginesOf(t, PARTITIONS)];
  let memory = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 4, arbitrary: event }, belief), { minLength: 1, maxLength: 40 }),
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (items, questions) => {
        memory += 1;
        const answers: unknown[][] = [];
        for (const engines of sides) {
          const partitions = engines.length;
          const context = { ...contextOf(memory), partition: 0 };
          for (const engine of engines)
            await engine.write('attachMemory', context, { settings: { ...settingsOf(memory), partitions } });
          for (const [i, item] of items.entries()) {
            // Distinct times (43 is prime to every length): the order of arrival is unknown between partitions.
            const fields: JsonObject = { ...item.fields, created_at: 1_700_000_000 + ((i * 43) % items.length), n: i };
            const placed = { ...item, fields };
            const engine = engines[partitionFor(placed, partitions, context)]!;
            await engine.write('add', context, { ...placed, sync: false });
          }
          const { partition: _, ...asking } = context;
          const fan = new Fan(
            asking,
            engines.map((engine, shard) => directShard(shard, engine)),
          );
          const found: unknown[] = [];
          for (const one of questions) {
            const query: RecallQuery = { ...one, filter: one.structural ? { subject: 'red' } : {} };
            const { hits, total, coverage } =
              partitions === 1
                ? engines[0]!.read('recall', context, query)
                : await new GatherRoom().run((held) => gatherRecall(fan, query, { held, places: new Map() }));
            found.push([total, coverage, hits.map(({ grain, ...scores }) => [grain.fields['n'], scores])]);
          }
          answers.push(found);
        }
        assert.deepEqual(answers[1], answers[0]);
      },
    ),
    { numRuns: runs(25) },
  );
});

test('large grains of one partition are fetched in rounds, up to the limit of a recall', async (t) => {
  const engines = await enginesOf(t, PARTITIONS);
  const { partition: _, ...asking } = contextOf(1);
  const settings = { ...settingsOf(1), partitions: PARTITIONS };
  for (const engine of engines) await engine.write('attachMemory', contextOf(1), { settings });
  const hashes: string[] = [];
  // All in one partition: more than its share of a round, and in total more than a recall may hold.
  for (let i = 0; i < 40; i += 1) {
    const engine = engines[i === 3 ? 2 : 1]!;
    const fields = { content: `${i} ${'x'.repeat(1_000_000)}` };
    hashes.push((await engine.write('add', contextOf(1), { grainType: 'event', fields, sync: false })).hash);
  }
  const gone = '0'.repeat(64);
  const fan = new Fan(
    asking,
    engines.map((engine, shard) => directShard(shard, engine)),
  );
  const hashesOf = (grains: readonly (GrainView | null)[]) => grains.map((grain) => grain?.hash ?? gone);
  const some = [...hashes.slice(0, 5), gone, ...hashes.slice(5, 20)];
  assert.deepEqual(hashesOf(await new GatherRoom().run((held) => fetchAnywhere(fan, some, held))), some);
  const all = hashesOf(await new GatherRoom().run((held) => fetchAnywhere(fan, hashes, held)));
  assert.deepEqual(all, hashes.slice(0, all.length));
  assert.equal(all.length, Math.floor(RECALL_HELD_BYTES_MAX / 1_000_000));
});

test('the record of a recall names each grain by the partition that found it', async (t) => {
  const engines = await enginesOf(t, PARTITIONS);
  const { partition: _, ...asking } = contextOf(1);
  const settings = { ...settingsOf(1), partitions: PARTITIONS };
  for (const engine of engines) await engine.write('attachMemory', contextOf(1), { settings });
  for (let i = 0; i < 24; i += 1) {
    const fields = { content: `saffron number ${i}`, created_at: 1_700_000_000 + i };
    await engines[i % PARTITIONS]!.write('add', contextOf(1), { grainType: 'event', fields, sync: false });
  }
  const asked: string[] = [];
  const shards = engines.map((engine, shard): ShardCaller => {
    const direct = directShard(shard, engine);
    const call: ShardCaller['call'] = (method, context, input) => {
      asked.push(method);
      return direct.call(method, context, input);
    };
    return { ...direct, call };
  });
  const fan = new Fan(asking, shards);
  const query = { query: 'saffron', filter: {}, limit: 6, candidateLimit: 50, structural: false, tellBeyond: true };
  const record = { asked: true };
  const { hits, recallId = '' } = await new GatherRoom().run((held) =>
    gatherStagedRecall(fan, { ...query, record }, held),
  );
  assert.deepEqual([hits.length, recallId.length, asked.includes('grainNames')], [6, 64, false]);
  assert.equal(asked.filter((method) => method === 'namesAt').length, PARTITIONS);

  const kept = await fan.one(0, 'recallRecord', { recallId });
  const { results, excluded } = await withHashes(fan, kept);
  assert.deepEqual(
    results.map(({ hash }) => hash),
    hits.map(({ grain }) => grain.hash),
  );
  const all = [...kept.results, ...kept.excluded];
  assert.deepEqual([results.length, excluded.length], [6, 18]);
  const { names } = await gatherNames(fan, { hashes: [...results, ...excluded].map(({ hash }) => String(hash)) });
  assert.deepEqual(
    all.map(({ grain }) => grain),
    names,
  );
});
