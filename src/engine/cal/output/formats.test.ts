// Every format over the fixture of all types, compared with golden files; and hostile texts, which must stay in their
// places.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.ts';
import { anyText } from '../../base/testing/any-text.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import { FORMATS, type FormatName } from '../ast.ts';
import { assemble } from './assembly/assemble.ts';
import { toonValue } from './formats/toon.ts';
import type { CalGrain } from './grain.ts';
import type { Level, Project } from './projection.ts';
import { renderGrains } from './render.ts';
import { EACH_TYPE, grainOf, HOSTILE, NOW_MS, named, templated } from './types.fixture.ts';

const GOLDEN = join(import.meta.dirname, '../../../../test/golden/cal');
const LEVELS: readonly Level[] = ['summary', 'standard', 'full'];

function recalled(name: FormatName, grains: readonly CalGrain[], level: Level = 'standard', project?: Project) {
  return renderGrains(grains, [named(name)], { nowMs: NOW_MS, level, project }).renderings[0]!.content;
}

function assembled(name: FormatName, grains: readonly CalGrain[], level: Level = 'standard'): string | JsonObject[] {
  const half = Math.ceil(grains.length / 2);
  const { renderings } = assemble({
    ...{ name: 'agent_context', intent: 'help "alice" & co', level, nowMs: NOW_MS, renderings: [named(name)] },
    sources: [
      { label: 'rest', grains: grains.slice(half) },
      { label: 'first', grains: grains.slice(0, half) },
    ],
    priority: ['first'],
    budget: { value: 16_000, unit: 'tokens' },
  });
  return renderings[0]!.content;
}

const shown = (content: string | JsonObject[]): string =>
  typeof content === 'string' ? content : JSON.stringify(content, undefined, 1);

for (const name of FORMATS)
  test(`${name} renders each type on every level, in a recall and in an assembly`, (t) => {
    for (const level of LEVELS) {
      const text = `${shown(recalled(name, EACH_TYPE, level))}\n----\n${shown(assembled(name, EACH_TYPE, level))}\n`;
      t.assert.fileSnapshot(text, join(GOLDEN, `${name}.${level}.txt`), { serializers: [(value) => value] });
    }
  });

test('an empty result is a frame, an empty text or empty data', () => {
  assert.equal(recalled('sml', []), '<context>\n\n</context>');
  assert.equal(
    assembled('sml', []),
    '<context intent="help &quot;alice&quot; &amp; co">\n\n</context>'.replace(
      '&quot;alice&quot;',
      '&quot;alice&quot;',
    ),
  );
  for (const name of ['markdown', 'text', 'triples', 'toon'] as const) assert.equal(recalled(name, []), '', name);
  assert.equal(recalled('yaml', []), '[]');
  assert.deepEqual(recalled('json', []), []);
});

test('D-30: no format shows a hash, a namespace or a user; a template can show a hash', () => {
  const secret = EACH_TYPE.map((grain) => ({ ...grain, namespace: 'namespace-canary', userId: 'user-canary' }));
  for (const name of FORMATS)
    for (const level of LEVELS)
      for (const content of [recalled(name, secret, level), assembled(name, secret, level)])
        assert.doesNotMatch(shown(content), /[0-9a-f]{64}|canary|sha256|\d{10}/, `${name} ${level}`);
  const asked = [templated({ text: '{{grain.hash}}' })];
  const { renderings } = renderGrains(EACH_TYPE.slice(0, 1), asked, { nowMs: NOW_MS, level: 'standard' });
  assert.equal(renderings[0]?.content, `sha256:${'1'.repeat(64)}`);
});

test('D-32: tables of an assembly follow one another without a blank line, those of a recall with one', () => {
  assert.doesNotMatch(String(assembled('toon', EACH_TYPE)), /\n\n/);
  assert.match(String(recalled('toon', EACH_TYPE)), /\n\nevents\[2\]\{role,time,content\}:\n/);
});

test('D-33: a missing value is an empty quoted text', () => {
  assert.match(String(recalled('toon', EACH_TYPE)), /^"",Nov 30,no role here$/m);
});

test('D-34: summaries leave out optional parts, full adds to every type', () => {
  const belief = EACH_TYPE.slice(0, 1);
  assert.equal(elementOf(belief, 'summary'), '<belief subject="alice">prefers dark mode</belief>');
  assert.equal(elementOf(belief, 'standard'), '<belief subject="alice" confidence="0.92">prefers dark mode</belief>');
  assert.equal(
    elementOf(belief, 'full'),
    '<belief subject="alice" confidence="0.92" source="user" observed="yesterday" importance="0.7" ' +
      'tags="ui,settings" status="verified">prefers dark mode</belief>',
  );
});

function elementOf(grains: readonly CalGrain[], level: Level): string | undefined {
  return String(recalled('sml', grains, level))
    .split('\n')[2]
    ?.trim();
}

test('instants replace ages on request', () => {
  const options = { nowMs: NOW_MS, level: 'standard', isoTimestamps: true } as const;
  const { renderings } = renderGrains(EACH_TYPE.slice(2, 3), [named('sml')], options);
  assert.match(String(renderings[0]?.content), /time="2026-03-10T11:50:00Z"/);
});

test('PROJECT shows only its fields, in its order, under the names of attributes', () => {
  const context = { 'hc:patient_id': 'P-1234', 'hc:none': '' };
  const fields = { subject: 's', content: 'elevated heart rate', observer_id: 'dr', observer_type: 'human', context };
  const grains = [grainOf('1', 'observation', fields), EACH_TYPE[0]!];
  const project: Project = {
    content: ['relation', 'object'],
    attributes: ['hc:patient_id', 'observer_id', 'confidence'],
  };
  const one = (name: FormatName) => recalled(name, grains, 'standard', project);
  assert.match(String(one('sml')), /<belief confidence="0.92">prefers dark mode<\/belief>/);
  assert.match(
    String(one('sml')),
    /<observation hc:patient_id="P-1234" observer="dr" confidence="1">elevated heart rate</,
  );
  assert.match(
    String(one('toon')),
    /^observations\[1\]\{content,hc:patient_id,observer,confidence\}:\nelevated heart rate,P-1234,dr,1$/m,
  );
  assert.match(
    String(one('markdown')),
    /^- elevated heart rate \(hc:patient_id: P-1234, observer: dr, confidence: 1\)$/m,
  );
  assert.match(String(one('text')), /^\[belief\] prefers dark mode \(confidence: 0.92\)$/m);
  assert.deepEqual((one('json') as JsonObject[])[1], {
    type: 'belief',
    relation: 'mg:prefers',
    object: 'dark mode',
    confidence: 0.92,
  });
});

test('triples leave out grains that are not triples, and report it', () => {
  const { renderings, warnings } = renderGrains(EACH_TYPE, [named('triples')], { nowMs: NOW_MS, level: 'standard' });
  assert.equal(renderings[0]?.content, 'alice\tprefers\tdark mode\nalice\tworks at\tCafé "Ł" & Co');
  assert.deepEqual(
    [renderings[0]?.grainCount, warnings],
    [2, ['triples: 13 grains have no subject, relation and object']],
  );
});

test('TOON quotes only what would otherwise be read differently', () => {
  const plain = [
    'dark mode',
    "alice's",
    'a-b',
    '3 apples',
    '05:',
    '1.2.3',
    'truth',
    'Ł',
    'v2',
    '#x',
    'a  b',
    '.5',
    '+1',
    '1e',
    '5%',
  ];
  const quoted = [
    '',
    ' a',
    'a ',
    'true',
    'False',
    'null',
    '0',
    '05',
    '1.5',
    '1e5',
    '2E-3',
    '-',
    '-1',
    '- a',
    'a,b',
    'a:b',
  ];
  for (const text of plain.filter((one) => !one.includes(':'))) assert.equal(toonValue(text), text);
  for (const text of quoted) assert.equal(toonValue(text), `"${text}"`);
  const escaped = ['a"b', 'a\\b', 'a\nb', 'a\rb', 'a\tb', '[x]', '{x}', '\u00a0a'];
  for (const text of escaped) assert.equal(JSON.parse(toonValue(text)), text);
  assert.equal(toonValue('a\u0000b\u2028c\u000bd'), 'a b c d');
  assert.deepEqual([0.9, 1, 1e21, -0, Number.NaN, Infinity].map(toonValue), [
    '0.9',
    '1',
    `1${'0'.repeat(21)}`,
    '0',
    'null',
    'null',
  ]);
});

test('YAML quotes what it would read as something other than a text', () => {
  const yamlOf = (object: string) => {
    const lines = String(recalled('yaml', [grainOf('1', 'belief', { subject: 's', relation: 'r', object })])).split(
      '\n',
    );
    return lines.find((line) => line.startsWith('  object: '))!.slice('  object: '.length);
  };
  for (const text of ['dark mode', 'Café', 'a-b', "it's", 'a/b (c)', 'truth', '東京']) assert.equal(yamlOf(text), text);
  const words = [
    'true',
    'No',
    'off',
    'NULL',
    'y',
    '~',
    '1',
    '0x1f',
    '2026-01-01',
    'a: b',
    'a #b',
    '- a',
    '? a',
    '*a',
    '&a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
    'a ',
    ' a',
    '[a]',
    '{a}',
    'a,b',
    '.inf',
    "'a",
  ];
  for (const text of words) assert.equal(yamlOf(text), JSON.stringify(text));
  assert.equal(yamlOf('a\u2028\u0085\ufeff\n"'), '"a\\u2028\\u0085\\ufeff\\n\\""');
});

test('YAML nests lists and maps in blocks, empty and deep ones included', () => {
  let deep: JsonObject = { end: 1 };
  for (let i = 0; i < 20; i++) deep = { below: deep };
  const state = (data: JsonObject) => ({ ...grainOf('1', 'state', { data: { x: 1 } }), fields: { data } });
  const plan = [{ a: 1, b: ['x', ['y']] }, [], {}, null, true, 2n ** 60n];
  assert.equal(
    recalled('yaml', [state({ plan })]),
    [
      '- type: state',
      '  plan:',
      '    - a: 1',
      '      b:',
      '        - x',
      '        - - "y"',
      '    - []',
      '    - {}',
      '    - null',
      '    - true',
      '    - 1152921504606846976',
    ].join('\n'),
  );
  assert.match(String(recalled('yaml', [state({ plan: [deep] })])), /below: \{"below":.*\{"end":1\}+$/);
});

// ---- hostile texts

const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  anyText(),
  fc.string({ unit: fc.constantFrom(...'<>"&\'#->`,:[]{}()\\\n\r\t\u2028 ab1.') }),
);
const filledText = text.map((value) => (value.trim() === '' ? 'x' : value));
const grain = fc
  .tuple(fc.constantFrom(...EACH_TYPE), filledText, filledText, filledText)
  .map(([like, first, second, third], i = 0): CalGrain => {
    const swap: JsonObject = {};
    for (const [name, value] of Object.entries(like.fields)) {
      const replaced = [first, second, third][(name.length + i) % 3]!;
      swap[name] =
        typeof value === 'string' ? replaced : Array.isArray(value) && value.length > 0 ? [first, second] : value;
    }
    return { ...like, fields: swap };
  });
const grains = fc
  .array(grain, { maxLength: 8 })
  .map((some) => some.map((one, i) => ({ ...one, hash: `${i}`.repeat(64) })));

function forAll(check: (grains: readonly CalGrain[], level: Level) => void): void {
  fc.assert(fc.property(grains, fc.constantFrom(...LEVELS), check), { numRuns: runs(150) });
}

const TAGGED = /^ {2}<([a-z]+)((?: [a-z]+="[^"<>]*")*)>([^<>]*)<\/\1>$/;

test('D-31: SML has one element per grain, whatever grains contain, and their texts can be recovered', () => {
  forAll((some, level) => {
    for (const document of [recalled('sml', some, level), assembled('sml', some, level)]) {
      const lines = String(document).split('\n');
      assert.match(lines[0]!, /^<context(?: intent="[^"<>]*")?>$/);
      assert.equal(lines.at(-1), '</context>');
      const inner = lines.slice(1, -1).filter((line) => line !== '');
      assert.equal(inner.length, some.length);
      for (const line of inner) assert.match(line, TAGGED);
    }
  });
  const said = (object: string) => {
    const line = elementOf([grainOf('1', 'belief', { subject: 's', relation: 'r', object })], 'summary');
    const inside = TAGGED.exec(`  ${line}`)?.[3] ?? '';
    return inside.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  };
  assert.equal(said('a <b> & "c" \'d\' &lt;'), 'r a <b> & "c" \'d\' &lt;');
});

test('markdown has one item per grain, and headings for types alone', () => {
  forAll((some, level) => {
    const lines = String(assembled('markdown', some, level))
      .split('\n')
      .filter((line) => line !== '');
    assert.equal(lines.shift(), '## Context: help "alice" & co');
    const items = lines.filter((line) => !/^\*\*[A-Z][a-z]+\*\*$/.test(line));
    assert.equal(items.length, some.length);
    for (const item of items) assert.match(item, /^- (?!\s*[#\->`<])/u);
  });
});

test('plain text and triples have one line per grain', () => {
  forAll((some, level) => {
    const lines = String(recalled('text', some, level))
      .split('\n')
      .filter((line) => line !== '');
    assert.equal(lines.length, some.length);
    for (const line of lines) assert.match(line, /^\[[a-z]+\] /);
    const { renderings } = renderGrains(some, [named('triples')], { nowMs: NOW_MS, level });
    const triples = String(renderings[0]!.content)
      .split('\n')
      .filter((line) => line !== '');
    assert.equal(triples.length, renderings[0]!.grainCount);
    for (const line of triples) assert.equal(line.split('\t').length, 3, line);
  });
});

test('TOON has the rows that its headers announce, as many cells as columns, and values that can be recovered', () => {
  forAll((some, level) => {
    const { head, tables } = readToon(String(assembled('toon', some, level)));
    assert.equal(head['context'], 'agent_context');
    assert.equal(head['intent'], 'help "alice" & co');
    assert.equal(
      tables.reduce((sum, { rows }) => sum + rows.length, 0),
      some.length,
    );
    for (const { columns, count, rows } of tables) {
      assert.equal(rows.length, count);
      for (const row of rows) assert.equal(row.length, columns.length);
    }
    const goals = tables.find(({ type }) => type === 'goals');
    const objects = some
      .filter(({ grainType }) => grainType === 'goal')
      .map(({ fields }) => String(fields['description']));
    const expected = objects.map((value) => value.toWellFormed().replace(/[[\p{Cc}\u2028\u2029]--[\n\r\t]]+/gv, ' '));
    assert.deepEqual(goals?.rows.map((row) => row[1]) ?? [], expected);
  });
});

interface ToonTable {
  readonly type: string;
  readonly count: number;
  readonly columns: readonly string[];
  readonly rows: string[][];
}

/**
 * Parses an assembly's TOON by the rules of the format alone: indentation separates rows from keys, quotes protect
 * commas.
 */
function readToon(document: string): { head: Record<string, string>; tables: ToonTable[] } {
  const head: Record<string, string> = {};
  const tables: ToonTable[] = [];
  for (const line of document.split('\n')) {
    const header = /^([a-z]+)\[(\d+)\]\{([^}]*)\}:$/.exec(line);
    if (line.startsWith('  ')) tables.at(-1)!.rows.push(cells(line.slice(2)));
    else if (header !== null)
      tables.push({ type: header[1]!, count: Number(header[2]), columns: header[3]!.split(','), rows: [] });
    else head[line.slice(0, line.indexOf(':'))] = cells(line.slice(line.indexOf(':') + 2))[0]!;
  }
  return { head, tables };
}

function cells(row: string): string[] {
  const found = [...`${row},`.matchAll(/("(?:[^"\\]|\\["\\nrt])*"|[^",]*),/gy)].map((match) => match[1]!);
  assert.equal(found.join(','), row, 'every character of a row belongs to a cell');
  return found.map((cell) => (cell.startsWith('"') ? JSON.parse(cell) : cell));
}

test('YAML has one item per grain and quotes what it would otherwise read differently', () => {
  forAll((some, level) => {
    const lines = String(recalled('yaml', some, level)).split('\n');
    if (some.length === 0) return;
    assert.equal(lines.filter((line) => line.startsWith('- type: ')).length, some.length);
    for (const line of lines) {
      const value = /^(?:- | {2})(?: {2})*(?:- |"?[a-z_:]+"?:(?: |$))(.*)$/.exec(line)?.[1];
      assert.ok(value !== undefined, line);
      if (value !== '')
        assert.match(
          value,
          /^(?:"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|\p{L}[\p{L}\p{N} _./()'-]*|[{[].*[\]}])$/u,
        );
    }
  });
});

test('a foreign grain may contain anything under any name: it is shown, never an error', () => {
  const names = [...new Set(EACH_TYPE.flatMap(({ fields }) => Object.keys(fields)))];
  const more = [
    'timestamp_ms',
    'content_blocks',
    'valid_to',
    'purpose',
    'plan',
    'steps',
    'error',
    'context',
    'is_withdrawal',
  ];
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }).map((any) => any as JsonValue), // fast-check's JSON value
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }),
    fc.double(),
  );
  const fields = fc.dictionary(fc.constantFrom(...names, ...more), value, { maxKeys: 12 });
  const types = [...EACH_TYPE.map(({ grainType }) => grainType), 'unheard_of'];
  const odd = fc.record({ fields, grainType: fc.constantFrom(...types), createdAtMs: fc.double() });
  fc.assert(
    fc.property(fc.array(odd, { maxLength: 4 }), fc.constantFrom(...LEVELS), (some, level) => {
      const all = some.map((one, i): CalGrain => ({ ...EACH_TYPE[0]!, ...one, hash: `${i}`.repeat(64) }));
      for (const name of FORMATS) {
        assert.ok(recalled(name, all, level) !== undefined);
        assert.ok(assembled(name, all, level) !== undefined);
      }
    }),
    { numRuns: runs(100) },
  );
});

test('the same grains and the same clock give the same text', () => {
  for (const name of FORMATS)
    assert.deepEqual(assembled(name, EACH_TYPE, 'full'), assembled(name, [...EACH_TYPE], 'full'));
});
