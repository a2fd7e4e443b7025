// Contradictions and bounds in a memory of several partitions are the same as in one, wherever the grains are stored.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { contextOf, openShard, settingsOf } from '../../../test/support/shard.ts';
import { temporaryDirectory } from '../../../test/support/temporary.ts';
import { CAL_HELD_BYTES_MAX } from '../../engine/base/limits.ts';
import { PLAIN_SESSION } from '../../engine/cal/run/session.ts';
import { isRefused, type PartitionAnswer, type PartitionRead } from '../../engine/calls/cal.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AddItem, ShardCaller } from '../protocol.ts';
import { directShard } from '../transport/direct.ts';
import type { CallMemory } from './answers.ts';
import { gatherCalRead, runCal } from './cal.ts';
import { Fan } from './fan.ts';
import { gatherRecall } from './recall.ts';
import { GatherRoom } from './room.ts';

const PARTITIONS = 3;
const SELECTION = { filter: {}, tests: [], scanMax: 100_000, untilMs: Number.MAX_SAFE_INTEGER };

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

test('values of more grains than may be read are those of the first ones, in one partition and in three', async (t) => {
  const items = Array.from({ length: 40 }, (_, i) => ({
    grainType: 'belief',
    fields: { subject: `s${i % 7}`, relation: 'likes', object: `o${i}`, created_at: 1_700_000_000 + i },
  }));
  const sides = [
    await filled(await enginesOf(t, 1), 1, items, () => 0),
    await filled(await enginesOf(t, PARTITIONS), 1, items, (i) => (i % 5 === 0 ? 1 : i)),
  ];
  for (const max of [1, 5, 17, 40, 50])
    for (const extractor of ['subjects', 'objects', 'hashes'] as const) {
      const input = { ...SELECTION, extractor, order: { by: 'hash' }, max } as const;
      const [one, three] = await Promise.all(
        sides.map(async (fan) => {
          const { output } = await gatherCalRead(fan, 'calScan', { kind: 'values', input });
          assert.ok('values' in output && 'isCut' in output);
          const { values, total, isCut, scanned, stopped } = output;
          return { values: values.map(({ value }) => value), total, isCut, scanned, stopped };
        }),
      );
      assert.deepEqual(three, one, `${extractor}, at most ${max}`);
      assert.deepEqual([one?.isCut, one?.total, one?.stopped], [max < 40, 40, undefined]);
    }
});

/** Partitions that give these answers. */
function fanOf(answers: readonly PartitionAnswer[]): Fan {
  const { partition: _, ...asker } = contextOf(1);
  const callers = answers.map((answer) => ({ call: async () => answer }));
  return new Fan(asker, callers as unknown as ShardCaller[]); // only these calls reach the shards
}

test('addresses of several partitions are cut at the limit of one', async () => {
  const answerOf = (hashes: readonly string[]): PartitionAnswer => ({
    kind: 'values',
    output: {
      values: hashes.map((hash) => ({ value: `sha256:${hash}`, hash, key: undefined })),
      ...{ total: hashes.length, isCut: false, scanned: 0 },
    },
  });
  const fan = fanOf([answerOf(['a', 'd', 'e']), answerOf(['b', 'c', 'f'])]);
  const read = async (max: number) => {
    const ask: PartitionRead = {
      kind: 'values',
      input: { ...SELECTION, extractor: 'hashes', order: { by: 'hash' }, max },
    };
    const { output } = await gatherCalRead(fan, 'calScan', ask);
    assert.ok('values' in output);
    return [output.values.map(({ hash }) => hash).join(''), output.isCut, output.total];
  };
  assert.deepEqual(await read(4), ['abcd', true, 6]);
  assert.deepEqual(await read(6), ['abcdef', false, 6]);
});

test('grains of several partitions hold no more bytes than those of one may', async () => {
  const answerOf = (hash: string): PartitionAnswer => ({
    kind: 'select',
    output: {
      grains: [
        {
          ...{ hash, grainType: 'belief', fields: {}, createdAt: 1, createdAtMs: 1_000, namespace: '' },
          sizeBytes: CAL_HELD_BYTES_MAX - 1,
        },
      ],
      ...{ total: 1, scanned: 1 },
    },
  });
  const fan = fanOf([answerOf('a'), answerOf('b')]);
  const read = async (take: number) => {
    const ask: PartitionRead = { kind: 'select', input: { ...SELECTION, order: { by: 'hash' }, take } };
    const { output } = await gatherCalRead(fan, 'calScan', ask);
    assert.ok('grains' in output);
    return [output.grains.length, output.stopped];
  };
  assert.deepEqual(await read(1), [1, undefined]);
  assert.deepEqual(await read(2), [0, 'bytes']);
});
