// One test for each decision of the contract about reading, where the specification is silent or contradicts itself.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { Recall } from './ast.ts';
import { parseText } from './parse.ts';
import { readQuery } from './query.ts';
import { withoutPlaces } from './testing/arbitrary.ts';
import { outcome, refusal } from './testing/refused.ts';

function recall(source: string): Recall {
  const { statement } = readQuery(source).query;
  assert.equal(statement.kind, 'recall');
  return withoutPlaces(statement as Recall); // Its kind was just asserted.
}

const sameTree = (a: string, b: string): void =>
  assert.deepEqual(withoutPlaces(parseText(a).query), withoutPlaces(parseText(b).query), `${a}\n${b}`);

test('D-1: a query whose first character after trimming is { is JSON', () => {
  const text = readQuery('RECALL beliefs ABOUT "a"').query;
  const json = readQuery('\u2003\n {"statement": "recall", "grain_type": "beliefs", "about": "a"} ').query;
  assert.deepEqual(withoutPlaces(json), withoutPlaces(text));
  assert.equal(outcome('[{"statement": "recall"}]'), 'CAL-E002');
});

test('D-2: the hash is over the bytes of the trimmed query, without NFC', () => {
  const query = 'RECALL beliefs ABOUT "e\u0301"';
  const expected = createHash('sha256').update(query, 'utf8').digest('hex');
  assert.equal(readQuery(` \n${query}\t`).sourceHash, expected);
  assert.notEqual(readQuery(query.normalize('NFC')).sourceHash, expected);
  assert.equal(recall(query).about, '\u00e9');
});

test('D-5: consent and consents are types, and excluded everywhere else', () => {
  for (const query of ['RECALL consents', 'DESCRIBE fields consent', 'RECALL consents WHERE consent_action = "grant"'])
    assert.equal(outcome(query), 'read', query);
  for (const query of [
    'CONSENT',
    'RECALL beliefs WHERE consent = "a"',
    'ASSEMBLE consent FROM (RECALL)',
    'BATCH { consent: RECALL }',
  ])
    assert.equal(outcome(query), 'CAL-E002', query);
  assert.equal(outcome('RECALL beliefs ABOUT "DELETE consent" -- DROP this\n'), 'read');
});

test('section 3.3: a domain field may have the name of a statement, unless it is the label of an entry', () => {
  for (const query of [
    'RECALL beliefs SELECT subject, hc:history',
    'RECALL beliefs PROJECT content(object, int:recall), attr(legal:describe) AS sml',
    'BATCH { a: RECALL beliefs PROJECT content(object, hc:exists), b: RECALL }',
  ])
    assert.equal(outcome(query), 'read', query);
  const { statement } = readQuery('BATCH { a: RECALL beliefs SELECT subject, hc:RECALL goals }').query;
  assert.deepEqual(statement.kind === 'batch' && statement.entries.map(({ label }) => label.word), ['a', 'hc']);
});

test('D-7: one trailing semicolon is tolerated, and nothing after it', () => {
  sameTree('RECALL beliefs;', 'RECALL beliefs');
  assert.equal(outcome('RECALL beliefs; -- the end\n'), 'read');
  assert.equal(outcome('RECALL beliefs;;'), 'CAL-E002');
  assert.equal(outcome('RECALL beliefs; RECALL events'), 'CAL-E002');
  assert.equal(outcome('RECALL beliefs RECALL events'), 'CAL-E002');
});

test('D-8: a doubled backslash is one backslash, and a single one is an ordinary character', () => {
  assert.equal(recall('RECALL ABOUT "C:\\temp"').about, 'C:\\temp');
  assert.equal(recall('RECALL ABOUT "C:\\\\"').about, 'C:\\');
  assert.equal(recall('RECALL ABOUT "say \\"hi\\" \\n"').about, 'say "hi" \\n');
});

test('D-9: reserved words are allowed as fields, options and labels where the language itself uses them', () => {
  for (const query of [
    'RECALL consensuses WHERE threshold > 0.5',
    'RECALL consents WHERE scope = "all"',
    'RECALL states WHERE context = "now"',
    'RECALL beliefs WITH superseded, provenance, explanation, score_breakdown',
    'RECALL beliefs WITH diversity(threshold, 0.5)',
    'ADD observation SET subject = "a" SET relation = "b" SET object = "c" REASON "d"',
    'DESCRIBE fields observation',
    'ASSEMBLE FROM history: (RECALL), recent: (RECALL), goals: (RECALL) PRIORITY recent > history',
    'BATCH { history: RECALL, facts: RECALL, int: RECALL, limit: RECALL }',
  ])
    assert.equal(outcome(query), 'read', query);
  for (const query of [
    'ASSEMBLE history FROM (RECALL)',
    'RECALL WHERE limit = 5',
    'BATCH { delete: RECALL }',
    'ASSEMBLE FROM a: (RECALL) PRIORITY drop',
  ])
    assert.equal(outcome(query), 'CAL-E002', query);
});

test('D-10: the clauses of RECALL come in any order, each once, and stages keep theirs', () => {
  sameTree(
    'RECALL beliefs ORDER BY confidence LIMIT 5 WITH superseded SINCE "last week" WHERE subject = "a" IN "n"',
    'RECALL beliefs IN "n" SINCE "last week" WHERE subject = "a" WITH superseded | ORDER BY confidence | LIMIT 5',
  );
  assert.equal(outcome('RECALL beliefs IN "a" IN "b"'), 'CAL-E002');
  assert.equal(outcome('RECALL beliefs AS json FORMAT json'), 'CAL-E002');
  assert.notDeepEqual(recall('RECALL LIMIT 5 OFFSET 2').stages, recall('RECALL OFFSET 2 LIMIT 5').stages);
});

test('ASSEMBLE has a fixed order, which the error for a misplaced clause states', () => {
  const error = refusal('ASSEMBLE FROM (RECALL) FORMAT sml BUDGET 100 tokens');
  assert.equal(error?.code, 'CAL-E002');
  assert.match(error.suggestion, /FOR, FROM, BUDGET, PRIORITY, FORMAT, STREAM, WITH/);
});

test('D-11: the bar before a stage is optional, also in mixed use, and causes no warning', () => {
  sameTree('RECALL beliefs | ORDER BY subject LIMIT 5 | COUNT', 'RECALL beliefs ORDER BY subject | LIMIT 5 COUNT');
  sameTree('LET $a = RECALL beliefs SUBJECTS; RECALL beliefs', 'LET $a = RECALL beliefs | SUBJECTS; RECALL beliefs');
  sameTree('RECALL WHERE subject IN (RECALL beliefs SUBJECTS)', 'RECALL WHERE subject IN (RECALL beliefs | SUBJECTS)');
  assert.deepEqual(readQuery('RECALL beliefs | LIMIT 5').warnings, []);
  assert.equal(outcome('RECALL beliefs | WHERE subject = "a"'), 'CAL-E002');
});

test('D-12: a chain of sets has one operator and at most five operands', () => {
  assert.equal(outcome('(RECALL) UNION (RECALL) UNION (RECALL) UNION (RECALL) UNION (RECALL)'), 'read');
  assert.equal(outcome('(RECALL) UNION (RECALL) EXCEPT (RECALL)'), 'CAL-E002');
  assert.equal(outcome('((RECALL) UNION (RECALL)) EXCEPT (RECALL)'), 'read');
  assert.equal(outcome('(RECALL)'), 'CAL-E002');
  assert.equal(outcome('RECALL UNION RECALL'), 'CAL-E002');
});

test('D-13: OR, NOT, groups, IS NULL, CONTAINS and STARTS WITH are refused', () => {
  for (const condition of [
    'subject = "a" OR subject = "b"',
    'NOT subject = "a"',
    '(subject = "a")',
    'subject IS NULL',
    'subject NOT IN ("a")',
    'subject CONTAINS "a"',
    'subject STARTS WITH "a"',
  ])
    assert.equal(outcome(`RECALL beliefs WHERE ${condition}`), 'CAL-E002', condition);
});

test('D-14: words of other versions are not types, and the error names the corresponding type', () => {
  const meant: readonly (readonly [string, string | null])[] = [
    ['facts', 'beliefs'],
    ['fact', 'beliefs'],
    ['tools', 'actions'],
    ['tool_calls', 'actions'],
    ['episode', 'events'],
    ['checkpoints', 'states'],
    ['skills', null],
    ['recommendation', null],
    ['triggers', null],
  ];
  for (const [word, type] of meant) {
    const error = refusal(`RECALL ${word}`);
    assert.equal(error?.code, 'CAL-E003', word);
    if (type === null) assert.doesNotMatch(error.suggestion, /Did you mean/);
    else assert.equal(error.suggestion, `Did you mean ${type}?`);
  }
  assert.equal(refusal('ADD fact SET subject = "a" REASON "b"')?.suggestion, 'Did you mean belief?');
});

test('D-16: an operator that a field does not take is E020, which lists those that it takes', () => {
  const error = refusal('RECALL beliefs WHERE user_id IN ("a")');
  assert.equal(error?.code, 'CAL-E020');
  assert.deepEqual(error.validValues, ['=', '!=']);
});

test('D-17: INCLUDE and EXCLUDE without values are refused', () => {
  assert.equal(outcome('RECALL beliefs WHERE tags EXCLUDE []'), 'CAL-E002');
  assert.equal(
    outcome('{"statement": "recall", "where": [{"field": "tags", "op": "include", "value": []}]}'),
    'CAL-E002',
  );
  assert.equal(outcome('RECALL beliefs WHERE tags INCLUDE ["a", "b"]'), 'read');
});

test('D-18: a hash may be shortened to its first 8 digits or more, in either case', () => {
  const { statement } = readQuery('EXISTS SHA256:0123ABCD').query;
  assert.deepEqual(withoutPlaces(statement), { kind: 'exists', grain: { kind: 'hash', hex: '0123abcd' } });
});

test('D-19: times are dates, instants, seconds, milliseconds and the listed expressions', () => {
  for (const time of [
    '"today"',
    '"yesterday"',
    '"last hour"',
    '"last 3 weeks"',
    '"2 days ago"',
    '"this year"',
    '"2026-03-01"',
    '"2026-03-01T10:00:00Z"',
    '"2026-03-01T10:00:00+02:00"',
    '1709251200',
    '1709251200000',
  ]) {
    assert.equal(outcome(`RECALL beliefs WHERE time = ${time}`), 'read', time);
    assert.equal(outcome(`RECALL beliefs BETWEEN ${time} AND ${time}`), 'read', time);
  }
  for (const time of ['"soon"', '"2026-13-01"', '"last 3 fortnights"', 'true'])
    assert.equal(outcome(`RECALL beliefs WHERE time = ${time}`), 'CAL-E020', time);
});

test('D-25: WITH takes its options and vendor hints, and no other word', () => {
  assert.equal(outcome('RECALL beliefs WITH x_acme_boost(2, "a")'), 'read');
  const error = refusal('RECALL beliefs WITH superceded');
  assert.equal(error?.code, 'CAL-E002');
  assert.equal(error.suggestion, 'Did you mean superseded?');
  assert.equal(outcome('RECALL beliefs WITH superseded, superseded'), 'CAL-E002');
});

test('D-34: all four disclosure words are levels', () => {
  for (const level of ['summary', 'headlines', 'standard', 'full'])
    assert.equal(outcome(`RECALL beliefs WITH progressive_disclosure(${level})`), 'read', level);
  assert.equal(outcome('RECALL beliefs WITH progressive_disclosure(most)'), 'CAL-E002');
});

test('D-35: ELEMENT_SUMMARY is allowed beside ELEMENT, not alone', () => {
  assert.equal(outcome('RECALL AS TEMPLATE { ELEMENT {a} ELEMENT_SUMMARY {b} ELEMENT_OMIT {c} }'), 'read');
  assert.equal(outcome('RECALL AS TEMPLATE { ELEMENT_OMIT {b} }'), 'CAL-E096');
});

test('D-39: brackets of any kind nest eight deep', () => {
  const arrays = (depth: number): string => `RECALL WITH x_deep(${'['.repeat(depth)}1${']'.repeat(depth)})`;
  assert.equal(outcome(arrays(7)), 'read');
  assert.equal(outcome(arrays(8)), 'CAL-E007');
  const json = (depth: number): string =>
    `{"statement": "recall", "with": [{"x_deep": [${'['.repeat(depth)}1${']'.repeat(depth)}]}]}`;
  assert.equal(outcome(json(7)), 'read');
  assert.equal(outcome(json(8)), 'CAL-E007');
});

test('D-40: an unknown domain prefix is an unknown field', () => {
  assert.equal(outcome('RECALL beliefs WHERE med:patient_id = "1"'), 'CAL-E004');
  assert.equal(outcome('RECALL beliefs WHERE HC:Patient_Id = "1"'), 'read');
  assert.equal(outcome('RECALL beliefs WHERE hc : patient_id = "1"'), 'CAL-E002');
});

test('D-41: anonymize is refused, because a plain answer would be worse than no answer', () => {
  assert.equal(outcome('RECALL beliefs WITH anonymize(high)'), 'CAL-E002');
});

test('D-42: a budget states its unit with its number', () => {
  assert.equal(outcome('ASSEMBLE FROM (RECALL) BUDGET 16000 tokens'), 'read');
  assert.equal(outcome('ASSEMBLE FROM (RECALL) BUDGET 200 GRAINS'), 'read');
  assert.equal(outcome('ASSEMBLE FROM (RECALL) BUDGET 50'), 'CAL-E002');
  assert.equal(outcome('ASSEMBLE FROM (RECALL) BUDGET grains'), 'CAL-E002');
});
