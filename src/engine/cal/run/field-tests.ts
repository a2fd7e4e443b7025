// Conditions as tests on opened grains, for those that no index decides.
import type { FieldTest } from '../../calls/cal.ts';
import { type Condition, type FieldCondition, isJunction, type Value } from '../ast.ts';
import { CalError } from '../errors.ts';
import { commonField, fieldNamed, typeField } from '../vocabulary/fields.ts';
import { CATEGORY_RELATIONS } from '../vocabulary/relations.ts';
import type { ConditionValues } from './condition-values.ts';

/** The strings that a subquery returned; undefined: it was not run. */
export type Subquery = (condition: FieldCondition) => readonly string[] | undefined;

/** The sources of a condition's values. */
export interface Tester {
  readonly values: ConditionValues;
  /** The session's namespace. */
  readonly namespace: string | undefined;
  readonly subquery: Subquery;
}

/** A condition as a test on opened grains. */
export function testOf(condition: Condition, by: Tester): FieldTest {
  if (!isJunction(condition)) return leafOf(condition, by);
  if (condition.op === 'not') return { op: 'not', of: testOf(condition.of, by) };
  return { op: condition.op, of: condition.of.map((one) => testOf(one, by)) };
}

/** A condition as a test on an opened grain. */
function leafOf(condition: FieldCondition, { values, namespace, subquery }: Tester): FieldTest {
  const field = fieldNamed(condition.field.word);
  const known = commonField(field) ?? typeField(field)?.field;
  const bound = field === 'namespace' ? namespace : undefined;
  if (bound !== undefined) return { field, op: '=', value: bound };
  switch (condition.op) {
    case 'is':
      return { field, op: 'in', values: CATEGORY_RELATIONS[condition.category] };
    case 'include':
    case 'exclude':
      return { field, op: condition.op, values: values.strings(condition.values, condition) };
    case 'between': {
      const [from, to] = condition.value;
      return {
        field,
        op: 'between',
        low: values.spanOf(from, condition).startMs,
        high: values.spanOf(to, condition).endMs,
      };
    }
    case 'in':
    case 'not_in': {
      if ('values' in condition && known?.type === 'temporal')
        return timesOf(field, condition.op, condition.values, condition, values);
      checkWhole(condition);
      const wanted = 'values' in condition ? values.scalars(condition.values, condition) : (subquery(condition) ?? []);
      return { field, op: condition.op, values: wanted };
    }
    default: {
      if (known?.type === 'temporal')
        return { field, op: 'between', ...values.rangeOf(field, condition.op, condition.value, condition) };
      checkWhole(condition);
      return { field, op: condition.op, value: values.scalar(condition.value, condition) };
    }
  }
}

/** Throws E015 for a part of an address, because a test compares whole ones. */
export function checkWhole(condition: FieldCondition): void {
  if (condition.field.word !== 'hash') return;
  const written = 'values' in condition ? condition.values : 'value' in condition ? [condition.value].flat() : [];
  if (written.some((value) => value.kind === 'hash' && value.hex.length < 64))
    throw new CalError('CAL-E015', 'a hash under OR or NOT must have all 64 digits', { at: condition.at });
}

/** One of several times, or none of them. */
export function timesOf(
  field: string,
  op: 'in' | 'not_in',
  times: readonly Value[],
  condition: FieldCondition,
  values: ConditionValues,
): FieldTest {
  const of = times.map((time): FieldTest => ({ field, op: 'between', ...values.rangeOf(field, '=', time, condition) }));
  if (op === 'in') return { op: 'or', of };
  return {
    op: 'and',
    of: [
      { field, op: 'present' },
      { op: 'not', of: { op: 'or', of } },
    ],
  };
}
