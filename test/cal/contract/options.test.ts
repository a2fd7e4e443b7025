// Sections 9 and 10 of the contract: options and stages.
import assert from 'node:assert/strict';
import { contract, type ParsedJson, type Row } from './contract.ts';

const rows: Row[] = [
  // 9: options
  {
    q: 'RECALL beliefs WHERE subject = "frank" WITH superseded',
    set: 'lyon paris nice',
    check: ({ grains }) => {
      const [nice, paris, lyon] = ['Nice', 'Paris', 'Lyon'].map((city) =>
        grains.find(({ fields }: ParsedJson) => fields.object === city),
      );
      assert.deepEqual(
        [nice.superseded_by ?? null, paris.superseded_by, lyon.superseded_by],
        [null, nice.hash, paris.hash],
      );
    },
  },
  { q: 'RECALL beliefs WHERE subject = "frank"', set: 'nice' },
  {
    q: 'RECALL beliefs WHERE subject IN ("erin", "gina") WITH contradiction_detection',
    set: 'oslo rome brew cats',
    check: ({ grains }) =>
      assert.ok(
        grains.every((one: ParsedJson) => one['contested_by'] === undefined || Array.isArray(one['contested_by'])),
      ),
  },
  {
    q: 'RECALL beliefs LIKE "peanuts" WITH score_breakdown FIRST',
    check: ({ grains }) => assert.equal(typeof grains[0].score_breakdown, 'object'),
  },
  {
    q: 'RECALL beliefs LIKE "peanuts" WITH explanation FIRST',
    check: ({ grains }) => assert.ok(grains[0].explanation.length > 5),
  },
  { q: 'RECALL beliefs WHERE subject = "frank" WITH provenance', list: 'nice' },
  {
    q: 'RECALL beliefs WHERE subject IN ("alice", "bob") ORDER BY confidence DESC WITH dedup(subject)',
    list: 'nuts bobacme',
  },
  {
    q: 'RECALL beliefs WHERE subject IN ("alice", "bob") ORDER BY confidence WITH dedup(relation) LIMIT 2',
    list: 'plain light',
  },
  {
    q: 'RECALL WHERE subject = "bob" ORDER BY time WITH dedup(importance) LIMIT 10',
    list: 'light bobacme plain goal3 goal4',
  },
  { q: 'RECALL beliefs WITH dedup(nothing)', code: 'E004' },
  { q: 'RECALL beliefs WHERE subject = "gina" WITH diversity(mmr)', set: 'cats', warn: 'W004' },
  { q: 'RECALL beliefs LIKE "peanuts" WITH diversity(mmr, lambda = 0.7) FIRST', list: 'nuts' },
  { q: 'RECALL beliefs LIKE "peanuts" WITH diversity(threshold, 0.9) FIRST', list: 'nuts' },
  { q: 'RECALL beliefs LIKE "peanuts" WITH diversity(random)', code: 'E002' },
  { q: 'RECALL beliefs LIKE "peanuts" WITH diversity', code: 'E002' },
  ...[
    'consistency(eventual)',
    'consistency(bounded(5))',
    'consistency(linearizable)',
    'cache(ttl = 60)',
    'x_vendor',
    'x_vendor(1, "a", true)',
  ].map((option): Row => ({ q: `RECALL beliefs WHERE subject = "gina" WITH ${option}`, set: 'cats', warn: 'W004' })),
  { q: 'RECALL beliefs WHERE subject = "gina" WITH locale("sv")', set: 'cats', warn: 'W004' },
  // Words about a text, and no text
  ...['iso_timestamps', 'progressive_disclosure', 'progressive_disclosure(full)'].map(
    (option): Row => ({ q: `RECALL beliefs WHERE subject = "gina" WITH ${option}`, set: 'cats', warn: 'W004' }),
  ),
  { q: 'RECALL beliefs WHERE subject = "gina" WITH summarize', set: 'cats', is: { summary: 'gina admires cats' } },
  { q: 'RECALL beliefs WITH everything', code: 'E002', at: 'everything' },
  { q: 'RECALL beliefs WITH superseded, dedup(subject), superseded LIMIT 3', code: 'E002', at: 'superseded' },
  { q: 'RECALL beliefs WITH x_', code: 'E002' },
  { q: 'RECALL beliefs WITH', code: 'E002' },
  { q: 'RECALL beliefs WHERE subject = "gina" WITH x_a, x_b', set: 'cats', warn: 'W004 W004' },

  // 10: stages
  {
    q: 'RECALL beliefs WHERE subject = "gina" | SELECT subject, object',
    check: ({ grains }) => {
      assert.deepEqual(grains[0].fields, { subject: 'gina', object: 'cats' });
      assert.equal(grains[0].text, 'gina cats', 'no more than the fields that are shown');
      assert.ok('hash' in grains[0] && grains[0].grain_type === 'belief');
    },
  },
  {
    q: 'RECALL beliefs WHERE subject = "gina"',
    check: ({ grains }) => assert.equal(grains[0].text, 'gina admires cats'),
  },
  {
    q: 'RECALL beliefs WHERE subject = "gina" | SELECT hash',
    check: ({ grains }) => assert.equal(grains[0].text, 'belief', 'no field with words'),
  },
  {
    q: 'RECALL beliefs WHERE subject = "gina" | GROUP BY subject',
    check: ({ groups }) => assert.equal(groups[0].grains[0].text, 'gina admires cats'),
  },
  {
    q: 'RECALL goals WHERE goal_state = "active" | SELECT object, goal_state',
    check: ({ grains }) => assert.deepEqual(Object.values(grains[0].fields).sort(), ['active', 'complete Q1 review']),
  },
  { q: 'RECALL beliefs | SELECT role', code: 'E060' },
  { q: 'RECALL | SELECT role', code: 'E061' },
  { q: 'RECALL beliefs | SELECT nothing', code: 'E004' },
  { q: 'RECALL beliefs | SELECT namespace', code: 'E021' },
  { q: 'RECALL beliefs | SELECT query', code: 'E021' },
  { q: 'RECALL beliefs ORDER BY tags', code: 'E021' },
  { q: 'RECALL beliefs ORDER BY user_id', code: 'E021' },
  { q: 'RECALL beliefs ORDER BY nothing', code: 'E004' },
  { q: 'RECALL beliefs ORDER BY role', code: 'E060' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY importance LIMIT 3', list: 'tea dark nuts' },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY importance DESC LIMIT 3', list: 'nuts dark tea' },
  { q: 'RECALL beliefs WHERE subject = "alice" | COUNT', body: 'count', is: { count: 5 }, count: 1, type: 'recall' },
  { q: 'RECALL beliefs COUNT', is: { count: 27 } },
  { q: 'RECALL beliefs LIMIT 7 COUNT', is: { count: 7 } },
  { q: 'RECALL beliefs LIMIT 7 OFFSET 5 COUNT', is: { count: 2 } },
  { q: 'RECALL beliefs WHERE subject = "alice" ORDER BY confidence FIRST', list: 'zurich' },
  { q: 'RECALL beliefs WHERE subject = "nobody" FIRST', list: '' },
  {
    q: 'RECALL beliefs WHERE subject IN ("alice", "bob") ORDER BY confidence | SUBJECTS',
    body: 'values',
    is: { extractor: 'subjects', values: ['bob', 'alice'] },
    count: 2,
  },
  {
    q: 'RECALL beliefs WHERE relation = "works_at" ORDER BY confidence | OBJECTS',
    is: { values: ['Initech', 'Acme'] },
  },
  { q: 'RECALL goals WHERE goal_state = "active" | HASHES', is: { values: ['@goal1@'] }, count: 1 },
  { q: 'RECALL goals | SUBJECTS', code: 'E022' },
  { q: 'RECALL | SUBJECTS', code: 'E022' },
  {
    q: 'RECALL beliefs WHERE subject IN ("bob", "alice", "Alice") | GROUP BY subject',
    body: 'groups',
    count: 3,
    is: { field: 'subject' },
    check: ({ groups }) =>
      assert.deepEqual(
        groups.map(({ key, count, grains }: ParsedJson) => [key, count, grains.length]),
        [
          ['Alice', 1, 1],
          ['alice', 5, 5],
          ['bob', 3, 3],
        ],
      ),
  },
  {
    q: 'RECALL GROUP BY type',
    check: ({ groups }) =>
      assert.deepEqual(
        groups.map(({ key, count }: ParsedJson) => `${key} ${count}`),
        [
          'action 3',
          'belief 27',
          'consensus 2',
          'consent 2',
          'event 9',
          'goal 4',
          'observation 2',
          'reasoning 2',
          'state 2',
          'workflow 2',
        ],
      ),
  },
  { q: 'RECALL beliefs GROUP BY confidence', code: 'E021' },
  { q: 'RECALL beliefs | COUNT | ORDER BY time', code: 'E021' },
  { q: 'RECALL beliefs | SUBJECTS | SELECT object', code: 'E021' },
  { q: 'RECALL beliefs | GROUP BY subject | SUBJECTS', code: 'E021' },
  { q: 'RECALL beliefs | HASHES | COUNT', code: 'E021' },
  { q: 'RECALL beliefs | FIRST | SELECT object | LIMIT 1 | OFFSET 0 | ORDER BY object', count: 1 },
  { q: 'RECALL beliefs | FIRST | SELECT object | LIMIT 1 | OFFSET 0 | ORDER BY object | COUNT', code: 'E012' },
  { q: 'RECALL beliefs OFFSET -1', code: 'E002 E010' },
  { q: 'RECALL beliefs | ', code: 'E002' },
  { q: 'RECALL beliefs | LIKE "x"', code: 'E002' },
];

contract('sections 9 and 10', rows);
