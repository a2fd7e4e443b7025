// Answers do not depend on where grains are: in the tail, in sealed or merged segments, with superseded and removed
// ones among them. Also: the bounds of one read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SHORT_READ_GRAINS_MAX } from '../../src/engine/base/limits.ts';
import { drained } from '../../src/engine/cal/reads/open-each.ts';
import { selectGrains } from '../../src/engine/cal/reads/select.ts';
import { passes } from '../../src/engine/cal/run/field-test.ts';
import { calGrain } from '../../src/engine/cal/run/grain-of.ts';
import { compareKeys, keyed } from '../../src/engine/cal/run/order.ts';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import type { Order } from '../../src/engine/calls/cal.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import type { CallMemory } from '../../src/shards/gather/answers.ts';
import { runCal } from '../../src/shards/gather/cal.ts';
import { CALL_ROWS } from '../../src/shards/protocol.ts';
import { runs } from '../support/runs.ts';
import { contextOf } from '../support/shard.ts';
import { CalMemory } from './memory.ts';

const QUERIES = [
  'RECALL LIMIT 1000',
  'RECALL beliefs LIMIT 5',
  'RECALL beliefs ORDER BY confidence DESC LIMIT 9',
  'RECALL beliefs WHERE subject IN ("alice", "bob") | COUNT',
  'RECALL events RECENT 4',
  'RECALL events LIKE "saffron" LIMIT 4',
  'RECALL events THREAD "s2"',
  'RECALL WHERE confidence < 0.7 ORDER BY time LIMIT 50',
  'RECALL | GROUP BY type',
  'RECALL beliefs WITH superseded LIMIT 1000',
  'RECALL events WHERE role = "user"',
  'RECALL events WHERE role != "user" ORDER BY role DESC LIMIT 3',
  'RECALL goals WHERE goal_state = "completed"',
  'RECALL goals WHERE goal_state != "active" ORDER BY goal_state',
  'RECALL goals WHERE goal_state != "abandoned" | GROUP BY goal_state',
  'RECALL actions WHERE tool_name IN ("search", "none") AND is_error = false',
  'RECALL WHERE source_type = "agent"',
  'RECALL WHERE epistemic_status = "probable"',
  'RECALL beliefs WHERE verification_status = "contested"',
  'RECALL beliefs WHERE verification_status = "verified"',
  'RECALL beliefs ORDER BY verification_status LIMIT 4',
  'RECALL | GROUP BY verification_status',
  'RECALL | GROUP BY source_type',
  'RECALL | GROUP BY user_id',
  'RECALL | GROUP BY subject',
  'RECALL beliefs | GROUP BY subject',
  'RECALL beliefs | GROUP BY relation',
  'RECALL beliefs | GROUP BY object',
  'RECALL events | GROUP BY session_id',
  'RECALL actions WHERE tool_name != "mail" | GROUP BY tool_name',
  'RECALL beliefs CONTRADICTIONS',
  'RECALL beliefs WHERE contradicted = false | COUNT',
];

test('answers are the same before and after a seal', async (t) => {
  const memory = await CalMemory.open(t);
  const context = contextOf(1);
  await memory.engine.write('supersede', context, {
    oldHash: memory.hash('green tea'),
    fields: { object: 'black tea' },
  });
  await memory.engine.write('forget', context, { hashes: [memory.hash('peanuts')], check: false });
  const answers = (): unknown[] => QUERIES.map((query) => ({ ...memory.ask(query).result, _cal: undefined }));
  const before = answers();
  await memory.engine.write('flush', context, {});
  assert.ok(memory.engine.store.index.segments > 0);
  assert.deepEqual(answers(), before);
  assert.ok(!JSON.stringify(before).includes('peanuts'));
  const hash = memory.hash('dark mode');
  assert.equal(memory.ask(`EXISTS sha256:${hash.slice(0, 9)}`).result['hash'], `sha256:${hash}`);
});

test('the first results of an order are those of a full sort', async (t) => {
  const items: AddItem[] = Array.from({ length: 400 }, (_, i) => ({
    grainType: i % 3 === 0 ? 'event' : 'belief',
    fields: {
      ...(i % 3 === 0 ? { content: `said ${i}` } : { subject: `s${i % 7}`, relation: 'is', object: `o${i}` }),
      // Ties in plenty.
      created_at: 1_700_000_000 + (i % 5),
      ...(i % 4 === 0 ? { confidence: (i % 3) / 4 } : {}),
      ...(i % 6 === 0 ? { importance: (i % 5) / 5 } : {}),
      ...(i % 11 === 0 ? { timestamp_ms: 1_650_000_000_000 + i } : {}),
    },
  }));
  const memory = await CalMemory.open(t, items);
  const { store } = memory.engine;
  const context = contextOf(1);
  // Half of it is sealed, half is not.
  await memory.engine.write('flush', context, {});
  await memory.engine.write('addBatch', context, {
    items: items.map(({ grainType, fields }) => ({ grainType, fields: { ...fields, note: 'again' } })),
  });
  const bounds = { scanMax: 100_000, untilMs: Number.POSITIVE_INFINITY };
  const all = drained(
    selectGrains(store, store.memory(1), context, {
      ...bounds,
      filter: {},
      tests: [{ field: 'type', op: 'present' }],
      order: { by: 'hash' },
      take: 10_000,
    }),
  ).grains;
  assert.equal(all.length, 800);
  const orders: Order[] = [
    { by: 'hash' },
    ...[true, false].flatMap((descending): Order[] => [
      { by: 'time', descending },
      { by: 'field', field: 'confidence', descending },
      { by: 'field', field: 'importance', descending },
      { by: 'field', field: 'subject', descending },
      { by: 'field', field: 'source_type', descending, next: { by: 'time', descending: !descending } },
    ]),
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...orders),
      fc.integer({ min: 0, max: 160 }),
      fc.constantFrom({}, { grainTypes: ['event'] }, { subject: 's3' }, { confidenceMin: 0.5 }),
      (order, take, filter) => {
        const matching = all.filter(
          (view) =>
            (!('grainTypes' in filter) || view.grainType === 'event') &&
            (!('subject' in filter) || view.fields['subject'] === 's3') &&
            (!('confidenceMin' in filter) || passes(calGrain(view, 1), { field: 'confidence', op: '>=', value: 0.5 })),
        );
        const expected = matching
          .map((view) => keyed(order, calGrain(view, 1)))
          .sort((a, b) => compareKeys(order, a, b))
          .slice(0, take)
          .map(({ hash }) => hash);
        const selected = drained(
          selectGrains(store, store.memory(1), context, { ...bounds, filter, tests: [], order, take }),
        );
        assert.deepEqual(
          selected.grains.map(({ hash }) => hash),
          expected,
        );
        assert.equal(selected.total, matching.length);
      },
    ),
    { numRuns: runs(100) },
  );
});

test('E030, E031: a read stops at its bounds and reports which', async (t) => {
  const memory = await CalMemory.open(t);
  const { store } = memory.engine;
  const select = (
    scanMax: number,
    untilMs: number,
    more: { readonly heldMax?: number; readonly dedup?: string } = {},
  ) =>
    drained(
      selectGrains(store, store.memory(1), contextOf(1), {
        filter: {},
        tests: [{ field: 'confidence', op: '<', value: 0.5 }],
        order: { by: 'hash' },
        take: 5,
        scanMax,
        untilMs,
        ...more,
      }),
    );
  assert.equal(select(3, Number.POSITIVE_INFINITY).stopped, 'scan');
  // The indexes show beforehand that there would be too many.
  assert.equal(select(3, Number.POSITIVE_INFINITY).scanned, 0);
  assert.equal(select(1_000, 0).stopped, 'time');
  assert.equal(select(1_000, Number.POSITIVE_INFINITY).stopped, undefined);
  for (const more of [{}, { dedup: 'object' }])
    assert.equal(select(1_000, Number.POSITIVE_INFINITY, { heldMax: 100, ...more }).stopped, 'bytes');
});

test('values to leave out are read once, however many values the field has', async (t) => {
  const items = Array.from({ length: 60 }, (_, i): AddItem => {
    return { grainType: 'action', fields: { tool_name: `t${i}`, content: `result ${i}` } };
  });
  const { store } = (await CalMemory.open(t, items)).engine;
  let reads = 0;
  const values = new Proxy(
    Array.from({ length: 50 }, (_, i) => `t${2 * i}`),
    {
      get: (list, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
        return Reflect.get(list, name) as unknown;
      },
    },
  );
  const filter = { otherThan: [{ field: 'tool_name', values }] };
  const bounds = { order: { by: 'hash' }, take: 5, scanMax: 1_000, untilMs: Number.POSITIVE_INFINITY } as const;
  const { total } = drained(selectGrains(store, store.memory(1), contextOf(1), { filter, tests: [], ...bounds }));
  assert.equal(total, 30);
  assert.ok(reads <= values.length, `${reads} reads`);
});

test('texts that a query compares with addresses are not looked up', async (t) => {
  const { engine } = await CalMemory.open(t);
  const context = contextOf(1);
  let finds = 0;
  const call: CallMemory = async (method, input) => {
    if (method === 'calRead' && (input as { readonly kind: string }).kind === 'find') finds += 1;
    // Both sides of the table go by the same method.
    return (
      CALL_ROWS[method].kind === 'long'
        ? engine.write(method as 'flush', context, input as never)
        : engine.read(method as 'get', context, input as never)
    ) as never;
  };
  const count = async (query: string): Promise<unknown> => {
    const input = { query, session: PLAIN_SESSION, vectors: [] };
    const reply = await runCal(call, context, input, engine.store.clock);
    assert.ok(!isRefused(reply), query);
    return (JSON.parse(reply.resultJson) as { count: number }).count;
  };
  assert.equal(await count('RECALL WHERE hash IN (RECALL beliefs | SUBJECTS) | COUNT'), 0);
  assert.equal(await count('LET $s = RECALL beliefs | OBJECTS; RECALL WHERE hash IN ($s) | COUNT'), 0);
  const beliefs = await count('RECALL beliefs | COUNT');
  assert.equal(await count('RECALL WHERE hash IN (RECALL beliefs | HASHES) | COUNT'), beliefs);
  assert.equal(finds, 0);
});

test('a read that would block a shard is rejected as too long, and runs in slices on request', async (t) => {
  const items: AddItem[] = Array.from({ length: SHORT_READ_GRAINS_MAX + 76 }, (_, i) => ({
    grainType: 'belief',
    fields: {
      subject: `s${i % 3}`,
      relation: 'is',
      object: `o${i}`,
      confidence: (i % 10) / 10,
      created_at: 1_700_000_000 + i,
    },
  }));
  const memory = await CalMemory.open(t, items);
  const { engine } = memory;
  const context = contextOf(1);
  let scans = 0;
  const call: CallMemory = async (method, input) => {
    if (method === 'calScan') scans += 1;
    const isLong = CALL_ROWS[method].kind === 'long';
    // Both sides of the table go by the same method.
    return (
      isLong
        ? engine.write(method as 'flush', context, input as never)
        : engine.read(method as 'get', context, input as never)
    ) as never;
  };
  for (const [query, result] of [
    ['RECALL beliefs WHERE subject != "s0" | COUNT', { count: 733 }],
    ['RECALL beliefs WHERE object != "o3" ORDER BY object LIMIT 1', { total: 1_099 }],
    ['RECALL beliefs ORDER BY object LIMIT 1', { total: 1_100 }],
    ['RECALL beliefs ORDER BY time, object LIMIT 1', { total: 1_100 }],
    ['RECALL beliefs CONTRADICTIONS | COUNT', { count: 1_100 }],
    ['RECALL beliefs WHERE subject = "s1" OR object != "o3" | COUNT', { count: 1_099 }],
    ['RECALL beliefs | OBJECTS | COUNT', { count: 1_100 }],
  ] as const) {
    const input = { query, session: PLAIN_SESSION, vectors: [] };
    assert.deepEqual(engine.read('cal', context, input), { tooLong: true }, query);
    const reply = await runCal(call, context, input, engine.store.clock);
    assert.ok(!isRefused(reply), `${query}: ${JSON.stringify(reply)}`);
    assert.partialDeepStrictEqual(JSON.parse(reply.resultJson), result);
  }
  // Without a search, every grain has the same score.
  const scored = engine.read('cal', context, {
    ...{ query: 'RECALL beliefs ORDER BY score DESC, confidence LIMIT 3', session: PLAIN_SESSION },
    vectors: [],
  });
  assert.ok(!('tooLong' in scored) && !isRefused(scored));
  const plain = memory.ask('RECALL beliefs ORDER BY confidence LIMIT 3').result['grains'];
  assert.deepEqual((JSON.parse(scored.resultJson) as { grains: unknown }).grains, plain);
  // Each entry alone would do, but not all in one call.
  const batchOf = (count: number) => {
    const counted = 'RECALL beliefs WHERE subject IN ("s1", "s2") AND object != "o0" | COUNT';
    const entries = Array.from({ length: count }, (_, i) => `e${i}: ${counted}`);
    return { query: `BATCH { ${entries.join(', ')} }`, session: PLAIN_SESSION, vectors: [] };
  };
  assert.ok(!('tooLong' in engine.read('cal', context, batchOf(5))));
  assert.deepEqual(engine.read('cal', context, batchOf(6)), { tooLong: true });
  const grouping = { query: 'RECALL | GROUP BY subject', session: PLAIN_SESSION, vectors: [] };
  const { resultJson } = (await runCal(call, context, grouping, engine.store.clock)) as {
    readonly resultJson: string;
  };
  const { groups } = JSON.parse(resultJson) as { groups: { key: string; count: number; grains: { hash: string }[] }[] };
  assert.deepEqual(
    groups.map(({ key, count, grains }) => [key, count, grains.length]),
    [
      ['s0', 367, 20],
      ['s1', 367, 20],
      ['s2', 366, 20],
    ],
  );
  for (const { grains } of groups)
    assert.deepEqual(
      grains,
      grains.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)),
    );
  assert.equal(scans, 8);
});
