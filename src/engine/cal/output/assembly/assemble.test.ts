import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../../test/support/runs.ts';
import { FORMATS } from '../../ast.ts';
import type { Rendering } from '../formats/choice.ts';
import type { CalGrain } from '../grain.ts';
import { ESTIMATE, type TokenCounter } from '../tokens.ts';
import { EACH_TYPE, grainOf, HOSTILE, NOW_MS, named, templated } from '../types.fixture.ts';
import { assemble } from './assemble.ts';
import type { Assembly } from './assembly.ts';
import { ranked, withoutRepeats } from './ranking.ts';

const beliefs = (count: number, words = 12): CalGrain[] =>
  Array.from({ length: count }, (_, i) => ({
    ...grainOf('0', 'belief', { subject: 'alice', relation: 'knows', object: `${i} `.padEnd(words * 5, 'word ') }),
    hash: i.toString(16).padStart(64, '0'),
  }));

function plan(more: Partial<Assembly>): Assembly {
  return { sources: [], priority: [], renderings: [named('text')], level: 'standard', nowMs: NOW_MS, ...more };
}

const grains = (label: string, some: readonly CalGrain[]) => ({ label, grains: some });
const other = (some: readonly CalGrain[]): CalGrain[] =>
  some.map((grain) => ({ ...grain, hash: `f${grain.hash.slice(1)}` }));

test('D-29: an assembly without FORMAT uses SML', () => {
  const { renderings } = assemble(plan({ sources: [grains('a', beliefs(1))], renderings: undefined }));
  assert.deepEqual([renderings.length, renderings[0]!.key, renderings[0]!.format], [1, 'sml', 'sml']);
  assert.match(String(renderings[0]!.content), /^<context>\n\n {2}<belief /);
});

test('D-42: without BUDGET the budget is 4000 tokens', () => {
  const { budget } = assemble(plan({ sources: [grains('a', beliefs(1000))] }));
  assert.deepEqual([budget.unit, budget.total], ['tokens', 4000]);
  assert.ok(budget.used > 3800 && budget.used <= 4000, `${budget.used}`);
});

test('D-43: a budget of grains is divided by the same weights', () => {
  const sources = [grains('a', beliefs(100)), grains('b', other(beliefs(100)))];
  const {
    sources: given,
    grains: included,
    budget,
  } = assemble(plan({ sources, budget: { value: 20, unit: 'grains' } }));
  assert.deepEqual(
    given.map(({ grainCount }) => grainCount),
    [13, 7],
  );
  assert.deepEqual([included.length, budget.used, budget.remaining, budget.utilization], [20, 20, 0, 1]);
});

test('each source fills its share in its own order, up to the first grain that does not fit', () => {
  const sources = [grains('low', beliefs(50)), grains('high', other(beliefs(50)))];
  const result = assemble(plan({ sources, priority: ['high'], budget: { value: 1000, unit: 'tokens' } }));
  assert.deepEqual(
    result.sources.map(({ label, rank }) => [label, rank]),
    [
      ['high', 1],
      ['low', 2],
    ],
  );
  const [high, low] = result.sources;
  assert.ok(high!.tokensUsed <= 650 && high!.tokensUsed > 600 && low!.tokensUsed <= 350 && low!.tokensUsed > 300);
  assert.deepEqual(
    high!.hashes,
    sources[1]!.grains.slice(0, high!.grainCount).map(({ hash }) => hash),
  );
  assert.ok(high!.truncated && low!.truncated);
});

test('the unused share of a source goes to sources that have more grains', () => {
  const sources = [grains('small', beliefs(1)), grains('large', other(beliefs(50)))];
  const { sources: given, budget } = assemble(plan({ sources, budget: { value: 900, unit: 'tokens' } }));
  assert.equal(given[0]!.grainCount, 1);
  assert.ok(given[1]!.tokensUsed > 315, 'more than its 35 %');
  assert.ok(budget.used > 850, `${budget.used}`);
  assert.ok(given.reduce((sum, { tokensAllocated }) => sum + tokensAllocated, 0) <= 900);
  for (const { tokensAllocated, tokensUsed } of given) assert.ok(tokensUsed <= tokensAllocated);
});

test('the share of a source that failed goes to the others', () => {
  const sources = [
    { label: 'gone', grains: [], failed: true },
    grains('a', beliefs(50)),
    grains('b', other(beliefs(50))),
  ];
  const { sources: given } = assemble(plan({ sources, budget: { value: 1000, unit: 'tokens' } }));
  assert.equal(given[0]!.tokensAllocated, 0);
  assert.ok(given[1]!.tokensUsed > 500 && given[2]!.tokensUsed > 300);
});

test('a budget without room for the frame gives no text and reports it', () => {
  const result = assemble(
    plan({ sources: [grains('a', beliefs(3))], renderings: [named('sml')], budget: { value: 2, unit: 'tokens' } }),
  );
  assert.deepEqual([result.renderings[0]!.content, result.grains, result.tokensUsed], ['', [], 0]);
  assert.match(result.warnings[0]!, /no room for the frame/);
});

test('D-35: ELEMENT_SUMMARY renders a squeezed grain, ELEMENT_OMIT one without room', () => {
  const sections = {
    header: '',
    element: 'whole {{grain.content}} {{grain.content}}',
    element_summary: 'short {{grain.object}}',
    element_omit: 'gone',
  };
  const rendering = templated({ sections });
  const { renderings, sources } = assemble(
    plan({ sources: [grains('a', beliefs(9))], renderings: [rendering], budget: { value: 100, unit: 'tokens' } }),
  );
  const lines = String(renderings[0]!.content)
    .split('\n')
    .map((line) => line.split(' ')[0]);
  assert.deepEqual([...new Set(lines)], ['whole', 'short', 'gone']);
  assert.equal(sources[0]!.grainCount, lines.filter((word) => word !== 'gone').length);
});

test('progressive disclosure squeezes grains that do not fit, in the same shape', () => {
  const long = beliefs(20).map((grain) => ({ ...grain, fields: { ...grain.fields, tags: ['a'.repeat(60)] } }));
  const more = [300, 320, 340, 360].map((value) => {
    const wanted = plan({
      ...{ sources: [grains('a', long)], renderings: [named('sml')], level: 'full' },
      budget: { value, unit: 'tokens' },
    });
    const squeezed = assemble({ ...wanted, squeezes: true });
    assert.ok(squeezed.tokensUsed <= value);
    const added = squeezed.grains.length - assemble(wanted).grains.length;
    if (added > 0)
      assert.match(String(squeezed.renderings[0]!.content), /tags="a+">.*\n {2}<belief subject="alice">knows/);
    return added;
  });
  assert.ok(more.every((added) => added >= 0) && more.some((added) => added > 0), `${more}`);
});

test('several formats contain the same grains, each within the budget, JSON as data', () => {
  const wanted = plan({
    ...{ sources: [grains('a', beliefs(40))], renderings: [named('sml'), named('json'), named('text')] },
    budget: { value: 400, unit: 'tokens' },
  });
  const { renderings, grains: included } = assemble(wanted);
  const [sml, json, text] = renderings.map(({ content }) => content);
  assert.ok(Array.isArray(json));
  assert.equal(json.length, included.length);
  assert.equal(String(text).split('\n').length, included.length);
  assert.equal(String(sml).match(/<belief /g)?.length, included.length);
});

test('a template whose header grows with every grain still shows as many grains as fit', () => {
  const sections = { header: '{{#each}}{{grain.object}}{{/each}} {{budget.used}}', element: 'x' };
  const wanted = plan({ sources: [grains('a', beliefs(200))], renderings: [templated({ sections })] });
  for (const value of [100, 500, 2_000]) {
    const { grains: included, tokensUsed } = assemble({ ...wanted, budget: { value, unit: 'tokens' } });
    // Each takes 15 tokens of header and one of its own.
    assert.ok(tokensUsed <= value && included.length >= Math.floor(value / 17), `${included.length} of ${value}`);
  }
});

test('W005: a server that may choose takes TOON when the budget is nearly spent, and reports it', () => {
  const wanted = plan({
    ...{ sources: [grains('a', beliefs(40))], renderings: [named('sml')], autoToon: true },
    budget: { value: 500, unit: 'tokens' },
  });
  const switched = assemble(wanted);
  assert.match(switched.warnings[0]!, /^CAL-W005: /);
  assert.match(String(switched.renderings[0]!.content), /^tokens: \d+\/500\nbeliefs\[\d+\]/);
  for (const kept of [
    { ...wanted, autoToon: false },
    { ...wanted, budget: { value: 16_000, unit: 'tokens' } as const },
    { ...wanted, sources: [grains('a', [...beliefs(40), ...EACH_TYPE])] },
  ])
    assert.equal(assemble(kept).renderings[0]!.format, 'sml');
});

test('a summary has one line per source and covers every grain found', () => {
  const sources = [grains('a', EACH_TYPE.slice(0, 2)), grains('none', [])];
  const { sources: given } = assemble(plan({ sources, summarizes: true, budget: { value: 1, unit: 'tokens' } }));
  assert.deepEqual(
    given.map(({ summary }) => summary),
    ['alice prefers dark mode', undefined],
  );
  assert.equal('summary' in assemble(plan({ sources })).sources[0]!, false);
});

test('TOON reports exactly how many tokens it takes', () => {
  for (const value of [60, 105, 1_010, 9_990, 16_000]) {
    const { renderings, tokensUsed } = assemble(
      plan({ sources: [grains('a', beliefs(1000))], renderings: [named('toon')], budget: { value, unit: 'tokens' } }),
    );
    assert.equal(/^tokens: (\d+)\//.exec(String(renderings[0]!.content))?.[1], String(tokensUsed));
    assert.equal(ESTIMATE.count(String(renderings[0]!.content)), tokensUsed);
  }
});

// ---- properties over any grains, budgets, formats and tokenizers

/**
 * A tokenizer whose count is not the sum of its parts: every word costs, and repeated letters cost more across borders.
 */
const UNEVEN: TokenCounter = {
  name: 'uneven',
  count: (text) => (text.match(/\w{1,3}|\s+|[^\w\s]/g)?.length ?? 0) + (text.match(/>\s+</g)?.length ?? 0) * 2,
};

const templates: readonly Rendering[] = [
  templated({ text: '{{grain.content}}' }),
  templated({
    sections: {
      header: 'H {{assembly.name}} {{assembly.grain_count}} {{#each}}[{{grain.type}}]{{/each}}',
      element: '{{source.truncated}} {{grain.content}} {{budget.remaining}} of {{budget.total}}',
      element_summary: '{{grain.type}}',
      element_omit: '- {{grain.type}} left out',
      source_break: '--- {{source.label}} {{source.tokens_used}}',
      footer: 'used {{budget.used}} ({{budget.utilization}})',
    },
  }),
  templated({ sections: { footer: 'end' } }, { extends: 'structured' }),
];

const someText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.lorem({ maxCount: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
);
const grain = fc
  .tuple(fc.constantFrom(...EACH_TYPE), someText, fc.integer({ min: 0, max: 60 }))
  .map(([like, text, number]): CalGrain => {
    const fields = { ...like.fields };
    for (const name of ['object', 'content', 'description', 'conclusion', 'agreed_content', 'subject', 'role'])
      if (typeof fields[name] === 'string') fields[name] = text;
    return { ...like, fields, hash: number.toString(16).padStart(64, '0') };
  });
const assembly = fc.record({
  sources: fc
    .array(fc.array(grain, { maxLength: 25 }), { minLength: 1, maxLength: 8 })
    .map((all) => all.map((some, i) => ({ label: `s${i}`, grains: some }))),
  priority: fc.constantFrom<string[]>([], ['s0']),
  budget: fc.oneof(
    fc.record({ value: fc.integer({ min: 1, max: 16_000 }), unit: fc.constant('tokens' as const) }),
    fc.record({ value: fc.integer({ min: 1, max: 400 }), unit: fc.constant('tokens' as const) }),
    fc.record({ value: fc.integer({ min: 1, max: 200 }), unit: fc.constant('grains' as const) }),
  ),
  renderings: fc.array(fc.constantFrom(...FORMATS.map(named), ...templates), { minLength: 1, maxLength: 3 }),
  level: fc.constantFrom('summary' as const, 'standard' as const, 'full' as const),
  squeezes: fc.boolean(),
  autoToon: fc.boolean(),
  dedupField: fc.constantFrom(undefined, 'subject'),
  name: fc.constantFrom(undefined, 'ctx'),
  intent: fc.oneof(fc.constant(undefined), someText),
  counter: fc.constantFrom(ESTIMATE, UNEVEN),
});

test('no result exceeds its budget, splits a grain or changes the order of a source', () => {
  fc.assert(
    fc.property(assembly, (wanted) => {
      const result = assemble({ ...wanted, nowMs: NOW_MS });
      const { unit, value } = wanted.budget;
      for (const { content } of result.renderings) {
        const tokens = wanted.counter.count(typeof content === 'string' ? content : JSON.stringify(content));
        if (unit === 'tokens' && content.length > 0) assert.ok(tokens <= value, `${tokens} of ${value}`);
        assert.ok(tokens <= Math.max(result.tokensUsed, 2));
      }
      assert.ok(result.budget.used <= value && result.budget.remaining >= 0 && result.budget.utilization <= 1);
      const sources = withoutRepeats(ranked(wanted.sources, wanted.priority), wanted.dedupField);
      for (const [i, { hashes, grainCount, truncated, tokensUsed, tokensAllocated }] of result.sources.entries()) {
        const all = sources[i]!.grains.map(({ hash }) => hash);
        assert.deepEqual(hashes, all.slice(0, grainCount));
        assert.equal(truncated, grainCount < all.length);
        assert.ok(tokensUsed >= 0 && tokensAllocated >= 0);
      }
      assert.deepEqual(
        result.grains.map(({ hash }) => hash),
        result.sources.flatMap(({ hashes }) => hashes),
      );
      assert.deepEqual(assemble({ ...wanted, nowMs: NOW_MS }), result, 'the assembly is reproducible');
    }),
    { numRuns: runs(250) },
  );
});
