import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lex, rawEnd, trimSection } from './lexer.ts';
import { outcome, refusal } from './testing/refused.ts';

const kinds = (source: string): readonly string[] =>
  lex(source).map(({ kind, text }) => (kind === 'end' ? kind : `${kind} ${text}`));

test('a query consists of words, parameters, strings, numbers, hashes and symbols', () => {
  assert.deepEqual(kinds('where $a >= -1.50, "x" sha256:ABCDEF01 | true -- rest'), [
    'word where',
    'parameter a',
    'symbol >=',
    'number -1.50',
    'symbol ,',
    'string x',
    'hash abcdef01',
    'symbol |',
    'word true',
    'end',
  ]);
});

test('a string may contain line breaks, comments and quotes, and is normalised to NFC', () => {
  assert.deepEqual(kinds('"a\n-- b \\" e\u0301"'), ['string a\n-- b " \u00e9', 'end']);
});

test('white space is blank, tab and line break; any other is refused at its position', () => {
  assert.equal(outcome(' \t\r\nRECALL\tbeliefs\r\n'), 'read');
  for (const space of ['\u00a0', '\u2003', '\u200b', '\f', '\v', '\ufeff', '\0'])
    assert.equal(outcome(`RECALL${space}beliefs`), 'CAL-E002', JSON.stringify(space));
});

test('look-alikes of letters are not letters', () => {
  assert.equal(outcome('R\u0415CALL beliefs'), 'CAL-E002');
  assert.equal(outcome('RECALL b\u0435liefs'), 'CAL-E002');
  assert.equal(outcome('\uff32\uff25\uff23\uff21\uff2c\uff2c beliefs'), 'CAL-E002');
  assert.equal(outcome('RECALL beliefs WHERE \u0455ubject = "a"'), 'CAL-E002');
});

test('keywords, fields and the words of the grammar match in any case, values do not', () => {
  assert.equal(outcome('rEcAlL Beliefs wHeRe SUBJECT = "a" And CONFIDENCE > 0 as MarkDown'), 'read');
  assert.equal(outcome('RECALL WHERE type = "Event"'), 'CAL-E003');
});

test('bytes are checked first, then Unicode, then direction, then emptiness', () => {
  const long = 'x'.repeat(8_192);
  assert.equal(outcome(`\ud800\u202e${long}`), 'CAL-E001');
  assert.equal(outcome('\ud800\u202e'), 'CAL-E070');
  assert.equal(outcome('\u202e'), 'CAL-E002');
  assert.equal(outcome(`"${'é'.repeat(4_095)}"`), 'CAL-E002');
  assert.equal(outcome(`"${'é'.repeat(4_096)}"`), 'CAL-E001');
});

test('a direction control is E071 inside strings and templates, E002 elsewhere, whatever else is wrong', () => {
  assert.equal(outcome('RECALL ABOUT "\u2067" \'x\''), 'CAL-E071');
  assert.equal(outcome('RECALL ABOUT "\u2067'), 'CAL-E071');
  assert.equal(outcome('RECALL AS TEMPLATE { ELEMENT { \u202a '), 'CAL-E071');
  assert.equal(outcome('RECALL -- \u202a\n'), 'CAL-E002');
  assert.equal(outcome('RECALL \u202a "x'), 'CAL-E002');
  assert.equal(outcome('EXISTS sha256:12 "\u202a"'), 'CAL-E002');
});

test('positions are bytes, lines from 1, and columns in code points', () => {
  const error = refusal('RECALL beliefs\n  ABOUT "é😀" LIMITT 5');
  assert.deepEqual(error?.position, { start: 32, end: 38, line: 2, col: 14 });
});

test('the text of a section runs to its brace, across pairs and nested braces', () => {
  const body = (source: string): string => source.slice(0, rawEnd(source, 0));
  assert.equal(body(' {{a}} } rest'), ' {{a}} ');
  assert.equal(body('{a}}}'), '{a}');
  assert.equal(body('{{{a}}}}'), '{{{a}}}');
  assert.equal(body('{{! } }}}'), '{{! } }}');
  assert.equal(body('it\'s "x" -- }'), 'it\'s "x" -- ');
  assert.equal(rawEnd('{{a}', 0), -1);
});

test('a section loses one line break at each end and the blanks before the brace, and keeps its indentation', () => {
  assert.equal(trimSection('\n  - {{x}}\n  '), '  - {{x}}');
  assert.equal(trimSection('  \n- {{x}} \n'), '- {{x}} ');
  assert.equal(trimSection(' - {{x}} '), ' - {{x}} ');
  assert.equal(trimSection('\r\n\r\nx\n\n'), '\r\nx\n');
  assert.equal(trimSection(' \n'), '');
});
