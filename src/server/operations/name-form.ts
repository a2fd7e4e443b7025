// Names in an input, in the one form that the engine keeps them in: Unicode's NFC. Somebody whose name comes with a
// combining accent from one client and with a composed letter from another is one person: what is restricted, exported
// and erased under either spelling is theirs.
import type { TSchema } from 'typebox';
import { EngineError } from '../../engine/base/errors.ts';
import { toNfc } from '../../engine/base/nfc.ts';
import { isMembers, nodeOf, type SchemaNode, toSnake } from './names.ts';

/** Members that name a person, a place, a session, a purpose or tags: strings, or lists of them. */
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
/** Code points below U+0300 are their own NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/**
 * Gives the value of an input with its names in NFC: itself where nothing changes, else a copy. VAL-E001 for a name that
 * is no text.
 */
export type FormNames = <T>(value: T) => T;

/** Compiled from the schema of the input, so that values which it leaves open stay as they are. */
export function formNamesOf(schema: TSchema): FormNames {
  const form = compile(nodeOf(schema));
  // What comes back has the shape of what came.
  return form === undefined ? (value) => value : <T>(value: T) => form(value, '') as T;
}

/** A name in NFC. */
export function nameForm(name: string): string {
  return MAY_COMPOSE.test(name) ? toNfc(name) : name;
}

/** `field` is the member's name inside; undefined in lists, whose items are refused one by one by who takes them. */
type Form = (value: unknown, field: string | undefined) => unknown;

/** Undefined where a schema names nobody. */
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
  return new EngineError('VAL-E001', `\`${field}\` holds a NUL or half of a surrogate pair`, {
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
