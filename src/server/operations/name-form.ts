// Converts names in an input to Unicode NFC, the form that the engine stores. One client may send a name with a combining
// accent and another with a composed letter; restriction, export and erasure must treat both as the same person.
import type { TSchema } from 'typebox';
import { EngineError } from '../../engine/base/errors.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import { isMembers, nodeOf, type SchemaNode, toSnake } from './names.ts';

/** Members that name a person, a place, a session, a purpose or tags; each is a string or a list of strings. */
const NAMING = new Set([
  'userId',
  'userIds',
  'user',
  'namespace',
  'sessionId',
  'purpose',
  'tag',
  'tags',
  'excludeTags',
  'scopePath',
]);
/** Text whose code points are all below U+0300 is already NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/**
 * Returns the input with its names in NFC: the same object when nothing changes, else a copy. Throws VAL-E001 for a name
 * with a NUL or a lone surrogate.
 */
export type FormNames = <T>(value: T) => T;

/** Compiles the conversion from the input's schema; open values stay unchanged. */
export function formNamesOf(schema: TSchema): FormNames {
  const form = compile(nodeOf(schema));
  // The result has the same shape as the value.
  return form === undefined ? (value) => value : <T>(value: T) => form(value, '') as T;
}

/** A name in NFC. */
export function nameForm(name: string): string {
  return MAY_COMPOSE.test(name) ? toNfc(name) : name;
}

/** `field` is the member's inside name; undefined in lists, whose consumers refuse bad items one by one. */
type Form = (value: unknown, field: string | undefined) => unknown;

/** Undefined for a schema without naming members. */
function compile(node: SchemaNode): Form | undefined {
  if (node.items !== undefined) {
    const item = compile(node.items);
    if (item === undefined) return undefined;
    return (value) => (Array.isArray(value) ? value.map((one) => item(one, undefined)) : value);
  }
  const forms: (readonly [string, Form])[] = [];
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    const form = NAMING.has(name) ? formNamed : compile(child);
    if (form !== undefined) forms.push([name, form]);
  }
  return forms.length === 0 ? undefined : (value, field) => formMembers(value, forms, field !== undefined);
}

function formNamed(value: unknown, field: string | undefined): unknown {
  if (typeof value !== 'string') return Array.isArray(value) ? value.map((one) => formNamed(one, undefined)) : value;
  if (field !== undefined && (value.includes('\0') || !value.isWellFormed())) throw noName(toSnake(field));
  return nameForm(value);
}

function noName(field: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\` contains a NUL or an unpaired surrogate`, {
    details: [{ field, issue: 'no text' }],
  });
}

function formMembers(value: unknown, forms: readonly (readonly [string, Form])[], isOne: boolean): unknown {
  if (!isMembers(value)) return value;
  let formed = value;
  for (const [name, form] of forms) {
    const member = value[name];
    if (member === undefined) continue;
    const after = form(member, isOne ? name : undefined);
    if (after !== member) {
      if (formed === value) formed = { ...value };
      formed[name] = after;
    }
  }
  return formed;
}
