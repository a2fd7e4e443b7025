// Any text is either read or refused with a code, and its length bounds the work.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { runs } from '../../../test/support/runs.ts';
import { anyText } from '../base/testing/any-text.ts';
import { writeJson } from './json/write.ts';
import { lex } from './lexer.ts';
import { parseText } from './parse.ts';
import { printQuery } from './print.ts';
import { anyQueries } from './testing/arbitrary.ts';
import { outcome, refusal } from './testing/refused.ts';
import { EXCLUDED_WORDS, HELD_WORDS, KEYWORDS } from './vocabulary/words.ts';

const WORDS = [...KEYWORDS, ...HELD_WORDS, ...EXCLUDED_WORDS, 'beliefs', 'events', 'goal', 'subject', 'role', 'tokens'];
const PIECES = [
  '"',
  '\\"',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '{{',
  '}}',
  ',',
  ':',
  ';',
  '|',
  '=',
  '!=',
  '>',
  '$a',
  '--',
  '\n',
];
const OTHERS = [
  'sha256:0123456789',
  'sha256:',
  '1.5',
  '-1',
  '1e5',
  '\u202e',
  '\ud800',
  'é',
  '\0',
  '/',
  'CAL/1',
  '/*',
  "'",
];

const fragments = fc.constantFrom(...WORDS, ...PIECES, ...OTHERS, '"x"', 'subject = "a"', 'RECALL beliefs');

/** A damaged query: cut off, or with a piece removed, inserted or doubled. */
const broken: Arbitrary<string> = fc
  .tuple(
    anyQueries.chain((query) => fc.constantFrom(printQuery(query), JSON.stringify(writeJson(query)))),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 20 }), fragments), { minLength: 1, maxLength: 3 }),
  )
  .map(([source, cuts]) =>
    cuts.reduce((text, [place, length, piece]) => {
      const start = place % (text.length + 1);
      return `${text.slice(0, start)}${piece}${text.slice(start + length)}`;
    }, source),
  );

const anything = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.array(fragments, { maxLength: 30 }).map((pieces) => pieces.join(' ')),
  fc.array(fragments, { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc.json().map((json) => `{"statement": "recall", "where": ${json}}`),
  broken,
);

test('any text is parsed or refused with a code', () => {
  let refused = 0;
  fc.assert(
    fc.property(anything, (source) => {
      const code = outcome(source);
      if (code !== 'read') refused++;
      assert.match(code, /^(read|CAL-E\d{3})$/);
    }),
    { numRuns: runs(2_000) },
  );
  assert.ok(refused > 0);
});

/** Texts of `bytes` bytes that could make a careless reader slow, or overflow its stack. */
const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  parentheses: (bytes) => '('.repeat(bytes),
  brackets: (bytes) => `RECALL WHERE a = ${'['.repeat(bytes - 17)}`,
  braces: (bytes) => `BATCH ${'{'.repeat(bytes - 6)}`,
  subqueries: (bytes) => 'RECALL WHERE subject IN ('.repeat(bytes / 25),
  sets: (bytes) => `${'(RECALL) UNION '.repeat(bytes / 15 - 1)}(RECALL)`,
  explains: (bytes) => 'EXPLAIN '.repeat(bytes / 8),
  lets: (bytes) => 'LET $a = RECALL; '.repeat(bytes / 17),
  conditions: (bytes) => `RECALL WHERE a = 1${' AND a = 1'.repeat(bytes / 10 - 2)}`,
  stages: (bytes) => `RECALL${' | COUNT'.repeat(bytes / 8 - 1)}`,
  bars: (bytes) => `RECALL ${'|'.repeat(bytes - 7)}`,
  values: (bytes) => `RECALL WHERE a IN (1${',1'.repeat(bytes / 2 - 12)})`,
  labels: (bytes) => `BATCH { ${'a: RECALL SELECT b, '.repeat(bytes / 20 - 1)}`,
  fields: (bytes) => `RECALL SELECT a${', a'.repeat(bytes / 3 - 6)}`,
  words: (bytes) => `RECALL ${'a'.repeat(bytes - 7)}`,
  unclosed: (bytes) => `RECALL ABOUT "${'\\"'.repeat(bytes / 2 - 8)}`,
  backslashes: (bytes) => `RECALL ABOUT "${'\\'.repeat(bytes - 16)}a"`,
  blanks: (bytes) => `RECALL${' '.repeat(bytes - 6)}`,
  comments: (bytes) => `RECALL ${'--\n'.repeat(bytes / 3 - 3)}`,
  digits: (bytes) => `RECALL LIMIT ${'1'.repeat(bytes - 13)}`,
  zeros: (bytes) => `RECALL WHERE score > 0.${'0'.repeat(bytes - 23)}`,
  nul: (bytes) => `RECALL ${'\0'.repeat(bytes - 7)}`,
  sections: (bytes) => `RECALL AS TEMPLATE { ELEMENT {${'{{#a}}'.repeat(bytes / 6 - 6)}`,
  openSections: (bytes) => 'ELEMENT { '.repeat(bytes / 10),
  sectionBlanks: (bytes) => `RECALL AS TEMPLATE { ELEMENT {${' \n'.repeat(bytes / 2 - 20)}x}}`,
  directions: (bytes) => `RECALL ABOUT "${'\u202e'.repeat(bytes / 3 - 6)}"`,
  combining: (bytes) => `RECALL ABOUT "e${'\u0301\u0323'.repeat(bytes / 4 - 6)}"`,
  jsonLists: (bytes) => `{"a":${'['.repeat(bytes - 5)}`,
  jsonObjects: (bytes) => `${'{"query":'.repeat(bytes / 9)}`,
};

/** Places of a name that the caller chose, `NAME`. */
const NAMED = [
  'NAME',
  'RECALL NAME',
  'RECALL beliefs WHERE NAME = "x"',
  'RECALL beliefs WHERE a.NAME = "x"',
  'RECALL goals WHERE goal_state = "NAME"',
  'RECALL WHERE type = "NAME"',
  'RECALL beliefs | SELECT NAME',
  'RECALL beliefs ORDER BY NAME',
  'RECALL beliefs | GROUP BY NAME',
  'RECALL beliefs PROJECT content(NAME)',
  'RECALL beliefs WITH dedup(NAME)',
  'RECALL beliefs WITH NAME',
  'RECALL beliefs AS NAME',
  'RECALL beliefs AS [sml AS NAME, json AS NAME]',
  'RECALL beliefs AS TEMPLATE NAME',
  'RECALL beliefs AS TEMPLATE "{{NAME}}"',
  'LET $NAME = RECALL; ASSEMBLE NAME FROM NAME: $NAME PRIORITY NAME',
  'ASSEMBLE FROM (RECALL) STREAM { NAME }',
  'BATCH { NAME: RECALL, NAME: RECALL }',
  'DESCRIBE NAME',
  'DESCRIBE fields NAME',
  'DEFINE TEMPLATE NAME AS "x"',
  'DEFINE TEMPLATE x EXTENDS NAME ELEMENT {y}',
  'ADD NAME SET NAME = "x" REASON "y"',
  'ADD belief SET NAME = "x" REASON "y"',
];

test('names that every object has are names like others', () => {
  for (const source of NAMED) {
    const named = (name: string): string => outcome(source.replaceAll('NAME', name));
    assert.equal(named('constructor'), named('zzzzqqqq'), source);
    for (const name of ['toString', 'valueOf', 'hasOwnProperty', '__proto__'])
      assert.match(named(name), /^(read|CAL-E\d{3})$/, `${source} with ${name}`);
  }
});

test('texts of 8 KiB that nest, repeat or never close are refused or parsed', () => {
  for (const [name, text] of Object.entries(HOSTILE)) {
    const source = text(8_192);
    assert.ok(source.length > 2_000, name);
    assert.match(outcome(source), /^(read|CAL-E\d{3})$/, name);
  }
  assert.equal(outcome(HOSTILE['parentheses']!(8_192)), 'CAL-E007');
  assert.equal(outcome(HOSTILE['brackets']!(8_192)), 'CAL-E007');
  assert.equal(outcome(HOSTILE['subqueries']!(8_192)), 'CAL-E007');
});

/** Maximum token reads of a parse for each token of the query, apart from a few at the start. */
const LOOKS_PER_TOKEN = 16;

test('the parser looks at each token a bounded number of times', () => {
  const looksAt = (source: string): { readonly looks: number; readonly tokens: number } => ({
    looks: parseText(source).looks,
    tokens: lex(source).length,
  });
  for (const name of ['conditions', 'stages', 'values', 'fields', 'sets', 'lets']) {
    const source = `${HOSTILE[name]!(6_000)}${name === 'lets' ? 'RECALL' : ''}`;
    const { looks, tokens } = looksAt(source);
    assert.ok(tokens > 1_000 && looks <= LOOKS_PER_TOKEN * tokens, `${name}: ${looks} looks at ${tokens} tokens`);
  }
  fc.assert(
    fc.property(anyQueries, (query) => {
      const { looks, tokens } = looksAt(printQuery(query));
      assert.ok(looks <= LOOKS_PER_TOKEN * (tokens + 4), `${looks} looks at ${tokens} tokens`);
    }),
    { numRuns: runs(100) },
  );
});

/** Texts short enough to be corrected, of runs that a pattern could read in very many ways. */
const TANGLED: Readonly<Record<string, string>> = {
  sets: `RECALL a UNION RECALL b${' '.repeat(750)}x`,
  setsInString: `RECALL a UNION RECALL "b${' '.repeat(740)}x" y`,
  setsInComment: `RECALL a UNION RECALL b --${' '.repeat(740)}x\n y`,
  setsUnclosed: `RECALL a UNION RECALL "b${' '.repeat(740)}x`,
  lets: `LET $a = RECALL x${'\n'.repeat(770)}y`,
  letsOnLines: `LET $a = RECALL x${'\n        '.repeat(85)}y`,
  someBlanks: `RECALL a UNION RECALL b${`${' '.repeat(8)}x`.repeat(80)} "`,
  unions: `${'RECALL a UNION '.repeat(50)} "`,
  assembles: `${'ASSEMBLE FROM a FOR '.repeat(38)} "`,
  selects: `${'SELECT a FROM b '.repeat(48)} "`,
};

test('a short text is refused or corrected at once, whatever it repeats', () => {
  for (const [name, source] of Object.entries(TANGLED)) {
    const before = process.cpuUsage();
    assert.match(outcome(source), /^CAL-E\d{3}$/, name);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${name}: ${user + system} µs of CPU`);
  }
});

test('a query of long runs of blanks is corrected too', () => {
  const wide = `RECALL beliefs${' '.repeat(20)}WHERE subject == "a  b"\n${' '.repeat(20)}LIMIT 5`;
  assert.equal(refusal(wide, false)?.example, 'RECALL beliefs WHERE subject = "a  b"\nLIMIT 5');
});
