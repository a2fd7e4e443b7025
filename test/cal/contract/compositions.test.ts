// Section 7 of the contract from BATCH on, and section 8: composed statements and shortcuts.
import assert from 'node:assert/strict';
import { contract, type ParsedJson, type Row } from './contract.ts';

const nested = (depth: number): string =>
  depth === 0 ? 'RECALL beliefs' : `RECALL beliefs WHERE subject IN (${nested(depth - 1)} | SUBJECTS)`;
const lets = (count: number): string =>
  Array.from({ length: count }, (_, i) => `LET $v${i} = RECALL beliefs WHERE subject = "alice" | SUBJECTS; `).join('');
const branches = (count: number): string => Array.from({ length: count }, () => 'RECALL beliefs').join(', ');
const entries = (count: number): string =>
  Array.from({ length: count }, (_, i) => `e${i}: RECALL beliefs | COUNT`).join(', ');
const ALICE = 'dark tea nuts acme zurich';
const ZEROS = `sha256:${'0'.repeat(64)}`;
const labels = (result: ParsedJson): string => result['sources'].map(({ label }: ParsedJson) => label).join(' ');

const rows: Row[] = [
  // 7.7: BATCH
  {
    q: 'BATCH { one: RECALL beliefs WHERE subject = "gina", two: EXISTS @dark@, three: HISTORY @lyon@, four: DESCRIBE server, five: COALESCE (RECALL beliefs WHERE subject = "nobody", RECALL goals) }',
    type: 'batch',
    body: 'batch',
    count: 5,
    check: ({ results }) => {
      assert.deepEqual(Object.keys(results), ['one', 'two', 'three', 'four', 'five']);
      assert.deepEqual(
        Object.values(results as ParsedJson).map(({ type }) => type),
        ['grains', 'exists', 'history', 'describe', 'grains'],
      );
      assert.equal(results.one.total, 1);
      assert.equal(results.five.total, 4);
    },
  },
  {
    q: `BATCH { bad: HISTORY @dark@ DIFF ${ZEROS}, good: RECALL goals | COUNT }`,
    count: 2,
    check: ({ results }) => {
      assert.equal(results.bad.error.code, 'CAL-E046');
      const { version, statement_type, tier, query_hash, duration_ms, budget } = results.good._cal;
      assert.deepEqual([version, statement_type, tier, typeof duration_ms], ['1.2', 'recall', 0, 'number']);
      assert.match(query_hash, /^sha256:[0-9a-f]{64}$/);
      assert.deepEqual(Object.keys(budget), ['tokens_used', 'grains_returned', 'grains_scanned']);
      assert.equal(results.good.count, 4);
    },
  },
  { q: 'BATCH { a: RECALL beliefs, b: RECALL unicorns }', code: 'E003' },
  { q: 'BATCH { a: RECALL beliefs, a: RECALL goals }', code: 'E034', at: 'a' },
  { q: `BATCH { ${entries(10)} }`, count: 10 },
  { q: `BATCH { ${entries(11)} }`, code: 'E012' },
  { q: 'BATCH { }', code: 'E002' },
  { q: 'BATCH { RECALL beliefs }', code: 'E002' },
  { q: 'BATCH { a: RECALL beliefs, }', code: 'E002' },
  { q: 'BATCH { a: ASSEMBLE FROM (RECALL beliefs) }', code: 'E002' },
  { q: 'BATCH { a: (RECALL beliefs) UNION (RECALL goals) }', code: 'E002' },
  { q: 'BATCH { a: ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "r" }', code: 'E002' },
  {
    q: 'LET $who = RECALL beliefs WHERE relation = "mg:avoids" | SUBJECTS; BATCH { a: RECALL goals WHERE subject IN ($who) | COUNT, b: RECALL beliefs WHERE subject IN ($who) | COUNT }',
    check: ({ results }) => assert.deepEqual([results.a.count, results.b.count], [2, 5]),
  },
  // 7.8: COALESCE
  {
    q: 'COALESCE (RECALL beliefs WHERE subject = "nobody", RECALL beliefs WHERE subject = "gina", RECALL goals)',
    set: 'cats',
    type: 'coalesce',
    check: ({ _cal, branch }) => assert.equal(branch ?? _cal.branch, 1),
  },
  {
    q: 'COALESCE (RECALL beliefs WHERE subject = "gina", RECALL goals)',
    set: 'cats',
    check: ({ _cal, branch }) => assert.equal(branch ?? _cal.branch, 0),
  },
  {
    q: 'COALESCE (RECALL beliefs WHERE subject = "nobody", RECALL goals WHERE subject = "nobody")',
    set: '',
    check: (result) => assert.equal('branch' in result ? result['branch'] : result['_cal'].branch, null),
  },
  // Skipped matches do not belong to the branch.
  { q: 'COALESCE (RECALL beliefs OFFSET 500, RECALL beliefs WHERE subject = "gina")', set: 'cats', is: { branch: 1 } },
  { q: 'COALESCE (RECALL beliefs)', code: 'E002' },
  { q: `COALESCE (${branches(5)})`, count: 20 },
  { q: `COALESCE (${branches(6)})`, code: 'E039' },
  { q: 'COALESCE (RECALL beliefs WHERE subject = "nobody", RECALL beliefs ABOUT "x" LIKE "y")', code: 'E060' },
  // 7.9: LET
  {
    q: 'LET $who = RECALL beliefs WHERE relation = "mg:avoids" | SUBJECTS; RECALL goals WHERE subject IN ($who)',
    set: 'goal1 goal2',
  },
  {
    q: 'LET $who = RECALL beliefs WHERE relation = "mg:avoids" SUBJECTS; RECALL goals WHERE subject IN ($who)',
    set: 'goal1 goal2',
  },
  {
    q: 'LET $what = RECALL beliefs WHERE subject = "bob" AND relation = "works_at" | OBJECTS; RECALL beliefs WHERE object IN ($what)',
    set: 'acme bobacme',
  },
  {
    q: 'LET $which = RECALL goals WHERE goal_state = "failed" | HASHES; RECALL goals WHERE depends_on IN ($which)',
    set: 'goal4',
  },
  {
    q: 'LET $none = RECALL beliefs WHERE subject = "nobody" | SUBJECTS; RECALL goals WHERE subject IN ($none)',
    set: '',
  },
  { q: 'LET $grains = RECALL beliefs; RECALL goals WHERE subject IN ($grains)', code: 'E020' },
  { q: `${lets(5)}RECALL goals WHERE subject IN ($v4)`, set: 'goal1 goal2' },
  { q: `${lets(6)}RECALL goals WHERE subject IN ($v4)`, code: 'E036' },
  {
    q: 'LET $a = RECALL beliefs WHERE subject = "alice" | SUBJECTS; LET $b = RECALL goals WHERE subject IN ($a) | HASHES; RECALL beliefs WHERE subject IN ($a)',
    code: 'E038',
  },
  {
    q: 'LET $a = RECALL beliefs WHERE subject = "alice" | SUBJECTS; LET $b = RECALL beliefs WHERE subject IN ($a) ; ASSEMBLE FROM (RECALL goals WHERE subject IN ($a)), x: $b',
    type: 'assemble',
    count: 7,
  },
  { q: 'LET $a = RECALL beliefs WHERE subject IN ($a) | SUBJECTS; RECALL beliefs', code: 'E037 E008' },
  {
    q: 'LET $a = RECALL beliefs WHERE subject IN ($b) | SUBJECTS; LET $b = RECALL beliefs | SUBJECTS; ASSEMBLE FROM (RECALL beliefs)',
    code: 'E037 E008',
  },
  { q: 'LET $a = RECALL goals | SUBJECTS; RECALL beliefs WHERE subject IN ($a)', code: 'E022' },
  { q: 'LET $current_user_id = RECALL beliefs | SUBJECTS; RECALL beliefs', code: 'E009 E002' },
  { q: 'LET $a = RECALL beliefs | SUBJECTS RECALL goals', code: 'E002' },
  // 7.10: subqueries
  { q: 'RECALL goals WHERE subject IN (RECALL beliefs WHERE relation = "mg:avoids" | SUBJECTS)', set: 'goal1 goal2' },
  { q: 'RECALL goals WHERE subject IN (RECALL beliefs WHERE relation = "mg:avoids" SUBJECTS)', set: 'goal1 goal2' },
  { q: 'RECALL goals WHERE subject IN (RECALL beliefs WHERE relation = "mg:avoids")', code: 'E002 E020' },
  { q: 'RECALL goals WHERE subject IN (RECALL beliefs | COUNT)', code: 'E002 E020 E021' },
  { q: nested(3), body: 'grains' },
  { q: nested(4), code: 'E007' },
  // 7.11: Tier 1 is off
  ...[
    'subject = "a" SET relation = "b" SET object = "c"',
    'subject = "a" SET relation = "b" SET object = "c" SET confidence = 0.5 SET tags = ["x"]',
  ].map((set): Row => ({ q: `ADD belief SET ${set} REASON "r"`, code: 'E044' })),
  { q: 'SUPERSEDE @dark@ SET object = "x" REASON "r"', code: 'E044' },
  { q: 'REVERT @nice@ REASON "r"', code: 'E044' },
  { q: 'ADD event SET subject = "a" SET relation = "b" SET object = "c" REASON "r"', code: 'E051' },
  { q: 'ADD workflow SET subject = "a" SET relation = "b" SET object = "c" REASON "r"', code: 'E051' },
  { q: 'ADD belief SET subject = "a" SET relation = "b" REASON "r"', code: 'E050' },
  {
    q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET namespace = "x" REASON "r"',
    code: 'E017',
  },
  { q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET user_id = "x" REASON "r"', code: 'E017' },
  {
    q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET goal_state = "active" REASON "r"',
    code: 'E017',
  },
  { q: 'ADD belief SET subject = "a" SET subject = "b" SET relation = "b" SET object = "c" REASON "r"', code: 'E002' },
  { q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c"', code: 'E018' },
  { q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON ""', code: 'E018' },
  { q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" BECAUSE "  "', code: 'E018' },
  { q: `ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "${'r'.repeat(500)}"`, code: 'E044' },
  { q: `ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "${'r'.repeat(501)}"`, code: 'E016' },
  { q: `ADD belief SET subject = "a" SET relation = "b" SET object = "c" REASON "${'😀'.repeat(500)}"`, code: 'E044' },
  {
    q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET confidence = 1.5 REASON "r"',
    code: 'E020',
  },
  {
    q: 'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET confidence = "high" REASON "r"',
    code: 'E020',
  },
  { q: 'ADD belief SET subject = 5 SET relation = "b" SET object = "c" REASON "r"', code: 'E020' },
  {
    q: 'ADD goal SET subject = "a" SET relation = "b" SET object = "c" SET goal_state = "odd" REASON "r"',
    code: 'E063',
  },
  { q: 'ADD unicorn SET subject = "a" REASON "r"', code: 'E003' },
  { q: 'SUPERSEDE @dark@ REASON "r"', code: 'E019' },
  { q: 'SUPERSEDE @dark@ SET subject = "x" REASON "r"', code: 'E017' },
  { q: 'SUPERSEDE @dark@ SET object = "x"', code: 'E018' },
  { q: 'REVERT @dark@', code: 'E018' },
  { q: 'DEFINE TEMPLATE t_new AS "{{grain.nothing}}"', code: 'E090' },
  // 8: shortcuts
  { q: 'RECALL beliefs ABOUT "gina"', set: 'cats', check: ({ _cal }) => assert.equal(_cal.about, 'subject') },
  { q: 'RECALL beliefs ABOUT "peanuts" LIMIT 1', list: 'nuts', check: ({ _cal }) => assert.equal(_cal.about, 'query') },
  { q: 'RECALL beliefs ABOUT "alice" WHERE relation = "works_at"', set: 'acme' },
  { q: 'RECALL beliefs ABOUT "alice" WHERE subject = "alice"', set: ALICE },
  { q: 'RECALL beliefs ABOUT "alice" | COUNT', is: { count: 5 } },
  { q: 'RECALL events RECENT 2', list: 'boiler loose3' },
  { q: 'RECALL events RECENT 0', code: 'E010' },
  { q: 'RECALL events RECENT 1000', count: 9 },
  { q: 'RECALL events RECENT 1001', code: 'E010' },
  { q: 'RECALL events RECENT', code: 'E002' },
  { q: 'RECALL beliefs CONTRADICTIONS WHERE subject = "erin"', set: 'oslo' },
  {
    q: 'RECALL beliefs CONTRADICTIONS ORDER BY confidence DESC',
    ns: 'rival',
    list: 'doubted inrome inoslo',
    check: ({ grains: [doubted, rome, oslo] }) =>
      assert.deepEqual(
        [doubted.contested_by, rome.contested_by, oslo.contested_by],
        [undefined, [oslo.hash], [rome.hash]],
      ),
  },
  { q: 'RECALL beliefs CONTRADICTIONS WHERE subject = "erin" WITH contradiction_detection', set: 'oslo' },
  ...[
    'beliefs ABOUT "a" LIKE "b"',
    'events RECENT 5 LIMIT 5',
    'events RECENT 5 ORDER BY time',
    'events SINCE "today" WHERE time = "today"',
    'events SINCE "today" BETWEEN 1 AND 2',
    'MY beliefs WHERE user_id = "a"',
    'beliefs LIKE "a" WHERE query = "b"',
    'events BETWEEN 1 AND 2 WHERE time = "today"',
  ].map((rest): Row => ({ q: `RECALL ${rest}`, code: 'E060', user: 'ann' })),
  {
    q: 'ASSEMBLE FROM a: (RECALL beliefs WHERE subject = "gina" AS json) FORMAT text',
    content: '[belief] gina admires cats (0.25)',
  },
  {
    q: 'ASSEMBLE FROM (RECALL goals), (RECALL beliefs WHERE subject = "gina")',
    check: (result) => assert.equal(labels(result), 's0 s1'),
  },
];

contract('sections 7.7 to 8', rows);
