// The fields that a query can use: the closed set of the specification, with their types and operators. The validator
// uses these tables, and DESCRIBE shows them.
import { byType, GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { type Operator, type QueryField, queryField, SEARCH } from '../../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';

const ORDERED = '= != >= <= > <';

/** The fields that all types have, in the order of the specification. */
export const COMMON_FIELDS: readonly QueryField[] = [
  queryField('query', 'string', '=', '', SEARCH),
  queryField('subject', 'string', '= != IN', 'spg'),
  queryField('relation', 'string', '= != IN IS', 'spg'),
  queryField('object', 'string', '= != IN', 'spg'),
  queryField('user_id', 'string', '= !=', 'pg'),
  queryField('namespace', 'string', '=', ''),
  queryField('confidence', 'number', ORDERED, 'sp'),
  queryField('importance', 'number', ORDERED, 'sp'),
  queryField('score', 'number', '>= >', 'sp'),
  queryField('tags', 'array', 'INCLUDE EXCLUDE', 'p'),
  queryField('type', 'grain_type', '=', 'pg'),
  queryField('time', 'temporal', '= BETWEEN', 'sp'),
  queryField('hash', 'hash', '=', 'p'),
  queryField('contradicted', 'boolean', '=', 'p'),
  queryField('verification_status', 'enum', '=', 'spg', {
    values: ['unverified', 'verified', 'contested', 'retracted'],
  }),
  queryField('source_type', 'string', '=', 'spg'),
  queryField('recall_priority', 'enum', '=', '', { values: ['hot', 'warm', 'cold'], badValue: 'CAL-E065' }),
  queryField('epistemic_status', 'enum', '=', '', {
    values: ['certain', 'probable', 'uncertain', 'estimated', 'derived'],
    badValue: 'CAL-E066',
  }),
];

/** The fields of each type. Which ones sort and group is our rule, because the specification does not say. */
export const TYPE_FIELDS = byType((type) => GRAIN_TYPES[type].cal.fields);

/** All fields of a type, common ones first. Only the common ones without a type. */
export function fieldsOf(type: GrainType | undefined): readonly QueryField[] {
  return type === undefined ? COMMON_FIELDS : [...COMMON_FIELDS, ...TYPE_FIELDS[type]];
}

const common = new Map(COMMON_FIELDS.map((one) => [one.name, one]));
const ofOneType = new Map<string, { readonly field: QueryField; readonly type: GrainType }>();
for (const type of GRAIN_TYPE_NAMES) for (const one of TYPE_FIELDS[type]) ofOneType.set(one.name, { field: one, type });

/** Resolves aliases: `created_at` means `time` in conditions and orders. */
export function fieldNamed(name: string): string {
  return name === TIME_ALIAS ? 'time' : name;
}

export const TIME_ALIAS = 'created_at';

export function commonField(name: string): QueryField | undefined {
  return common.get(name);
}

/** The field of a single type, and that type; undefined if there is none. No two types share such a name. */
export function typeField(name: string): { readonly field: QueryField; readonly type: GrainType } | undefined {
  return ofOneType.get(name);
}

/** The profile tag (`profile:…`) of each prefix of domain fields. Any name can follow a prefix. */
export const DOMAIN_PROFILES: ReadonlyMap<string, string> = new Map([
  ['hc', 'healthcare'],
  ['legal', 'legal'],
  ['fin', 'finance'],
  ['rob', 'robotics'],
  ['sci', 'science'],
  ['con', 'consumer'],
  ['int', 'integration'],
]);

/** The operators of all domain fields. The stored value decides the type. */
export const DOMAIN_OPERATORS: readonly Operator[] = ['=', '!=', '>=', '<=', '>', '<', 'IN'];

/** True for `prefix:name`, whatever the prefix. */
export function isDomainField(name: string): boolean {
  return name.includes(':');
}
