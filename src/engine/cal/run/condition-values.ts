// The values of a recall's conditions: literals, parameters and times.
import { unreachable } from '../../base/assert.ts';
import type { Comparator, Scalar } from '../../calls/cal.ts';
import type { FieldCondition, Value } from '../ast.ts';
import { CalError, NOT_A_TIME } from '../errors.ts';
import { address } from './field-test.ts';
import { spanOf } from './time.ts';

/** The named values of a query, and its current time. */
export interface Meaning {
  readonly nowMs: number;
  /** The session's namespace. It replaces every namespace in the query. */
  readonly namespace: string | undefined;
  readonly userId: string | undefined;
  /** The strings of a parameter. Throws if it has none. */
  readonly valuesOf: (name: string, at: FieldCondition | undefined) => readonly string[];
}

/** A time range, both ends included. */
interface Range {
  readonly low: number;
  readonly high: number;
}

export class ConditionValues {
  readonly #meaning: Meaning;

  constructor(meaning: Meaning) {
    this.#meaning = meaning;
  }

  /** The range, both ends included, that a comparison with a time matches. `time = x` matches everything since x. */
  rangeOf(field: string, op: Comparator, value: Value, condition: FieldCondition): Range {
    const { startMs, endMs } = this.spanOf(value, condition);
    switch (op) {
      case '>':
        return { low: endMs + 1, high: Number.POSITIVE_INFINITY };
      case '>=':
        return { low: startMs, high: Number.POSITIVE_INFINITY };
      case '<':
        return { low: Number.NEGATIVE_INFINITY, high: startMs - 1 };
      case '<=':
        return { low: Number.NEGATIVE_INFINITY, high: endMs };
      default:
        return { low: startMs, high: field === 'time' ? this.#meaning.nowMs : endMs };
    }
  }

  spanOf(value: Value, condition: FieldCondition | undefined): { readonly startMs: number; readonly endMs: number } {
    const wanted = this.scalar(value, condition);
    const span = typeof wanted === 'boolean' ? undefined : spanOf(wanted, this.#meaning.nowMs);
    if (span !== undefined) return span;
    throw new CalError('CAL-E020', `the value ${NOT_A_TIME}`, {
      at: value.at,
      suggestion: 'Write an ISO 8601 date or instant, seconds or milliseconds of the epoch, or words like "last week".',
    });
  }

  scalar(value: Value, condition: FieldCondition | undefined): Scalar {
    switch (value.kind) {
      case 'string':
      case 'number':
      case 'boolean':
        return value.value;
      case 'hash':
        return value.hex;
      case 'parameter': {
        const values = this.#meaning.valuesOf(value.name, condition);
        const [only] = values;
        if (values.length === 1 && only !== undefined) return only;
        throw new CalError(
          'CAL-E020',
          `$${value.name} is a list of ${values.length} values; one value is needed here`,
          {
            at: value.at,
            suggestion: `Use IN ($${value.name}).`,
          },
        );
      }
      case 'array':
        throw new CalError('CAL-E020', 'one value is needed here, not a list', { at: value.at });
      default:
        return unreachable(value);
    }
  }

  string(value: Value, condition: FieldCondition): string {
    const wanted = this.scalar(value, condition);
    if (typeof wanted === 'string') return wanted;
    throw new CalError('CAL-E020', `${condition.field.word} is compared with a string`, { at: value.at });
  }

  strings(values: readonly Value[], condition: FieldCondition): string[] {
    return this.scalars(values, condition).map(String);
  }

  /** The values of a list. A parameter in it contributes all of its values. */
  scalars(values: readonly Value[], condition: FieldCondition): Scalar[] {
    return values.flatMap((value) => {
      if (value.kind === 'parameter') return [...this.#meaning.valuesOf(value.name, condition)];
      if (value.kind === 'array') return this.scalars(value.items, condition);
      return [this.scalar(value, condition)];
    });
  }
}

/** The addresses among the values of a condition. Only one that is written in the query may be a part of an address. */
export function addressesOf(values: readonly Scalar[], condition: FieldCondition): readonly string[] {
  const literals = 'values' in condition ? condition.values : [];
  const written = new Set(literals.flatMap((value) => (value.kind === 'hash' ? [value.hex] : [])));
  return values.map((value) => address(String(value))).filter((one) => /^[0-9a-f]{64}$/.test(one) || written.has(one));
}
