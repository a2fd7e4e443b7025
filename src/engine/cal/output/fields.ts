// Reads a grain's value for a CAL field name. CAL, the grain format and the service's answers use different names for
// several fields. Filtering, sorting, grouping and output all use this mapping.

import { stringifyJson } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import { GRAIN_TYPE_NAMES, type GrainType } from '../../grain/grain.ts';
import { GRAIN_TYPES } from '../../grain/types/table.ts';
import { typeOfSingular } from '../vocabulary/grain-types.ts';
import type { CalGrain } from './grain.ts';

/** Times are epoch ms. A condition on a list tests its members. A list is printed in its order. */
export type FieldValue = string | number | boolean | readonly string[];

/** Smaller integers are epoch seconds, others epoch milliseconds. */
const SECONDS_BELOW = 100_000_000_000;

/**
 * The value of a CAL field (lower case; `prefix:name` for a domain field); undefined if the grain has none. Maps are
 * returned as compact JSON. `query` and the fields of other grain types have no value.
 */
export function fieldValue(grain: CalGrain, field: string): FieldValue | undefined {
  const value = storedValue(grain, field);
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
      return value;
    case 'bigint':
      return Number(value);
    default:
      if (value === undefined || value === null) return undefined;
      return Array.isArray(value) ? value.map(asText) : stringifyJson(value);
  }
}

/** Like `fieldValue`, but with lists, maps and big integers as stored. Never null. */
export function storedValue(grain: CalGrain, field: string): JsonValue | undefined {
  switch (field) {
    case 'type':
      return grain.grainType;
    case 'hash':
      return grain.hash;
    case 'score':
      return grain.score;
    case 'namespace':
      return grain.namespace;
    case 'user_id':
      return grain.userId;
    case 'time':
      return eventTime(grain.fields['timestamp_ms']) ?? grain.createdAtMs;
    case 'contradicted':
      return isContradicted(grain);
    case 'tags':
    case 'subject':
    case 'relation':
    case 'confidence':
    case 'importance':
    case 'verification_status':
    case 'source_type':
    case 'recall_priority':
    case 'epistemic_status':
      return own(grain.fields, field);
    case 'object':
      return objectOf(grain);
    default:
      return field.includes(':') ? domainValue(grain, field) : typeValue(grain, field);
  }
}

function isContradicted({ fields, contestedBy }: CalGrain): boolean {
  return fields['verification_status'] === 'contested' || (contestedBy !== undefined && contestedBy.length > 0);
}

/** The first non-empty of the fields that the grain's type uses as its object. */
function objectOf({ grainType, fields }: CalGrain): JsonValue | undefined {
  const type = typeOfSingular(grainType);
  const names = type === undefined ? undefined : GRAIN_TYPES[type].cal.object;
  if (names === undefined) return own(fields, 'object');
  for (const name of names) {
    const value = filled(fields, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

type Read = (fields: JsonObject) => JsonValue | undefined;

/** CAL fields that are not simply one field of the answer. */
const DERIVED: Readonly<Record<GrainType, Readonly<Record<string, Read>>>> = {
  belief: {},
  event: {},
  state: { context: contextOf, plan: planOf },
  workflow: { steps: (fields) => own(fields, 'steps') ?? own(fields, 'nodes') },
  action: { action_phase: phaseOf },
  // The output's name for the observer's id.
  observation: { observer: (fields) => own(fields, 'observer_id') },
  goal: {},
  reasoning: {},
  consensus: {},
  consent: {
    consent_action: actionOfConsent,
    purpose: (fields) => filled(fields, 'purpose') ?? joined(fields['scope']),
    scope: scopeOf,
    expires_at: (fields) => milliseconds(fields['valid_to']),
  },
};

const READS: ReadonlyMap<string, ReadonlyMap<string, Read>> = new Map(
  GRAIN_TYPE_NAMES.map((type) => [type, new Map([...storedReads(type), ...Object.entries(DERIVED[type])])]),
);

function storedReads(type: GrainType): [string, Read][] {
  return GRAIN_TYPES[type].cal.fields.map(({ name, stored = name, type: holds }) => [
    name,
    holds === 'temporal' ? (fields) => milliseconds(own(fields, stored)) : (fields) => own(fields, stored),
  ]);
}

function typeValue({ grainType, fields }: CalGrain, field: string): JsonValue | undefined {
  return READS.get(grainType)?.get(field)?.(fields);
}

function planOf(fields: JsonObject): JsonValue | undefined {
  const { data } = fields;
  return own(fields, 'plan') ?? (isMap(data) ? own(data, 'plan') : undefined);
}

/** Answers have the context of a state in `data`. Their `context` is the field that every type can have. */
function contextOf({ data, context }: JsonObject): JsonValue | undefined {
  const named = isMap(data) ? (filled(data, 'label') ?? filled(data, 'name')) : undefined;
  if (named !== undefined) return named;
  if (typeof data === 'string') return data;
  if (typeof context === 'string') return context;
  return isMap(context) ? (filled(context, 'label') ?? filled(context, 'name')) : undefined;
}

/** Answers omit a phase that follows from `kind` or `status`. Without any of these the action is complete. */
function phaseOf(fields: JsonObject): JsonValue {
  const phase = own(fields, 'action_phase');
  if (phase !== undefined) return phase;
  return fields['kind'] === 'definition' ? 'definition' : fields['status'] === 'pending' ? 'call' : 'complete';
}

function actionOfConsent({ is_withdrawal: isWithdrawal }: JsonObject): JsonValue | undefined {
  return typeof isWithdrawal === 'boolean' ? (isWithdrawal ? 'withdraw' : 'grant') : undefined;
}

/** Answers have a scope of one item as that item. */
function scopeOf(fields: JsonObject): JsonValue | undefined {
  const scope = own(fields, 'scope');
  return scope === undefined || Array.isArray(scope) ? scope : [scope];
}

function joined(value: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(value)) return value === null || value === '' ? undefined : value;
  return value.length === 0 ? undefined : value.map(asText).join(', ');
}

function domainValue({ fields }: CalGrain, field: string): JsonValue | undefined {
  for (const holder of [fields['context'], fields['data']]) {
    const value = isMap(holder) ? own(holder, field) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Synonyms of goal states. A condition on one word matches its synonyms too. */
const SAME_GOAL_STATES: Readonly<Record<string, string>> = {
  completed: 'satisfied',
  abandoned: 'failed',
  blocked: 'suspended',
};

/** The grain format's word for a goal state of either vocabulary. States are compared in this form. */
export function goalState(word: string): string {
  return Object.hasOwn(SAME_GOAL_STATES, word) ? SAME_GOAL_STATES[word]! : word;
}

/** The state of `word` and all its synonyms. */
export function goalStatesLike(word: string): readonly string[] {
  const state = goalState(word);
  return [state, ...Object.keys(SAME_GOAL_STATES).filter((other) => SAME_GOAL_STATES[other] === state)];
}

/** Answers have seconds, imported grains may have milliseconds. The size tells which, as in a query. */
function milliseconds(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  return Math.abs(number) < SECONDS_BELOW ? number * 1000 : number;
}

/** The event time is in milliseconds in answers too. */
function eventTime(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
}

function own(fields: JsonObject, name: string): JsonValue | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return value === null ? undefined : value;
}

function filled(fields: JsonObject, name: string): JsonValue | undefined {
  const value = own(fields, name);
  return value === '' ? undefined : value;
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list item as text: a string as it is, anything else as JSON. */
export function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
