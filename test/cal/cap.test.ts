// A policy's cap on recalls applies to queries: no explicit limit exceeds it, and no answer holds more.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { codeOf, contextOf } from '../support/shard.ts';
import { CalMemory, type ParsedJson } from './memory.ts';

const CAP = 7;

async function capped(t: TestContext): Promise<CalMemory> {
  const memory = await CalMemory.open(t);
  const change = { overrides: { 'access.max_recall_limit': CAP } };
  await memory.engine.write('setPolicy', contextOf(1), { change, isAdmin: true });
  return memory;
}

const grainsIn = (result: ParsedJson): number => result['grains'].length;

test('an explicit limit above the cap is rejected in any position', async (t) => {
  const memory = await capped(t);
  for (const query of [
    'RECALL beliefs LIMIT 8',
    'RECALL beliefs RECENT 8',
    'RECALL beliefs LIKE "tea" LIMIT 8',
    'RECALL events THREAD "s1" LIMIT 8',
    'RECALL beliefs WHERE confidence > 0 ORDER BY confidence DESC LIMIT 8',
    'RECALL beliefs WHERE subject IN (RECALL beliefs LIMIT 8 | SUBJECTS)',
    '(RECALL beliefs LIMIT 8) UNION (RECALL events LIMIT 2)',
    '(RECALL beliefs LIMIT 2) UNION (RECALL events LIMIT 2) LIMIT 8',
    'ASSEMBLE c FROM a: (RECALL beliefs LIMIT 8)',
    'BATCH { a: RECALL beliefs LIMIT 8 }',
    'COALESCE (RECALL beliefs LIMIT 8, RECALL events)',
    'LET $a = RECALL beliefs LIMIT 8; ASSEMBLE c FROM a: $a',
  ])
    assert.equal(await codeOf(() => memory.reply(query)), 'POL-E013', query);
});

test('limits within the cap, and defaults, return up to the cap', async (t) => {
  const memory = await capped(t);
  assert.equal(grainsIn(memory.ask('RECALL beliefs LIMIT 7').result), 7);
  assert.equal(grainsIn(memory.ask('RECALL beliefs').result), CAP);
  assert.equal(grainsIn(memory.ask('RECALL events THREAD "s1"').result), CAP);
  assert.equal(grainsIn(memory.ask('RECALL beliefs WHERE confidence > 0 ORDER BY confidence DESC').result), CAP);
  assert.equal(memory.ask('RECALL beliefs | OBJECTS').result['values'].length, CAP);
});

test('several recalls together return no more than one would', async (t) => {
  const memory = await capped(t);
  assert.equal(grainsIn(memory.ask('(RECALL beliefs LIMIT 6) UNION (RECALL events LIMIT 6)').result), CAP);
  const { result } = memory.ask('ASSEMBLE c FROM a: (RECALL beliefs LIMIT 6), b: (RECALL events LIMIT 6)');
  assert.equal(grainsIn(result), CAP);
  assert.deepEqual(
    result['sources'].map((source: ParsedJson) => source['grain_count']),
    [4, 3],
  );
  for (const recall of ['RECALL beliefs', 'RECALL events LIKE "saffron upper shelf"'])
    assert.equal(grainsIn(memory.ask(`LET $a = ${recall}; ASSEMBLE c FROM a: $a`).result), CAP, recall);
  const { groups } = memory.ask('RECALL beliefs GROUP BY subject').result;
  const shown = groups.reduce((sum: number, group: ParsedJson) => sum + group['grains'].length, 0);
  const counted = groups.reduce((sum: number, group: ParsedJson) => sum + group['count'], 0);
  assert.ok(shown === CAP && counted > CAP, `${shown} shown of ${counted}`);
});

test('operands are not cut: a cut operand would return grains that it should exclude', async (t) => {
  const memory = await capped(t);
  const matching = 'RECALL events LIKE "saffron upper shelf"';
  assert.ok(memory.ask(`${matching} | COUNT`).result['count'] > CAP, 'the cap would cut the operand');
  assert.equal(memory.ask(`(RECALL events) EXCEPT (${matching}) | COUNT`).result['count'], 1);
  assert.equal(memory.ask(`(RECALL events) INTERSECT (${matching}) | COUNT`).result['count'], 12);
  assert.equal(memory.ask(`RECALL events WHERE hash IN (${matching} | HASHES) | COUNT`).result['count'], 12);
});

test('counts are complete, and a query without a recall needs no cap', async (t) => {
  const memory = await capped(t);
  assert.ok(memory.ask('RECALL beliefs | COUNT').result['count'] > CAP);
  assert.equal(memory.ask('EXPLAIN RECALL beliefs LIMIT 8').type, 'explain');
});
