// Access tuples (service contract, section 12): a subject has a relation to an object. The relation table says which
// relations an object has, and which of them include others. Pure.

import { EngineError } from '../../base/errors.ts';
import { TUPLE_ID_CHARS_MAX } from '../../base/limits.ts';
import { toNfc } from '../../base/nfc.ts';

const TYPES = ['user', 'agent', 'service', 'group', 'memory', 'namespace', 'harness'] as const;
type TupleType = (typeof TYPES)[number];

/** The relations of each type of object; the other types have none. */
const RELATIONS = {
  group: ['member'],
  memory: ['owner', 'admin', 'editor', 'viewer', 'eraser', 'auditor', 'parent'],
  namespace: ['editor', 'viewer', 'eraser', 'parent'],
  harness: ['user', 'manager', 'parent'],
} as const;
type ObjectType = keyof typeof RELATIONS;

export type MemoryRelation = Exclude<(typeof RELATIONS)['memory'][number], 'parent'>;
/** The relations that a caller needs to a namespace to act on its grains. */
export type GrainRelation = 'viewer' | 'editor' | 'eraser';
/** The relations that a caller needs to a harness: to talk to it, and to change its definition. */
export type HarnessRelation = 'user' | 'manager';

/** The relations of an object, by its type. */
export const RELATION_TABLE: Readonly<Record<string, readonly string[]>> = RELATIONS;

/** Relations of the same object that give a relation. */
const INCLUDES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  memory: { admin: ['owner'], editor: ['admin'], viewer: ['editor'], eraser: ['admin'], auditor: ['owner'] },
  namespace: { viewer: ['editor'] },
};

/** The relation to an object's parent that gives a relation to the object. */
const THROUGH_PARENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  namespace: { editor: 'editor', viewer: 'viewer', eraser: 'eraser' },
  harness: { user: 'editor', manager: 'admin' },
};

/** The types of parents that an object may have. */
const PARENTS: Readonly<Record<Exclude<ObjectType, 'group'>, readonly TupleType[]>> = {
  memory: ['memory'],
  namespace: ['memory', 'namespace'],
  harness: ['memory', 'namespace'],
};

export interface Tuple {
  /** `type:id`, the userset `type:id#relation`, or `type:*`. */
  readonly subject: string;
  readonly relation: string;
  /** `type:id`. */
  readonly object: string;
}

export interface Userset {
  readonly object: string;
  readonly relation: string;
}

export function includesOf(object: string, relation: string): readonly string[] {
  return INCLUDES[typeOf(object)]?.[relation] ?? [];
}

export function throughParent(object: string, relation: string): string | undefined {
  return THROUGH_PARENT[typeOf(object)]?.[relation];
}

export function hasRelation(object: string, relation: string): boolean {
  const relations: readonly string[] | undefined = RELATIONS[typeOf(object) as ObjectType];
  return relations?.includes(relation) === true;
}

/** The userset that a subject names; undefined for a single subject and for `type:*`. */
export function usersetOf(subject: string): Userset | undefined {
  const at = subject.indexOf('#');
  return at < 0 ? undefined : { object: subject.slice(0, at), relation: subject.slice(at + 1) };
}

/** `type:*` for a single subject; undefined for a userset, which no wildcard covers. */
export function wildcardOf(subject: string): string | undefined {
  return subject.includes('#') ? undefined : `${typeOf(subject)}:*`;
}

/** The id of a person, when the subject is one; undefined for every other subject. */
export function personOf(subject: string): string | undefined {
  return subject.startsWith('user:') && subject !== 'user:*' ? subject.slice('user:'.length) : undefined;
}

/** The object that is a namespace. A namespace's name is its path. */
export function namespaceObject(namespace: string): string {
  return `namespace:${namespace}`;
}

/** The parent of a namespace that no tuple names: the enclosing path; `memory` for a top-level name. */
export function defaultParent(object: string, memory: string): string | undefined {
  if (typeOf(object) === 'harness') return memory;
  if (typeOf(object) !== 'namespace') return undefined;
  const at = object.lastIndexOf('/');
  const path = at < 0 ? '' : object.slice(object.indexOf(':') + 1, at);
  return path === '' ? memory : namespaceObject(path);
}

/** The tuple with its texts in NFC. VAL-E001, naming the member, unless it fits the relation table. */
export function checkTuple({ subject, relation, object }: Tuple): Tuple {
  const checked = { subject: checkSubject(subject), relation, object: checkObject(object) };
  checkRelation(checked.object, relation, 'relation');
  if (relation !== 'parent') return checked;
  const type = typeOf(checked.object) as keyof typeof PARENTS; // it has the relation `parent`
  const isPlain = !checked.subject.includes('#') && !checked.subject.endsWith(':*');
  if (!isPlain || !PARENTS[type].includes(typeOf(checked.subject) as TupleType))
    throw bad('subject', `the parent of a ${type} is a ${PARENTS[type].join(' or a ')}`);
  if (checked.subject === checked.object) throw bad('subject', 'an object cannot be its own parent');
  return checked;
}

/** The question of a check: like `checkTuple`, but any subject may be asked about. */
export function checkQuestion({ subject, relation, object }: Tuple): Tuple {
  const checked = { subject: checkSubject(subject), relation, object: checkObject(object) };
  checkRelation(checked.object, relation, 'relation');
  return checked;
}

export function checkSubject(text: string): string {
  const subject = toNfc(text);
  const at = subject.indexOf('#');
  if (at < 0) {
    checkName(subject, 'subject');
    return subject;
  }
  const userset = { object: subject.slice(0, at), relation: subject.slice(at + 1) };
  checkName(userset.object, 'subject');
  if (userset.object.endsWith(':*')) throw bad('subject', 'a wildcard has no relation');
  checkRelation(userset.object, userset.relation, 'subject');
  return subject;
}

export function checkObject(text: string): string {
  const object = toNfc(text);
  checkName(object, 'object');
  if (object.endsWith(':*')) throw bad('object', 'a wildcard stands for subjects only');
  if (!Object.hasOwn(RELATIONS, typeOf(object)))
    throw bad('object', `must be ${Object.keys(RELATIONS).join(', ')}, as in namespace:acme`);
  return object;
}

function checkRelation(object: string, relation: string, field: 'relation' | 'subject'): void {
  if (hasRelation(object, relation)) return;
  const known: readonly string[] | undefined = RELATIONS[typeOf(object) as ObjectType];
  throw bad(
    field,
    known === undefined
      ? `a ${typeOf(object)} has no relations`
      : `the relations of a ${typeOf(object)} are ${known.join(', ')}`,
  );
}

function checkName(text: string, field: 'subject' | 'object'): void {
  const at = text.indexOf(':');
  const type = text.slice(0, Math.max(at, 0));
  if (!(TYPES as readonly string[]).includes(type))
    throw bad(field, `must be TYPE:ID, where the type is ${TYPES.join(', ')}`);
  const id = text.slice(at + 1);
  const chars = [...id].length;
  if (chars < 1 || chars > TUPLE_ID_CHARS_MAX) throw bad(field, `an id has 1 to ${TUPLE_ID_CHARS_MAX} characters`);
  if (!id.isWellFormed() || /[#\p{Cc}]/u.test(id)) throw bad(field, 'an id holds neither # nor control characters');
}

export function typeOf(text: string): string {
  const at = text.indexOf(':');
  return at < 0 ? '' : text.slice(0, at);
}

function bad(field: string, issue: string): EngineError {
  return new EngineError('VAL-E001', `\`${field}\`: ${issue}`, { details: [{ field, issue }] });
}
