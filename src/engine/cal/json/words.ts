// Reads names and values of the JSON form. It accepts what the text form accepts, so that each can be written as the other.
import type { GrainReference, HashValue, Value, Word } from '../ast.ts';
import { CalError } from '../errors.ts';
import { CAL_LIMITS } from '../vocabulary/limits.ts';
import { EXCLUDED_WORDS, FIELDS_THAT_ARE_RESERVED, isReserved } from '../vocabulary/words.ts';
import { asNumber, asString, type JsonNode, refused } from './node.ts';

const IDENTIFIER = /^[A-Za-z][A-Za-z0-9_]*$/;
const FIELD = /^[a-z][a-z0-9_]*(?::[a-z][a-z0-9_]*)?$/;
const HASH = /^sha256:([0-9a-f]{8,64})$/;

/** A name that the caller chose. No reserved word. */
export function asIdentifier(value: unknown, path: string): string {
  const text = asString(value, path);
  if (!IDENTIFIER.test(text) || isReserved(text.toLowerCase()))
    throw refused(path, 'a name other than a reserved word');
  return text;
}

/** A label. It may be a reserved word, but no excluded one. */
export function asLabel(value: unknown, path: string): Word {
  const text = asString(value, path);
  if (!IDENTIFIER.test(text) || EXCLUDED_WORDS.has(text.toLowerCase())) throw refused(path, 'a label');
  return { word: text };
}

export function asField(value: unknown, path: string): Word {
  const word = asString(value, path).toLowerCase();
  const reserved = isReserved(word) && !FIELDS_THAT_ARE_RESERVED.has(word);
  if (!FIELD.test(word) || reserved) throw refused(path, 'a field');
  return { word };
}

/** A hash, as a string or in `{"$hash"}`, or a parameter. */
export function asReference(value: unknown, node: JsonNode, key: string): GrainReference {
  if (typeof value === 'string') return asHash(value, node.at(key));
  const read = asValue(value, node, key);
  if (read.kind !== 'hash' && read.kind !== 'parameter') throw refused(node.at(key), 'a hash or a parameter');
  return read;
}

function asHash(value: unknown, path: string): HashValue {
  const hex = HASH.exec(asString(value, path).toLowerCase())?.[1];
  if (hex === undefined) throw new CalError('CAL-E015', `${path}: a hash is sha256: and 8 to 64 hexadecimal digits`);
  return { kind: 'hash', hex };
}

/** A value of any kind. Throws E007 for arrays that are nested too deep. */
export function asValue(value: unknown, node: JsonNode, key: string, depth = node.depth): Value {
  const path = node.at(key);
  if (typeof value === 'string') return { kind: 'string', value: asString(value, path) };
  if (typeof value === 'number') return { kind: 'number', value: asNumber(value, path) };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (Array.isArray(value)) {
    if (depth >= CAL_LIMITS.nestingMax)
      throw new CalError('CAL-E007', `${path} is nested more than ${CAL_LIMITS.nestingMax} deep`);
    return { kind: 'array', items: value.map((item) => asValue(item, node, key, depth + 1)) };
  }
  if (typeof value !== 'object' || value === null) throw refused(path, 'a value');
  const [[name, inner] = [], ...more] = Object.entries(value);
  if (more.length > 0 || (name !== '$hash' && name !== '$param'))
    throw refused(path, 'a value', ['a string', 'a number', 'true', 'false', 'a list', '{"$hash"}', '{"$param"}']);
  if (name === '$hash') return asHash(inner, path);
  const parameter = asString(inner, path);
  if (!IDENTIFIER.test(parameter)) throw refused(path, 'the name of a parameter');
  return { kind: 'parameter', name: parameter };
}
