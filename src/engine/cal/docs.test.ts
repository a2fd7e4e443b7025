// docs/cal.md: every query in it parses, and its tables equal those of the code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GRAIN_TYPES } from '../grain/types/table.ts';
import { CAL_ERRORS, CAL_WARNINGS } from './errors.ts';
import { errorRow, fieldRow } from './testing/doc-rows.ts';
import { outcome } from './testing/refused.ts';
import { COMMON_FIELDS, TYPE_FIELDS } from './vocabulary/fields.ts';
import { WITH_OPTIONS } from './vocabulary/words.ts';

const guide = readFileSync(new URL('../../../docs/cal.md', import.meta.url), 'utf8');

test('the parser accepts every query in the guide', () => {
  const blocks = [...guide.matchAll(/```cal(?:-syntax)?\n([\s\S]*?)```/g)].map((match) => match[1]!);
  const queries = blocks.flatMap((block) => block.trim().split(/\n\n+/));
  assert.ok(queries.length > 40);
  for (const query of queries) assert.equal(outcome(query), 'read', query);
});

test('the guide to the output has the attributes of each type', () => {
  const lines = readFileSync(new URL('../../../docs/cal-output.md', import.meta.url), 'utf8').split('\n');
  for (const [type, { cal }] of Object.entries(GRAIN_TYPES)) {
    const shown = cal.output.attributes.replaceAll(/=\w+/g, '').replaceAll(' ', ', ');
    const row = lines.find((line) => line.startsWith(`| ${type} | `));
    assert.equal(row?.split(' | ').at(-1), `${shown} |`, type);
  }
});

test('the error for a type that cannot be added names those that can', () => {
  const { suggestion } = CAL_ERRORS['CAL-E051'];
  for (const [type, { cal }] of Object.entries(GRAIN_TYPES))
    assert.equal(new RegExp(`\\b${type}\\b`).test(suggestion), cal.addable, type);
});

test('the tables of the guide equal those of the code', () => {
  const lines = new Set(guide.split('\n'));
  for (const field of COMMON_FIELDS) assert.ok(lines.has(fieldRow('all', field)), fieldRow('all', field));
  for (const [type, fields] of Object.entries(TYPE_FIELDS))
    for (const field of fields) assert.ok(lines.has(fieldRow(type, field)), fieldRow(type, field));
  for (const [code, { when, suggestion }] of Object.entries(CAL_ERRORS))
    assert.ok(lines.has(errorRow(code, when, suggestion)), code);
  for (const [code, when] of Object.entries(CAL_WARNINGS)) assert.ok(lines.has(`| ${code} | ${when} |`), code);
  for (const option of WITH_OPTIONS) assert.match(guide, new RegExp(`\`${option}\\b`), option);
});
