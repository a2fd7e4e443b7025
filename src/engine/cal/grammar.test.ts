// The shown grammar agrees with the parser: it has the same words, and a query for each production is read.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COMPARATORS, EXTRACTORS } from '../calls/cal.ts';
import { CATEGORIES, DESCRIBE_TARGETS, DISCLOSURE_LEVELS, SECTIONS, SET_OPERATORS } from './ast.ts';
import { GRAMMAR } from './grammar.ebnf.ts';
import { STATEMENT_WORDS_READ } from './parse.ts';
import { ENTRY_WORDS } from './parser/cursor.ts';
import { FORMAT_WORDS } from './parser/formats.ts';
import { CLAUSE_WORDS } from './parser/recall.ts';
import { STAGE_WORDS } from './parser/stages.ts';
import { DOMAIN_PROFILES } from './vocabulary/fields.ts';
import { PLURALS, SINGULARS } from './vocabulary/grain-types.ts';
import { KEYWORDS, STATEMENT_WORDS, STREAM_EVENTS, WITH_OPTIONS } from './vocabulary/words.ts';

/** The productions by name, without comments. */
const productions = new Map(
  GRAMMAR.replace(/\(\*[\s\S]*?\*\)/g, '')
    .split(/;\n/)
    .flatMap((text): [string, string][] => {
      const [, name, body] = /^\s*([a-z_]+)\s*=([\s\S]*)$/.exec(text) ?? [];
      return name === undefined || body === undefined ? [] : [[name, body]];
    }),
);

/** The quoted words of a production, in lower case. */
function terminals(name: string): readonly string[] {
  const body = productions.get(name);
  assert.ok(body !== undefined, name);
  return [...body.matchAll(/"([A-Za-z_][A-Za-z_0-9]*)"/g)].map((match) => match[1]!.toLowerCase());
}

/** The words that the productions called in `names` start with. */
const firsts = (names: readonly string[]): readonly string[] => names.map((name) => terminals(name)[0]!);

const called = (name: string): readonly string[] =>
  [
    ...productions
      .get(name)!
      .replace(/"[^"]*"/g, '')
      .matchAll(/[a-z_]+/g),
  ].map((match) => match[0]);

const same = (a: Iterable<string>, b: Iterable<string>): void =>
  assert.deepEqual([...new Set(a)].sort(), [...new Set(b)].sort());

test('the statements equal those of the parser', () => {
  same(firsts(called('statement').filter((name) => name !== 'set_op')), STATEMENT_WORDS_READ);
  same(STATEMENT_WORDS, STATEMENT_WORDS_READ);
  same(firsts(called('entry')), ENTRY_WORDS);
});

test('the clauses and stages of RECALL equal those of the parser', () => {
  const clauses = called('recall_clause').filter((name) => name !== 'stage');
  same([...firsts(clauses), ...terminals('as_clause'), 'contradictions'], CLAUSE_WORDS);
  const stages = terminals('stage').filter((word) => !['by', 'asc', 'desc'].includes(word));
  same(stages, STAGE_WORDS);
});

test('closed lists equal those of the tables', () => {
  same(terminals('category'), CATEGORIES);
  same(terminals('extractor'), EXTRACTORS);
  same(terminals('set_word'), SET_OPERATORS);
  same(terminals('section'), SECTIONS);
  same(terminals('describe').slice(1), DESCRIBE_TARGETS);
  same(terminals('domain_prefix'), DOMAIN_PROFILES.keys());
  same(terminals('type_plural'), PLURALS);
  same(terminals('type_singular'), SINGULARS);
  same(terminals('format'), [...FORMAT_WORDS, 'template']);
  same(terminals('stream_option'), [...STREAM_EVENTS, 'chunk_size']);
  same(
    [...productions.get('comparator')!.matchAll(/"([^"]+)"/g)].map((match) => match[1]!),
    COMPARATORS,
  );
  const values = [
    'mmr',
    'lambda',
    'threshold',
    'eventual',
    'bounded',
    'linearizable',
    'ttl',
    'x_',
    ...DISCLOSURE_LEVELS,
  ];
  same(terminals('option'), [...WITH_OPTIONS, ...values]);
});

test('every word in capitals is a keyword, and every keyword with an effect is in the grammar', () => {
  const capitals = new Set([...GRAMMAR.matchAll(/"([A-Z][A-Z_]+)"/g)].map((match) => match[1]!.toLowerCase()));
  for (const word of capitals) assert.ok(KEYWORDS.has(word), word);
  const shown = new Set([...GRAMMAR.matchAll(/"([A-Za-z_]+)"/g)].map((match) => match[1]!.toLowerCase()));
  // Words that cannot be names and have no production.
  const without = [...KEYWORDS].filter((word) => !shown.has(word));
  same(without, ['null', 'undefine']);
});

test('every production that is referenced is defined', () => {
  const tokens = new Set(['letter', 'digit', 'character', 'characters']);
  for (const name of productions.keys()) {
    if (['hash', 'raw', 'comment', 'string'].includes(name)) continue;
    for (const other of called(name)) assert.ok(productions.has(other) || tokens.has(other), `${name} calls ${other}`);
  }
});
