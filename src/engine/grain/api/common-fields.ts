// How requests set the common fields of every grain: limits, times, links, policy.
import {
  EMBEDDING_TEXT_BYTES_MAX,
  FUTURE_SECONDS_MAX,
  NAMESPACE_CHARS_MAX,
  TAG_CHARS_MAX,
  TAGS_MAX,
  USER_ID_CHARS_MAX,
} from '../../base/limits.ts';
import { DISCLOSABLE_FIELDS, VERIFICATION_STATUSES } from '../registry.ts';
import type { ValueMap } from '../value.ts';
import type { Draft } from './draft.ts';
import type { JsonValue } from './json-value.ts';
import { invalidationPolicy, relatedTo } from './nested.ts';
import { into, type Put } from './put.ts';
import { invalidType, outOfRange } from './refusal.ts';
import {
  ADDRESS,
  address,
  addresses,
  boundedText,
  list,
  map,
  prefixedAddress,
  ratio,
  secondsToMs,
  text,
  wholeSeconds,
  word,
} from './take.ts';

const LAWFUL_BASES = new Set([
  'consent',
  'contract',
  'legal_obligation',
  'vital_interests',
  'public_task',
  'legitimate_interests',
]);
const tagText = boundedText(TAG_CHARS_MAX);
const namespaceText = boundedText(NAMESPACE_CHARS_MAX);
const userText = boundedText(USER_ID_CHARS_MAX);
const status = word([...VERIFICATION_STATUSES]);

// An empty namespace means the default one; an empty user id means no user.
function unlessEmpty(take: (value: JsonValue, field: string) => string): Put {
  return (draft, value, name) => {
    const taken = take(value, name);
    if (taken !== '') draft.fields[name] = taken;
  };
}

function tags(value: JsonValue, field: string): string[] {
  if (Array.isArray(value) && value.length > TAGS_MAX) throw outOfRange(field, `holds more than ${TAGS_MAX} tags`);
  return list(value, field, tagText, 'an array of strings');
}

function createdAt(draft: Draft, value: JsonValue, name: string): void {
  const milliseconds = secondsToMs(value, name);
  if (milliseconds < 0) throw outOfRange(name, 'is before 1970');
  if (milliseconds > draft.context.nowMs + FUTURE_SECONDS_MAX * 1000)
    throw outOfRange(name, `is more than ${FUTURE_SECONDS_MAX} seconds in the future`);
  draft.fields[name] = milliseconds;
}

function embeddingText(value: JsonValue, field: string): string {
  const taken = text(value, field);
  if (taken.length * 3 > EMBEDDING_TEXT_BYTES_MAX && Buffer.byteLength(taken) > EMBEDDING_TEXT_BYTES_MAX)
    throw outOfRange(field, `is longer than ${EMBEDDING_TEXT_BYTES_MAX} bytes`);
  return taken;
}

function processingBasis(draft: Draft, value: JsonValue, name: string): void {
  const taken = text(value, name);
  if (!LAWFUL_BASES.has(taken) && !ADDRESS.test(taken))
    draft.warnings.push(`${name}: neither a known lawful basis nor the hash of a consent`);
  draft.fields[name] = taken;
}

/** Takes one hash, or the array with which a grain of several sources is shown. */
function derivedFrom(value: JsonValue, field: string): string[] {
  return Array.isArray(value) ? addresses(value, field) : [address(value, field)];
}

const COMMITMENT = /^sha256:[0-9a-f]{64}$/;

/** Takes the map from elided field names to commitments, as in a disclosed view. */
function elided(value: JsonValue, field: string): ValueMap {
  const taken = map(value, field);
  for (const name of Object.keys(taken)) {
    if (!DISCLOSABLE_FIELDS.has(name)) throw outOfRange(field, 'names a field that may not be elided');
    const commitment = taken[name];
    if (typeof commitment !== 'string') throw invalidType(field, commitment, 'a map of strings');
    if (!COMMITMENT.test(commitment)) throw outOfRange(field, 'contains a value that is not a commitment');
  }
  return taken;
}

/** Fields of every type that need more than the kind in the registry. */
export const COMMON_PUTS: Readonly<Record<string, Put>> = {
  confidence: into(ratio),
  importance: into(ratio),
  tags: into(tags, 'structural_tags'),
  namespace: unlessEmpty(namespaceText),
  user_id: unlessEmpty(userText),
  temporal_type: into(word(['state', 'event', 'interval', 'observation'])),
  related_to: into(relatedTo),
  created_at: createdAt,
  derived_from: into(derivedFrom),
  embedding_text: into(embeddingText),
  verification_status: (draft, value, name) => {
    draft.verificationStatus = status(value, name);
  },
  processing_basis: processingBasis,
  invalidation_policy: into(invalidationPolicy),
  expires_at: into(wholeSeconds),
  _elided: into(elided),
  _disclosure_of: into(prefixedAddress),
};
