// Nested objects for which the service has more rules than the format: relations, policies, workflow graphs, rejected
// alternatives.
import { SECONDS_MAX } from '../../base/limits.ts';
import { GrainError } from '../error.ts';
import { raiseFindings, startFindings } from '../rules/findings.ts';
import { ALTERNATIVE, INVALIDATION_POLICY, RELATION } from '../rules/shapes.ts';
import { checkGraph } from '../rules/workflow.ts';
import { setOwn, type ValueMap } from '../value.ts';
import { cleanMap, cleanText, FIELD_DEPTH } from './free.ts';
import type { JsonValue } from './json-value.ts';
import { takeShape } from './kind.ts';
import { invalidType, missingField, outOfRange } from './refusal.ts';
import { address, isMap, list, prefixedAddress } from './take.ts';

const relation = takeShape(RELATION, FIELD_DEPTH + 1);
const policy = takeShape(INVALIDATION_POLICY);
const alternativeMap = takeShape(ALTERNATIVE, FIELD_DEPTH + 1);

/**
 * Takes `[{hash, relation_type, weight?}]`, a bare hash, or an array with bare hashes. Bare hashes and entries without a
 * type get `relation_type: "related"`.
 */
export function relatedTo(value: JsonValue, field: string): ValueMap[] {
  const entries = typeof value === 'string' || isMap(value) ? [value] : value;
  return list(entries, field, relatedEntry, 'an array of relations');
}

function relatedEntry(value: JsonValue, field: string): ValueMap {
  if (typeof value === 'string') return { hash: address(value, field), relation_type: 'related' };
  const entry = relation(value, field);
  if (entry['hash'] === undefined) throw missingField(`${field}.hash`);
  entry['relation_type'] ??= 'related';
  return entry;
}

/**
 * Takes a policy with `mode`. `timed` needs `locked_until` (Unix seconds) and `fallback_mode`; otherwise it would
 * never end.
 */
export function invalidationPolicy(value: JsonValue, field: string): ValueMap {
  const taken = policy(value, field);
  if (taken['mode'] !== 'timed') return taken;
  const lockedUntil = taken['locked_until'];
  if (lockedUntil === undefined) throw missingField(`${field}.locked_until`);
  if (typeof lockedUntil !== 'number' || lockedUntil > SECONDS_MAX)
    throw outOfRange(`${field}.locked_until`, 'is not in seconds');
  if (taken['fallback_mode'] === undefined) throw missingField(`${field}.fallback_mode`);
  return taken;
}

/** Converts strings to `{hypothesis}`; maps stay unchanged. */
export function alternatives(value: JsonValue, field: string): ValueMap[] {
  return list(
    value,
    field,
    (item, name) => (typeof item === 'string' ? { hypothesis: cleanText(item, name) } : alternativeMap(item, name)),
    'an array of strings',
  );
}

/** Takes a map from node to the hash of its action. */
export function bindings(value: JsonValue, field: string): ValueMap {
  if (!isMap(value)) throw invalidType(field, value, 'a map of node to hash');
  const taken = cleanMap(value, field, FIELD_DEPTH);
  const addresses: ValueMap = {};
  // `cleanMap` of JSON holds only JSON values.
  for (const node of Object.keys(taken)) setOwn(addresses, node, prefixedAddress(taken[node] as JsonValue, field));
  return addresses;
}

/** Throws VAL-E001 for an invalid workflow graph: edges to unknown nodes, or an unbounded cycle. */
export function checkWorkflow(fields: ValueMap): void {
  try {
    startFindings();
    checkGraph(fields);
    raiseFindings();
  } catch (error) {
    if (!(error instanceof GrainError)) throw error;
    const [field = 'nodes'] = error.message.split(':');
    throw outOfRange(field, error.message.slice(field.length + 2));
  }
}
