// Resolves a word to a field of a grain type, or refuses it with a reason.

import type { GrainType } from '../../grain/grain.ts';
import type { QueryField } from '../../grain/types/query-field.ts';
import type { Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import { didYouMean, joined } from '../parser/spelling.ts';
import {
  commonField,
  DOMAIN_OPERATORS,
  DOMAIN_PROFILES,
  fieldsOf,
  isDomainField,
  TYPE_FIELDS,
  typeField,
} from '../vocabulary/fields.ts';
import { pluralOf } from '../vocabulary/grain-types.ts';

/** A field with a prefix. The stored value decides its type. */
export interface DomainField extends Omit<QueryField, 'type'> {
  readonly type: 'domain';
  readonly prefix: string;
}

/**
 * The field that `word` names in a statement about `type`: a common field, or one of the type. Throws E060 for a field
 * of another type, E061 for a type's field in a statement without a type, E004 for an unknown one.
 */
export function resolveField(word: Word, type: GrainType | undefined): QueryField | DomainField {
  const name = word.word;
  if (isDomainField(name)) return domainField(word);
  const common = commonField(name);
  if (common !== undefined) return common;
  const own = typeField(name);
  if (own === undefined) throw unknownField(word, type);
  if (own.type === type) return own.field;
  const plural = pluralOf(own.type);
  if (type === undefined)
    throw new CalError('CAL-E061', `${name} is a field of ${plural}, but the statement names no type`, {
      at: word.at,
      suggestion: `Name the type: RECALL ${plural}.`,
    });
  const valid = TYPE_FIELDS[type].map((field) => field.name);
  throw new CalError('CAL-E060', `${name} is a field of ${plural}, not of ${pluralOf(type)}`, {
    at: word.at,
    suggestion: `Fields of ${pluralOf(type)} alone: ${joined(valid, 'and') || 'none'}; ${name} needs RECALL ${plural}.`,
    validValues: fieldsOf(type).map((field) => field.name),
  });
}

function domainField(word: Word): DomainField {
  const prefix = word.word.slice(0, word.word.indexOf(':'));
  if (!DOMAIN_PROFILES.has(prefix))
    throw new CalError('CAL-E004', `unknown field ${word.word}: no domain has the prefix ${prefix}`, {
      at: word.at,
      suggestion: didYouMean(prefix, DOMAIN_PROFILES.keys()) ?? `Domains are ${joined([...DOMAIN_PROFILES.keys()])}.`,
      validValues: [...DOMAIN_PROFILES.keys()].map((known) => `${known}:`),
    });
  return {
    name: word.word,
    prefix,
    type: 'domain',
    operators: DOMAIN_OPERATORS,
    sortable: false,
    projectable: true,
    groupable: false,
  };
}

function unknownField(word: Word, type: GrainType | undefined): CalError {
  const valid = fieldsOf(type).map((field) => field.name);
  const others = Object.values(TYPE_FIELDS).flatMap((fields) => fields.map((field) => field.name));
  const suggestion = didYouMean(word.word, valid) ?? didYouMean(word.word, others);
  return new CalError('CAL-E004', `unknown field ${word.word}`, {
    at: word.at,
    suggestion,
    validValues: valid,
  });
}
