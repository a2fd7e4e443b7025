import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GRAIN_TYPE_NAMES } from '../../grain/grain.ts';
import type { Operator, QueryField } from '../../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import { outcome } from '../testing/refused.ts';
import { COMMON_FIELDS, fieldsOf, TYPE_FIELDS } from './fields.ts';
import { pluralOf } from './grain-types.ts';

const OPERATORS: readonly Operator[] = ['=', '!=', '>=', '<=', '>', '<', 'IN', 'IS', 'INCLUDE', 'EXCLUDE', 'BETWEEN'];

test('the tables have as many fields as the specification', () => {
  const counts = {
    belief: 18,
    event: 23,
    state: 20,
    workflow: 20,
    action: 22,
    observation: 20,
    goal: 22,
    reasoning: 21,
    consensus: 21,
    consent: 24,
  };
  for (const singular of GRAIN_TYPE_NAMES) assert.equal(fieldsOf(singular).length, counts[singular], singular);
  assert.equal(fieldsOf(undefined).length, 18);
  const own = Object.values(TYPE_FIELDS).flat();
  assert.equal(new Set([...COMMON_FIELDS, ...own].map(({ name }) => name)).size, 18 + own.length);
});

test('the types have the codes of their grains', () => {
  assert.deepEqual(
    GRAIN_TYPE_NAMES.map((type) => GRAIN_TYPES[type].format.byte),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  );
});

/** A value that the field may be compared with. */
function valueFor(field: QueryField): string {
  switch (field.type) {
    case 'string':
    case 'array':
      return '"x"';
    case 'number':
      return '0.5';
    case 'boolean':
      return 'true';
    case 'temporal':
      return '"yesterday"';
    case 'hash':
      return 'sha256:0123456789abcdef';
    case 'enum':
      return `"${field.values![0]}"`;
    case 'grain_type':
      return '"belief"';
  }
}

function conditionOf(field: QueryField, operator: Operator): string {
  const value = valueFor(field);
  switch (operator) {
    case 'IN':
      return `${field.name} IN (${value}, ${value})`;
    case 'IS':
      return `${field.name} IS PREFERENCE`;
    case 'INCLUDE':
    case 'EXCLUDE':
      return `${field.name} ${operator} [${value}]`;
    case 'BETWEEN':
      return `${field.name} BETWEEN ${value} AND ${value}`;
    default:
      return `${field.name} ${operator} ${value}`;
  }
}

test('every field takes its operators and no others', () => {
  for (const singular of GRAIN_TYPE_NAMES) {
    for (const field of fieldsOf(singular)) {
      for (const operator of OPERATORS) {
        const query = `RECALL ${pluralOf(singular)} WHERE ${conditionOf(field, operator)}`;
        const refused = operator === 'IS' ? 'CAL-E002' : 'CAL-E020';
        assert.equal(outcome(query), field.operators.includes(operator) ? 'read' : refused, query);
      }
    }
  }
});

test('every field can be sorted by, grouped by and selected as its row states', () => {
  for (const singular of GRAIN_TYPE_NAMES) {
    for (const field of fieldsOf(singular)) {
      const does = (able: boolean): string => (able ? 'read' : 'CAL-E021');
      const recall = `RECALL ${pluralOf(singular)}`;
      assert.equal(outcome(`${recall} ORDER BY ${field.name}`), does(field.sortable), field.name);
      assert.equal(outcome(`${recall} GROUP BY ${field.name}`), does(field.groupable), field.name);
      assert.equal(outcome(`${recall} SELECT ${field.name}`), does(field.projectable), field.name);
    }
  }
});

test('a field of one type is refused with another type and without a type', () => {
  for (const singular of GRAIN_TYPE_NAMES) {
    for (const field of TYPE_FIELDS[singular]) {
      const condition = conditionOf(field, field.operators[0]!);
      const other = singular === 'belief' ? 'events' : 'beliefs';
      assert.equal(outcome(`RECALL ${other} WHERE ${condition}`), 'CAL-E060', field.name);
      assert.equal(outcome(`RECALL WHERE ${condition}`), 'CAL-E061', field.name);
    }
  }
});
