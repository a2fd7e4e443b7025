// The fields that a query may name: the closed set of the specification, what each holds and which operators it takes.
// The validator decides by these tables, and DESCRIBE shows them.
import type { CalErrorCode } from '../../base/errors.ts';
import type { CalGrainType } from './grain-types.ts';

export type FieldType = 'string' | 'number' | 'boolean' | 'array' | 'temporal' | 'hash' | 'enum' | 'grain_type';

export type Operator = '=' | '!=' | '>=' | '<=' | '>' | '<' | 'IN' | 'IS' | 'INCLUDE' | 'EXCLUDE' | 'BETWEEN';

export interface Field {
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
}

type Abilities = '' | 's' | 'p' | 'g' | 'sp' | 'sg' | 'pg' | 'spg';

/** `abilities`: s sortable, p projectable, g groupable. */
function field(
  name: string,
  type: FieldType,
  operators: string,
  abilities: Abilities,
  more: Pick<Field, 'search' | 'values' | 'badValue'> = {},
): Field {
  return {
    name,
    type,
    operators: operators.split(' ') as Operator[], // The tables below name operators alone; a test checks it.
    sortable: abilities.includes('s'),
    projectable: abilities.includes('p'),
    groupable: abilities.includes('g'),
    ...more,
  };
}

const SEARCH = { search: true } as const;
const ORDERED = '= != >= <= > <';

/** Of every type, in the order of the specification. */
export const COMMON_FIELDS: readonly Field[] = [
  field('query', 'string', '=', '', SEARCH),
  field('subject', 'string', '= != IN', 'spg'),
  field('relation', 'string', '= != IN IS', 'spg'),
  field('object', 'string', '= != IN', 'spg'),
  field('user_id', 'string', '= !=', 'pg'),
  field('namespace', 'string', '=', ''),
  field('confidence', 'number', ORDERED, 'sp'),
  field('importance', 'number', ORDERED, 'sp'),
  field('score', 'number', '>= >', 'sp'),
  field('tags', 'array', 'INCLUDE EXCLUDE', 'p'),
  field('type', 'grain_type', '=', 'pg'),
  field('time', 'temporal', '= BETWEEN', 'sp'),
  field('hash', 'hash', '=', 'p'),
  field('contradicted', 'boolean', '=', 'p'),
  field('verification_status', 'enum', '=', 'spg', { values: ['unverified', 'verified', 'contested', 'retracted'] }),
  field('source_type', 'string', '=', 'spg'),
  field('recall_priority', 'enum', '=', '', { values: ['hot', 'warm', 'cold'], badValue: 'CAL-E065' }),
  field('epistemic_status', 'enum', '=', '', {
    values: ['certain', 'probable', 'uncertain', 'estimated', 'derived'],
    badValue: 'CAL-E066',
  }),
];

/** States of goals, in CAL's words and in those of the grains. */
const GOAL_STATES = ['active', 'completed', 'abandoned', 'blocked', 'satisfied', 'failed', 'suspended'];
const PHASES = ['definition', 'call', 'result', 'complete'];

/** Of one type each. What one value of a grain can be sorted and grouped by is the specification's silence and our rule. */
export const TYPE_FIELDS: Readonly<Record<CalGrainType, readonly Field[]>> = {
  belief: [],
  event: [
    field('role', 'string', '= !=', 'spg'),
    field('session_id', 'string', '=', 'spg'),
    field('parent_message_id', 'string', '=', 'p'),
    field('model_id', 'string', '= !=', 'spg'),
    field('content', 'string', '=', 'p', SEARCH),
  ],
  state: [field('context', 'string', '= !=', 'spg'), field('plan', 'string', '=', 'p', SEARCH)],
  workflow: [field('trigger', 'string', '= !=', 'spg'), field('steps', 'string', '=', 'p', SEARCH)],
  action: [
    field('tool_name', 'string', '= != IN', 'spg'),
    field('action_phase', 'enum', '=', 'spg', { values: PHASES, badValue: 'CAL-E062' }),
    field('is_error', 'boolean', '=', 'pg'),
    field('tool_call_id', 'string', '=', 'pg'),
  ],
  observation: [field('observer_id', 'string', '= !=', 'spg'), field('observer_type', 'string', '= !=', 'spg')],
  goal: [
    field('goal_state', 'enum', '= !=', 'spg', { values: GOAL_STATES, badValue: 'CAL-E063' }),
    field('assigned_agent', 'string', '= !=', 'spg'),
    field('deadline', 'temporal', '= BETWEEN', 'sp'),
    field('depends_on', 'hash', '= IN', 'p'),
  ],
  reasoning: [
    field('reasoning_type', 'string', '=', 'spg'),
    field('premises', 'string', '=', 'p', SEARCH),
    field('conclusion', 'string', '= !=', 'sp'),
  ],
  consensus: [
    field('threshold', 'number', '= >= <= > <', 'sp'),
    field('agreement_count', 'number', '= >= <= > <', 'sp'),
    field('participating_observers', 'array', 'INCLUDE', 'p'),
  ],
  consent: [
    field('consent_action', 'enum', '=', 'spg', { values: ['grant', 'withdraw'], badValue: 'CAL-E064' }),
    field('purpose', 'string', '= !=', 'spg'),
    field('grantor_did', 'string', '=', 'spg'),
    field('grantee_did', 'string', '=', 'spg'),
    field('scope', 'string', '=', 'p'),
    field('expires_at', 'temporal', '= BETWEEN', 'sp'),
  ],
};

/** All fields of a type, common ones first; without a type: the common ones. */
export function fieldsOf(type: CalGrainType | undefined): readonly Field[] {
  return type === undefined ? COMMON_FIELDS : [...COMMON_FIELDS, ...TYPE_FIELDS[type]];
}

const common = new Map(COMMON_FIELDS.map((one) => [one.name, one]));
const byType = new Map<string, { readonly field: Field; readonly type: CalGrainType }>();
for (const [type, fields] of Object.entries(TYPE_FIELDS))
  for (const one of fields) byType.set(one.name, { field: one, type: type as CalGrainType }); // Keys of the table above.

/** The field that a name stands for: `created_at` is read as `time` in conditions and orders. */
export function fieldNamed(name: string): string {
  return name === TIME_ALIAS ? 'time' : name;
}

export const TIME_ALIAS = 'created_at';

export function commonField(name: string): Field | undefined {
  return common.get(name);
}

/** A field that one type alone has, and that type. No two types share a name. */
export function typeField(name: string): { readonly field: Field; readonly type: CalGrainType } | undefined {
  return byType.get(name);
}

/** Prefixes of domain fields, and the tag `profile:…` that belongs to each. What follows a prefix is an open name. */
export const DOMAIN_PROFILES: ReadonlyMap<string, string> = new Map([
  ['hc', 'healthcare'],
  ['legal', 'legal'],
  ['fin', 'finance'],
  ['rob', 'robotics'],
  ['sci', 'science'],
  ['con', 'consumer'],
  ['int', 'integration'],
]);

/** What every domain field takes; the type is that of the stored value. */
export const DOMAIN_OPERATORS: readonly Operator[] = ['=', '!=', '>=', '<=', '>', '<', 'IN'];

/** True for `prefix:name`, whatever the prefix. */
export function isDomainField(name: string): boolean {
  return name.includes(':');
}
