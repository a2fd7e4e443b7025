// The listed fields of a grain, which have few distinct short values and no facet of their own. The values are those
// that answers show, so that a condition finds the same grains through the index as by reading grains.
import { toNfc } from '../base/nfc.ts';
import { EXTRA_FIELDS } from '../grain/api/draft.ts';
import { SOURCE_USERS, sourceUsersOf } from '../grain/api/source-users.ts';
import { byType, GRAIN_TYPE_NAMES, type Grain, type GrainType } from '../grain/grain.ts';
import { isMap } from '../grain/rules/validate.ts';
import type { QueryField } from '../grain/types/query-field.ts';
import { GRAIN_TYPES } from '../grain/types/table.ts';
import type { Value } from '../grain/value.ts';
import { fieldKey, NOT_TEXT } from '../index/parts/part.ts';

/** The value that answers show when the grain has none. */
const SOURCE_TYPE_DEFAULT = 'user';

const FROM_USER = fieldKey('source_type', SOURCE_TYPE_DEFAULT);

/** Listed fields of every type, beside `source_type`. */
const COMMON = ['recall_priority', 'epistemic_status'] as const;

/** A listed field of a grain type: the name in a blob, and the name in the index and in CAL. */
interface FieldName {
  readonly stored: string;
  readonly name: string;
}
const STORED = byType((type) => GRAIN_TYPES[type].cal.fields.filter(({ listed }) => listed).map(fieldName));

function fieldName({ name, stored = name }: QueryField): FieldName {
  return { stored, name };
}

/** A field of a grain as an answer shows it. */
export type Shown = (name: string) => Value | undefined;

interface Derived {
  /** Names that the index and CAL have for fields of which no value is stored as it is. */
  readonly names: readonly string[];
  readonly enter: (entries: string[], shown: Shown) => void;
}

/** The entries that an index derives for a type, in addition to stored values. */
const DERIVED: Readonly<Record<GrainType, Derived | undefined>> = {
  belief: undefined,
  event: { names: [], enter: enterSession },
  state: undefined,
  workflow: undefined,
  action: { names: ['action_phase', 'is_error'], enter: enterAction },
  observation: undefined,
  goal: undefined,
  reasoning: undefined,
  consensus: undefined,
  consent: { names: ['consent_action'], enter: enterConsent },
};

/** The listed fields, by their names in CAL. The facet `field` lists grains by their values. */
export const LISTED_FIELDS: ReadonlySet<string> = new Set([
  'source_type',
  ...COMMON,
  ...GRAIN_TYPE_NAMES.flatMap((type) => [...STORED[type].map(({ name }) => name), ...(DERIVED[type]?.names ?? [])]),
]);

/** True for a listed field. */
export function isListed(field: string): boolean {
  return LISTED_FIELDS.has(field);
}

/** The fields of a grain as answers show them. Extra fields stand next to the others unless their names collide. */
export function shownFields({ fields }: Pick<Grain, 'fields'>): Shown {
  const extras = fields[EXTRA_FIELDS];
  if (!isMap(extras)) return (name) => fields[name];
  return (name) => {
    const own = fields[name];
    return own === undefined && Object.hasOwn(extras, name) ? extras[name] : own;
  };
}

/** The distinct entries of facet `field` for a grain. */
export function fieldEntries(grain: Pick<Grain, 'type' | 'fields'>): readonly string[] {
  const { type, fields } = grain;
  if (hasNoListed(type, fields)) return ONLY_FROM_USER;
  const shown = shownFields(grain);
  const source = shown('source_type') ?? SOURCE_TYPE_DEFAULT;
  const entries = [source === SOURCE_TYPE_DEFAULT ? FROM_USER : fieldKey('source_type', formOf(source))];
  for (let i = 0; i < COMMON.length; i++) enter(entries, COMMON[i]!, shown(COMMON[i]!));
  const stored = STORED[type];
  for (let i = 0; i < stored.length; i++) enter(entries, stored[i]!.name, shown(stored[i]!.stored));
  DERIVED[type]?.enter(entries, shown);
  enterSources(entries, grain);
  return entries;
}

const ONLY_FROM_USER: readonly string[] = [FROM_USER];

/** True for a grain of which nothing is listed but its default source, as of most. */
function hasNoListed(type: GrainType, fields: Grain['fields']): boolean {
  if (DERIVED[type] !== undefined || fields[EXTRA_FIELDS] !== undefined || fields[SOURCE_USERS] !== undefined)
    return false;
  if (fields['source_type'] !== undefined) return false;
  for (let i = 0; i < COMMON.length; i++) if (fields[COMMON[i]!] !== undefined) return false;
  const stored = STORED[type];
  for (let i = 0; i < stored.length; i++) if (fields[stored[i]!.stored] !== undefined) return false;
  return true;
}

/** The persons that a grain was written from. It is not a listed field: no query asks for it. */
function enterSources(entries: string[], { fields }: Pick<Grain, 'fields'>): void {
  const users = sourceUsersOf(fields);
  if (users.length > 0) entries.push(FROM_OTHERS);
  for (const user of users) entries.push(fromUser(user));
}

/** The value of facet `field` that lists the grains that were written from grains of persons, whoever they are. */
export const FROM_OTHERS = fieldKey(SOURCE_USERS, NOT_TEXT);

/** The value that lists those that were written from grains of this person. */
export function fromUser(userId: string): string {
  return fieldKey(SOURCE_USERS, userId.normalize('NFC'));
}

function enterAction(entries: string[], shown: Shown): void {
  enter(entries, 'action_phase', phaseOf(shown));
  enterTruth(entries, 'is_error', shown('is_error'), ['true', 'false']);
}

function enterConsent(entries: string[], shown: Shown): void {
  enterTruth(entries, 'consent_action', shown('is_withdrawal'), ['withdraw', 'grant']);
}

function enter(entries: string[], name: string, value: Value | undefined): void {
  if (value !== undefined && value !== null) entries.push(fieldKey(name, formOf(value)));
}

function formOf(value: Value): string {
  return typeof value === 'string' ? toNfc(value) : NOT_TEXT;
}

function enterTruth(
  entries: string[],
  name: string,
  value: Value | undefined,
  [ifTrue, ifFalse]: readonly [string, string],
): void {
  if (typeof value === 'boolean') entries.push(fieldKey(name, value ? ifTrue : ifFalse));
  else if (value !== undefined && value !== null) entries.push(fieldKey(name, NOT_TEXT));
}

/** Sessions have a facet of their own, which holds only strings. */
function enterSession(entries: string[], shown: Shown): void {
  const value = shown('session_id');
  if (value === undefined || value === null || (typeof value === 'string' && value !== '')) return;
  entries.push(fieldKey('session_id', NOT_TEXT));
}

/** Answers leave the phase out when it follows from `kind` or `status`; so does the index. */
export function phaseOf(shown: Shown): Value | undefined {
  const phase = shown('action_phase') ?? shown('tool_phase');
  const kind = shown('kind');
  const status = shown('status');
  const follows = (phase === 'definition' && kind === 'definition') || (phase === 'call' && status === 'pending');
  if (phase !== undefined && phase !== null && !follows) return phase;
  return kind === 'definition' ? 'definition' : status === 'pending' ? 'call' : 'complete';
}
