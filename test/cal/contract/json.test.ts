// Section 13 of the contract: JSON queries mean the same as text and fail for the same reasons.
import { contract, type Row } from './contract.ts';

const recall = (more: object): string => JSON.stringify({ statement: 'recall', grain_type: 'beliefs', ...more });
const where = (...conditions: object[]): string => recall({ where: conditions });
const is = (field: string, value: unknown): object => ({ field, op: '=', value });
const GINA = { statement: 'recall', grain_type: 'beliefs', where: [is('subject', 'gina')] };
const nested = (depth: number): object =>
  depth === 0
    ? { statement: 'recall', grain_type: 'beliefs' }
    : {
        statement: 'recall',
        grain_type: 'beliefs',
        where: [{ field: 'subject', op: 'in', query: nested(depth - 1), extract: 'subjects' }],
      };

const rows: Row[] = [
  { q: where(is('subject', 'gina')), set: 'cats', type: 'recall', body: 'grains' },
  { q: ` \n${where(is('subject', 'gina'))} `, set: 'cats' },
  { q: recall({ cal_version: 1, about: 'gina' }), set: 'cats' },
  { q: recall({ cal_version: 2 }), code: 'E100' },
  { q: recall({ like: 'peanuts', pipeline: ['first'] }), list: 'nuts' },
  { q: recall({ my: true }), user: 'ann', set: 'acme zurich' },
  { q: recall({ my: true }), code: 'E008' },
  { q: recall({ in: 'away', where: [is('subject', 'gina')] }), set: 'cats' },
  { q: where({ field: 'confidence', op: '>=', value: 0.92 }), set: 'dark nuts' },
  { q: where({ field: 'tags', op: 'include', value: ['food'] }), set: 'tea nuts' },
  { q: where({ field: 'tags', op: 'exclude', value: ['food'] }, is('subject', 'alice')), set: 'dark acme zurich' },
  { q: where({ field: 'subject', op: 'in', value: ['gina', 'dave'] }), set: 'cats quiet' },
  {
    q: where({
      field: 'subject',
      op: 'in',
      query: { statement: 'recall', grain_type: 'beliefs', where: [is('relation', 'mg:avoids')] },
      extract: 'subjects',
    }),
    set: 'dark tea nuts acme zurich',
  },
  { q: where({ field: 'relation', op: 'is', value: 'PREFERENCE' }), set: 'dark tea nuts light' },
  { q: where(is('hash', { $hash: '@dark@' })), set: 'dark' },
  { q: where(is('subject', { $param: 'who' })), code: 'E008' },
  { q: where(is('user_id', { $param: 'current_user_id' })), user: 'ann', set: 'acme zurich' },
  {
    q: recall({ where: [is('subject', 'alice')], pipeline: [{ order_by: 'confidence', dir: 'desc' }, { limit: 2 }] }),
    list: 'nuts dark',
  },
  { q: recall({ pipeline: ['count'] }), is: { count: 27 } },
  { q: recall({ pipeline: [{ group_by: 'relation' }] }), body: 'groups' },
  { q: recall({ where: [is('subject', 'gina')], pipeline: [{ select: ['object'] }] }), set: 'cats' },
  { q: recall({ where: [is('subject', 'frank')], with: ['superseded'] }), set: 'lyon paris nice' },
  { q: recall({ where: [is('subject', 'gina')], with: [{ dedup: 'subject' }] }), set: 'cats' },
  { q: recall({ where: [is('subject', 'gina')], with: ['anything'] }), code: 'E002' },
  { q: recall({ where: [is('subject', 'gina')], as: 'text' }), content: '[belief] gina admires cats (0.25)' },
  {
    q: recall({ where: [is('subject', 'gina')], as: [{ format: 'text', alias: 't' }] }),
    is: { formats: { t: '[belief] gina admires cats (0.25)' } },
  },
  { q: JSON.stringify({ statement: 'recall', grain_type: 'events', recent: 1 }), list: 'boiler' },
  { q: JSON.stringify({ statement: 'recall', grain_type: 'events', thread: 's1' }), list: 'ev1 ev2 ev3 ev4' },
  {
    q: JSON.stringify({ statement: 'recall', grain_type: 'events', thread: { from: '@ev2@' } }),
    list: 'ev1 ev2 ev3 ev4',
  },
  { q: JSON.stringify({ statement: 'recall', grain_type: 'events', since: 'last 2 hours' }), list: 'boiler' },
  { q: JSON.stringify({ statement: 'recall', grain_type: 'events', between: [0, 5] }), set: '' },
  { q: recall({ contradictions: true, where: [is('subject', 'erin')] }), set: 'oslo' },
  {
    q: JSON.stringify({
      statement: 'set_op',
      op: 'except',
      operands: [
        { statement: 'recall', grain_type: 'beliefs', where: [is('subject', 'alice')] },
        { statement: 'recall', grain_type: 'beliefs', where: [is('relation', 'works_at')] },
      ],
    }),
    set: 'dark tea nuts zurich',
    type: 'set_op',
  },
  {
    q: JSON.stringify({
      statement: 'assemble',
      name: 'n',
      for: 'i',
      from: [{ label: 'a', query: GINA }],
      budget: { value: 5, unit: 'grains' },
      priority: ['a'],
      format: 'text',
    }),
    count: 1,
    is: { context: 'n', intent: 'i' },
  },
  {
    q: JSON.stringify({ let: [{ name: 'g', query: GINA }], statement: 'assemble', from: [{ label: 'a', let: 'g' }] }),
    count: 1,
  },
  {
    q: JSON.stringify({
      let: [{ name: 'g', query: GINA, extract: 'subjects' }],
      ...GINA,
      where: [{ field: 'subject', op: 'in', value: [{ $param: 'g' }] }],
    }),
    set: 'cats',
  },
  { q: JSON.stringify({ statement: 'exists', hash: '@dark@' }), is: { exists: true } },
  { q: JSON.stringify({ statement: 'exists', hash: { $hash: '@dark@' } }), is: { exists: true } },
  { q: JSON.stringify({ statement: 'history', hash: '@lyon@' }), count: 3 },
  { q: JSON.stringify({ statement: 'history', hash: '@dark@', diff: '@dark@' }), body: 'diff' },
  {
    q: JSON.stringify({ statement: 'history', subject: 'frank', relation: 'lives_in', as_of: '2099-01-01' }),
    count: 3,
  },
  { q: JSON.stringify({ statement: 'explain', query: GINA }), type: 'explain' },
  { q: JSON.stringify({ statement: 'describe', target: 'fields', grain_type: 'goal' }), type: 'describe' },
  { q: JSON.stringify({ statement: 'describe', target: 'everything' }), code: 'E002' },
  {
    q: JSON.stringify({
      statement: 'batch',
      entries: [
        { label: 'a', query: GINA },
        { label: 'b', query: { statement: 'exists', hash: '@dark@' } },
      ],
    }),
    count: 2,
  },
  {
    q: JSON.stringify({ statement: 'coalesce', branches: [{ ...GINA, where: [is('subject', 'x')] }, GINA] }),
    set: 'cats',
  },
  { q: JSON.stringify({ statement: 'define_template', name: 't_j', text: '{{grain.nothing}}' }), code: 'E090' },
  {
    q: JSON.stringify({
      statement: 'add',
      grain_type: 'belief',
      set: { subject: 'a', relation: 'b', object: 'c' },
      reason: 'r',
    }),
    code: 'E044',
  },
  { q: JSON.stringify({ statement: 'add', grain_type: 'belief', set: { subject: 'a' }, reason: 'r' }), code: 'E050' },
  { q: JSON.stringify({ statement: 'supersede', hash: '@dark@', set: {}, reason: 'r' }), code: 'E019 E002' },
  { q: JSON.stringify({ statement: 'revert', hash: '@dark@', reason: '' }), code: 'E018' },
  // refused as text is
  { q: '{', code: 'E002' },
  { q: '{}', code: 'E002' },
  { q: '{"statement":"recall"} x', code: 'E002' },
  { q: '{"statement":"delete"}', code: 'E002' },
  { q: '{"statement":"forget","hash":"@dark@"}', code: 'E002' },
  { q: recall({ limit: 5 }), code: 'E002' },
  { q: '{"statement":"recall","grain_type":"beliefs","__proto__":{"my":true}}', code: 'E002' },
  { q: '{"statement":"recall","constructor":1}', code: 'E002' },
  { q: '{"statement":"recall","statement":"exists"}', code: 'E002' },
  { q: recall({ grain_type: 'facts' }), code: 'E003' },
  { q: recall({ grain_type: 'belief' }), code: 'E003' },
  { q: where(is('nothing', 'x')), code: 'E004' },
  { q: where(is('role', 'x')), code: 'E060' },
  { q: where(is('subject', 5)), code: 'E020' },
  { q: where(is('subject', null)), code: 'E002 E020' },
  { q: where(is('subject', { $other: 1 })), code: 'E002' },
  { q: where({ field: 'subject', op: 'like', value: 'x' }), code: 'E002' },
  { q: where({ field: 'subject', op: 'in', value: [] }), code: 'E002' },
  { q: where({ field: 'subject', op: 'in', value: Array.from({ length: 101 }, () => 'x') }), code: 'E011' },
  { q: where(is('subject', '\u202e')), code: 'E071' },
  { q: '{"statement":"recall","about":"\\u202e"}', code: 'E071' },
  { q: '{"statement":"recall","about":"\\ud800"}', code: 'E070' },
  { q: where(is('hash', { $hash: 'sha256:0' })), code: 'E015' },
  { q: recall({ recent: 1_001 }), code: 'E010' },
  { q: recall({ recent: 5, pipeline: [{ limit: 5 }] }), code: 'E060' },
  { q: recall({ about: 'x', like: 'y' }), code: 'E060' },
  { q: recall({ pipeline: ['first', 'first', 'first', 'first', 'first', 'first'] }), code: 'E012' },
  { q: JSON.stringify(nested(3)), body: 'grains' },
  { q: JSON.stringify(nested(4)), code: 'E007' },
  { q: `{"statement":"recall","where":${'['.repeat(3_000)}${']'.repeat(3_000)}}`, code: 'E002 E007' },
  { q: '{"a":'.repeat(1_600), code: 'E002 E007' },
  { q: JSON.stringify({ statement: 'recall', about: 'x'.repeat(8_192) }), code: 'E001' },
];

contract('section 13', rows);
