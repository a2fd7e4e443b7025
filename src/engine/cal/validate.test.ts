import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcome, refusal } from './testing/refused.ts';

const suggested = (source: string): string => refusal(source)?.suggestion ?? 'read';

test('misspelt words get a suggestion, for statements, types, clauses, fields, options, formats and labels', () => {
  assert.equal(suggested('RECAL beliefs'), 'Did you mean RECALL?');
  assert.equal(suggested('RECALL belifs'), 'Did you mean beliefs?');
  assert.equal(suggested('RECALL event'), 'Did you mean events?');
  assert.equal(suggested('DESCRIBE fields events'), 'Did you mean event?');
  assert.equal(suggested('RECALL beliefs WHER subject = "a"'), 'Did you mean WHERE?');
  assert.equal(suggested('RECALL beliefs WHERE confidnce > 0.5'), 'Did you mean confidence?');
  assert.equal(suggested('RECALL events WHERE sesion_id = "a"'), 'Did you mean session_id?');
  assert.equal(suggested('RECALL beliefs WITH supersede'), 'Did you mean superseded?');
  assert.equal(suggested('RECALL beliefs AS mrkdown'), 'Did you mean markdown?');
  assert.equal(suggested('DESCRIBE capabilites'), 'Did you mean capabilities?');
  assert.equal(suggested('ASSEMBLE FROM prefs: (RECALL) PRIORITY perfs'), 'Did you mean prefs?');
  assert.equal(suggested('RECALL goals WHERE goal_state = "activ"'), 'Did you mean active?');
  assert.equal(suggested('{"statement": "recal"}'), 'Did you mean recall?');
});

test('an unknown word that resembles nothing is answered with the allowed words', () => {
  const error = refusal('DESCRIBE xylophones');
  assert.doesNotMatch(error!.suggestion, /Did you mean/);
  assert.deepEqual(error?.expected, [
    'grain_types',
    'fields',
    'capabilities',
    'server',
    'templates',
    'grammar',
    'primer',
  ]);
});

test('an error gives the position of the word that it is about', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['RECALL beliefs WHERE role = "user"', 'role'],
    ['RECALL beliefs WHERE subject = 5', '5'],
    ['RECALL beliefs WHERE subject > "a"', 'subject > "a"'],
    ['RECALL beliefs ORDER BY tags', 'tags'],
    ['RECALL beliefs ABOUT "a" LIKE "b"', 'LIKE "b"'],
    ['RECALL beliefs LIMIT 1001', 'LIMIT 1001'],
    ['RECALL beliefs RECENT 0', 'RECENT 0'],
    ['RECALL beliefs WHERE subject = $who', '$who'],
    ['ASSEMBLE FROM a: (RECALL) PRIORITY b', 'b'],
    ['ASSEMBLE FROM (RECALL) BUDGET 0 tokens', 'BUDGET 0 tokens'],
    ['RECALL beliefs AS [json, text AS json]', 'text'],
    ['ADD belief SET user_id = "a" REASON "b"', 'user_id'],
  ];
  for (const [query, text] of cases) {
    const position = refusal(query)?.position;
    assert.ok(position !== undefined, query);
    assert.equal(query.slice(position.start, position.end), text, query);
  }
});

test('an error goes over the wire with all its members', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(refusal('RECALL goals WHERE goal_state = "done"')?.toJson())), {
    error: {
      code: 'CAL-E063',
      message: 'goal_state is never "done"',
      suggestion: 'Use active, completed, abandoned, blocked, satisfied, failed or suspended.',
      position: { start: 32, end: 38, line: 1, col: 33 },
      example: 'RECALL goals WHERE goal_state = "completed"',
      valid_values: ['active', 'completed', 'abandoned', 'blocked', 'satisfied', 'failed', 'suspended'],
    },
  });
});

test('a LET is a list for IN, a hash where one is taken, or grains for a source', () => {
  const reads = [
    'LET $s = RECALL beliefs | SUBJECTS; RECALL events WHERE subject IN ($s)',
    'LET $s = RECALL beliefs | SUBJECTS; RECALL events WHERE subject IN ($s, "a", $current_user_id)',
    'LET $h = RECALL beliefs | HASHES; EXISTS $h',
    'LET $h = RECALL beliefs | HASHES; RECALL beliefs WHERE hash = $h',
    'LET $h = RECALL events | HASHES; RECALL events THREAD FROM $h',
    'LET $h = RECALL beliefs | HASHES; HISTORY $h DIFF sha256:0123456789',
    'LET $g = RECALL events RECENT 5; ASSEMBLE FROM a: $g, b: ($g)',
    'LET $s = RECALL beliefs | SUBJECTS; BATCH { a: RECALL WHERE subject IN ($s), b: RECALL WHERE object IN ($s) }',
    'LET $s = RECALL beliefs | SUBJECTS; EXPLAIN RECALL WHERE subject IN ($s)',
    'RECALL WHERE user_id = $current_user_id',
  ];
  for (const query of reads) assert.equal(outcome(query), 'read', query);
  const mismatched = [
    'LET $g = RECALL events; EXISTS $g',
    'LET $g = RECALL events; RECALL WHERE subject = $g',
    'LET $s = RECALL beliefs | SUBJECTS; RECALL WHERE tags INCLUDE [$s]',
    'LET $s = RECALL beliefs | SUBJECTS; RECALL WHERE confidence > $s',
    'LET $s = RECALL beliefs | SUBJECTS; RECALL BETWEEN $s AND 5',
    'RECALL WHERE confidence = $current_user_id',
    'RECALL WHERE type = $current_user_id',
    'EXISTS $current_user_id',
    'RECALL OFFSET $current_user_id',
  ];
  for (const query of mismatched) assert.equal(outcome(query), 'CAL-E020', query);
});

test('a LET may use earlier ones before ASSEMBLE, three deep', () => {
  const chain = (length: number): string =>
    Array.from(
      { length },
      (_, i) => `LET $p${i} = RECALL beliefs ${i === 0 ? '' : `WHERE subject IN ($p${i - 1}) `}| SUBJECTS;`,
    ).join(' ');
  assert.equal(outcome(`${chain(3)} ASSEMBLE FROM (RECALL WHERE subject IN ($p2))`), 'read');
  assert.equal(outcome(`${chain(3)} EXPLAIN ASSEMBLE FROM (RECALL WHERE subject IN ($p2))`), 'read');
  assert.equal(outcome(`${chain(4)} ASSEMBLE FROM (RECALL)`), 'CAL-E038');
  assert.equal(outcome(`${chain(2)} RECALL`), 'CAL-E038');
});

test('a parameter is found wherever it may be used, also deep inside', () => {
  for (const query of [
    'RECALL WHERE subject IN ($x)',
    'RECALL WHERE subject IN (RECALL beliefs WHERE object = $x | SUBJECTS)',
    'RECALL WITH x_hint([[$x]])',
    'RECALL BETWEEN $x AND 5',
    'RECALL OFFSET $x',
    'RECALL THREAD FROM $x',
    'EXISTS $x',
    'ASSEMBLE FROM ($x)',
    'BATCH { a: EXISTS $x }',
    'REVERT $x REASON "a"',
    'ADD belief SET subject = $x REASON "a"',
    'HISTORY WHERE subject = $x AND relation = "a"',
  ])
    assert.equal(outcome(query), 'CAL-E008', query);
});

test('subqueries nest three deep', () => {
  const nested = (depth: number): string =>
    depth === 0 ? 'RECALL beliefs' : `RECALL beliefs WHERE subject IN (${nested(depth - 1)} | SUBJECTS)`;
  assert.equal(outcome(nested(3)), 'read');
  assert.equal(outcome(nested(4)), 'CAL-E007');
});

test('set operations nest three deep, and the stages after them name fields that all operands have', () => {
  assert.equal(outcome('(((RECALL) UNION (RECALL)) EXCEPT (RECALL)) INTERSECT (RECALL)'), 'read');
  assert.equal(outcome('(RECALL events) UNION (RECALL events) ORDER BY role'), 'read');
  assert.equal(outcome('(RECALL beliefs) UNION (RECALL beliefs) SUBJECTS'), 'read');
  assert.equal(outcome('((RECALL beliefs) UNION (RECALL beliefs) COUNT) EXCEPT (RECALL beliefs)'), 'CAL-E021');
});

test('dedup names a field of at least one source', () => {
  assert.equal(outcome('ASSEMBLE FROM (RECALL events), (RECALL goals) WITH dedup(session_id)'), 'read');
  assert.equal(outcome('ASSEMBLE FROM (RECALL goals) WITH dedup(session_id)'), 'CAL-E060');
  assert.equal(outcome('ASSEMBLE FROM (RECALL) WITH dedup(nothing)'), 'CAL-E004');
  assert.equal(outcome('RECALL WITH dedup(query)'), 'CAL-E021');
});

test('clauses with different meanings can be combined', () => {
  for (const query of [
    'RECALL beliefs ABOUT "a" WHERE subject = "b" AND query = "c"',
    'RECALL beliefs CONTRADICTIONS WITH contradiction_detection',
    'ASSEMBLE FROM a: (RECALL AS json) FORMAT markdown',
    'RECALL beliefs RECENT 5 OFFSET 5 FIRST',
    'RECALL THREAD "s" LIMIT 5',
    'RECALL observations PROJECT attr(observer), content(object)',
  ])
    assert.equal(outcome(query), 'read', query);
});

test('limits are inclusive', () => {
  const list = (count: number): string => Array.from({ length: count }, (_, i) => `"${i}"`).join(', ');
  const name = (length: number): string => 'n'.repeat(length);
  for (const [query, code] of [
    [`RECALL WHERE subject IN (${list(100)})`, 'read'],
    [`ASSEMBLE ${name(64)} FROM (RECALL)`, 'read'],
    [`ASSEMBLE FOR "${'é'.repeat(256)}" FROM (RECALL)`, 'read'],
    [`REVERT sha256:01234567 REASON "${'😀'.repeat(500)}"`, 'read'],
    [`REVERT sha256:01234567 REASON "${'😀'.repeat(501)}"`, 'CAL-E016'],
    [`DEFINE TEMPLATE ${name(64)} AS "x"`, 'read'],
    [`DEFINE TEMPLATE ${name(65)} AS "x"`, 'CAL-E002'],
    ['RECALL LIMIT 1000 LIMIT 1', 'read'],
    ['RECALL RECENT 1000', 'read'],
    ['ASSEMBLE FROM (RECALL) STREAM { all, chunk_size = 20 }', 'read'],
    ['RECALL AS [sml, markdown, text, json, yaml]', 'read'],
    ['RECALL AS [json, json]', 'read'],
  ] as const)
    assert.equal(outcome(query), code, query.slice(0, 80));
});
