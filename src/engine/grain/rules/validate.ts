// Checks the fields of a grain: which it must have, which it must not have, and their values. Writer and reader share the
// rules; where the reader is more tolerant, the rule says `writing`. Breaches are noted (findings.ts), not thrown.

import { unreachable } from '../../base/assert.ts';
import { addressProblem } from '../address.ts';
import type { TypeSpec } from '../codec/field-map.ts';
import { KIND, type Kind, type Shape } from '../codec/kind.ts';
import { DISCLOSABLE_FIELDS } from '../registry.ts';
import { GOAL_STATES } from '../types/goal.ts';
import { Float, type Value, type ValueMap } from '../value.ts';
import { checkAction } from './action.ts';
import { CHECKS, note } from './findings.ts';
import { checkGraph } from './workflow.ts';

/** Latest created_at: the largest number of seconds that fits the 32 bits of the header. */
const CREATED_AT_MAX = 4_294_967_295_999;
const UINT64_MAX = 0xffffffffffffffffn;
const INT64_MIN = -0x8000000000000000n;

/** True for a map of the value model (not an array, binary or float). */
export function isMap(value: Value | undefined): value is ValueMap {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Float) &&
    !(value instanceof Uint8Array)
  );
}

/** Notes the breaches of one present value. `name` is the field that errors name. */
export function checkValue(kind: Kind, value: Value, name: string, writing: boolean): void {
  switch (kind.code) {
    case KIND.any:
      return;
    case KIND.string:
      if (typeof value !== 'string') note(CHECKS.schema, name, 'is not a string');
      return;
    case KIND.address:
      checkAddress(value, name, writing);
      return;
    case KIND.float:
    case KIND.unit:
      checkFloat(kind, value, name);
      return;
    case KIND.int:
    case KIND.count:
    case KIND.byte:
    case KIND.ms:
      checkInteger(kind, value, name);
      return;
    case KIND.bool:
      if (typeof value !== 'boolean') note(CHECKS.schema, name, 'is not a boolean');
      return;
    case KIND.bytes:
      if (!(value instanceof Uint8Array)) note(CHECKS.schema, name, 'is not binary');
      return;
    case KIND.stringOrMap:
      if (typeof value !== 'string' && !isMap(value)) note(CHECKS.schema, name, 'is neither a string nor a map');
      return;
    case KIND.list:
      if (!Array.isArray(value)) {
        note(CHECKS.schema, name, 'is not an array');
        return;
      }
      for (const element of value) checkValue(kind.item!, element, name, writing);
      return;
    case KIND.map:
      if (!isMap(value)) note(CHECKS.schema, name, 'is not a map');
      return;
    case KIND.record:
      if (!isMap(value)) {
        note(CHECKS.schema, name, 'is not a map');
        return;
      }
      for (const key of Object.keys(value)) {
        const element = value[key];
        if (element !== null && element !== undefined) checkValue(kind.item!, element, name, writing);
      }
      return;
    case KIND.shape:
      if (!isMap(value)) {
        note(CHECKS.schema, name, 'is not a map');
        return;
      }
      checkShape(kind.shape!, value, name, writing);
      return;
  }
}

function checkAddress(value: Value, name: string, writing: boolean): void {
  if (typeof value !== 'string') {
    note(CHECKS.schema, name, 'is not a string');
    return;
  }
  // Foreign blobs hold prefixed and shortened addresses. They are kept as they are and refer to no grain.
  if (!writing) return;
  const problem = addressProblem(value);
  if (problem === 'ERR_HASH_LENGTH') note(CHECKS.addressLength, name, 'is not 64 characters long');
  else if (problem === 'ERR_HASH_FORMAT') note(CHECKS.addressFormat, name, 'is not lowercase hex');
}

function checkFloat(kind: Kind, value: Value, name: string): void {
  const number = value instanceof Float ? value.value : typeof value === 'bigint' ? Number(value) : value;
  if (typeof number !== 'number') {
    note(CHECKS.schema, name, 'is not a number');
    return;
  }
  if (!Number.isFinite(number)) {
    note(CHECKS.float, name, 'is not finite');
    return;
  }
  if (kind.code === KIND.unit && (number < 0 || number > 1)) note(CHECKS.range, name, 'is not between 0 and 1');
}

function checkInteger(kind: Kind, value: Value, name: string): void {
  const number = value instanceof Float ? value.value : value;
  if (typeof number === 'bigint') {
    if (number > UINT64_MAX || number < INT64_MIN) {
      note(CHECKS.range, name, 'has more than 64 bits');
      return;
    }
    checkIntegerRange(kind, Number(number), name);
    return;
  }
  if (typeof number !== 'number') {
    note(CHECKS.schema, name, 'is not an integer');
    return;
  }
  if (!Number.isInteger(number)) {
    if (Number.isFinite(number)) note(CHECKS.schema, name, 'is not an integer');
    else note(CHECKS.float, name, 'is not finite');
    return;
  }
  if (number >= 0x1_0000_0000_0000_0000 || number < -0x8000_0000_0000_0000) {
    note(CHECKS.range, name, 'has more than 64 bits');
    return;
  }
  checkIntegerRange(kind, number, name);
}

function checkIntegerRange(kind: Kind, value: number, name: string): void {
  if (kind.code === KIND.count && value < 0) note(CHECKS.range, name, 'is negative');
  else if (kind.code === KIND.byte && (value < 0 || value > 255)) note(CHECKS.range, name, 'is not between 0 and 255');
  else if (kind.code === KIND.ms && !Number.isSafeInteger(value)) note(CHECKS.range, name, 'is not a time');
}

function checkShape(shape: Shape, map: ValueMap, name: string, writing: boolean): void {
  for (const key of Object.keys(map)) {
    const field = shape.byName.get(key);
    const value = map[key];
    if (field && value !== null && value !== undefined) checkValue(field.kind, value, name, writing);
  }
  const { alternative } = shape;
  const required = alternative && has(map, alternative.key) ? alternative.required : shape.required;
  for (const key of required) if (!has(map, key)) note(CHECKS.schema, name, `lacks ${key}`);
}

function has(map: ValueMap, key: string): boolean {
  return Object.hasOwn(map, key) && map[key] !== null && map[key] !== undefined;
}

/**
 * Notes the breaches of a grain as a whole: required fields, empty fields, ranges that depend on the type. Every present
 * field has been through `checkValue`. A field named in `_elided` counts as present, if it is one that may be elided.
 */
export function checkFields(spec: TypeSpec, fields: ValueMap, writing: boolean): void {
  const elided = isMap(fields['_elided']) ? fields['_elided'] : undefined;
  checkCreatedAt(fields['created_at']);
  const { required, filled } = spec;
  for (let i = 0; i < required.length; i++)
    if (!isPresent(fields, elided, required[i]!)) note(CHECKS.schema, required[i]!, 'is missing');
  for (let i = 0; i < filled.length; i++) if (isEmpty(fields[filled[i]!])) note(CHECKS.empty, filled[i]!, 'is empty');
  if (spec.type === 'belief') {
    if (writing && fields['object'] === '') note(CHECKS.empty, 'object', 'is empty');
  } else checkType(spec, fields, (name) => isPresent(fields, elided, name), writing);
  if (writing && isMap(fields['invalidation_policy'])) {
    const policy = fields['invalidation_policy'];
    if (policy['mode'] === 'timed' && !has(policy, 'fallback_mode'))
      note(CHECKS.schema, 'invalidation_policy', 'lacks fallback_mode');
  }
}

/** True for a field that the grain has, or that `elided` names and may be elided. */
function isPresent(fields: ValueMap, elided: ValueMap | undefined, name: string): boolean {
  const value = fields[name];
  if (value !== null && value !== undefined) return true;
  return elided !== undefined && DISCLOSABLE_FIELDS.has(name) && has(elided, name);
}

/** The rules of one type, but for those of a belief, which needs no closure. */
function checkType(spec: TypeSpec, fields: ValueMap, present: (name: string) => boolean, writing: boolean): void {
  switch (spec.type) {
    case 'event':
      checkEvent(fields, present);
      break;
    case 'workflow':
      checkWorkflow(fields, present, writing);
      break;
    case 'action':
      checkAction(fields, present);
      break;
    case 'goal': {
      const state = fields['goal_state'];
      if (typeof state === 'string' && !GOAL_STATES.has(state)) note(CHECKS.range, 'goal_state', 'is not a goal state');
      break;
    }
    case 'consent':
      if (fields['is_withdrawal'] === true && !present('prior_consent'))
        note(CHECKS.schema, 'prior_consent', 'is missing');
      break;
    case 'belief':
    case 'state':
    case 'observation':
    case 'reasoning':
    case 'consensus':
      break;
    default:
      unreachable(spec.type);
  }
}

function isEmpty(value: Value | undefined): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

function checkCreatedAt(value: Value | undefined): void {
  if (value === undefined || value === null) {
    note(CHECKS.schema, 'created_at', 'is missing');
    return;
  }
  const number = value instanceof Float ? value.value : typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && (number < 0 || number > CREATED_AT_MAX))
    note(CHECKS.range, 'created_at', 'does not fit the header');
}

function checkEvent(fields: ValueMap, present: (name: string) => boolean): void {
  const blocks = present('content_blocks');
  if (!present('content') && !blocks && !(present('subject') && present('relation') && present('object')))
    note(CHECKS.schema, 'content', 'is missing, and so are the fields that may replace it');
  if (fields['content'] === '' && !blocks) note(CHECKS.empty, 'content', 'is empty');
}

function checkWorkflow(fields: ValueMap, present: (name: string) => boolean, writing: boolean): void {
  const nodes = present('nodes');
  if (nodes && present('steps')) note(CHECKS.schema, 'steps', 'is given together with nodes');
  if (!nodes && !present('steps')) note(CHECKS.schema, 'nodes', 'is missing');
  if (!nodes && !present('trigger')) note(CHECKS.schema, 'trigger', 'is missing');
  if (writing) checkGraph(fields);
}
