// Fields of each type for which the service has more rules than the grain format.

import type { GrainType } from '../grain.ts';
import { ACTION_PHASES } from '../types/action.ts';
import { GOAL_STATES } from '../types/goal.ts';
import { OWN } from '../types/own-fields.ts';
import type { Draft } from './draft.ts';
import type { JsonValue } from './json-value.ts';
import { bindings } from './nested.ts';
import { addressOrAside, areAddresses, into, isAddress, open, type Put } from './put.ts';
import { invalidType, outOfRange } from './refusal.ts';
import {
  address,
  addresses,
  filledText,
  free,
  isMap,
  list,
  map,
  ratio,
  safeInteger,
  type Take,
  text,
  textOrMap,
  texts,
  wholeSeconds,
  word,
} from './take.ts';

export const PRIORITIES: readonly string[] = ['critical', 'high', 'medium', 'low'];
const PRIORITY_MEDIUM = 3;
const ACTION_STATUSES = new Set(['pending', 'completed', 'failed']);
const nodeNames: Take = (value, field) => {
  const taken = texts(value, field);
  if (taken.length === 0) throw outOfRange(field, 'is empty');
  return taken;
};

function input(value: JsonValue, field: string): ReturnType<Take> {
  if (typeof value !== 'string' && !isMap(value)) throw invalidType(field, value, 'a map or a string');
  return textOrMap(value, field);
}

/** Keeps the value from trusted writes only and marks others as unattested: a client cannot vouch for itself. */
function executionEnvironment(draft: Draft, value: JsonValue, name: string): void {
  const taken = text(value, name);
  draft.fields[name] = draft.context.trusted === true ? taken : 'client_side_unattested';
}

function priority(draft: Draft, value: JsonValue, name: string): void {
  if (typeof value === 'number') {
    draft.fields[name] = safeInteger(value, name);
    return;
  }
  const taken = text(value, name);
  const known = PRIORITIES.indexOf(taken.toLowerCase());
  draft.fields[name] = known < 0 ? PRIORITY_MEDIUM : known + 1;
  if (known < 0) draft.fields[OWN.priorityText] = taken;
}

const expiryMode = word(['hard', 'soft']);

/** The format defines a text; a rule given as a map goes into a separate field. */
function expiryPolicy(draft: Draft, value: JsonValue, name: string): void {
  if (typeof value === 'string') {
    draft.fields[name] = text(value, name);
    return;
  }
  if (!isMap(value)) throw invalidType(name, value, 'a map or a string');
  const { mode, deadline } = value;
  if (mode !== undefined && mode !== null) expiryMode(mode, `${name}.mode`);
  if (deadline !== undefined && deadline !== null) wholeSeconds(deadline, `${name}.deadline`);
  draft.fields[OWN.expiryPolicyMap] = map(value, name);
}

function rollback(draft: Draft, value: JsonValue, name: string): void {
  if (typeof value === 'boolean') draft.fields[OWN.rollbackEnabled] = value;
  else draft.fields[name] = texts(value, name);
}

const goalState = word([...GOAL_STATES]);

/** Fields of one type that need more than the kind in the registry. */
export const TYPE_PUTS: Readonly<Record<GrainType, Readonly<Record<string, Put>>>> = {
  belief: { subject: into(filledText), relation: into(filledText), object: into(filledText) },
  event: { object: into(textOrMap), parent_message_id: addressOrAside(address, isAddress) },
  state: { data: into(map, 'context'), context: into(map, OWN.commonContext) },
  workflow: {
    nodes: into(nodeNames),
    steps: into(nodeNames),
    trigger: into(filledText),
    bindings: into(bindings),
    name: into(text),
    status: into(text),
  },
  action: {
    tool_name: into(filledText),
    input: into(input),
    content: into(free),
    action_phase: into(word([...ACTION_PHASES])),
    kind: into(word(['execution', 'definition'])),
    executor_uri: into(text),
    executor_kind: into(word(['host', 'client'])),
    annotations: into(map),
    spec_hash: into(text),
    status: open(ACTION_STATUSES, 'status'),
    correlation_id: into(text),
    expires_at_sec: into(wholeSeconds),
    failure_cause: open(
      new Set(['timeout', 'executor_error', 'schema_validation_failed', 'user_aborted', 'unknown']),
      'cause',
    ),
    failure_detail: into(text),
    actor_execution_environment: executionEnvironment,
  },
  observation: {
    content: into(textOrMap),
    object: into(textOrMap),
    observer_id: into(filledText),
    observer_type: into(filledText),
  },
  goal: {
    description: into(filledText),
    object: into(textOrMap),
    goal_state: into(goalState),
    priority,
    progress: into(ratio),
    expiry_policy: expiryPolicy,
    rollback_on_failure: rollback,
    allowed_transitions: into((value, field) => list(value, field, goalState, 'an array of goal states')),
    depends_on: addressOrAside(addresses, areAddresses),
  },
  reasoning: {},
  consensus: { threshold: into(ratio, OWN.thresholdRatio) },
  consent: { subject_did: into(filledText), grantee_did: into(filledText) },
};
