// For each code and each warning that reading can cause, queries that cause it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CalErrorCode } from '../base/errors.ts';
import { CAL_ERRORS, CAL_WARNINGS, type CalWarningCode } from './errors.ts';
import { readQuery } from './query.ts';
import { refusal } from './testing/refused.ts';

const H = 'sha256:0123456789abcdef';
const nested = (depth: number): string =>
  depth === 0 ? 'RECALL beliefs | SUBJECTS' : `RECALL beliefs WHERE subject IN (${nested(depth - 1)}) | SUBJECTS`;
const repeat = (count: number, text: (index: number) => string, separator = ', '): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(separator);
const template = (body: string): string => `RECALL beliefs AS TEMPLATE "${body}"`;

const REFUSED: Partial<Record<CalErrorCode, readonly string[]>> = {
  'CAL-E001': [`RECALL beliefs ABOUT "${'x'.repeat(8_192)}"`, `RECALL beliefs ABOUT "${'é'.repeat(4_096)}"`],
  'CAL-E002': [
    'FIND beliefs',
    'RECALL beliefs WHERE',
    "RECALL beliefs ABOUT 'alice'",
    'RECALL beliefs /* all */',
    'RECALL\u00a0beliefs',
    'RECALL beliefs; RECALL events',
    'RECALL beliefs WHERE subject = "a" OR subject = "b"',
    'RECALL beliefs WHERE subject = "a" WHERE object = "b"',
    'RECALL beliefs WHERE tags INCLUDE []',
    'RECALL beliefs WHERE subject IN ()',
    'RECALL beliefs WITH superseeded',
    'DESCRIBE schema',
    'EXPLAIN EXISTS sha256:0123456789',
    'COALESCE (RECALL beliefs)',
    'ADD belief SET subject = "a" SET subject = "b" REASON "why"',
    `ASSEMBLE ${'n'.repeat(65)} FROM (RECALL beliefs)`,
    `ASSEMBLE FOR "${'n'.repeat(257)}" FROM (RECALL beliefs)`,
    '{"statement": "recall", "grain_typ": "beliefs"}',
    '{"statement": "recall"',
    '{"statement": "delete"}',
  ],
  'CAL-E003': [
    'RECALL fact',
    'RECALL belief',
    'ADD beliefs SET subject = "a" REASON "why"',
    'DESCRIBE fields unicorn',
    'RECALL WHERE type = "events"',
    '{"statement": "recall", "grain_type": "facts"}',
  ],
  'CAL-E004': [
    'RECALL beliefs WHERE valid_from = "today"',
    'RECALL beliefs WHERE xy:id = "1"',
    'RECALL beliefs SELECT subjct',
  ],
  'CAL-E005': ['RECALL beliefs ABOUT "alice', 'RECALL beliefs ABOUT "alice\\"'],
  'CAL-E006': [
    'RECALL beliefs WHERE confidence > 1e5',
    'RECALL beliefs WHERE confidence > 1.2.3',
    'RECALL beliefs WHERE confidence > .5',
    'RECALL beliefs WHERE confidence > +1',
    'RECALL beliefs WHERE confidence > 1_000',
    'RECALL beliefs WHERE confidence > -.5',
    `RECALL beliefs WHERE confidence > ${'9'.repeat(400)}`,
    '{"statement": "recall", "where": [{"field": "confidence", "op": ">", "value": 1e999}]}',
  ],
  'CAL-E007': [
    nested(4),
    `RECALL beliefs WHERE subject = ${'['.repeat(9)}${']'.repeat(9)}`,
    '('.repeat(4_000),
    '((((RECALL) UNION (RECALL)) UNION (RECALL)) UNION (RECALL)) UNION (RECALL)',
  ],
  'CAL-E008': [
    'RECALL beliefs WHERE subject = $who',
    'RECALL beliefs OFFSET $n',
    'LET $a = RECALL beliefs WHERE subject IN ($b) | SUBJECTS; LET $b = RECALL beliefs | SUBJECTS; ASSEMBLE FROM (RECALL)',
  ],
  'CAL-E009': [
    'LET $a = RECALL beliefs | SUBJECTS; LET $a = RECALL beliefs | OBJECTS; RECALL beliefs',
    'LET $current_user_id = RECALL beliefs | SUBJECTS; RECALL beliefs',
  ],
  'CAL-E010': [
    'RECALL beliefs LIMIT 0',
    'RECALL beliefs LIMIT 1001',
    'RECALL beliefs LIMIT -1',
    'RECALL beliefs RECENT 1001',
    'RECALL beliefs OFFSET -1',
  ],
  'CAL-E011': [`RECALL beliefs WHERE subject IN (${repeat(101, (i) => `"s${i}"`)})`],
  'CAL-E012': [
    'RECALL beliefs LIMIT 9 LIMIT 8 LIMIT 7 LIMIT 6 LIMIT 5 COUNT',
    `BATCH { ${repeat(11, (i) => `b${i}: RECALL`)} }`,
  ],
  'CAL-E013': [repeat(6, () => '(RECALL beliefs)', ' UNION ')],
  'CAL-E014': ['', ' \n\t', '-- nothing', '-- a\n--b\n'],
  'CAL-E015': [
    'EXISTS sha256:0123456',
    `EXISTS sha256:${'a'.repeat(65)}`,
    'EXISTS sha256:0123456g',
    '{"statement": "exists", "hash": "sha256:12"}',
  ],
  'CAL-E016': [`REVERT ${H} REASON "${'x'.repeat(501)}"`],
  'CAL-E017': [
    'ADD belief SET namespace = "x" REASON "why"',
    `SUPERSEDE ${H} SET subject = "x" REASON "why"`,
    'ADD goal SET observer_id = "x" REASON "why"',
  ],
  'CAL-E018': [
    `REVERT ${H}`,
    `REVERT ${H} REASON " "`,
    'ADD belief SET subject = "a"',
    `{"statement": "revert", "hash": "${H}"}`,
  ],
  'CAL-E019': [`SUPERSEDE ${H} REASON "why"`],
  'CAL-E020': [
    'RECALL beliefs WHERE confidence >= "0.8"',
    'RECALL actions WHERE is_error = "no"',
    'RECALL beliefs WHERE subject = 5',
    'RECALL beliefs WHERE tags INCLUDE [1]',
    'RECALL beliefs WHERE tags INCLUDE "x"',
    '{"statement": "recall", "where": [{"field": "tags", "op": "include", "value": "x"}]}',
    'RECALL beliefs WHERE subject > "a"',
    'RECALL beliefs WHERE tags = "x"',
    'RECALL beliefs SINCE "someday"',
    'RECALL beliefs WHERE time BETWEEN "x" AND 5',
    'RECALL beliefs WITH diversity(mmr, lambda = 2)',
    'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET confidence = 1.5 REASON "why"',
    'ADD belief SET subject = "a" SET relation = "b" SET object = "c" SET tags = "x" REASON "why"',
    'LET $g = RECALL beliefs; RECALL beliefs WHERE subject IN ($g)',
    'LET $s = RECALL beliefs | SUBJECTS; RECALL beliefs WHERE subject = $s',
    'LET $s = RECALL beliefs | SUBJECTS; EXISTS $s',
    'LET $s = RECALL beliefs | SUBJECTS; ASSEMBLE FROM $s',
  ],
  'CAL-E021': [
    'RECALL beliefs COUNT ORDER BY subject',
    'RECALL beliefs SUBJECTS SELECT subject',
    'RECALL beliefs ORDER BY tags',
    'RECALL beliefs GROUP BY confidence',
    'RECALL beliefs SELECT namespace',
    'RECALL beliefs PROJECT attr(hash)',
    '(RECALL beliefs COUNT) UNION (RECALL beliefs)',
    'RECALL beliefs COUNT AS markdown',
    'ASSEMBLE FROM (RECALL beliefs COUNT)',
    'LET $n = RECALL beliefs | COUNT; RECALL beliefs',
  ],
  'CAL-E022': [
    'RECALL events SUBJECTS',
    'RECALL OBJECTS',
    'RECALL beliefs WHERE subject IN (RECALL goals | SUBJECTS)',
    '(RECALL beliefs) UNION (RECALL events) SUBJECTS',
  ],
  'CAL-E032': [`ASSEMBLE FROM ${repeat(9, () => '(RECALL beliefs)')}`],
  'CAL-E033': [
    'ASSEMBLE FROM (RECALL) BUDGET 0 tokens',
    'ASSEMBLE FROM (RECALL) BUDGET 16001 tokens',
    'ASSEMBLE FROM (RECALL) BUDGET 201 grains',
    'ASSEMBLE FROM (RECALL) BUDGET -1 grains',
  ],
  'CAL-E034': [
    'ASSEMBLE FROM a: (RECALL), a: (RECALL)',
    'BATCH { a: RECALL, a: RECALL }',
    'ASSEMBLE FROM s1: (RECALL), (RECALL)',
  ],
  'CAL-E035': ['ASSEMBLE FROM a: (RECALL) PRIORITY b'],
  'CAL-E036': [`${repeat(6, (i) => `LET $p${i} = RECALL beliefs | SUBJECTS;`, ' ')} RECALL beliefs`],
  'CAL-E037': [
    'LET $a = RECALL beliefs WHERE subject IN ($a) | SUBJECTS; ASSEMBLE FROM (RECALL)',
    'LET $a = RECALL beliefs WHERE subject IN ($b) | SUBJECTS; LET $b = RECALL beliefs WHERE subject IN ($a) | SUBJECTS; ASSEMBLE FROM (RECALL)',
  ],
  'CAL-E038': [
    'LET $a = RECALL beliefs | SUBJECTS; LET $b = RECALL beliefs WHERE subject IN ($a) | SUBJECTS; RECALL beliefs',
    `LET $p0 = RECALL beliefs | SUBJECTS; ${repeat(3, (i) => `LET $p${i + 1} = RECALL beliefs WHERE subject IN ($p${i}) | SUBJECTS;`, ' ')} ASSEMBLE FROM (RECALL)`,
  ],
  'CAL-E039': [`COALESCE (${repeat(6, () => 'RECALL beliefs')})`],
  'CAL-E050': ['ADD belief SET subject = "a" SET object = "b" REASON "why"', 'ADD belief REASON "why"'],
  'CAL-E051': ['ADD workflow SET subject = "a" REASON "why"', 'ADD event SET subject = "a" REASON "why"'],
  'CAL-E060': [
    'RECALL beliefs ABOUT "a" LIKE "b"',
    'RECALL beliefs RECENT 5 LIMIT 5',
    'RECALL beliefs RECENT 5 ORDER BY time',
    'RECALL beliefs SINCE "today" WHERE time = "today"',
    'RECALL beliefs SINCE "today" BETWEEN 1 AND 2',
    'RECALL MY beliefs WHERE user_id = "a"',
    'RECALL beliefs LIKE "a" WHERE query = "b"',
    'RECALL beliefs BETWEEN 1 AND 2 WHERE time = "today"',
    'RECALL events THREAD "s" WHERE session_id = "s"',
    'RECALL events THREAD "s" ORDER BY time',
    'RECALL events THREAD "s" RECENT 3',
    'RECALL beliefs THREAD "s"',
    'RECALL beliefs WHERE role = "user"',
  ],
  'CAL-E061': [
    'RECALL WHERE role = "user"',
    'RECALL WHERE type = "event" AND role = "user"',
    '(RECALL beliefs) UNION (RECALL events) ORDER BY role',
  ],
  'CAL-E062': ['RECALL actions WHERE action_phase = "started"'],
  'CAL-E063': [
    'RECALL goals WHERE goal_state = "done"',
    'ADD goal SET subject = "a" SET relation = "b" SET object = "c" SET goal_state = "done" REASON "why"',
  ],
  'CAL-E064': ['RECALL consents WHERE consent_action = "revoke"'],
  'CAL-E065': ['RECALL beliefs WHERE recall_priority = "lukewarm"'],
  'CAL-E066': ['RECALL beliefs WHERE epistemic_status = "sure"'],
  'CAL-E070': ['RECALL beliefs ABOUT "\ud800"', '\udc00', '{"statement": "recall", "about": "\\ud800"}'],
  'CAL-E071': [
    'RECALL beliefs ABOUT "a\u202eb"',
    '{"statement": "recall", "about": "\\u2066"}',
    'RECALL AS TEMPLATE { ELEMENT { \u202e } }',
    'RECALL ABOUT "\u202e',
  ],
  'CAL-E077': ['ASSEMBLE FROM (RECALL) STREAM { everything }'],
  'CAL-E078': [
    'ASSEMBLE FROM (RECALL) STREAM { chunk_size = 19 }',
    'ASSEMBLE FROM (RECALL) STREAM { chunk_size = 1001 }',
  ],
  'CAL-E086': ['DEFINE TEMPLATE brief EXTENDS data AS "x"', 'DEFINE TEMPLATE brief EXTENDS json AS "x"'],
  'CAL-E087': ['DEFINE TEMPLATE brief EXTENDS other AS "x"'],
  'CAL-E088': ['DEFINE TEMPLATE markdown AS "x"', 'DEFINE TEMPLATE Readable AS "x"'],
  'CAL-E090': [template('{{grain.secret}}')],
  'CAL-E091': [template('{{#grain.subject}}x'), template('x{{/grain.subject}}')],
  'CAL-E092': [template('x'.repeat(4_097))],
  'CAL-E093': [template(`${'{{#grain.subject}}'.repeat(6)}${'{{/grain.subject}}'.repeat(6)}`)],
  'CAL-E094': [
    template('{{{grain.subject}}}'),
    template('{{&grain.subject}}'),
    template('{{>part}}'),
    'RECALL AS TEMPLATE { ELEMENT {{{{grain.subject}}}} }',
  ],
  'CAL-E095': ['RECALL AS TEMPLATE { ELEMENT { a } ELEMENT { b } }'],
  'CAL-E096': ['RECALL AS TEMPLATE { ELEMENT_SUMMARY { a } }'],
  'CAL-E100': ['CAL/2 RECALL beliefs', 'CAL/1.2 RECALL beliefs', '{"cal_version": 2, "statement": "recall"}'],
  'CAL-E110': ['RECALL AS [sml, markdown, text, json, yaml, toon]'],
  'CAL-E113': ['RECALL AS [json, text AS json]', 'RECALL AS [json AS a, text AS a]'],
};

/** Codes that only a run can cause: limits of work, stored data, and the session's permissions. */
const RUNNING: readonly CalErrorCode[] = [
  'CAL-E030',
  'CAL-E031',
  'CAL-E040',
  'CAL-E041',
  'CAL-E042',
  'CAL-E043',
  'CAL-E044',
  'CAL-E045',
  'CAL-E046',
  'CAL-E052',
  'CAL-E075',
  'CAL-E076',
  'CAL-E079',
  'CAL-E080',
  'CAL-E081',
  'CAL-E082',
  'CAL-E085',
  'CAL-E089',
];

for (const [code, queries] of Object.entries(REFUSED)) {
  test(`${code}: ${CAL_ERRORS[code as CalErrorCode].when}`, () => {
    for (const query of queries) {
      const error = refusal(query);
      assert.equal(error?.code, code, `${query.slice(0, 120)}: ${error?.message ?? 'is read'}`);
      assert.ok(error.message !== '' && error.suggestion !== '', query);
    }
  });
}

test('every code is caused by parsing or by running a query', () => {
  const known = [...Object.keys(REFUSED), ...RUNNING].sort();
  assert.deepEqual(known, Object.keys(CAL_ERRORS).sort());
});

const WARNED: Partial<Record<CalWarningCode, readonly string[]>> = {
  'CAL-W001': ['RECALL beliefs WHERE relation = "mg:likes"', 'RECALL beliefs WHERE relation IN ("likes", "mg:likes")'],
  'CAL-W002': [
    'RECALL beliefs WHERE hc:patient_id = "P-1"',
    'RECALL WHERE fin:risk = 3 AND tags INCLUDE ["profile:legal"]',
  ],
  'CAL-W004': [
    'RECALL beliefs WITH x_hint("fast")',
    'RECALL beliefs WITH consistency(eventual)',
    'RECALL beliefs WITH cache(ttl = 60)',
    'RECALL beliefs WITH locale("de")',
  ],
};

for (const [code, queries] of Object.entries(WARNED)) {
  test(`${code}: ${CAL_WARNINGS[code as CalWarningCode]}`, () => {
    for (const query of queries) {
      const { warnings } = readQuery(query);
      assert.equal(warnings.length, 1, query);
      assert.ok(warnings[0]!.startsWith(`${code}: `), query);
    }
  });
}

test('known relations, relations of another prefix, and fields with their profile cause no warning', () => {
  for (const query of [
    'RECALL beliefs WHERE relation = "mg:prefers"',
    'RECALL beliefs WHERE relation IN ("mg:capable_of", "mg:has_graph", "mg:requires_steps", "mg:owned_by")',
    'RECALL beliefs WHERE relation = "acme:likes"',
    'RECALL beliefs WHERE hc:patient_id = "P-1" AND tags INCLUDE ["profile:healthcare"]',
  ])
    assert.deepEqual(readQuery(query).warnings, [], query);
});
