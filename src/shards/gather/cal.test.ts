// Contradictions in a memory of several partitions are the same as in one, wherever the grains are stored.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { PLAIN_SESSION } from '../../engine/cal/run/session.ts';
import { isRefused } from '../../engine/calls/cal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AddItem } from '../protocol.ts';
import { directShard } from '../transport/direct.ts';
import type { CallMemory } from './answers.ts';
import { gatherCalRead, runCal } from './cal.ts';
import { Fan } from './fan.ts';
import { gatherRecall } from './recall.ts';
import { GatherRoom } from './room.ts';

const PARTITIONS = 3;

async function enginesOf(t: TestContext, count: number): Promise<Engine[]> {
  const engines: Engine[] = [];
  for (let i = 0; i < count; i++) {
    const engine = await openShard(temporaryDirectory(t));
    t.after(() => engine.abandon());
    engines.push(engine);
  }
  return engines;
}

/** A memory with grain `i` of `items` in engine `placeOf(i)`. */
async function filled(
  engines: readonly Engine[],
  memory: number,
  items: readonly AddItem[],
  placeOf: (i: number) => number,
): Promise<Fan> {
  const context = contextOf(memory);
  const settings = { ...settingsOf(memory), partitions: engines.length };
  for (const engine of engines) await engine.write('attachMemory', context, { settings });
  for (const [i, item] of items.entries()) {
    const engine = engines[placeOf(i) % engines.length]!;
    await engine.write('add', context, { ...item, sync: false });
  }
  const { partition: _, ...asker } = context;
  return new Fan(
    asker,
    engines.map((engine, shard) => directShard(shard, engine)),
  );
}

/** The answer without its cost. */
async function answerTo(fan: Fan, query: string): Promise<unknown> {
  const call: CallMemory = async (method, input) => {
    const answers = {
      calRead: (ask: never) => gatherCalRead(fan, 'calRead', ask),
      calScan: (ask: never) => gatherCalRead(fan, 'calScan', ask),
      recall: (ask: never) => new GatherRoom().run((held) => gatherRecall(fan, ask, { held, places: new Map() })),
    };
    if (!(method in answers)) return fan.one(0, method, input);
    return (await answers[method as keyof typeof answers](input as never)) as never; // Each method has its own input.
  };
  const reply = await runCal(call, contextOf(fan.context.memory), { query, session: PLAIN_SESSION, vectors: [] });
  if (isRefused(reply)) assert.fail(`${query}: ${reply.refused} ${reply.message}`);
  return JSON.parse(reply.resultJson, (key, value) => (key === '_cal' ? undefined : value));
}

const belief = fc
  .record({
    subject: fc.constantFrom('alice', 'bob'),
    relation: fc.constantFrom('likes', 'owns'),
    object: fc.constantFrom('tea', 'milk', 'rum'),
    namespace: fc.constantFrom('home', 'away'),
    user: fc.constantFrom('ann', undefined),
    status: fc.constantFrom('contested', 'retracted', undefined, undefined, undefined),
    confidence: fc.constantFrom(0.2, 0.9),
  })
  .map(({ user, status, ...fields }) => ({
    grainType: 'belief',
    fields: {
      ...fields,
      ...(user === undefined ? {} : { user_id: user }),
      ...(status === undefined ? {} : { verification_status: status }),
    },
  }));

const QUERIES = [
  'RECALL beliefs CONTRADICTIONS',
  'RECALL beliefs WHERE contradicted = true AND confidence > 0.5',
  'RECALL WHERE contradicted = false LIMIT 1000',
  'RECALL beliefs WHERE contradicted = true | COUNT',
  'RECALL beliefs WHERE contradicted = true | GROUP BY subject',
  'RECALL beliefs WHERE contradicted = true WITH dedup(object) ORDER BY confidence DESC LIMIT 3',
  'RECALL beliefs LIKE "tea" WHERE contradicted = true',
  'RECALL beliefs WITH contradiction_detection',
];

test('contradicted = true finds rivals in different partitions', async (t) => {
  const engines = await enginesOf(t, PARTITIONS);
  const say = (object: string, user: string): AddItem => ({
    grainType: 'belief',
    fields: { subject: 'alice', relation: 'likes', object, user_id: user, created_at: 1_700_000_000 },
  });
  const fan = await filled(engines, 1, [say('tea', 'ann'), say('milk', 'ann'), say('rum', 'ben')], (i) => i);
  const { grains } = (await answerTo(fan, 'RECALL beliefs WHERE contradicted = true')) as {
    readonly grains: readonly { readonly fields: { readonly object: string } }[];
  };
  assert.deepEqual(grains.map(({ fields }) => fields.object).sort(), ['milk', 'tea']);
  assert.partialDeepStrictEqual(await answerTo(fan, 'RECALL WHERE contradicted = false | COUNT'), { count: 1 });
});

test('contradictions are the same in one partition and in three', async (t) => {
  const [one, three] = [await enginesOf(t, 1), await enginesOf(t, PARTITIONS)];
  let memory = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(belief, fc.nat(PARTITIONS - 1)), { minLength: 1, maxLength: 16 }),
      async (placed) => {
        memory += 1;
        const items = placed.map(([{ grainType, fields }], i) => ({
          grainType,
          // No duplicates: a duplicate within one partition is none across partitions.
          fields: { ...fields, created_at: 1_700_000_000 + i, n: i },
        }));
        const sides = [
          await filled(one, memory, items, () => 0),
          await filled(three, memory, items, (i) => placed[i]![1]),
        ] as const;
        for (const query of QUERIES)
          assert.deepEqual(await answerTo(sides[1], query), await answerTo(sides[0], query), query);
      },
    ),
    { numRuns: runs(12) },
  );
});

test('E030: grains that would have to be opened to know rivals count too', async (t) => {
  const engines = await enginesOf(t, 2);
  const items = Array.from({ length: 12 }, (_, i) => ({
    grainType: 'belief',
    fields: { subject: 'alice', relation: 'likes', object: `o${i}`, created_at: 1_700_000_000 + i },
  }));
  const fan = await filled(engines, 1, items, (i) => i);
  const selection = { filter: {}, tests: [{ field: 'contradicted', op: '=' as const, value: true }] };
  const count = async (scanMax: number, untilMs: number) => {
    const { output } = await gatherCalRead(fan, 'calScan', {
      kind: 'count',
      input: { ...selection, scanMax, untilMs },
    });
    return output;
  };
  assert.partialDeepStrictEqual(await count(6, Number.POSITIVE_INFINITY), { total: 12 });
  assert.partialDeepStrictEqual(await count(5, Number.POSITIVE_INFINITY), { total: 0, stopped: 'scan' });
  assert.partialDeepStrictEqual(await count(6, 0), { total: 0, stopped: 'time' });
});
