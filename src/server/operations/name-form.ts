// Names in an input, in the one form that the engine keeps them in: Unicode's NFC. Somebody whose name comes with a
// combining accent from one client and with a composed letter from another is one person: what is restricted, exported
// and erased under either spelling is theirs.
import type { TSchema } from 'typebox';
import { toNfc } from '../../engine/nfc.ts';
import { isMembers, nodeOf, type SchemaNode } from './names.ts';

/** Members that name a person, a place, a session or a purpose: strings, or lists of them. */
const NAMING = new Set(['userId', 'userIds', 'user', 'namespace', 'sessionId', 'purpose']);
/** Code points below U+0300 are their own NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/** Gives the value of an input with its names in NFC: itself where nothing changes, else a copy. */
export type FormNames = <T>(value: T) => T;

/** Compiled from the schema of the input, so that values which it leaves open stay as they are. */
export function formNamesOf(schema: TSchema): FormNames {
  const form = compile(nodeOf(schema));
  // What comes back has the shape of what came.
  return form === undefined ? (value) => value : <T>(value: T) => form(value) as T;
}

/** A name in NFC. */
export function nameForm(name: string): string {
  return MAY_COMPOSE.test(name) ? toNfc(name) : name;
}

type Form = (value: unknown) => unknown;

/** Undefined where a schema names nobody. */
function compile(node: SchemaNode): Form | undefined {
  if (node.items !== undefined) {
    const item = compile(node.items);
    return item === undefined ? undefined : (value) => (Array.isArray(value) ? value.map(item) : value);
  }
  const forms: (readonly [string, Form])[] = [];
  for (const [name, child] of Object.entries(node.properties ?? {})) {
    const form = NAMING.has(name) ? formNamed : compile(child);
    if (form !== undefined) forms.push([name, form]);
  }
  return forms.length === 0 ? undefined : (value) => formMembers(value, forms);
}

function formNamed(value: unknown): unknown {
  if (typeof value === 'string') return nameForm(value);
  return Array.isArray(value) ? value.map(formNamed) : value;
}

function formMembers(value: unknown, forms: readonly (readonly [string, Form])[]): unknown {
  if (!isMembers(value)) return value;
  let formed = value;
  for (const [name, form] of forms) {
    const member = value[name];
    if (member === undefined) continue;
    const after = form(member);
    if (after !== member) {
      if (formed === value) formed = { ...value };
      formed[name] = after;
    }
  }
  return formed;
}
