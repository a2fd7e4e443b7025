// The other statements, rule by rule.
import assert from 'node:assert/strict';
import { before, describe, type TestContext, test } from 'node:test';
import type { AddItem } from '../../src/engine/calls/grain.ts';
import { contextOf } from '../support/shard.ts';
import { NOW_MS } from './fixture.ts';
import { CalMemory, temporaryMemory } from './memory.ts';

type BeliefList = { grains: { hash: string; score: number; fields: Record<string, string> }[] };
const objects = (result: unknown): string[] =>
  (result as BeliefList).grains.map(({ fields }) => String(fields['object'])).sort();

describe('statements', () => {
  const opened = temporaryMemory(before);
  const home = { namespace: 'home' };
  const ask = (query: string, options = {}) => opened.memory.ask(query, { ...home, ...options });

  test('section 7.2: UNION keeps the larger score, INTERSECT the smaller, EXCEPT the left alone', () => {
    const left = '(RECALL beliefs LIKE "mode")';
    const right = '(RECALL beliefs WHERE relation = "mg:prefers" LIMIT 100)';
    const search = ask('RECALL beliefs LIKE "mode"').result as unknown as BeliefList;
    const union = ask(`${left} UNION ${right}`).result as unknown as BeliefList;
    const both = ask(`${left} INTERSECT ${right}`).result as unknown as BeliefList;
    const except = ask(`${right} EXCEPT ${left}`).result as unknown as BeliefList;
    assert.equal(search.grains.length, 2);
    assert.ok(union.grains.every(({ score }) => score === 1));
    assert.equal(union.grains.length, 3);
    assert.deepEqual(
      both.grains.map(({ hash, score }) => [hash, score]),
      search.grains.map(({ hash, score }) => [hash, score]),
    );
    assert.deepEqual(objects(except), ['green tea']);
    assert.deepEqual(
      union.grains.map(({ hash }) => hash),
      [...union.grains.map(({ hash }) => hash)].sort(),
    );
  });

  test('D-12: a chain is of one operator and goes from left to right; each operand has its own LIMIT', () => {
    const of = (subject: string): string => `(RECALL beliefs WHERE subject = "${subject}")`;
    assert.equal(
      ask(`${of('alice')} EXCEPT ${of('bob')} EXCEPT (RECALL beliefs WHERE relation = "lives_in")`).count,
      4,
    );
    assert.equal(ask('(RECALL beliefs LIMIT 3) UNION (RECALL events LIMIT 2)').count, 5);
    assert.equal(
      ask(`(${of('alice')} UNION ${of('bob')}) INTERSECT (RECALL beliefs WHERE relation = "works_at")`).count,
      2,
    );
    assert.equal(ask(`${of('alice')} UNION ${of('bob')} | COUNT`).result['count'], 9);
    assert.equal(
      ask(`${of('alice')} UNION ${of('bob')} ORDER BY confidence LIMIT 1`).result['grains'][0].fields.object,
      'alice',
    );
  });

  test('an operand of a set is complete, whatever it says about presentation', () => {
    const all = '(RECALL events) UNION (RECALL beliefs)';
    const { count } = ask(`${all} | COUNT`).result;
    assert.ok(count > 20, 'more than the default limit');
    for (const stages of ['| ORDER BY time', '| SELECT subject', '| ORDER BY time | SELECT subject'])
      assert.equal(ask(`(${all} ${stages}) EXCEPT (RECALL goals) | COUNT`).result['count'], count, stages);
    assert.equal(ask(`(${all} | OFFSET 1) EXCEPT (RECALL goals) | COUNT`).result['count'], count - 1);
    assert.equal(ask(`(${all} | ORDER BY time LIMIT 3) EXCEPT (RECALL goals) | COUNT`).result['count'], 3);
  });

  test('section 7.3: EXISTS covers every version, by prefix too, and never fails for a missing one', () => {
    const hash = opened.memory.hash('peanuts');
    for (const prefix of [hash, hash.slice(0, 8), hash.slice(0, 40)])
      assert.deepEqual(
        [ask(`EXISTS sha256:${prefix}`).result['exists'], ask(`EXISTS sha256:${prefix}`).result['hash']],
        [true, `sha256:${hash}`],
      );
    assert.equal(ask(`EXISTS sha256:${'0'.repeat(64)}`).result['exists'], false);
    assert.equal(ask('LET $h = RECALL beliefs WHERE object = "peanuts" | HASHES; EXISTS $h').result['exists'], true);
    assert.equal(ask('LET $h = RECALL beliefs WHERE object = "nothing" | HASHES; EXISTS $h').result['exists'], false);
    assert.equal(opened.memory.code('LET $h = RECALL beliefs LIMIT 2 | HASHES; EXISTS $h', home), 'CAL-E020');
  });

  test('D-22: the history of an unknown hash is empty; a pair’s versions come newest first, AS OF cuts', () => {
    const none = ask(`HISTORY sha256:${'0'.repeat(64)}`);
    assert.deepEqual([none.result['versions'], none.count], [[], 0]);
    const pair = ask('HISTORY WHERE subject = "alice" AND relation = "lives_in"');
    assert.deepEqual(
      pair.result['versions'].map((version: { fields: { object: string } }) => version.fields.object),
      ['Bern', 'Zürich'],
    );
    const [newest] = pair.result['versions'];
    assert.deepEqual(Object.keys(newest).sort(), [
      'created_at',
      'fields',
      'grain_type',
      'hash',
      'superseded_by',
      'text',
    ]);
    assert.equal(newest.text, 'alice lives in Bern');
    const [version] = ask(`HISTORY ${newest.hash}`).result['versions'];
    assert.deepEqual([version.hash, version.text], [newest.hash, newest.text]);
    const asOf = ask('HISTORY WHERE subject = "alice" AND relation = "lives_in" AS OF "2026-02-10T17:30:00Z"');
    assert.deepEqual(
      asOf.result['versions'].map((version: { fields: { object: string } }) => version.fields.object),
      ['Zürich'],
    );
  });

  test('section 7.4: DIFF tells each field that differs, by name; nothing for a grain and itself', () => {
    const [a, b] = [opened.memory.hash('Zürich'), opened.memory.hash('Bern')];
    const { result, count } = ask(`HISTORY sha256:${a} DIFF sha256:${b}`);
    assert.deepEqual(result['changes'], [
      { field: 'confidence', from: 0.6, to: 0.4 },
      { field: 'object', from: 'Zürich', to: 'Bern' },
      { field: 'user_id', from: 'ann', to: null },
      { field: 'verification_status', from: null, to: 'contested' },
    ]);
    assert.equal(count, 4);
    assert.deepEqual(ask(`HISTORY sha256:${a} DIFF sha256:${a}`).result['changes'], []);
    assert.equal(opened.memory.code(`HISTORY sha256:${a} DIFF sha256:${'0'.repeat(64)}`, home), 'CAL-E046');
  });

  test('section 7.5: EXPLAIN names conditions and never a value, opens nothing and works with Tier 1 off', () => {
    const { result } = ask(
      'EXPLAIN RECALL beliefs WHERE subject = "alice" AND verification_status = "verified" AND object != "tea" AND confidence < 0.5 AND tags INCLUDE ["ui"] ORDER BY confidence',
    );
    const { plan } = result;
    assert.deepEqual(plan.filters, ['type', 'subject', 'verification_status', 'object', 'confidence', 'tags']);
    assert.deepEqual(plan.residual, ['object']);
    assert.equal(plan.route, 'structural');
    assert.equal(plan.order, 'confidence ascending');
    // Goals have this subject too; grains of the other namespace do not count.
    assert.equal(plan.indexes[1].grains, 11);
    assert.equal(result['_cal'].budget.grains_scanned, 0);
    assert.ok(!JSON.stringify(plan).includes('alice'));
    assert.equal(ask('EXPLAIN RECALL LIKE "x"').result['plan'].route, 'search');
    assert.equal(ask('EXPLAIN RECALL beliefs LIKE "x"').result['plan'].route, 'hybrid');
    const add = ask('EXPLAIN ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "r"').result[
      'plan'
    ];
    assert.deepEqual([add.tier, add.tier1_enabled, add.side_effects.length], [1, false, 1]);
    assert.equal(ask('EXPLAIN COALESCE (RECALL beliefs, RECALL goals)').result['plan'].branches.length, 2);
    assert.equal(ask('EXPLAIN ASSEMBLE FROM a: (RECALL beliefs) BUDGET 5 grains').result['plan'].budget.unit, 'grains');
    assert.equal(ask('EXPLAIN (RECALL beliefs) UNION (RECALL goals)').result['plan'].operands.length, 2);
    assert.equal(ask('EXPLAIN BATCH { a: RECALL beliefs, b: DESCRIBE server }').result['plan'].entries.length, 2);
    assert.equal(
      ask('EXPLAIN RECALL beliefs WHERE subject IN (RECALL goals | HASHES)').result['plan'].filters.length,
      2,
    );
  });

  test('section 7.6: DESCRIBE reports what the parser uses', () => {
    assert.equal(ask('DESCRIBE grain_types').result['info'].grain_types.length, 10);
    for (const [type, fields] of [
      ['belief', 18],
      ['event', 23],
      ['state', 20],
      ['workflow', 20],
      ['action', 22],
      ['observation', 20],
      ['goal', 22],
      ['reasoning', 21],
      ['consensus', 21],
      ['consent', 24],
    ] as const)
      assert.equal(ask(`DESCRIBE fields ${type}`).result['info'].fields.length, fields, type);
    assert.equal(ask('DESCRIBE fields').result['info'].fields.length, 18);
    const { info } = ask('DESCRIBE capabilities').result;
    assert.deepEqual(info.cal_tiers, [0]);
    assert.equal(info.limits.limit_max, 1_000);
    assert.ok(info.with_options.includes('diversity') && !info.with_options.includes('cache'));
    assert.ok(ask('DESCRIBE templates').result['info'].presets.length > 0);
    assert.match(ask('DESCRIBE grammar').result['info'].grammar, /statement/);
  });

  test('D-23: a failing entry of a BATCH affects only its own result; labels keep their order', () => {
    const { result, count } = ask(
      'BATCH { good: RECALL beliefs LIMIT 1, bad: RECALL MY beliefs, history: EXISTS sha256:00000000 }',
    );
    assert.equal(count, 3);
    assert.deepEqual(Object.keys(result['results']), ['good', 'bad', 'history']);
    assert.equal(result['results'].good.grains.length, 1);
    assert.equal(result['results'].bad.error.code, 'CAL-E008');
    assert.equal(result['results'].history.exists, false);
    assert.equal(opened.memory.code('BATCH { a: RECALL facts, b: RECALL beliefs }'), 'CAL-E003');
  });

  test('section 7.8: COALESCE takes the first branch with a grain and runs none after it', () => {
    const first = ask('COALESCE (RECALL beliefs WHERE subject = "alice", RECALL MY beliefs)');
    assert.deepEqual([first.result['branch'], first.count], [0, 6]);
    const second = ask('COALESCE (RECALL beliefs WHERE subject = "x", RECALL goals, RECALL states)');
    assert.deepEqual([second.result['branch'], second.count, second.type], [1, 5, 'coalesce']);
    const none = ask('COALESCE (RECALL beliefs WHERE subject = "x", RECALL beliefs WHERE subject = "y")');
    assert.deepEqual([none.result['branch'], none.result['grains'], none.count], [null, [], 0]);
  });

  test('section 7.9: LET is a list or a set of grains; an empty list selects nothing', () => {
    assert.equal(
      ask('LET $x = RECALL beliefs WHERE object = "Acme" | SUBJECTS; RECALL beliefs WHERE subject IN ($x)').count,
      9,
    );
    assert.equal(
      ask('LET $x = RECALL beliefs WHERE object = "nowhere" | SUBJECTS; RECALL beliefs WHERE subject IN ($x)').count,
      0,
    );
    assert.equal(ask('LET $x = RECALL beliefs WHERE object = "Acme"; ASSEMBLE FROM mine: $x').count, 2);
    assert.equal(
      ask(
        'LET $a = RECALL beliefs WHERE object = "Acme" | SUBJECTS; LET $b = RECALL beliefs WHERE subject IN ($a); ASSEMBLE FROM $b',
      ).count,
      9,
    );
    assert.equal(
      ask('LET $x = RECALL beliefs WHERE subject = "bob" | SUBJECTS; BATCH { a: RECALL beliefs WHERE subject IN ($x) }')
        .result['results'].a.total,
      3,
    );
    assert.equal(
      ask('LET $x = RECALL beliefs | SUBJECTS; EXPLAIN RECALL beliefs WHERE subject IN ($x)').result['_cal'].budget
        .grains_scanned,
      0,
    );
  });

  test('section 7.10: a subquery has its own default LIMIT, three deep', () => {
    assert.deepEqual(
      objects(
        ask(
          'RECALL beliefs WHERE subject IN (RECALL beliefs WHERE subject IN (RECALL beliefs WHERE object = "Initech" | SUBJECTS) | SUBJECTS)',
        ).result,
      ),
      ['Initech', 'alice'],
    );
    assert.equal(ask('RECALL beliefs WHERE object IN (RECALL beliefs WHERE subject = "carol" | SUBJECTS)').count, 0);
  });

  test('section 11: sources that fail are named and left out; all of them is E076', () => {
    const { result, count } = ask('ASSEMBLE ctx FROM mine: (RECALL MY beliefs), all: (RECALL goals) BUDGET 500 tokens');
    assert.deepEqual(result['_cal'].sources_failed, ['mine']);
    assert.equal(count, 5);
    assert.ok(result['budget'].used <= 500);
    assert.equal(opened.memory.code('ASSEMBLE FROM a: (RECALL MY beliefs), b: (RECALL MY goals)', home), 'CAL-E076');
    assert.equal(opened.memory.code('ASSEMBLE FROM (RECALL beliefs) STREAM', home), 'CAL-E079');
    const formats = ask(
      'ASSEMBLE FROM a: (RECALL goals), b: (RECALL beliefs) BUDGET 3 grains FORMAT [sml, json] WITH dedup(subject)',
    );
    assert.deepEqual(Object.keys(formats.result['formats']), ['sml', 'json']);
    assert.equal(formats.count, 3);
    assert.ok(!('content' in formats.result));
  });

  test('D-42: without BUDGET the budget is 4000 tokens', () => {
    const { budget } = ask('ASSEMBLE FROM (RECALL goals)').result;
    assert.deepEqual([budget.total, budget.unit], [4_000, 'tokens']);
    assert.equal(budget.used + budget.remaining, 4_000);
  });

  test('section 9: options of ASSEMBLE apply to its grains, and ineffective ones are reported', () => {
    const { result, warnings } = ask(
      'ASSEMBLE FROM (RECALL beliefs WHERE subject = "alice" AND relation = "mg:prefers") BUDGET 9 grains WITH contradiction_detection, provenance, superseded, diversity(mmr)',
    );
    assert.deepEqual(
      warnings.map((warning) => warning.slice(0, 8)),
      ['CAL-W004'],
    );
    for (const grain of result['grains'])
      assert.deepEqual([grain.contested_by.length, grain.derived_from, grain.superseded_by], [1, [], null]);
    const coalesced = ask(
      'COALESCE (RECALL beliefs WHERE subject = "x", RECALL beliefs WHERE subject = "alice" AND relation = "mg:prefers" WITH contradiction_detection)',
    );
    assert.equal(coalesced.result['grains'][0].contested_by.length, 1);
  });

  test('section 12.8: RECENT is a LIMIT, so a few newest grains are shown in full', () => {
    const textOf = (stages: string): string =>
      ask(`RECALL beliefs WHERE subject = "alice" ${stages} WITH progressive_disclosure AS sml`).result['content'];
    assert.equal(textOf('RECENT 3'), textOf('ORDER BY time DESC LIMIT 3'));
    assert.match(textOf('RECENT 3'), / source="/);
    assert.doesNotMatch(textOf('RECENT 6'), / source="/);
  });

  test('PROJECT shows which grains are contested, also in a source of ASSEMBLE', () => {
    const where = 'WHERE subject = "alice" AND relation = "mg:prefers"';
    const recall = `RECALL beliefs ${where} PROJECT content(object), attr(contradicted)`;
    for (const query of [`${recall} AS sml`, `ASSEMBLE FROM (${recall}) FORMAT sml`]) {
      const { content } = ask(query).result;
      assert.equal(content.match(/contradicted="true"/g)?.length, 2, content);
    }
  });

  test('D-26: a grain of several sources is only in the one of the highest rank', () => {
    const { result } = ask(
      'ASSEMBLE FROM low: (RECALL beliefs WHERE subject = "bob"), high: (RECALL beliefs WHERE relation = "works_at") PRIORITY high > low',
    );
    const [first, second] = result['sources'];
    assert.deepEqual([first.label, first.rank, second.label], ['high', 1, 'low']);
    assert.equal(first.grain_count + second.grain_count, result['grains'].length);
    assert.deepEqual(
      first.grains.filter((hash: string) => second.grains.includes(hash)),
      [],
    );
    assert.equal(second.grain_count, 2);
  });

  test('section 2.3: Tier 1 is rejected after syntax errors, and before anything is read', () => {
    assert.equal(
      opened.memory.code('ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "r"'),
      'CAL-E044',
    );
    assert.equal(opened.memory.code(`SUPERSEDE sha256:${'0'.repeat(64)} SET object = "x" REASON "r"`), 'CAL-E044');
    assert.equal(opened.memory.code(`REVERT sha256:${'0'.repeat(64)} REASON "r"`), 'CAL-E044');
    assert.equal(opened.memory.code('ADD belief SET subject = "a" REASON "r"'), 'CAL-E050');
    assert.equal(opened.memory.code('DEFINE TEMPLATE t AS "x"'), 'CAL-E044');
    assert.equal(ask('DEFINE TEMPLATE t AS "x"', { session: { mayDefine: true } }).result['type'], 'template_defined');
  });

  test('section 12.9: a defined template is found by name, an unknown one is E085', () => {
    const session = { templates: { short: { body: { text: '{{grain.content}};' } } } };
    assert.equal(
      ask('RECALL beliefs WHERE subject = "dave" AS TEMPLATE short', { session }).result['content'].trim(),
      'requires quiet;',
    );
    assert.equal(opened.memory.code('RECALL beliefs AS TEMPLATE short', home), 'CAL-E085');
    assert.equal(opened.memory.code('RECALL beliefs AS TEMPLATE constructor', home), 'CAL-E085');
  });

  test('E030 and E031: bounds apply while the query runs', () => {
    const past = { deadlineMs: 1 };
    assert.equal(opened.memory.code('RECALL beliefs WHERE confidence < 0.5', past), 'CAL-E031');
    assert.equal(opened.memory.code('ASSEMBLE FROM (RECALL beliefs)', past), 'CAL-E075');
    const bound = 'LET $x = RECALL beliefs WHERE confidence < 0.5; ASSEMBLE FROM $x';
    assert.equal(opened.memory.code(bound, past), 'CAL-E075');
    assert.equal(opened.memory.code('EXPLAIN RECALL beliefs WHERE confidence < 0.5', past), 'CAL-E031');
    assert.equal(opened.memory.code('BATCH { a: DESCRIBE server }', past), '');
  });

  test('errors have positions: bytes, line and column, also runtime errors', () => {
    const reply = opened.memory.reply('RECALL beliefs\n  WHERE subject IN ($é)');
    assert.ok('refused' in reply);
    const late = opened.memory.reply('LET $x = RECALL beliefs LIMIT 2 | HASHES; EXISTS $x');
    assert.ok('refused' in late && late.refused === 'CAL-E020');
    assert.deepEqual((late.error as { position: unknown }).position, { start: 49, end: 51, line: 1, col: 50 });
    const batch = ask('LET $x = RECALL beliefs LIMIT 2 | HASHES; BATCH { a: DESCRIBE server, b: EXISTS $x }');
    const { code, position } = batch.result['results'].b.error;
    assert.deepEqual([code, position], ['CAL-E020', { start: 80, end: 82, line: 1, col: 81 }]);
  });
});

/** A memory with a belief of alice that was superseded. */
async function withOldVersion(t: TestContext): Promise<CalMemory> {
  const memory = await CalMemory.open(t);
  await memory.engine.write('supersede', contextOf(1), {
    oldHash: memory.hash('peanuts'),
    fields: { object: 'almonds' },
  });
  return memory;
}

test('old versions are shown by all recalls of a source, if ASSEMBLE asks for them', async (t) => {
  const memory = await withOldVersion(t);
  const avoids = 'RECALL beliefs WHERE relation = "mg:avoids"';
  for (const source of [`(${avoids})`, `((${avoids}) UNION (RECALL beliefs WHERE subject = "nobody"))`]) {
    assert.deepEqual(objects(memory.ask(`ASSEMBLE FROM ${source}`).result), ['almonds']);
    assert.deepEqual(objects(memory.ask(`ASSEMBLE FROM ${source} WITH superseded`).result), ['almonds', 'peanuts']);
  }
});

test('section 7.4: AS OF goes by the time of recording, whatever the time that a version is about', async (t) => {
  const at = NOW_MS / 1_000 - 1_000;
  const said = (object: string, created_at: number, timestamp_ms: number): AddItem => ({
    grainType: 'belief',
    fields: { subject: 'tea', relation: 'is', object, created_at, timestamp_ms },
  });
  const memory = await CalMemory.open(t, [
    said('green', at, NOW_MS),
    said('black', at + 10, NOW_MS - 9_000_000),
    said('white', at + 20, NOW_MS - 8_000_000),
  ]);
  const versionsOf = (more: string): string[] =>
    memory
      .ask(`HISTORY WHERE subject = "tea" AND relation = "is"${more}`)
      .result['versions'].map(({ fields }: { fields: { object: string } }) => fields.object);
  assert.deepEqual(versionsOf(''), ['white', 'black', 'green']);
  const until = new Date((at + 12) * 1_000).toISOString();
  assert.deepEqual(versionsOf(` AS OF "${until}"`), ['black', 'green']);
});
