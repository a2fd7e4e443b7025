// A field that a CAL query may name: what it holds, which operators it takes, and where a grain keeps its value.
import type { CalErrorCode } from '../../base/errors.ts';

export type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'temporal' | 'hash' | 'enum' | 'grain_type';

export type Operator = '=' | '!=' | '>=' | '<=' | '>' | '<' | 'IN' | 'IS' | 'INCLUDE' | 'EXCLUDE' | 'BETWEEN';

export interface QueryField {
  readonly name: string;
  readonly type: FieldType;
  readonly operators: readonly Operator[];
  readonly sortable: boolean;
  readonly projectable: boolean;
  readonly groupable: boolean;
  /** True: `=` searches the text of this field by words and meaning instead of comparing. */
  readonly search?: boolean;
  /** The words that an `enum` takes. */
  readonly values?: readonly string[];
  /** The code for a value outside `values`; without: such a value matches nothing. */
  readonly badValue?: CalErrorCode;
  /** The field of the grain that holds the value, where it has another name. */
  readonly stored?: string;
  /** True: an index lists the grains by the stored value, so a condition need not open them. */
  readonly listed?: boolean;
}

type Abilities = '' | 's' | 'p' | 'g' | 'sp' | 'sg' | 'pg' | 'spg';

/** `abilities`: s sortable, p projectable, g groupable. */
export function queryField(
  name: string,
  type: FieldType,
  operators: string,
  abilities: Abilities,
  more: Pick<QueryField, 'search' | 'values' | 'badValue' | 'stored' | 'listed'> = {},
): QueryField {
  return {
    name,
    type,
    operators: operators.split(' ') as Operator[], // The tables name operators alone; a test checks it.
    sortable: abilities.includes('s'),
    projectable: abilities.includes('p'),
    groupable: abilities.includes('g'),
    ...more,
  };
}

export const SEARCH = { search: true } as const;
export const LISTED = { listed: true } as const;
