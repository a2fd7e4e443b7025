// Maps each field name of the API to its effect on the draft, by grain type, so that a field costs one look-up.
import { assert } from '../../base/assert.ts';
import { fieldByName, isShortKey } from '../codec/field-map.ts';
import { byType, type GrainType } from '../grain.ts';
import { FIELD_ROWS } from '../registry.ts';
import { OWN } from '../types/own-fields.ts';
import { COMMON_PUTS } from './common-fields.ts';
import { CONVERSIONS } from './conversion.ts';
import { EXTRA_FIELDS, keepAside } from './draft.ts';
import { takeKind } from './kind.ts';
import { aliasesOf, contractNames } from './names.ts';
import { alias, foreign, into, type Put, readOnly, reserved, stored } from './put.ts';
import { TYPE_PUTS } from './type-fields.ts';

const STORED = new Set(['content_refs', 'embedding_refs', 'provenance_chain']);
const OWN_NAMES: ReadonlySet<string> = new Set([EXTRA_FIELDS, ...Object.values(OWN)]);

/** True for a field of the format, the contract or this engine; any other name is an extra field of the caller. */
export function isKnownName(type: GrainType, name: string): boolean {
  return fieldByName(name, type) !== undefined || contractNames(type).has(name) || OWN_NAMES.has(name);
}

function tableOf(type: GrainType): ReadonlyMap<string, Put> {
  const table = new Map<string, Put>();
  const names = contractNames(type);
  for (const name of OWN_NAMES) table.set(name, keepAside);
  for (const [name, short] of FIELD_ROWS) if (short !== name) table.set(short, reserved);
  for (const [name, , , storage] of FIELD_ROWS) {
    const { kind } = fieldByName(name, type)!;
    if (storage === 'index') table.set(name, readOnly);
    else if (storage === 'reserved' || name === 'type' || name === 'structural_tags') table.set(name, keepAside);
    else if (!names.has(name)) table.set(name, foreign(name, kind));
    else if (STORED.has(name)) table.set(name, stored(kind));
    else table.set(name, into(CONVERSIONS.get(name)?.take ?? takeKind(kind)));
  }
  table.set('cnt', reserved);
  for (const puts of [COMMON_PUTS, TYPE_PUTS[type]]) for (const name of Object.keys(puts)) table.set(name, puts[name]!);
  for (const [name, proper] of aliasesOf(type)) table.set(name, alias(name, proper, table.get(proper)!));
  return table;
}

const tables = byType(tableOf);

/** The effect of each name of a type; a name that is absent is an extra field. */
export function putsOf(type: GrainType): ReadonlyMap<string, Put> {
  return tables[type];
}

assert(
  [...OWN_NAMES].every((name) => !isShortKey(name)),
  'a field of our own is an unknown field to the format',
);
