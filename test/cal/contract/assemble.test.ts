// Section 11 of the contract: how ASSEMBLE selects from its sources, with the arithmetic done by hand.
import assert from 'node:assert/strict';
import { contract, type ParsedJson, type Row } from './contract.ts';
import { CANARY } from './grains.ts';

const pack = (subject: string, more = ''): string =>
  `${subject}: (RECALL beliefs WHERE subject = "${subject}"${more} ORDER BY object LIMIT 50)`;
const of = (subjects: string): string =>
  subjects
    .split(' ')
    .map((subject) => pack(subject))
    .join(', ');
/** Grains that each source of the answer has, in rank order. */
const taken = (result: ParsedJson): [string, number][] =>
  result['sources'].map(({ label, grain_count }: ParsedJson) => [label, grain_count]);
/** Section 11: an estimate of a text's tokens. */
const tokens = (text: string): number => {
  const points = [...text];
  const ascii = points.filter((point) => point < '\x80').length;
  return Math.ceil(ascii / 4) + points.length - ascii;
};

/** Properties of every assembly. */
function whole(result: ParsedJson): void {
  const { budget, sources, content, grains } = result;
  assert.ok(budget.used <= budget.total);
  assert.equal(budget.remaining, budget.total - budget.used);
  assert.ok(
    Math.abs(budget.utilization - budget.used / budget.total) < 0.01 ||
      Math.abs(budget.utilization - (100 * budget.used) / budget.total) < 1,
  );
  assert.equal(
    grains.length,
    sources.reduce((sum: number, { grain_count }: ParsedJson) => sum + grain_count, 0),
  );
  for (const [rank, source] of sources.entries()) {
    assert.ok([rank, rank + 1].includes(source.rank), `rank ${source.rank} of source ${rank}`);
    assert.equal(source.grains.length, source.grain_count);
    assert.ok(
      source.tokens_used <= source.tokens_allocated,
      `${source.label} used ${source.tokens_used} of ${source.tokens_allocated}`,
    );
  }
  if (budget.unit === 'tokens' && typeof content === 'string') {
    assert.equal(budget.used, tokens(content));
    assert.equal(result['_cal'].budget.tokens_used, budget.used);
  } else if (budget.unit === 'grains') assert.equal(budget.used, grains.length);
}

const grains = (from: string, budget: number, expected: [string, number][], more = ''): Row => ({
  q: `ASSEMBLE FROM ${from} BUDGET ${budget} grains${more}`,
  ns: 'pack',
  count: expected.reduce((sum, [, count]) => sum + count, 0),
  check: (result) => {
    assert.deepEqual(taken(result), expected);
    whole(result);
    // A source keeps its order, and its first grains.
    for (const { label, grain_count, grains: hashes } of result['sources'])
      assert.deepEqual(
        hashes.map((hash: string) => result['grains'].find((one: ParsedJson) => one['hash'] === hash).fields.object),
        Array.from({ length: grain_count }, (_, i) => `thing number ${String(i).padStart(2, '0')}`),
        label,
      );
  },
});
/** One source with a budget in tokens: as many grains as fit. */
const filled = (format: string, budget: number): Row => ({
  q: `ASSEMBLE FROM ${pack('p')} BUDGET ${budget} tokens FORMAT ${format}`,
  ns: 'pack',
  check: (result, answer) => {
    whole(result);
    const [source] = result['sources'];
    assert.equal(source.truncated, source.grain_count < 12);
    assert.equal(answer['result_count'], source.grain_count);
    if (source.grain_count === 12) return;
    // All grains are equally long, so one more would not have fitted.
    const each = Math.ceil(tokens(result['content']) / source.grain_count);
    assert.ok(tokens(result['content']) + each + 2 > budget, `${source.grain_count} grains`);
  },
});
const shares = (from: string, budget: number, expected: number[]): Row => ({
  q: `ASSEMBLE FROM ${from} BUDGET ${budget} tokens`,
  ns: 'pack',
  check: (result) => {
    whole(result);
    const allocated = result['sources'].map(({ tokens_allocated }: ParsedJson) => tokens_allocated);
    // The frame is paid first, equally from all shares; the rest is divided by the weights.
    const sum = allocated.reduce((one: number, other: number) => one + other, 0);
    assert.ok(sum <= budget && sum > budget - 60, `${allocated} of ${budget}`);
    for (const [i, share] of expected.entries())
      assert.ok(Math.abs(allocated[i] / sum - share / budget) < 0.06, `${allocated}, not ${expected}`);
  },
});

const rows: Row[] = [
  // Steps 3 to 7, in grains
  grains(of('p'), 5, [['p', 5]]),
  grains(of('p q'), 10, [
    ['p', 7],
    ['q', 3],
  ]),
  grains(of('p q'), 1, [
    ['p', 1],
    ['q', 0],
  ]),
  grains(of('p q'), 2, [
    ['p', 1],
    ['q', 1],
  ]),
  grains(of('p q r'), 10, [
    ['p', 5],
    ['q', 3],
    ['r', 2],
  ]),
  grains(of('p q r'), 7, [
    ['p', 4],
    ['q', 2],
    ['r', 1],
  ]),
  grains(of('p q r t'), 20, [
    ['p', 8],
    ['q', 6],
    ['r', 4],
    ['t', 2],
  ]),
  grains(
    of('p q'),
    10,
    [
      ['q', 7],
      ['p', 3],
    ],
    ' PRIORITY q > p',
  ),
  grains(
    of('p q r'),
    10,
    [
      ['r', 5],
      ['p', 3],
      ['q', 2],
    ],
    ' PRIORITY r',
  ),
  // p has one: nine go by 65 to 35 of the rest
  grains(`p: (RECALL beliefs WHERE subject = "p" AND importance < 0.005 ORDER BY object), ${of('q')}`, 10, [
    ['p', 1],
    ['q', 9],
  ]),
  // 5, 3, 2; p takes 1, four are left over: 2.4 and 1.6, so two each
  grains(`p: (RECALL beliefs WHERE subject = "p" AND importance < 0.005 ORDER BY object), ${of('q r')}`, 10, [
    ['p', 1],
    ['q', 5],
    ['r', 4],
  ]),
  // nobody's share is left over among the others until nothing is
  grains(`none: (RECALL beliefs WHERE subject = "nobody"), ${of('q r')}`, 10, [
    ['none', 0],
    ['q', 6],
    ['r', 4],
  ]),
  grains(of('p q'), 24, [
    ['p', 12],
    ['q', 12],
  ]),
  grains(of('p q'), 200, [
    ['p', 12],
    ['q', 12],
  ]),
  // five sources: 0.6 to the power of the rank; 8.67, 5.20, 3.12, 1.87, 1.12 of 20
  {
    q: `ASSEMBLE FROM ${of('p q r t u')} BUDGET 20 grains`,
    ns: 'pack',
    check: (result) =>
      assert.deepEqual(taken(result), [
        ['p', 9],
        ['q', 5],
        ['r', 3],
        ['t', 2],
        ['u', 1],
      ]),
  },
  // Step 2: a grain of two sources stays in the higher-ranked one
  {
    q: `ASSEMBLE FROM all: (RECALL beliefs WHERE subject = "p" LIMIT 50), some: (RECALL beliefs WHERE subject = "p" AND importance < 0.035) BUDGET 50 grains PRIORITY some > all`,
    ns: 'pack',
    check: (result) =>
      assert.deepEqual(taken(result), [
        ['some', 4],
        ['all', 8],
      ]),
  },
  {
    q: `ASSEMBLE FROM ${of('p q')} BUDGET 50 grains WITH dedup(object)`,
    ns: 'pack',
    check: (result) =>
      assert.deepEqual(taken(result), [
        ['p', 12],
        ['q', 0],
      ]),
  },
  {
    q: `ASSEMBLE FROM ${of('p q')} BUDGET 50 grains WITH dedup(subject)`,
    ns: 'pack',
    check: (result) =>
      assert.deepEqual(taken(result), [
        ['p', 12],
        ['q', 12],
      ]),
  },
  {
    q: 'ASSEMBLE FROM goals: (RECALL goals), beliefs: (RECALL beliefs WHERE subject IN ("alice", "bob") ) BUDGET 50 grains WITH dedup(subject)',
    check: (result) =>
      assert.deepEqual(taken(result), [
        ['goals', 4],
        ['beliefs', 0],
      ]),
  },
  // Tokens
  ...['sml', 'markdown', 'text', 'toon', 'yaml', 'triples'].flatMap((format) =>
    [60, 100, 150, 4_000].map((budget) => filled(format, budget)),
  ),
  shares(of('p q'), 200, [130, 70]),
  shares(of('p q r'), 300, [150, 90, 60]),
  shares(of('p q r t'), 400, [160, 112, 80, 48]),
  {
    q: `ASSEMBLE FROM ${pack('p')} BUDGET 1 tokens`,
    ns: 'pack',
    count: 0,
    check: (result, { warnings }) =>
      assert.ok(result['content'] === '' && result['grains'].length === 0 && warnings.length > 0),
    warn: '*',
  },
  {
    q: 'ASSEMBLE FROM long: (RECALL beliefs WHERE relation = "long_is"), short: (RECALL beliefs WHERE subject = "gina") BUDGET 100 tokens',
    check: (result) => {
      assert.deepEqual(taken(result), [
        ['long', 0],
        ['short', 1],
      ]);
      assert.deepEqual(
        result['sources'].map(({ truncated }: ParsedJson) => truncated),
        [true, false],
      );
      whole(result);
    },
  },
  // The first grain that does not fit ends its source
  {
    q: 'ASSEMBLE FROM one: (RECALL beliefs WHERE subject IN ("odd", "gina") ORDER BY relation) BUDGET 60 tokens',
    check: whole,
  },

  // Contents of the answer
  {
    q: 'ASSEMBLE brief FOR "planning" FROM goals: (RECALL goals), prefs: (RECALL beliefs)',
    ns: 'show',
    type: 'assemble',
    body: 'assembled',
    count: 2,
    is: { context: 'brief', intent: 'planning', format: 'sml' },
    content:
      '<context intent="planning">\n\n  <goal subject="alice" state="active" deadline="2031-03-04">complete Q1 review</goal>\n\n  <belief subject="alice" confidence="0.9">prefers dark mode</belief>\n\n</context>',
    check: (result) => {
      whole(result);
      assert.deepEqual([result['budget'].total, result['budget'].unit], [4_000, 'tokens']);
      assert.deepEqual(
        result['sources'].map(({ label, truncated }: ParsedJson) => [label, truncated]),
        [
          ['goals', false],
          ['prefs', false],
        ],
      );
    },
  },
  {
    q: 'ASSEMBLE brief FOR "planning" FROM goals: (RECALL goals), prefs: (RECALL beliefs) PRIORITY prefs FORMAT markdown',
    ns: 'show',
    content:
      '## Context: planning\n\n**Beliefs**\n- alice prefers dark mode (confidence: 0.9)\n\n**Goals**\n- alice: complete Q1 review (active)',
  },
  {
    q: 'ASSEMBLE brief FROM (RECALL beliefs) FORMAT markdown',
    ns: 'show',
    content: '## Context: brief\n\n**Beliefs**\n- alice prefers dark mode (confidence: 0.9)',
  },
  {
    q: 'ASSEMBLE brief FROM goals: (RECALL goals), prefs: (RECALL beliefs)',
    ns: 'show',
    check: ({ content }) => assert.ok(content.startsWith('<context>\n')),
  },
  {
    q: 'ASSEMBLE FOR "a \\"b\\" <c> & d" FROM (RECALL beliefs)',
    ns: 'show',
    check: ({ content }) =>
      assert.ok(content.startsWith('<context intent="a &quot;b&quot; &lt;c&gt; &amp; d">\n'), content),
  },
  { q: 'ASSEMBLE FROM (RECALL beliefs WHERE subject = "nobody")', content: '<context>\n\n</context>', count: 0 },
  {
    q: 'ASSEMBLE brief FOR "planning" FROM goals: (RECALL goals), prefs: (RECALL beliefs) FORMAT toon',
    ns: 'show',
    check: (result) => {
      const { content, budget } = result;
      assert.equal(
        content,
        `context: brief\nintent: planning\ntokens: ${budget.used}/4000\ngoals[1]{subject,content,state}:\n  alice,complete Q1 review,active\nbeliefs[1]{subject,content,confidence}:\n  alice,prefers dark mode,0.9`,
      );
      whole(result);
    },
  },
  {
    q: 'ASSEMBLE FROM (RECALL beliefs) FORMAT [sml, json AS j]',
    ns: 'show',
    check: (result) => {
      assert.deepEqual(Object.keys(result['formats']), ['sml', 'j']);
      assert.ok(!('content' in result) && Array.isArray(result['formats'].j));
    },
  },
  {
    q: 'ASSEMBLE FROM (RECALL beliefs) FORMAT json',
    ns: 'show',
    is: {
      content: [{ type: 'belief', subject: 'alice', relation: 'mg:prefers', object: 'dark mode', confidence: 0.9 }],
    },
  },
  // Step 8: levels
  {
    q: 'ASSEMBLE FROM (RECALL beliefs) BUDGET 999 tokens WITH progressive_disclosure',
    ns: 'show',
    is: { disclosure: 'summary' },
    content: '<context>\n\n  <belief subject="alice">prefers dark mode</belief>\n\n</context>',
  },
  {
    q: 'ASSEMBLE FROM (RECALL beliefs) BUDGET 1000 tokens WITH progressive_disclosure',
    ns: 'show',
    is: { disclosure: 'standard' },
  },
  { q: 'ASSEMBLE FROM (RECALL beliefs) BUDGET 100 tokens', ns: 'show', is: { disclosure: 'standard' } },
  {
    q: 'ASSEMBLE FROM (RECALL beliefs) BUDGET 999 tokens WITH progressive_disclosure(full)',
    ns: 'show',
    is: { disclosure: 'full' },
  },
  // Options: after the sources, and inside one
  {
    q: 'ASSEMBLE FROM said: (RECALL events), who: (RECALL beliefs WHERE subject = "alice") BUDGET 9 grains WITH explanation',
    ns: 'show',
    check: ({ grains: [event, belief] }) => {
      assert.match(event.explanation, /events/);
      assert.match(belief.explanation, /subject/);
    },
  },
  {
    q: 'ASSEMBLE FROM a: (RECALL beliefs WITH explanation, progressive_disclosure(full)) FORMAT text',
    ns: 'show',
    content: '[belief] alice prefers dark mode (0.9)',
    warn: 'W004 W004',
    check: ({ grains: [belief] }) => assert.equal(belief.explanation, undefined),
  },
  // Shares enlarged for summaries do not exceed the budget
  ...['PRIORITY p', 'PRIORITY r > q'].flatMap((priority) =>
    [60, 90, 140].map(
      (budget): Row => ({
        q: `ASSEMBLE FROM ${of('p q r t')} BUDGET ${budget} tokens ${priority} FORMAT markdown WITH progressive_disclosure(full)`,
        ns: 'pack',
        check: (result) => {
          whole(result);
          const allocated = result['sources'].reduce(
            (sum: number, one: ParsedJson) => sum + one['tokens_allocated'],
            0,
          );
          assert.ok(allocated <= budget, `${allocated} of ${budget}`);
        },
      }),
    ),
  ),
  // Bounds and order
  { q: `ASSEMBLE FROM ${Array.from({ length: 8 }, () => '(RECALL goals)').join(', ')}`, count: 4 },
  { q: `ASSEMBLE FROM ${Array.from({ length: 9 }, () => '(RECALL goals)').join(', ')}`, code: 'E032' },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 0 tokens', code: 'E033' },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 16000 tokens', count: 4 },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 16001 tokens', code: 'E033' },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 201 grains', code: 'E033' },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 200 grains', count: 4 },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 5', code: 'E002' },
  { q: 'ASSEMBLE FROM (RECALL goals) BUDGET 5 words', code: 'E002' },
  { q: 'ASSEMBLE FROM a: (RECALL goals), a: (RECALL beliefs)', code: 'E034' },
  { q: 'ASSEMBLE FROM (RECALL goals), s0: (RECALL beliefs)', code: 'E034' },
  { q: 'ASSEMBLE FROM a: (RECALL goals) PRIORITY b', code: 'E035' },
  { q: 'ASSEMBLE FROM a: (RECALL goals), b: (RECALL beliefs) PRIORITY a > a', code: 'E002 E034 E035' },
  { q: `ASSEMBLE ${'n'.repeat(64)} FROM (RECALL goals)`, count: 4 },
  { q: `ASSEMBLE ${'n'.repeat(65)} FROM (RECALL goals)`, code: 'E002' },
  { q: `ASSEMBLE FOR "${'é'.repeat(256)}" FROM (RECALL goals)`, count: 4 },
  { q: `ASSEMBLE FOR "${'é'.repeat(257)}" FROM (RECALL goals)`, code: 'E002' },
  { q: 'ASSEMBLE FROM (RECALL goals) FORMAT sml BUDGET 500 tokens', code: 'E002' },
  { q: 'ASSEMBLE FROM a: (RECALL goals) PRIORITY a BUDGET 500 tokens', code: 'E002' },
  { q: 'ASSEMBLE FROM a: (RECALL goals) WITH dedup(subject) FORMAT sml', code: 'E002' },
  { q: 'ASSEMBLE x', code: 'E002' },
  { q: 'ASSEMBLE FROM', code: 'E002' },
  { q: 'ASSEMBLE FROM (RECALL goals | COUNT)', code: 'E021 E002' },
  { q: 'ASSEMBLE FROM (EXISTS @dark@)', code: 'E002' },
  { q: 'ASSEMBLE FROM $nothing', code: 'E008' },
  { q: 'LET $a = RECALL beliefs | SUBJECTS; ASSEMBLE FROM $a', code: 'E020 E021' },
  { q: 'LET $a = RECALL goals; ASSEMBLE FROM x: ($a)', count: 4 },
  { q: 'LET $a = RECALL goals; ASSEMBLE FROM x: $a', count: 4 },
  // 17: streaming
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM', code: 'E079' },
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM { progress, budget, chunks, all }', code: 'E079' },
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM { chunk_size = 20 }', code: 'E079' },
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM { chunk_size = 19 }', code: 'E078' },
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM { chunk_size = 1001 }', code: 'E078' },
  { q: 'ASSEMBLE FROM (RECALL goals) STREAM { pictures }', code: 'E077' },
  // No text contains a hash, a namespace or a user
  ...['sml', 'markdown', 'text', 'json', 'yaml', 'triples', 'toon'].map(
    (format): Row => ({
      q: `ASSEMBLE FROM (RECALL LIMIT 1000) FORMAT ${format} WITH progressive_disclosure(full)`,
      warn: '*',
      check: ({ content }) => assert.ok(!new RegExp(`[0-9a-f]{64}|${CANARY}|\\bhome\\b`).test(JSON.stringify(content))),
    }),
  ),
];

contract('section 11', rows);
