import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc, { type Arbitrary } from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { parseText } from '../parse.ts';
import { anyQueries, withoutPlaces } from '../testing/arbitrary.ts';
import { outcome, refusal } from '../testing/refused.ts';
import { readJson } from './read.ts';
import { writeJson } from './write.ts';

test('the JSON form means the same as the text form', () => {
  const pairs: readonly (readonly [string, unknown])[] = [
    [
      'RECALL MY beliefs IN SCOPE "a" SINCE "last week" WHERE confidence >= 0.8 WITH superseded, dedup(subject) | ORDER BY confidence DESC | LIMIT 5 AS markdown',
      {
        statement: 'recall',
        my: true,
        grain_type: 'beliefs',
        in: { scope: 'a' },
        since: 'last week',
        where: [{ field: 'confidence', op: '>=', value: 0.8 }],
        with: ['superseded', { dedup: 'subject' }],
        pipeline: [{ order_by: 'confidence', dir: 'desc' }, { limit: 5 }],
        as: 'markdown',
      },
    ],
    [
      'LET $t = RECALL beliefs | SUBJECTS; RECALL WHERE subject IN ($t) AND relation IS PREFERENCE AND time BETWEEN 1 AND 2',
      {
        cal_version: 1,
        let: [{ name: 't', query: { statement: 'recall', grain_type: 'beliefs', pipeline: ['subjects'] } }],
        statement: 'recall',
        where: [
          { field: 'Subject', op: 'IN', value: [{ $param: 't' }] },
          { field: 'relation', op: 'is', value: 'PREFERENCE' },
          { field: 'time', op: 'between', value: [1, 2] },
        ],
      },
    ],
    [
      '(RECALL) EXCEPT (RECALL events) COUNT',
      {
        statement: 'set_op',
        op: 'except',
        operands: [{ statement: 'recall' }, { statement: 'recall', grain_type: 'events' }],
        pipeline: ['count'],
      },
    ],
    [
      'HISTORY sha256:0123456789 DIFF sha256:9876543210',
      { statement: 'history', hash: 'sha256:0123456789', diff: { $hash: 'SHA256:9876543210' } },
    ],
    [
      'RECALL AS [TEMPLATE "{{grain.content}}" AS a, TEMPLATE { ELEMENT {x} }, json]',
      {
        statement: 'recall',
        as: [
          { format: { template: { text: '{{grain.content}}' } }, alias: 'a' },
          { format: { template: { sections: { element: 'x' } } } },
          'json',
        ],
      },
    ],
    [
      'ASSEMBLE FROM (RECALL) STREAM',
      { statement: 'assemble', from: [{ query: { statement: 'recall' } }], stream: {} },
    ],
  ];
  for (const [text, json] of pairs)
    assert.deepEqual(withoutPlaces(parseText(text).query), readJson(JSON.stringify(json)), text);
});

test('members that are not part of the form are refused in any place', () => {
  const recall = { statement: 'recall' };
  const refused: readonly unknown[] = [
    {},
    { statement: 5 },
    { ...recall, extra: 1 },
    { ...recall, my: 'yes' },
    { ...recall, where: {} },
    { ...recall, where: [{ field: 'subject', op: '=', value: null }] },
    { ...recall, where: [{ field: 'subject', op: '=', value: { $param: 'a', $hash: 'b' } }] },
    { ...recall, where: [{ field: 'subject', op: '~', value: 'a' }] },
    { ...recall, where: [{ field: 'subject', op: '=', value: 'a', query: recall }] },
    { ...recall, where: [{ field: 'time', op: 'between', value: [1] }] },
    { ...recall, where: [{ field: 'order', op: '=', value: 1 }] },
    { ...recall, pipeline: ['order_by'] },
    { ...recall, pipeline: [{ limit: 5, offset: 5 }] },
    { ...recall, pipeline: [{ limit: '5' }] },
    { ...recall, pipeline: [{ select: [] }] },
    { ...recall, with: [{ dedup: 'subject', locale: 'de' }] },
    { ...recall, with: ['superseded', 'superseded'] },
    { ...recall, recent: 1.5 },
    { ...recall, as: 'pdf' },
    { ...recall, as: [] },
    { ...recall, as: [{ format: 'json', alias: 'Upper' }] },
    { ...recall, cal_version: 1, let: [{ name: '1', query: recall }] },
    { statement: 'exists', hash: 5 },
    { statement: 'assemble', name: 'limit', from: [{ query: recall }] },
    { statement: 'assemble', from: [] },
    { statement: 'assemble', from: [{ label: 'drop', query: recall }] },
    { statement: 'assemble', from: [{ let: '$a' }] },
    { statement: 'batch', entries: [] },
    { statement: 'batch', entries: [{ label: 'a', query: { statement: 'add' } }] },
    { statement: 'explain', query: { statement: 'exists', hash: 'sha256:0123456789' } },
    { statement: 'explain', query: { ...recall, cal_version: 1 } },
    { statement: 'describe', target: 'server', grain_type: 'goal' },
    { statement: 'set_op', op: 'union', operands: [recall] },
    { statement: 'coalesce', branches: [recall] },
    { statement: 'define_template', name: 'a', sections: {} },
  ];
  for (const json of refused) assert.equal(outcome(JSON.stringify(json)), 'CAL-E002', JSON.stringify(json));
});

test('an error names the path to the invalid member', () => {
  const error = refusal(
    '{"statement": "batch", "entries": [{"label": "a", "query": {"statement": "recall", "recent": "5"}}]}',
  );
  assert.equal(error?.message, 'the query.entries.query.recent is not a whole number');
});

test('a key of an object’s prototype is an ordinary key', () => {
  for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    assert.equal(outcome(`{"statement": "recall", "${key}": {}}`), 'CAL-E002', key);
    assert.equal(outcome(`{"statement": "${key}"}`), 'CAL-E002', key);
    assert.equal(outcome(`{"statement": "recall", "with": ["${key}"]}`), 'CAL-E002', key);
  }
});

test('a section that the text form could not close is refused', () => {
  const sections = (text: string): string =>
    outcome(JSON.stringify({ statement: 'recall', as: { template: { sections: { element: text } } } }));
  assert.equal(sections('a { b } {{grain.content}}'), 'read');
  assert.equal(sections('a } b'), 'CAL-E094');
  assert.equal(sections('{{grain.content'), 'CAL-E094');
});

test('the order of keys does not matter', () => {
  const reversed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reversed);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(
      ([key, member]) => [key, key === 'set' ? member : reversed(member)] as const,
    );
    return Object.fromEntries(entries.toReversed());
  };
  fc.assert(
    fc.property(anyQueries, (query) => {
      assert.deepEqual(readJson(JSON.stringify(reversed(writeJson(query)))), query);
    }),
    { numRuns: runs(100) },
  );
});

/** The JSON of a query in which one member replaces another, or an unusual value does. */
const damaged: Arbitrary<string> = fc
  .tuple(anyQueries, fc.nat(), fc.nat(), fc.option(fc.jsonValue({ maxDepth: 2 }), { freq: 2 }))
  .map(([query, target, source, other]) => {
    const json = writeJson(query);
    const places: { readonly parent: Record<string, unknown>; readonly key: string }[] = [];
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const key of Object.keys(node)) {
        const parent = node as Record<string, unknown>; // An object or a list, whose keys were just listed.
        places.push({ parent, key });
        visit(parent[key]);
      }
    };
    visit(json);
    const from = places[source % places.length]!;
    const value = other === null ? structuredClone(from.parent[from.key]) : other;
    const to = places[target % places.length]!;
    to.parent[to.key] = value;
    return JSON.stringify(json);
  });

test('a member in the wrong place is parsed or refused with a code', () => {
  const codes = new Set<string>();
  fc.assert(
    fc.property(damaged, (json) => {
      const code = outcome(json);
      codes.add(code);
      assert.match(code, /^(read|CAL-E\d{3})$/);
    }),
    { numRuns: runs(300) },
  );
  assert.ok(codes.has('CAL-E002'));
});
