// The attributes and fields that CAL's output shows for each type, parsed from the `output` column of the table of grain
// types. projection.ts reads the values from grains.
import { byType } from '../../grain/grain.ts';
import type { TypeLine, TypeOutput } from '../../grain/types/row.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';

export interface AttributeForm {
  readonly name: string;
  /** CAL field. */
  readonly field: string;
  /** True if summaries omit it. */
  readonly isOptional: boolean;
}

export interface Form {
  readonly attributes: readonly AttributeForm[];
  /** CAL fields of the data formats, in order. A trailing `?` marks fields that summaries omit. */
  readonly data: readonly string[];
  /** Columns of a TOON table. */
  readonly columns: readonly string[];
  readonly line: TypeLine;
}

function attribute(words: string): AttributeForm {
  const [name = '', field = ''] = words.replace('?', '').split('=');
  return { name, field, isOptional: words.endsWith('?') };
}

function form({ attributes, data, columns, line }: TypeOutput): Form {
  return { attributes: attributes.split(' ').map(attribute), data: data.split(' '), columns: columns.split(' '), line };
}

const FORMS = byType((type) => form(GRAIN_TYPES[type].cal.output));

/** The form of a type that this version does not know. */
const OTHER = form({
  attributes: 'subject=subject',
  data: 'subject relation object',
  columns: 'subject content',
  line: { note: 'subject' },
});

export function formOf(grainType: string): Form {
  const type = typeOfSingular(grainType);
  return type === undefined ? OTHER : FORMS[type];
}

/** Attributes that the level `full` adds to every type. */
export const FULL_ATTRIBUTES: readonly AttributeForm[] = [
  'source=source_type',
  'observed=time',
  'importance=importance',
  'tags=tags',
  'status=verification_status',
].map(attribute);
export const FULL_DATA = ['source_type', 'time', 'importance', 'tags', 'verification_status'];

/** Attribute names that differ from the name of their field, by field. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map(
  [...Object.values(FORMS).flatMap(({ attributes }) => attributes), ...FULL_ATTRIBUTES]
    .filter(({ name }) => name !== 'observed')
    .map(({ name, field }) => [field, name] as const),
);

/** The name under which PROJECT shows a field as an attribute. */
export function attributeName(name: string): string {
  return SHORT_NAMES.get(name) ?? name;
}
