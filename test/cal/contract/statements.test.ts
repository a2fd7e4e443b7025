// Section 7 of the contract, its first half: RECALL, sets, EXISTS, HISTORY, EXPLAIN and DESCRIBE.
import assert from 'node:assert/strict';
import { contract, type ParsedJson, type Row } from './contract.ts';

const sets = (count: number): string =>
  Array.from({ length: count }, () => '(RECALL beliefs WHERE subject = "gina")').join(' UNION ');
const ZEROS = `sha256:${'0'.repeat(64)}`;

const rows: Row[] = [
  // 7.1: RECALL
  { q: 'RECALL beliefs', total: 27, count: 20, type: 'recall', body: 'grains', is: { next_cursor: null } },
  { q: 'RECALL beliefs LIMIT 1000', total: 27, count: 27 },
  { q: 'RECALL beliefs LIMIT 1001', code: 'E010' },
  { q: 'RECALL beliefs LIMIT 0', code: 'E010' },
  { q: 'RECALL beliefs LIMIT 99999999999999999999', code: 'E010' },
  { q: 'RECALL', count: 20, total: 55 },
  { q: 'RECALL events RECENT 25', count: 9 },
  { q: 'RECALL beliefs WHERE subject = "alice" LIMIT 2', total: 5, count: 2 },
  { q: 'RECALL beliefs WHERE subject = "alice" OFFSET 3', total: 5, count: 2 },
  { q: 'RECALL beliefs WHERE subject = "alice" OFFSET 50', total: 5, set: '' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence', list: 'zurich acme tea dark nuts' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence ASC', list: 'zurich acme tea dark nuts' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence DESC', list: 'nuts dark tea acme zurich' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence DESC LIMIT 2 OFFSET 1', list: 'dark' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence DESC OFFSET 1 LIMIT 2', list: 'dark tea' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY object', list: 'acme zurich dark tea nuts' },
  { q: 'RECALL beliefs LIKE "peanuts" FIRST', list: 'nuts' },
  { q: 'RECALL beliefs WHERE query = "peanuts" FIRST', list: 'nuts' },
  {
    q: 'RECALL LIKE "saffron" LIMIT 3',
    check: ({ grains }) => {
      const scores = grains.map(({ score }: ParsedJson) => score);
      assert.deepEqual(
        scores,
        [...scores].sort((a, b) => b - a),
      );
      assert.ok(grains.length === 3 && scores[0] > 0);
    },
  },
  { q: 'RECALL beliefs LIKE ""', set: '' },
  { q: 'RECALL beliefs LIKE "nowhereatallword"', set: '', total: 0 },
  // threads
  { q: 'RECALL events THREAD "s1"', list: 'ev1 ev2 ev3 ev4', total: 4 },
  { q: 'RECALL THREAD "s1"', list: 'ev1 ev2 ev3 ev4' },
  { q: 'RECALL events THREAD "s1" LIMIT 2', list: 'ev1 ev2' },
  { q: 'RECALL events THREAD "s1" WHERE role = "user"', list: 'ev1 ev3' },
  { q: 'RECALL events THREAD FROM @ev3@', list: 'ev1 ev2 ev3 ev4' },
  { q: 'RECALL events THREAD FROM @loose1@', list: 'loose1 loose2 loose3' },
  { q: 'RECALL events THREAD FROM @loose2@', list: 'loose1 loose2 loose3' },
  { q: 'RECALL events THREAD FROM @loose3@', list: 'loose1 loose2 loose3' },
  { q: 'RECALL events THREAD FROM @boiler@', list: 'boiler' },
  { q: `RECALL events THREAD FROM ${ZEROS}`, list: '' },
  { q: 'RECALL events THREAD FROM @canary2@', list: '' },
  { q: 'RECALL events THREAD "nobody"', list: '' },
  { q: 'RECALL beliefs THREAD "s1"', code: 'E060' },
  { q: 'RECALL events THREAD "s1" ORDER BY time', code: 'E060' },
  { q: 'RECALL events THREAD "s1" WHERE session_id = "s1"', code: 'E060' },
  // 7.2: sets
  {
    q: '(RECALL beliefs WHERE subject = "gina") UNION (RECALL beliefs WHERE subject = "dave")',
    set: 'cats quiet',
    type: 'set_op',
    body: 'grains',
  },
  { q: '(RECALL beliefs WHERE subject = "gina") UNION (RECALL beliefs WHERE subject = "gina")', set: 'cats' },
  { q: '(RECALL beliefs WHERE subject = "alice") INTERSECT (RECALL beliefs WHERE relation = "works_at")', set: 'acme' },
  {
    q: '(RECALL beliefs WHERE subject = "alice") EXCEPT (RECALL beliefs WHERE tags INCLUDE ["food"])',
    set: 'dark acme zurich',
  },
  {
    q: '(RECALL beliefs WHERE subject = "alice") EXCEPT (RECALL beliefs WHERE tags INCLUDE ["food"]) EXCEPT (RECALL beliefs WHERE tags INCLUDE ["ui"])',
    set: 'acme zurich',
  },
  {
    q: '(RECALL beliefs WHERE subject = "alice") EXCEPT (RECALL goals) UNION (RECALL events)',
    code: 'E002',
    at: 'UNION',
  },
  {
    q: '((RECALL beliefs WHERE subject = "alice") EXCEPT (RECALL beliefs WHERE tags INCLUDE ["food"])) UNION (RECALL goals WHERE subject = "alice")',
    set: 'dark acme zurich goal1 goal2',
  },
  { q: sets(5), set: 'cats' },
  { q: sets(6), code: 'E013' },
  { q: `(${sets(3)}) UNION (${sets(3)})`, code: 'E013' },
  {
    q: '(RECALL beliefs WHERE subject = "alice") UNION (RECALL goals WHERE subject = "alice") | ORDER BY subject | LIMIT 6',
    count: 6,
  },
  {
    q: '(RECALL beliefs WHERE subject = "alice") UNION (RECALL beliefs WHERE subject = "gina") ORDER BY confidence DESC LIMIT 2',
    list: 'nuts dark',
  },
  {
    q: '(RECALL beliefs WHERE subject = "alice") UNION (RECALL beliefs WHERE subject = "gina") | COUNT',
    is: { count: 6 },
    count: 1,
    body: 'count',
  },
  {
    q: '(RECALL beliefs WHERE subject = "frank" WITH superseded) EXCEPT (RECALL beliefs WHERE object = "Nice")',
    set: 'lyon paris',
    check: ({ grains }) => assert.ok(grains.every((one: ParsedJson) => /^sha256:/.test(one['superseded_by']))),
  },
  {
    q: '(RECALL beliefs LIKE "peanuts" WITH score_breakdown, explanation LIMIT 1) UNION (RECALL beliefs WHERE subject = "gina")',
    list: 'cats nuts',
    warn: 'W004',
    check: ({ grains }) => assert.equal(typeof grains[1].score_breakdown, 'object'),
  },
  { q: '(RECALL beliefs | COUNT) UNION (RECALL beliefs)', code: 'E021' },
  { q: '(RECALL beliefs | SUBJECTS) UNION (RECALL beliefs | SUBJECTS)', code: 'E021' },
  { q: '(RECALL beliefs) UNION', code: 'E002' },
  { q: '(RECALL beliefs)', code: 'E002' },
  { q: 'RECALL beliefs UNION RECALL goals', code: 'E002', at: 'UNION' },
  { q: '(EXISTS @dark@) UNION (RECALL beliefs)', code: 'E002 E021' },
  { q: '(RECALL beliefs LIKE "peanuts" LIMIT 1) INTERSECT (RECALL beliefs WHERE subject = "alice")', list: 'nuts' },
  // 7.3: EXISTS
  { q: 'EXISTS @dark@', is: { exists: true, hash: '@dark@' }, type: 'exists', body: 'exists', count: 1 },
  { q: 'EXISTS @lyon@', is: { exists: true } },
  { q: 'EXISTS @canary1@', is: { exists: false } },
  { q: `EXISTS ${ZEROS}`, is: { exists: false } },
  { q: 'EXISTS "x"', code: 'E002' },
  { q: 'EXISTS', code: 'E002' },
  { q: 'EXISTS beliefs WHERE subject = "alice"', code: 'E002' },
  // 7.4: HISTORY
  ...['lyon', 'paris', 'nice'].map(
    (name): Row => ({
      q: `HISTORY @${name}@`,
      type: 'history',
      body: 'history',
      count: 3,
      check: (result) => {
        assert.deepEqual(
          result['versions'].map(({ fields }: ParsedJson) => fields.object),
          ['Nice', 'Paris', 'Lyon'],
        );
        const [nice, paris, lyon] = result['versions'];
        assert.deepEqual([nice.superseded_by, paris.superseded_by, lyon.superseded_by], [null, nice.hash, paris.hash]);
        assert.ok(
          result['versions'].every(
            (one: ParsedJson) => one['grain_type'] === 'belief' && typeof one['created_at'] === 'number',
          ),
        );
      },
    }),
  ),
  { q: 'HISTORY @dark@', count: 1 },
  { q: `HISTORY ${ZEROS}`, is: { versions: [] }, count: 0 },
  { q: 'HISTORY @canary5@', is: { versions: [] }, count: 0 },
  { q: 'HISTORY WHERE subject = "frank" AND relation = "lives_in"', count: 3 },
  { q: 'HISTORY IN "away" WHERE subject = "frank" AND relation = "lives_in"', count: 3 },
  { q: 'HISTORY WHERE relation = "lives_in" AND subject = "frank"', code: 'E002' },
  { q: 'HISTORY WHERE subject = "nobody" AND relation = "lives_in"', count: 0 },
  { q: 'HISTORY WHERE subject = "frank" AND relation = "lives_in" AS OF "2000-01-01"', count: 0 },
  { q: 'HISTORY WHERE subject = "frank" AND relation = "lives_in" AS OF "2099-01-01"', count: 3 },
  { q: 'HISTORY WHERE subject = "frank" AND relation = "lives_in" AS OF "gibberish"', code: 'E020' },
  {
    q: 'HISTORY @lyon@ DIFF @nice@',
    body: 'diff',
    check: ({ from, to, changes }) => {
      assert.notEqual(from, to);
      const names = changes.map(({ field }: ParsedJson) => field);
      assert.deepEqual(names, [...names].sort());
      const of = (name: string) => changes.find(({ field }: ParsedJson) => field === name);
      assert.deepEqual([of('object').from, of('object').to], ['Lyon', 'Nice']);
      assert.deepEqual([of('confidence').from, of('confidence').to], [0.6, 0.7]);
    },
  },
  { q: 'HISTORY @dark@ DIFF @dark@', is: { changes: [] }, count: 0, body: 'diff' },
  { q: `HISTORY @dark@ DIFF ${ZEROS}`, code: 'E046' },
  { q: 'HISTORY @dark@ DIFF @canary1@', code: 'E046' },
  { q: 'HISTORY @canary1@ DIFF @dark@', code: 'E046' },
  // 7.5: EXPLAIN
  {
    q: 'EXPLAIN RECALL beliefs WHERE subject = "alice" AND confidence >= 0.123 ORDER BY confidence LIMIT 3',
    type: 'explain',
    body: 'explain',
    count: 1,
    check: ({ plan, _cal, ...rest }) => {
      assert.equal(plan.statement_type, 'recall');
      assert.equal(plan.tier, 0);
      assert.ok(['belief', 'beliefs'].includes(plan.grain_type));
      assert.equal(plan.route, 'structural');
      assert.ok(JSON.stringify(plan.filters).includes('subject'));
      assert.ok(!/alice|0\.123/.test(JSON.stringify([plan, rest])), 'the plan contains names and no values');
      assert.equal(plan.stages.length, 2);
      assert.ok('limits' in plan && 'estimated_cost' in plan);
      assert.equal(_cal.budget.grains_scanned, 0);
    },
  },
  { q: 'EXPLAIN RECALL LIKE "tea"', check: ({ plan }) => assert.equal(plan.route, 'search') },
  {
    q: 'EXPLAIN RECALL beliefs LIKE "tea" WHERE subject = "alice"',
    check: ({ plan }) => assert.equal(plan.route, 'hybrid'),
  },
  {
    q: 'EXPLAIN (RECALL beliefs) UNION (RECALL goals)',
    check: ({ plan }) => assert.equal(plan.statement_type, 'set_op'),
  },
  { q: 'EXPLAIN BATCH { a: RECALL beliefs }', check: ({ plan }) => assert.equal(plan.statement_type, 'batch') },
  {
    q: 'EXPLAIN COALESCE (RECALL beliefs, RECALL goals)',
    check: ({ plan }) => assert.equal(plan.statement_type, 'coalesce'),
  },
  {
    q: 'EXPLAIN ASSEMBLE FROM a: (RECALL beliefs), b: (RECALL goals) BUDGET 500 tokens',
    check: ({ plan }) => {
      assert.equal(plan.statement_type, 'assemble');
      assert.equal(plan.sources.length, 2);
      assert.ok(JSON.stringify(plan.budget).includes('500'));
    },
  },
  {
    q: 'EXPLAIN ADD belief SET subject = "hidden" SET relation = "b" SET object = "c" REASON "r"',
    check: ({ plan }) => {
      assert.equal(plan.statement_type, 'add');
      assert.equal(plan.tier, 1);
      assert.equal(plan.tier1_enabled, false);
      assert.ok(plan.side_effects.length > 0);
      assert.ok(!JSON.stringify(plan).includes('hidden'));
    },
  },
  { q: 'EXPLAIN SUPERSEDE @dark@ SET object = "x" REASON "r"', check: ({ plan }) => assert.equal(plan.tier, 1) },
  { q: 'EXPLAIN REVERT @nice@ REASON "r"', check: ({ plan }) => assert.equal(plan.tier, 1) },
  { q: 'EXPLAIN ADD belief SET subject = "a" REASON "r"', code: 'E050' },
  { q: 'EXPLAIN RECALL facts', code: 'E003' },
  ...['EXISTS @dark@', 'HISTORY @dark@', 'DESCRIBE server', 'EXPLAIN RECALL beliefs', 'DEFINE TEMPLATE t AS "x"'].map(
    (q): Row => ({ q: `EXPLAIN ${q}`, code: 'E002' }),
  ),
  // 7.6: DESCRIBE
  {
    q: 'DESCRIBE grain_types',
    type: 'describe',
    body: 'describe',
    count: 1,
    is: { target: 'grain_types' },
    check: ({ info }) => {
      const text = JSON.stringify(info);
      for (const word of ['belief', 'beliefs', 'consensuses', 'reasoning', 'consent', 'consents'])
        assert.ok(text.includes(`"${word}"`), word);
    },
  },
  ...Object.entries({
    belief: 18,
    event: 23,
    state: 20,
    workflow: 20,
    action: 22,
    observation: 20,
    goal: 22,
    reasoning: 21,
    consensus: 21,
    consent: 24,
  }).map(
    ([type, total]): Row => ({
      q: `DESCRIBE fields ${type}`,
      check: ({ info }) => {
        assert.equal(info.fields.length, total);
        for (const field of info.fields)
          for (const member of ['name', 'type', 'operators', 'sortable', 'projectable', 'groupable'])
            assert.ok(member in field, `${field.name}: ${member}`);
      },
    }),
  ),
  { q: 'DESCRIBE fields', check: ({ info }) => assert.equal(info.fields.length, 18) },
  { q: 'DESCRIBE fields unicorn', code: 'E003' },
  { q: 'DESCRIBE fields beliefs', code: 'E003' },
  {
    q: 'DESCRIBE capabilities',
    check: ({ info }) => {
      assert.equal(info.cal_version, '1.2');
      assert.ok(['core', 'extended', 'evolve', 'full'].includes(info.cal_conformance));
      assert.deepEqual(info.cal_tiers, [0]);
      assert.equal(info.cross_lingual_search, false);
      assert.equal(info.auto_toon_enabled, false);
      for (const member of ['limits', 'formats', 'streaming', 'templates']) assert.ok(member in info, member);
    },
  },
  {
    q: 'DESCRIBE server',
    check: ({ info }) =>
      assert.deepEqual(
        [typeof info.name, typeof info.version, info.cal_version, typeof info.oms_version],
        ['string', 'string', '1.2', 'string'],
      ),
  },
  { q: 'DESCRIBE templates', check: ({ info }) => assert.ok(JSON.stringify(info).includes('readable')) },
  { q: 'DESCRIBE grammar', check: ({ info }) => assert.match(JSON.stringify(info), /recall_clause/) },
  { q: 'DESCRIBE schema', code: 'E002' },
  { q: 'DESCRIBE principal', code: 'E002' },
  { q: 'DESCRIBE', code: 'E002' },
];

contract('sections 7.1 to 7.6', rows);
