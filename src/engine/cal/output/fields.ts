// From the name of a field in CAL to its value in a grain. CAL, the grain format and the service's answers call several
// things differently; this is the one place that knows, for filtering, sorting and grouping as for output.

import { stringifyJson } from '../../grain/api/json.ts';
import type { JsonObject, JsonValue } from '../../grain/api/json-value.ts';
import type { CalGrain } from './grain.ts';

/** Times are epoch ms; a list is compared by membership, and printed with its items in their order. */
export type FieldValue = string | number | boolean | readonly string[];

/** Below this an integer is seconds of the epoch, from it on milliseconds. */
const SECONDS_BELOW = 100_000_000_000;

/**
 * The value of a CAL field (lower case; `prefix:name` for a field of a domain), or undefined where the grain has none: then
 * no condition on it holds. Maps come as compact JSON. `query` and fields of other types than the grain's have no value.
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

/** As `fieldValue`, with lists, maps and integers of any size as they are. Never null. */
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

/** What the grain is about, wherever its type keeps it. */
function objectOf({ grainType, fields }: CalGrain): JsonValue | undefined {
  switch (grainType) {
    case 'action':
      // A failed action is completed with an empty content.
      return filled(fields, 'content') ?? filled(fields, 'error') ?? filled(fields, 'object');
    case 'goal':
      return filled(fields, 'description') ?? filled(fields, 'object');
    case 'consensus':
      return filled(fields, 'agreed_content') ?? filled(fields, 'object');
    case 'observation':
      return filled(fields, 'object') ?? filled(fields, 'content');
    default:
      return own(fields, 'object');
  }
}

function typeValue(grain: CalGrain, field: string): JsonValue | undefined {
  const { grainType, fields } = grain;
  switch (grainType) {
    case 'event':
      return typeFields.event.has(field) ? own(fields, field) : undefined;
    case 'state':
      return stateValue(fields, field);
    case 'workflow':
      if (field === 'steps') return own(fields, 'steps') ?? own(fields, 'nodes');
      return field === 'trigger' ? own(fields, field) : undefined;
    case 'action':
      if (field === 'action_phase') return phaseOf(fields);
      return typeFields.action.has(field) ? own(fields, field) : undefined;
    case 'observation':
      // Output calls the observer's id so.
      if (field === 'observer') return own(fields, 'observer_id');
      return typeFields.observation.has(field) ? own(fields, field) : undefined;
    case 'goal':
      if (field === 'deadline') return milliseconds(fields['deadline']);
      return typeFields.goal.has(field) ? own(fields, field) : undefined;
    case 'reasoning':
      if (field === 'reasoning_type') return own(fields, 'inference_method');
      return typeFields.reasoning.has(field) ? own(fields, field) : undefined;
    case 'consensus':
      return typeFields.consensus.has(field) ? own(fields, field) : undefined;
    case 'consent':
      return consentValue(fields, field);
    default:
      return undefined;
  }
}

const typeFields = {
  event: new Set(['role', 'session_id', 'parent_message_id', 'model_id', 'content']),
  action: new Set(['tool_name', 'is_error', 'tool_call_id']),
  observation: new Set(['observer_id', 'observer_type']),
  goal: new Set(['goal_state', 'assigned_agent', 'depends_on']),
  reasoning: new Set(['premises', 'conclusion']),
  consensus: new Set(['threshold', 'agreement_count', 'participating_observers']),
} as const;

/** Answers call the context of a state `data`, and leave `context` to what every type may have. */
function stateValue(fields: JsonObject, field: string): JsonValue | undefined {
  const { data } = fields;
  const map = isMap(data) ? data : undefined;
  if (field === 'plan') return own(fields, 'plan') ?? (map && own(map, 'plan'));
  if (field !== 'context') return undefined;
  const named = map && (filled(map, 'label') ?? filled(map, 'name'));
  if (named !== undefined) return named;
  if (typeof data === 'string') return data;
  const { context } = fields;
  if (typeof context === 'string') return context;
  return isMap(context) ? (filled(context, 'label') ?? filled(context, 'name')) : undefined;
}

/** Answers leave the phase out where it follows from `kind` or `status`; none at all is a complete action. */
function phaseOf(fields: JsonObject): JsonValue {
  const phase = own(fields, 'action_phase');
  if (phase !== undefined) return phase;
  return fields['kind'] === 'definition' ? 'definition' : fields['status'] === 'pending' ? 'call' : 'complete';
}

function consentValue(fields: JsonObject, field: string): JsonValue | undefined {
  switch (field) {
    case 'consent_action':
      return typeof fields['is_withdrawal'] === 'boolean'
        ? fields['is_withdrawal']
          ? 'withdraw'
          : 'grant'
        : undefined;
    case 'purpose':
      return filled(fields, 'purpose') ?? joined(fields['scope']);
    case 'grantor_did':
      return own(fields, 'subject_did');
    case 'grantee_did':
      return own(fields, 'grantee_did');
    case 'scope': {
      // A scope of one item is answered as that item.
      const scope = own(fields, 'scope');
      return scope === undefined || Array.isArray(scope) ? scope : [scope];
    }
    case 'expires_at':
      return milliseconds(fields['valid_to']);
    default:
      return undefined;
  }
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

/** Several words for one state of a goal: a condition on one of them means all. */
const SAME_GOAL_STATES: Readonly<Record<string, string>> = {
  completed: 'satisfied',
  abandoned: 'failed',
  blocked: 'suspended',
};

/** The word of the grain format for a goal's state in either vocabulary: what two states are compared by. */
export function goalState(word: string): string {
  return Object.hasOwn(SAME_GOAL_STATES, word) ? SAME_GOAL_STATES[word]! : word;
}

/** All words for the state that `word` means. */
export function goalStatesLike(word: string): readonly string[] {
  const state = goalState(word);
  return [state, ...Object.keys(SAME_GOAL_STATES).filter((other) => SAME_GOAL_STATES[other] === state)];
}

/** Answers give seconds, grains from elsewhere milliseconds: told apart by size, as in a query. */
function milliseconds(value: JsonValue | undefined): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const number = Number(value);
  return Math.abs(number) < SECONDS_BELOW ? number * 1000 : number;
}

/** Milliseconds in answers too. */
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

/** An item of a list, in text. */
export function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}
