import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { QUERY_CHARS_MAX, QUERY_CLAUSES_MAX, QUERY_TERMS_MAX } from '../../base/limits.ts';
import { analyzer } from './analyze.ts';
import { parseQuery, parseQuestion } from './query.ts';
import { unscoredTerms } from './question-words.ts';

const parse = (text: string) => parseQuery(text, analyzer('en'));

test('a question is text: distinct terms in order', () => {
  const query = parse('What is the ice cream, the ICE one?');
  assert.deepEqual(query.terms, ['ice', 'cream', 'one']);
  assert.deepEqual(query.pairs, [
    { first: 'ice', second: 'cream', distance: 1 },
    { first: 'cream', second: 'ice', distance: 2 },
    { first: 'ice', second: 'one', distance: 1 },
  ]);
  assert.deepEqual([query.clauses, query.fields, query.truncated], [[], [], false]);
});

test('a query of stop words has no terms', () => {
  assert.deepEqual(parse('who is it?').terms, []);
  assert.deepEqual(parse('').terms, []);
});

test('pronouns do not score, unless there is nothing else or they have an operator', () => {
  const english = analyzer('en');
  const read = (text: string) => parseQuery(text, english, unscoredTerms(text, english));
  const query = read('Did they paint my yellow boat for me?');
  assert.deepEqual(query.terms, ['paint', 'yellow', 'boat']);
  assert.deepEqual(query.pairs, [
    { first: 'paint', second: 'yellow', distance: 2 },
    { first: 'yellow', second: 'boat', distance: 1 },
  ]);
  assert.deepEqual(read('who are you').terms, ['you']);
  assert.deepEqual(read('"you and me" boat').terms, ['you', 'me', 'boat']);
  assert.deepEqual(read('mining in the US').terms, parse('mining in the US').terms);
});

test('phrases keep the distance over stop words', () => {
  assert.deepEqual(parse('find "bank of America" now').clauses, [
    { required: true, terms: ['bank', 'america'], offsets: [0, 2] },
  ]);
  assert.deepEqual(parse('find “green tea”').clauses, [{ required: true, terms: ['green', 'tea'], offsets: [0, 1] }]);
  assert.deepEqual(parse('"green tea"').terms, ['green', 'tea']);
});

test('operator signs work before a letter or a quote', () => {
  assert.deepEqual(parse('cake +apple -raisin').clauses, [
    { required: true, terms: ['appl'], offsets: [0] },
    { required: false, terms: ['raisin'], offsets: [0] },
  ]);
  assert.deepEqual(parse('cake +apple -raisin').terms, ['cake', 'appl']);
  assert.deepEqual(parse('-"green tea" coffee').clauses, [
    { required: false, terms: ['green', 'tea'], offsets: [0, 1] },
  ]);
  assert.deepEqual(parse('+state-of-the-art').clauses, [{ required: true, terms: ['state', 'art'], offsets: [0, 3] }]);
  for (const text of ['-5 degrees', '+1 vote', 'c++ code', 'a - b', 'well-known', '--verbose', '+', '-', 'x +']) {
    assert.deepEqual(parse(text).clauses, [], text);
  }
  assert.deepEqual(parse('+the').clauses, [], 'stop words cannot be required');
});

test('fields work with the known names only', () => {
  assert.deepEqual(parse('tag:work subject:"Anna K." trip').fields, [
    { field: 'tag', value: 'work', terms: ['work'], negated: false },
    { field: 'subject', value: 'Anna K.', terms: ['anna', 'k'], negated: false },
  ]);
  assert.deepEqual(parse('tag:work subject:"Anna K." trip').terms, ['trip']);
  assert.deepEqual(parse('-tag:old news').fields, [{ field: 'tag', value: 'old', terms: ['old'], negated: true }]);
  assert.deepEqual(parse('what about tag:work?').fields[0]?.value, 'work');
  assert.deepEqual(parse('namespace:a/b').fields[0]?.value, 'a/b');
  for (const text of ['note: call', 'subject: hello', 'Re:subject', 'http://x.y', 'metatag:x', 'tag:""']) {
    assert.deepEqual(parse(text).fields, [], text);
  }
});

test('content is a field and a required word', () => {
  const query = parse('content:tea');
  assert.deepEqual(query.fields, [{ field: 'content', value: 'tea', terms: ['tea'], negated: false }]);
  assert.deepEqual(query.clauses, [{ required: true, terms: ['tea'], offsets: [0] }]);
  assert.deepEqual(parse('-content:tea').clauses, [{ required: false, terms: ['tea'], offsets: [0] }]);
});

test('a quote that is not at a token or not closed is text', () => {
  for (const text of ['a 5" pipe and 6" pipe', 'he said "hello', 'x"y z"', '"']) {
    assert.deepEqual(parse(text).clauses, [], text);
  }
  assert.deepEqual(parse('he said "hello').terms, ['he', 'said', 'hello']);
});

test('terms beyond the limits are ignored, and the query is marked truncated', () => {
  const many = Array.from({ length: QUERY_TERMS_MAX + 10 }, (_, i) => `w${i}`).join(' ');
  assert.equal(parse(many).terms.length, QUERY_TERMS_MAX);
  assert.equal(parse(many).truncated, true);
  const clauses = Array.from({ length: QUERY_CLAUSES_MAX + 1 }, (_, i) => `-w${i} tag:t${i}`).join(' ');
  assert.equal(parse(clauses).clauses.length, QUERY_CLAUSES_MAX);
  assert.equal(parse(clauses).fields.length, QUERY_CLAUSES_MAX);
  assert.equal(parse(clauses).truncated, true);
  assert.equal(parse(`x ${' '.repeat(QUERY_CHARS_MAX)}y`).truncated, true);
});

test('no input throws or takes long', () => {
  const pieces = fc.constantFrom(
    '"',
    '“',
    '”',
    '+',
    '-',
    ':',
    'tag:',
    'content:',
    'a',
    ' ',
    '日本',
    "'",
    '\u0000',
    '\ud800',
    'the',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const { terms, clauses } = parse(parts.join(''));
      assert.ok(terms.length <= QUERY_TERMS_MAX);
      for (const clause of clauses) {
        assert.equal(clause.terms.length, clause.offsets.length);
        assert.equal(clause.offsets[0], 0);
        if (clause.required) for (const term of clause.terms) assert.ok(terms.includes(term));
      }
    }),
  );
  for (const piece of ['"a ', '+"', 'tag:"" ', '-content:"', "a'", '漢', '" ', 'tag:" ']) {
    assert.ok(parse(piece.repeat(250_000 / piece.length)).terms.length <= QUERY_TERMS_MAX);
  }
  const before = process.cpuUsage();
  parse(`content:${'.'.repeat(QUERY_CHARS_MAX - 16)}x`);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 100_000, `${user + system} µs of CPU`);
});

test('the operators of a question are wishes, and its words score as plain text', () => {
  const read = (text: string) => parseQuestion(text, analyzer('en'));
  const plain = read('did she say green tea is better, and where is the subject Ann');
  const asked = read('did she say "green tea" is better, and where is the subject Ann');
  assert.deepEqual([asked.terms, asked.pairs], [plain.terms, plain.pairs]);
  assert.deepEqual([asked.clauses, asked.fields], [[], []]);
  assert.deepEqual(asked.wishes, {
    clauses: [{ required: true, terms: ['green', 'tea'], offsets: [0, 1] }],
    fields: [],
  });
  assert.equal(plain.wishes, undefined);
  const mixed = read('cake +apple -raisin tag:winter -subject:ann');
  assert.deepEqual(mixed.terms, ['cake', 'appl', 'winter']);
  assert.deepEqual(mixed.pairs, [{ first: 'cake', second: 'appl', distance: 1 }], 'no pair over an unwanted word');
  assert.deepEqual(
    mixed.wishes?.clauses.map(({ required, terms }) => [required, terms]),
    [
      [true, ['appl']],
      [false, ['raisin']],
    ],
  );
  assert.deepEqual(
    mixed.wishes?.fields.map(({ field, negated }) => [field, negated]),
    [
      ['tag', false],
      ['subject', true],
    ],
  );
  assert.deepEqual(read('tag:winter subject:ann'), parse('tag:winter subject:ann'), 'no prose');
});

test('a question of any text parses within its limits and has the words of its plain text', () => {
  const piece = fc.constantFrom('"', ' ', '+', '-', 'tag:', 'content:', 'tea', 'green', '“', '”', 'é', '\u3000');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('');
      const { terms, wishes, truncated } = parseQuestion(`${text} end`, analyzer('en'));
      assert.equal(truncated, false);
      assert.ok((wishes?.clauses.length ?? 0) <= QUERY_CLAUSES_MAX);
      for (const { required, terms: wished } of wishes?.clauses ?? [])
        for (const term of wished) assert.ok(!required || terms.includes(term), `${text}: ${term}`);
    }),
  );
});
