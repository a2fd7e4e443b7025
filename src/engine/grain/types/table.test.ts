// The table of grain types as a whole: its rows are consistent with one another and with the texts that list the types.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fieldsOf, TYPE_FIELDS } from '../../cal/vocabulary/fields.ts';
import { FORMAT_VERSION } from '../../log/format.ts';
import { contractNames } from '../api/names.ts';
import { GRAIN_TYPE_NAMES } from '../grain.ts';
import { FIELD_ROWS } from '../registry.ts';
import type { TypeRow } from './row.ts';
import { GRAIN_TYPES } from './table.ts';

const rows: readonly (readonly [string, TypeRow])[] = Object.entries(GRAIN_TYPES);

test('type bytes count up from 1, and no word means two types', () => {
  assert.deepEqual(
    rows.map(([, { format }]) => format.byte),
    GRAIN_TYPE_NAMES.map((_, at) => at + 1),
  );
  const words = rows.flatMap(([type, { cal }]) => [type, cal.plural, ...cal.foreign]);
  assert.equal(new Set(words).size, words.length);
});

test('no two fields of the format have one name or one short key', () => {
  for (const at of [0, 1] as const) {
    const keys = FIELD_ROWS.map((row) => row[at]);
    assert.deepEqual(
      keys.filter((key, i) => keys.indexOf(key) !== i),
      [],
    );
  }
});

test('a type requires fields of the format, and its aliases name fields of the contract', () => {
  const fields = new Set(FIELD_ROWS.map(([name]) => name));
  for (const [type, { format, api }] of rows) {
    for (const name of [...format.required, ...format.filled]) assert.ok(fields.has(name), `${type}: ${name}`);
    const names = new Set(api.names.split(' '));
    for (const name of Object.values(api.aliases)) assert.ok(names.has(name), `${type}: ${name}`);
  }
});

/** Fields of the format that the contract does not name: a request's are kept as fields of the caller's own. */
const UNNAMED: readonly string[] = (
  'consolidated plan history steps tool_type tool_version execution_mode code stdout stderr exit_code interpreter_id ' +
  'error_type expected_output output_grain statistical_context software_environment parameter_set random_seed'
).split(' ');

test('the contract names the fields of every type', () => {
  const unnamed = GRAIN_TYPE_NAMES.flatMap((type) =>
    GRAIN_TYPES[type].format.fields.filter(([name]) => !contractNames(type).has(name)).map(([name]) => name),
  );
  assert.deepEqual(unnamed, UNNAMED);
});

/** Fields of CAL that output/fields.ts makes of others. */
const DERIVED: readonly string[] = ['plan', 'steps', 'consent_action', 'purpose', 'expires_at'];

test('CAL reads fields of answers', () => {
  for (const type of GRAIN_TYPE_NAMES) {
    const { answers } = GRAIN_TYPES[type].api;
    const known = new Set([...contractNames(type), ...Object.values(answers), ...DERIVED]);
    for (const { name, stored = name } of TYPE_FIELDS[type]) assert.ok(known.has(stored), `${type}: ${name}`);
  }
});

test('columns and lines of the output name attributes of their type', () => {
  for (const [type, { cal }] of rows) {
    const { attributes, columns, line } = cal.output;
    const names = new Set(attributes.split(' ').map((attribute) => attribute.split('=')[0]));
    for (const name of columns.split(' ')) assert.ok(name === 'content' || names.has(name), `${type}: ${name}`);
    for (const name of [line.lead ?? line.note, line.note]) assert.ok(names.has(name), `${type}: ${name}`);
  }
});

test('the output of a type shows fields that CAL has for it', () => {
  for (const type of GRAIN_TYPE_NAMES) {
    const { attributes, data } = GRAIN_TYPES[type].cal.output;
    const known = new Set(fieldsOf(type).map(({ name }) => name));
    const shown = [...attributes.split(' ').map((attribute) => attribute.split('=')[1]!), ...data.split(' ')];
    for (const name of shown) assert.ok(known.has(name.replace('?', '')), `${type}: ${name}`);
  }
});

/** The newest type byte by data format (log/format.ts). Add a line for a new format; do not change an old one. */
const NEWEST_BYTE: Readonly<Record<number, number>> = { 3: 10, 4: 10, 5: 10, 6: 10, 7: 10 };

test('a new type requires a new data format, so that an older build does not take its grains for damage', () => {
  const newest = Math.max(...rows.map(([, { format }]) => format.byte));
  assert.equal(
    newest,
    NEWEST_BYTE[FORMAT_VERSION],
    'raise FORMAT_VERSION in log/format.ts, and add its newest byte here',
  );
});

test('the glossary names every type', () => {
  const glossary = readFileSync(new URL('../../../../docs/glossary.md', import.meta.url), 'utf8');
  const [row = ''] = /^\| grain type \|.*$/m.exec(glossary) ?? [];
  for (const [type] of rows) assert.match(row, new RegExp(`\\b${type}\\b`), type);
});

test('the guide to recall has the sentence of every type', () => {
  const guide = readFileSync(new URL('../../../../docs/recall.md', import.meta.url), 'utf8');
  const [table = ''] = /^\| type \| sentence \|\n(?:\|.*\n)+/m.exec(guide) ?? [];
  for (const [type] of rows) assert.match(table, new RegExp(`^\\|[^|]*\\b${type}\\b[^|]*\\|`, 'm'), type);
});

test('the guide to sessions says of every type whether consolidation compares it', () => {
  const guide = readFileSync(new URL('../../../../docs/sessions.md', import.meta.url), 'utf8');
  const [said = ''] = /^## Consolidation\n\n(?:.+\n)+/m.exec(guide) ?? [];
  for (const [type, { cal }] of rows) assert.match(said, new RegExp(`\\b(?:${type}|${cal.plural})\\b`, 'i'), type);
});

test('the console has a colour for every type', () => {
  const style = readFileSync(new URL('../../../../console/src/style/tokens.css', import.meta.url), 'utf8');
  // The colour of a belief is that of a type without one.
  for (const [type] of rows.slice(1)) assert.ok(style.includes(`.type[data-type="${type}"] {`), type);
});

test('the primer of CAL names every type', () => {
  const primer = readFileSync(new URL('../../../../docs/cal-primer.md', import.meta.url), 'utf8');
  for (const [type, { cal }] of rows) assert.match(primer, new RegExp(`\\b${cal.plural}\\b`), type);
});
