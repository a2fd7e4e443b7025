// Error codes and warnings that arise while a query runs. Those of the parser are tested next to it, those of a server
// in server.test.ts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, type Question } from '../../src/engine/asking/asking.ts';
import { CANDIDATE_LIMIT_MAX } from '../../src/engine/base/limits.ts';
import { CalError } from '../../src/engine/cal/errors.ts';
import { drained } from '../../src/engine/cal/reads/open-each.ts';
import { distinctValues } from '../../src/engine/cal/reads/values.ts';
import { answerCal } from '../../src/engine/cal/run/answer.ts';
import { resolveAddress } from '../../src/engine/cal/run/references.ts';
import type { Running } from '../../src/engine/cal/run/running.ts';
import { PLAIN_SESSION } from '../../src/engine/cal/run/session.ts';
import { together } from '../../src/engine/cal/run/together.ts';
import { isRefused } from '../../src/engine/calls/cal.ts';
import type { CallMemory } from '../../src/shards/gather/answers.ts';
import { runCal } from '../../src/shards/gather/cal.ts';
import { contextOf } from '../support/shard.ts';
import { NOW_MS } from './fixture.ts';
import { CalMemory } from './memory.ts';

const H = '0'.repeat(64);

const REFUSED: readonly (readonly [query: string, code: string])[] = [
  ['RECALL MY beliefs', 'CAL-E008'],
  ['RECALL beliefs WHERE user_id = $current_user_id', 'CAL-E008'],
  ['LET $x = RECALL beliefs LIMIT 2 | HASHES; HISTORY $x', 'CAL-E020'],
  ['LET $x = RECALL beliefs LIMIT 5 | HASHES; RECALL beliefs WHERE hash = $x', 'CAL-E020'],
  [`SUPERSEDE sha256:${H} SET object = "x" REASON "r"`, 'CAL-E044'],
  [`HISTORY sha256:${H} DIFF sha256:${H}`, 'CAL-E046'],
  ['ASSEMBLE FROM (RECALL MY beliefs)', 'CAL-E076'],
  ['ASSEMBLE FROM (RECALL beliefs) STREAM { progress }', 'CAL-E079'],
  ['RECALL beliefs AS TEMPLATE none', 'CAL-E085'],
  ['ASSEMBLE FROM (RECALL beliefs) FORMAT TEMPLATE none', 'CAL-E085'],
];

test('each runtime code can be caused by a query', async (t) => {
  const memory = await CalMemory.open(t);
  for (const [query, code] of REFUSED) assert.equal(memory.code(query), code, query);
});

test('E015: a prefix of several grains is ambiguous', () => {
  const running = resolveAddress('00000000');
  const { value } = running.next();
  assert.deepEqual(value, [{ kind: 'find', input: { prefix: '00000000' } }]);
  assert.throws(
    () => running.next([{ output: { hashes: [H, `${H.slice(1)}1`] } }]),
    (error) => error instanceof CalError && error.code === 'CAL-E015',
  );
});

test('W005: ASSEMBLE switches to toon when the server allows it and its budget is tight', async (t) => {
  const memory = await CalMemory.open(t);
  const query = 'ASSEMBLE FROM b: (RECALL beliefs LIMIT 30), e: (RECALL events) BUDGET 300 tokens';
  const plain = memory.ask(query);
  assert.deepEqual([plain.result['format'], plain.warnings], ['sml', []]);
  const tight = memory.ask(query, { session: { autoToon: true } });
  assert.equal(tight.result['format'], 'toon');
  assert.ok(tight.warnings.some((warning) => warning.startsWith('CAL-W005: ')));
  assert.ok(tight.result['budget'].used <= 300);
});

test('W006: a search reports when it examined only its best matches, and examines more where an index helps', async (t) => {
  const memory = await CalMemory.open(t, []);
  const lamps = CANDIDATE_LIMIT_MAX + 20;
  for (let from = 0; from < lamps; from += 1_000)
    await memory.engine.write('addBatch', contextOf(1), {
      items: Array.from({ length: Math.min(1_000, lamps - from) }, (_, i) => ({
        grainType: 'belief',
        fields: {
          // Equal texts: of equal scores the newer wins, so the first five rank behind all candidates.
          ...{ subject: 'lamp', relation: 'is', object: 'red', created_at: 1_700_000_000 + from + i },
          ...(from + i < 5 ? { confidence: 0.2, source_type: 'agent' } : {}),
          n: from + i,
        },
      })),
    });
  const all = 'RECALL beliefs LIKE "red lamp"';
  for (const condition of ['confidence < 0.5', 'confidence = 0.2', 'confidence != 1', 'source_type = "agent"']) {
    const { result, warnings } = memory.ask(`${all} WHERE ${condition} | COUNT`);
    assert.deepEqual([result['count'], warnings], [5, []], condition);
  }
  const [{ hash }] = memory.ask('RECALL WHERE confidence < 0.5').result['grains'];
  assert.deepEqual(memory.ask(`${all} WHERE hash = ${hash}`).warnings, []);
  assert.equal(memory.ask(`${all} WHERE hash = ${hash}`).result['total'], 1);
  for (const query of [
    `${all} | COUNT`,
    `${all} ORDER BY time LIMIT 3`,
    `${all} WHERE relation != "is" LIMIT 3`,
    `${all} WHERE score > 0 | COUNT`,
  ])
    assert.deepEqual(
      memory.ask(query).warnings.map((warning) => warning.slice(0, 10)),
      ['CAL-W006: '],
      query,
    );
  // The total is unknown; a lower bound is marked as one.
  const least = memory.ask(`${all} | COUNT`).result;
  assert.deepEqual([least['count'], least['count_is_lower_bound']], [CANDIDATE_LIMIT_MAX, true]);
  assert.equal(memory.ask(all).result['total_is_lower_bound'], true);
  assert.equal(memory.ask(`${all} WHERE confidence < 0.5`).result['total_is_lower_bound'], undefined);
  // Enough was found, or nothing better can follow.
  for (const query of [all, `${all} WHERE relation != "was" LIMIT 3`, `${all} WHERE score > 2`])
    assert.deepEqual(memory.ask(query).warnings, [], query);
});

test('E031, E075: a slow template is abandoned when the time is over', async (t) => {
  const { engine } = await CalMemory.open(t);
  // It writes nothing, so no limit on text applies.
  const idle = '{{^grain.type}}x{{/grain.type}}'.repeat(100);
  const template = `TEMPLATE { HEADER { {{#each}}${idle}{{/each}} } ELEMENT { x } }`;
  const codeOf = async (query: string): Promise<string> => {
    let nowMs = NOW_MS;
    // Each reading advances the clock by a millisecond.
    const clock = { nowMs: () => nowMs++ };
    const call: CallMemory = async (method, input) =>
      engine.read(method as 'calRead', contextOf(1), input as never) as never; // Each method has its own input.
    const session = { ...PLAIN_SESSION, queryTimeoutMs: 40, assembleTimeoutMs: 80 };
    const reply = await runCal(call, contextOf(1), { query, session, vectors: [] }, clock);
    return isRefused(reply) ? reply.refused : '';
  };
  assert.equal(await codeOf(`RECALL LIMIT 70 AS ${template}`), 'CAL-E031');
  assert.equal(await codeOf(`ASSEMBLE FROM (RECALL LIMIT 70) FORMAT ${template}`), 'CAL-E075');
  assert.equal(await codeOf(`RECALL LIMIT 2 AS ${template}`), '');
});

test('W001 and W002 of reading come with the answer', async (t) => {
  const memory = await CalMemory.open(t);
  const { warnings } = memory.ask('RECALL beliefs WHERE relation = "mg:likes" AND hc:age > 3');
  assert.deepEqual(warnings.map((warning) => warning.slice(0, 8)).sort(), ['CAL-W001', 'CAL-W002']);
});

test('concurrent runs ask together, and a failing one stops no other', () => {
  function* asking(prefix: string): Running<string> {
    const { hashes } = yield* ask('find', { prefix });
    if (hashes.length === 0) throw new Error(prefix);
    yield* ask('history', { hash: prefix });
    return prefix;
  }
  const running = together([asking('a'), asking('b'), asking('c')]);
  const found = (hashes: readonly string[]) => ({ output: { hashes } });
  const result = { output: { versions: [] } };
  const first = running.next([]).value as readonly Question[];
  assert.deepEqual(
    first.map(({ kind }) => kind),
    ['find', 'find', 'find'],
  );
  const second = running.next([found(['x']), found([]), { error: new Error('lost') }]);
  const asked = second.value as readonly Question[];
  assert.deepEqual(
    asked.map(({ input }) => input),
    [{ hash: 'a' }],
  );
  const { value } = running.next([result]);
  assert.deepEqual(
    (value as readonly ({ value: string } | { error: Error })[]).map((one) =>
      'value' in one ? one.value : one.error.message,
    ),
    ['a', 'b', 'lost'],
  );
});

test('W009: an exclusion over more grains than may be examined reports that it was cut', async (t) => {
  const memory = await CalMemory.open(t);
  const { store } = memory.engine;
  const bounds = { scanMax: 100_000, untilMs: Number.POSITIVE_INFINITY };
  const asked = { filter: {}, tests: [], order: { by: 'hash' as const }, extractor: 'hashes' as const, ...bounds };
  const all = drained(distinctValues(store, store.memory(1), contextOf(1), { ...asked, max: 100 }));
  const some = drained(distinctValues(store, store.memory(1), contextOf(1), { ...asked, max: 5 }));
  assert.deepEqual([all.isCut, some.isCut, some.total], [false, true, all.total]);
  assert.deepEqual(some.values, all.values.slice(0, 5));
  const call = { query: 'RECALL beliefs | HASHES', session: PLAIN_SESSION, vectors: [] };
  const running = answerCal(call, contextOf(1), { nowMs: () => NOW_MS });
  running.next();
  running.next([{ output: { recallMax: null } }]);
  const last = running.next([{ output: { ...some, scanned: 0 } }]);
  assert.ok(last.done === true && !isRefused(last.value));
  assert.match(last.value.warnings.join(), /^CAL-W009: there are more than 100000 grains/);
});
