// A query's text output as seen by callers: formats, templates and budgets, on a real store.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { FORMAT_SYNONYMS, FORMATS } from '../../src/engine/cal/ast.ts';
import { VARIABLES } from '../../src/engine/cal/output/template-variables.ts';
import { tokenCounter } from '../../src/engine/cal/output/tokenizer.ts';
import { ESTIMATE } from '../../src/engine/cal/output/tokens.ts';
import { temporaryMemory } from './memory.ts';

const SOURCES =
  'FROM beliefs: (RECALL beliefs WHERE subject = "alice" LIMIT 20), goals: (RECALL goals LIMIT 10), ' +
  'said: (RECALL events RECENT 10)';

describe('output', () => {
  const opened = temporaryMemory(before);
  const ask = (query: string, options = {}) => opened.memory.ask(query, { namespace: 'home', ...options });

  test('every format answers a recall and an assembly, JSON with data', () => {
    for (const format of ['sml', 'markdown', 'text', 'json', 'yaml', 'triples', 'toon']) {
      const recalled = ask(`RECALL beliefs LIMIT 5 AS ${format}`).result;
      const assembled = ask(`ASSEMBLE ctx FOR "why" ${SOURCES} BUDGET 900 tokens FORMAT ${format}`).result;
      for (const { content } of [recalled, assembled]) {
        assert.equal(typeof content, format === 'json' ? 'object' : 'string', format);
        assert.ok(content.length > 0, format);
        assert.doesNotMatch(JSON.stringify(content), /sha256:|[0-9a-f]{64}/);
      }
      assert.deepEqual([recalled['type'], assembled['type']], ['formatted', 'assembled']);
    }
  });

  test('a budget bounds the output, by the estimate and by a tokenizer', () => {
    for (const name of ['estimate', 'o200k_base'] as const) {
      const counter = tokenCounter(name);
      for (const budget of [1, 10, 60, 200, 900])
        for (const format of ['sml', 'markdown', 'toon', 'TEMPLATE "{{grain.content}} {{grain.tags}}"']) {
          const query = `ASSEMBLE ctx ${SOURCES} BUDGET ${budget} tokens PRIORITY said > goals FORMAT ${format}`;
          const { result } = ask(query, { session: { tokens: name } });
          assert.ok(counter.count(result['content']) <= budget, `${name}: ${query}`);
          assert.equal(result['budget'].used, counter.count(result['content']));
        }
    }
    assert.equal(tokenCounter('estimate'), ESTIMATE);
  });

  test('DESCRIBE capabilities names the token counter', () => {
    const counted = (session: object) => ask('DESCRIBE capabilities', { session }).result['info'].token_counter;
    assert.deepEqual([counted({}), counted({ tokens: 'cl100k_base' })], ['estimate', 'cl100k_base']);
  });

  test('a list of formats is rendered at once, under its keys', () => {
    const { result } = ask(`ASSEMBLE ctx ${SOURCES} FORMAT [sml, json AS data, TEMPLATE "* {{grain.content}}"]`);
    assert.deepEqual(Object.keys(result['formats']), ['sml', 'data', 'template']);
    const lines = result['formats'].template.split('\n').filter((line: string) => line.startsWith('* '));
    assert.equal(lines.length, result['formats'].data.length);
    assert.equal('content' in result, false);
  });

  test('a template in sections, as the query defines it', () => {
    const { result } = ask(
      'RECALL goals LIMIT 3 AS TEMPLATE {\n  HEADER {\nGoals:\n  }\n  ELEMENT {\n- {{grain.content}} [{{grain.type}}]\n  }\n' +
        '  FOOTER {\n({{assembly.grain_count}})\n  }\n}',
    );
    const lines = result['content'].split('\n');
    assert.deepEqual([lines[0], lines.at(-1), lines.length], ['Goals:', '(3)', 5]);
    for (const line of lines.slice(1, -1)) assert.match(line, /^- .+ \[goal\]$/);
  });

  test('every example of the guide is answered', () => {
    const guide = readFileSync(new URL('../../docs/cal-output.md', import.meta.url), 'utf8');
    const examples = [...guide.matchAll(/^```cal\n(.*?)^```$/gms)].map((match) => match[1]!);
    assert.ok(examples.length >= 4);
    for (const example of examples) assert.ok(ask(example).count > 0, example);
  });

  test('the guide names every variable and every format', () => {
    const guide = readFileSync(new URL('../../docs/cal-output.md', import.meta.url), 'utf8');
    for (const name of [...VARIABLES, ...FORMATS, ...Object.keys(FORMAT_SYNONYMS)])
      assert.ok(guide.includes(`\`${name}\``), name);
  });

  test('the same query over the same grains gives the same text', () => {
    const query = `ASSEMBLE ctx ${SOURCES} BUDGET 300 tokens WITH progressive_disclosure(full), summarize`;
    assert.deepEqual(ask(query).result['content'], ask(query).result['content']);
  });
});
