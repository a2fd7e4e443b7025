// Tests a condition that no index serves on an opened grain. Conditions are plain data and are sent to partitions
// unchanged.

import { unreachable } from '../../base/assert.ts';
import type { FieldTest, LeafTest, Scalar } from '../../calls/cal.ts';
import { tripleForm } from '../../grain/api/text.ts';
import { fieldValue, goalState } from '../output/fields.ts';
import type { CalGrain } from '../output/grain.ts';

/** True if the test, or a test within it, reads the field. */
export function mentions(test: FieldTest, field: string): boolean {
  if (test.op === 'or' || test.op === 'and') return test.of.some((one) => mentions(one, field));
  if (test.op === 'not') return mentions(test.of, field);
  return (test as LeafTest).field === field; // Junctions were handled above.
}

/** A missing field is no error: it fails every test except `exclude`. NOT inverts its test. */
export function passes(grain: CalGrain, test: FieldTest): boolean {
  switch (test.op) {
    case 'or':
      return test.of.some((one) => passes(grain, one));
    case 'and':
      return test.of.every((one) => passes(grain, one));
    case 'not':
      return !passes(grain, test.of);
    default:
      return passesLeaf(grain, test);
  }
}

function passesLeaf(grain: CalGrain, test: LeafTest): boolean {
  const value = fieldValue(grain, test.field);
  if (value === undefined || value === null) return test.op === 'exclude';
  switch (test.op) {
    case 'present':
      return true;
    case 'exclude':
      return !test.values.some((one) => holds(test.field, value, one));
    case 'include':
      return test.values.every((one) => holds(test.field, value, one));
    case 'in':
      return isOneOf(test.field, value, test.values);
    case 'not_in':
      return !isOneOf(test.field, value, test.values);
    case 'between':
      return typeof value === 'number' && value >= test.low && value <= test.high;
    case '=':
      return holds(test.field, value, test.value);
    case '!=':
      return !holds(test.field, value, test.value);
    case '>=':
    case '<=':
    case '>':
    case '<':
      return typeof value === 'number' && typeof test.value === 'number' && compares(test.op, value, test.value);
    default:
      return unreachable(test);
  }
}

function compares(op: '>=' | '<=' | '>' | '<', a: number, b: number): boolean {
  switch (op) {
    case '>=':
      return a >= b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '<':
      return a < b;
    default:
      return unreachable(op);
  }
}

/** True if the value, or a member of a list, is equal. */
function holds(field: string, value: unknown, wanted: Scalar): boolean {
  if (Array.isArray(value)) return value.some((one) => holds(field, one, wanted));
  if (typeof wanted !== 'string' || typeof value !== 'string') return value === wanted;
  const form = FORMS[field] ?? plain;
  return form(value) === form(wanted);
}

/** The values of conditions in the form in which they are compared. A subquery can return a hundred thousand. */
const known = new WeakMap<readonly Scalar[], { readonly field: string; readonly values: ReadonlySet<Scalar> }>();

/** True if the value, or a member of a list, is one of those wanted. */
function isOneOf(field: string, value: unknown, wanted: readonly Scalar[]): boolean {
  if (Array.isArray(value)) return value.some((one) => isOneOf(field, one, wanted));
  const form = FORMS[field] ?? plain;
  let values = known.get(wanted);
  if (values?.field !== field) {
    values = { field, values: new Set(wanted.map((one) => (typeof one === 'string' ? form(one) : one))) };
    known.set(wanted, values);
  }
  return values.values.has((typeof value === 'string' ? form(value) : value) as Scalar); // no other value is in the set
}

const plain = (text: string): string => text.normalize('NFC');
/** An address as others are compared with it. */
export const address = (text: string): string => text.replace(/^sha256:/i, '').toLowerCase();

/** Normalises a field's text before comparison. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  // The same normalisation as in the index.
  subject: tripleForm,
  relation: tripleForm,
  object: tripleForm,
  hash: address,
  depends_on: address,
  goal_state: goalState,
};
