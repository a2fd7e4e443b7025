// The fields that a query may name: the closed set of the specification, what each holds and which operators it takes.
// The validator decides by these tables, and DESCRIBE shows them.
import { byType, GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { type Operator, type QueryField, queryField, SEARCH } from '../../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';

const ORDERED = '= != >= <= > <';

/** Of every type, in the order of the specification. */
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

/** Of one type each. What one value of a grain can be sorted and grouped by is the specification's silence and our rule. */
export const TYPE_FIELDS = byType((type) => GRAIN_TYPES[type].cal.fields);

/** All fields of a type, common ones first; without a type: the common ones. */
export function fieldsOf(type: GrainType | undefined): readonly QueryField[] {
  return type === undefined ? COMMON_FIELDS : [...COMMON_FIELDS, ...TYPE_FIELDS[type]];
}

const common = new Map(COMMON_FIELDS.map((one) => [one.name, one]));
const ofOneType = new Map<string, { readonly field: QueryField; readonly type: GrainType }>();
for (const type of GRAIN_TYPE_NAMES) for (const one of TYPE_FIELDS[type]) ofOneType.set(one.name, { field: one, type });

/** The field that a name stands for: `created_at` is read as `time` in conditions and orders. */
export function fieldNamed(name: string): string {
  return name === TIME_ALIAS ? 'time' : name;
}

export const TIME_ALIAS = 'created_at';

export function commonField(name: string): QueryField | undefined {
  return common.get(name);
}

/** A field that one type alone has, and that type. No two types share a name. */
export function typeField(name: string): { readonly field: QueryField; readonly type: GrainType } | undefined {
  return ofOneType.get(name);
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

/** Operators of every domain field. The type is that of the stored value. */
export const DOMAIN_OPERATORS: readonly Operator[] = ['=', '!=', '>=', '<=', '>', '<', 'IN'];

/** True for `prefix:name`, whatever the prefix. */
export function isDomainField(name: string): boolean {
  return name.includes(':');
}
