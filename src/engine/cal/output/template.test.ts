import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import type { Sections } from '../ast.ts';
import { CalError } from '../errors.ts';
import { assemble } from './assembly/assemble.ts';
import type { CalGrain } from './grain.ts';
import { renderGrains } from './render.ts';
import { checkTemplate, TEMPLATE_BYTES_MAX } from './template.ts';
import { VARIABLES } from './template-variables.ts';
import { EACH_TYPE, grainOf, HOSTILE, NOW_MS, templated } from './types.fixture.ts';

const belief = EACH_TYPE[0]!;

function render(text: string, grains: readonly CalGrain[] = [belief], parent = 'compact'): string {
  const rendering = templated({ text }, { extends: parent });
  const { renderings } = renderGrains(grains, [rendering], { nowMs: NOW_MS, level: 'standard' });
  return String(renderings[0]!.content);
}

test('a template has variables, sections, inverted sections and notes', () => {
  const cases: Record<string, string> = {
    '{{grain.content}}': 'prefers dark mode',
    '{{ grain.subject }}|{{grain.relation}}|{{grain.humanized_relation}}': 'alice|mg:prefers|prefers',
    '{{grain.confidence}} {{grain.importance}} {{grain.score}}': '0.92 0.7 1',
    '{{grain.tags}}; {{grain.created_at}}; {{grain.relative_time}}': 'ui, settings; 2026-03-09T06:00:00Z; yesterday',
    'a{{! not shown }}b': 'ab',
    '{{#grain.tags}}tagged{{/grain.tags}}{{^grain.tags}}bare{{/grain.tags}}': 'tagged',
    '{{#assembly.name}}named{{/assembly.name}}{{^assembly.name}}nameless{{/assembly.name}}': 'nameless',
    '{{budget.total}}{{source.label}}{{timestamp}}': '2026-03-10T12:00:00Z',
    '{{#grain.is_full}}full{{/grain.is_full}}{{disclosure.level}}': 'standard',
    '{{#each}}<{{grain.type}}>{{/each}}': '<belief>',
    'one } two }} { three': 'one } two }} { three',
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(render(text), expected, text);
});

test('every variable of the closed set is allowed in every section, and has its value where there is one', () => {
  const all = VARIABLES.map((name) => `${name}={{${name}}}`).join(';');
  const names = ['header', 'element', 'element_summary', 'element_omit', 'source_break', 'footer'] as const;
  for (const name of names) checkTemplate({ sections: { element: 'x', [name]: all } });
  const sources = ['a', 'b'].map((label, i) => ({ label, grains: [EACH_TYPE[i]!] }));
  const sections = { header: '', element: all, source_break: all };
  const { renderings } = assemble({
    ...{ sources, priority: ['b'], nowMs: NOW_MS, level: 'standard', name: 'n', intent: 'i' },
    ...{ renderings: [templated({ sections }, { extends: 'compact' })] },
  });
  const lines = String(renderings[0]!.content).split('\n');
  const values = lines.map((line) => Object.fromEntries(line.split(';').map((pair) => pair.split('='))));
  const [first, gap, second] = values;
  assert.equal(lines.length, 3);
  assert.deepEqual(Object.keys(first!), [...VARIABLES]);
  assert.deepEqual(pick(first!, 'source.label', 'source.index', 'source.priority', 'grain.subject'), [
    'b',
    '1',
    '1',
    'alice',
  ]);
  assert.deepEqual(pick(gap!, 'source.label', 'source.grain_count', 'grain.subject', 'grain.hash'), ['a', '1', '', '']);
  assert.deepEqual(pick(second!, 'source.priority', 'source.truncated', 'grain.is_full'), ['2', 'false', 'false']);
  const whole = ['assembly.name', 'assembly.intent', 'assembly.source_count', 'assembly.grain_count', 'budget.unit'];
  for (const one of values) assert.deepEqual(pick(one, ...whole), ['n', 'i', '2', '2', 'tokens']);
  assert.equal(Number(first!['budget.used']) + Number(first!['budget.remaining']), Number(first!['budget.total']));
});

function pick(values: Record<string, string>, ...names: string[]): (string | undefined)[] {
  return names.map((name) => values[name]);
}

test('E090 to E094: the template has invalid content', () => {
  const cases: Record<string, string> = {
    '{{nope}}': 'CAL-E090',
    '{{#grain.secret}}x{{/grain.secret}}': 'CAL-E090',
    '{{grain.namespace}}': 'CAL-E090',
    '{{constructor}}': 'CAL-E090',
    '{{else}}': 'CAL-E090',
    '{{#grain.tags}}x': 'CAL-E091',
    'x{{/grain.tags}}': 'CAL-E091',
    '{{#grain.tags}}{{#grain.type}}{{/grain.tags}}{{/grain.type}}': 'CAL-E091',
    [`${'{{#grain.type}}'.repeat(6)}x${'{{/grain.type}}'.repeat(6)}`]: 'CAL-E093',
    '{{#each}}{{#each}}x{{/each}}{{/each}}': 'CAL-E093',
    '{{{grain.type}}}': 'CAL-E094',
    '{{&grain.type}}': 'CAL-E094',
    '{{>partial}}': 'CAL-E094',
    '{{=<% %>=}}': 'CAL-E094',
    '{{grain.type': 'CAL-E094',
    '{{}}': 'CAL-E094',
    '{{grain.type | upper}}': 'CAL-E094',
    '{{#each grains}}x{{/each}}': 'CAL-E094',
    '{{^each}}x{{/each}}': 'CAL-E094',
    ['é'.repeat(TEMPLATE_BYTES_MAX / 2 + 1)]: 'CAL-E092',
  };
  for (const [text, code] of Object.entries(cases)) {
    assert.throws(() => checkTemplate({ text }), { code }, text);
    assert.throws(() => checkTemplate({ sections: { element: 'x', footer: text } }), { code }, text);
  }
  checkTemplate({ text: `${'{{#grain.type}}'.repeat(5)}x${'{{/grain.type}}'.repeat(5)}` });
  checkTemplate({ text: 'x'.repeat(TEMPLATE_BYTES_MAX) });
});

test('E092: the sections of a template are measured together', () => {
  const half = 'x'.repeat(TEMPLATE_BYTES_MAX / 2);
  checkTemplate({ sections: { element: half, footer: half } });
  assert.throws(() => checkTemplate({ sections: { element: half, footer: `${half}x` } }), { code: 'CAL-E092' });
});

test('D-35: E096 for a summary or an omission without an element', () => {
  const without: Sections[] = [{ element_summary: 's' }, { element_omit: 'o' }, { header: 'h', element_omit: 'o' }];
  for (const sections of without) assert.throws(() => checkTemplate({ sections }), { code: 'CAL-E096' });
  checkTemplate({ sections: { element: 'e', element_summary: 's', element_omit: 'o' } });
});

test('a template extends a preset that is text, under either of its names', () => {
  for (const parent of ['readable', 'markdown', 'structured', 'sml', 'compact', 'text'])
    checkTemplate({ text: 'x' }, { extends: parent });
  for (const parent of ['data', 'json', 'toon', 'yaml', 'triples'])
    assert.throws(() => checkTemplate({ text: 'x' }, { extends: parent }), { code: 'CAL-E086' }, parent);
  assert.throws(() => checkTemplate({ text: 'x' }, { extends: 'mine' }), { code: 'CAL-E087' });
});

test('a text is an ELEMENT alone, so one line break at either end is not part of it', () => {
  assert.equal(render('- {{grain.type}}\n', EACH_TYPE.slice(0, 2)), '- belief\n- belief');
  assert.equal(render(' \n- {{grain.type}}\n\n  ', EACH_TYPE.slice(0, 2)), '- belief\n\n- belief\n');
});

test('any text is a template or is refused with a code of templates', () => {
  const part = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    '#',
    '/',
    '^',
    '!',
    'each',
    'grain.type',
    'grain.nope',
    ' ',
    'x',
    '\n',
  );
  const known = new Set(['CAL-E090', 'CAL-E091', 'CAL-E093', 'CAL-E094']);
  let rendered = 0;
  fc.assert(
    fc.property(
      fc.array(part, { maxLength: 14 }).map((parts) => parts.join('')),
      (text) => {
        try {
          checkTemplate({ text });
        } catch (error) {
          assert.ok(error instanceof CalError && known.has(error.code), String(error));
          return;
        }
        rendered++;
        assert.equal(typeof render(text), 'string');
      },
    ),
    { numRuns: runs(500) },
  );
  assert.ok(rendered > 0);
});

test('sections that a template lacks come from the one that it extends', () => {
  const assembled = (sections: Sections, parent?: string) => {
    const sources = [
      { label: 'a', grains: EACH_TYPE.slice(0, 1) },
      { label: 'b', grains: EACH_TYPE.slice(2, 3) },
    ];
    const renderings = [templated({ sections }, { extends: parent })];
    const result = assemble({ sources, priority: [], nowMs: NOW_MS, level: 'standard', intent: 'why', renderings });
    return result.renderings[0]!.content;
  };
  assert.equal(
    assembled({ element: '* {{grain.content}}' }),
    '## Context: why\n\n* prefers dark mode\n\n* Can you pull the Q1 metrics?',
  );
  assert.equal(
    assembled({ footer: '</context><!-- end -->' }, 'structured'),
    '<context intent="why">\n\n  <belief subject="alice" confidence="0.92">prefers dark mode</belief>\n\n' +
      '  <event confidence="1">Can you pull the Q1 metrics?</event>\n</context><!-- end -->',
  );
  assert.equal(
    assembled({ header: 'all:' }, 'compact'),
    'all:\n[belief] alice prefers dark mode (0.92)\n[event] Can you pull the Q1 metrics? (1)',
  );
});

test('rendering is a single pass: the content of a grain stays text, on its line', () => {
  const said = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: fc.constantFrom(...'{}#^/!.grain\n<>&" ') }));
  fc.assert(
    fc.property(said, (object) => {
      const grain = { ...belief, fields: { ...belief.fields, object } };
      const line = render('<{{grain.object}}>', [grain], 'compact');
      assert.equal(
        line,
        `<${object
          .toWellFormed()
          .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
          .trim()}>`,
      );
      const tag = render('<b a="{{grain.object}}">{{grain.object}}</b>', [grain], 'structured').split('\n')[2]!;
      assert.match(tag, /^<b a="[^"<>]*">[^<>]*<\/b>$/);
    }),
    { numRuns: runs(200) },
  );
});

test('{{#each}} repeats over the grains, at most two hundred times', () => {
  const many = Array.from({ length: 250 }, (_, i) => ({ ...belief, hash: i.toString(16).padStart(64, '0') }));
  const rendering = templated({ sections: { header: '{{#each}}.{{/each}}', element: 'x' } });
  const { renderings } = renderGrains(many, [rendering], { nowMs: NOW_MS, level: 'standard' });
  const [header, ...elements] = String(renderings[0]!.content).split('\n');
  assert.deepEqual([header?.length, elements.length], [200, 250]);
});

test('D-36: a text is at most twice the budget at four characters a token, and ends at an element', () => {
  const long = grainOf('1', 'belief', { subject: 's', relation: 'r', object: 'x'.repeat(1_000) });
  const many = Array.from({ length: 100 }, (_, i) => ({ ...long, hash: i.toString(16).padStart(64, '0') }));
  const recalled = renderGrains(many, [templated({ text: '{{grain.object}}' }, { extends: 'compact' })], {
    ...{ nowMs: NOW_MS, level: 'standard' },
  });
  const lines = String(recalled.renderings[0]!.content).split('\n');
  assert.deepEqual([lines.length, new Set(lines).size], [31, 1], '31 elements of 1001 characters fit into 8 x 4000');
  assert.match(recalled.warnings[0]!, /69 grains are left out/);
  const assembled = assemble({
    ...{ sources: [{ label: 'a', grains: many }], priority: [], nowMs: NOW_MS, level: 'standard' },
    renderings: [templated({ text: '{{grain.object}}{{grain.object}}' }, { extends: 'compact' })],
    budget: { value: 200, unit: 'grains' },
  });
  assert.ok(String(assembled.renderings[0]!.content).length <= 8 * 16_000);
  assert.equal(assembled.grains.length, 63);
});

test('D-36: no template exceeds that bound while rendering, however often it repeats a long grain', () => {
  const long = grainOf('1', 'belief', { subject: 's', relation: 'r', object: 'x'.repeat(100_000) });
  const many = Array.from({ length: 200 }, (_, i) => ({ ...long, hash: i.toString(16).padStart(64, '0') }));
  const greedy = `{{#each}}${'{{grain.object}}'.repeat(240)}{{/each}}`;
  const { renderings } = renderGrains(many, [templated({ sections: { header: greedy } })], {
    nowMs: NOW_MS,
    level: 'full',
  });
  assert.deepEqual([renderings[0]!.content, renderings[0]!.grainCount], ['', 0]);
});
